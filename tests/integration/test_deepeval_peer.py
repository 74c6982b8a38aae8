"""What the real deepeval writes, imported: our figures are its own, errors are errors.

GATE_PEERS/deepeval is made by tests/install_peers.sh; the agent asks a server of this test.
"""

import json
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.importing import read_results
from tests.support.in_process import gate
from tests.support.paths import ROOT

read = partial(read_results, "deepeval")

PYTHON = Path(os.environ.get("GATE_PEERS") or "-") / "deepeval/bin/python"
SCRIPT = ROOT / "tests" / "support" / "deepeval_run.py"

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not PYTHON.exists(), reason="GATE_PEERS has no deepeval"),
]
CODES = {"busy": 429, "broken": 500}


def answer(question, nth):
    for word, status in CODES.items():
        if word in question:
            return status, {}, {"error": {"message": word}}
    number = int(question.split()[-1])
    return "I do not know." if number == 50 else f"The code is {number}."


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """`dumped.json`, `told.json` and two test runs below `runs`, the older one first."""
    folder = tmp_path_factory.mktemp("deepeval")
    with ChatServer(answer) as server:
        done = subprocess.run(
            [PYTHON, SCRIPT, server.url, folder], capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


def of_asking(runs, question):
    """The test run that has the question."""
    files = sorted((runs / "runs").glob("test_run_*.json"))
    return next(file for file in files if f'"{question}"' in file.read_text())


def test_the_figures_are_those_of_deepeval(runs):
    found = read(of_asking(runs, "code of 50"))
    trials = list(found.trials())
    told = json.loads((runs / "told.json").read_text())
    passed = sum(one.attempt.passed is True for one in trials)
    assert (passed, len(trials)) == (told["passed"], told["all"]) == (49, 50)
    assert set(found.suites["deepeval"].graders) == {
        *("success", "first_success", "score"),
        *("deepeval.contains", "deepeval.pattern_match"),
    }
    first = trials[0].attempt
    assert first.latency_ms == 250.0
    assert first.response.context == "codes, page 1"
    assert [(s.name, s.arguments, s.result) for s in first.response.steps] == [
        ("lookup", {"n": 1}, 1)
    ]
    assert trials[-1].attempt.failures == ("contains", "pattern_match")


def test_its_results_dumped_from_python_say_the_same(runs):
    def told(path):
        return [
            (one.case.id, one.attempt.passed, one.attempt.scores) for one in read(path).trials()
        ]

    assert told(runs / "dumped.json") == told(of_asking(runs, "code of 50"))


def test_errors_are_no_wrong_answers(runs):
    trials = {one.case.input: one.attempt for one in read(of_asking(runs, "busy 1")).trials()}
    busy, broken, judge = trials["busy 1"], trials["broken 2"], trials["judge of 3"]
    assert (busy.status, busy.passed) == ("infra_error", None)
    assert (broken.status, broken.passed, broken.failures) == (
        "agent_error",
        False,
        ("agent_error",),
    )
    assert (judge.status, judge.passed) == ("completed", None), "the judge failed, not the answer"
    assert judge.scores["deepeval.contains"].unscored == "the judge broke off"
    assert judge.scores["deepeval.pattern_match"].values == {"deepeval.pattern_match": 1.0}
    assert sum(one.passed is True for one in trials.values()) == 6


def test_two_runs_compare(runs, tmp_path):
    for question in ("code of 50", "busy 1"):
        file = of_asking(runs, question)
        done = gate(tmp_path, "import", "deepeval", str(file), "--out", question[:4])
        assert done.returncode in (0, 4, 6), done.stdout + done.stderr
    sessions = [str(next((tmp_path / name).glob("session-*"))) for name in ("code", "busy")]
    done = gate(tmp_path, "compare", *sessions)
    assert "6 cases paired, 3 added, 44 removed" in done.stdout, done.stdout + done.stderr
