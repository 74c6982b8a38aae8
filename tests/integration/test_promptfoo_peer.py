"""What the real promptfoo writes, imported: our figures are its own, errors are errors.

GATE_PEERS/promptfoo is made by tests/install_peers.sh; promptfoo asks a server of this test.
"""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.importing import read_results
from tests.support.in_process import gate

read = partial(read_results, "promptfoo")

FOLDER = Path(os.environ.get("GATE_PEERS") or "-") / "promptfoo/node_modules/.bin"


def node():
    """Its major version: the one beside promptfoo, or that of the machine."""
    found = shutil.which("node", path=f"{FOLDER}{os.pathsep}{os.environ['PATH']}")
    told = subprocess.run([found, "--version"], capture_output=True, text=True) if found else None
    return int(told.stdout.strip("v").partition(".")[0]) if told else 0


pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        not (FOLDER / "promptfoo").exists() or node() < 22,
        reason="GATE_PEERS has no promptfoo, or there is no Node from 22 on",
    ),
]
WANTED = "^The code is [0-9]+\\.$"
CODES = {"busy": 429, "broken": 500}


def answer(question, nth):
    for word, status in CODES.items():
        if word in question:
            return status, {"Retry-After": "0"}, {"error": {"message": word, "type": "x"}}
    number = int(question.split()[-1])
    return "I do not know." if number == 50 else f"The code is {number}."


def evaluated(folder, address, config, *more):
    """promptfoo's own exit code: 100 where a test failed."""
    provider = {
        "id": "openai:chat:stub",
        "label": "stub",
        "config": {"apiBaseUrl": address, "apiKey": "x", "maxRetries": 0},
    }
    written = {"prompts": ["{{q}}"], "providers": [provider], **config}
    folder.mkdir()
    (folder / "promptfooconfig.json").write_text(json.dumps(written))
    env = {
        **os.environ,
        "PATH": f"{FOLDER}{os.pathsep}{os.environ['PATH']}",
        "PROMPTFOO_CONFIG_DIR": str(folder / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true",
        "PROMPTFOO_SELF_HOSTED": "1",
        "NO_COLOR": "1",
    }
    command = [str(FOLDER / "promptfoo"), "eval", "-c", "promptfooconfig.json", "--no-cache"]
    quiet = ["--no-progress-bar", "--no-table", "--no-write", "-j", "16"]
    done = subprocess.run(
        [*command, *quiet, *more], cwd=folder, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 100), done.stdout[-2000:] + done.stderr[-2000:]


def asking(question, *assertions):
    return {"vars": {"q": question}, "assert": [*assertions]}


@pytest.fixture(scope="module")
def evals(tmp_path_factory):
    """Two evals of 50 questions in several formats; the second one has errors among them."""
    folder = tmp_path_factory.mktemp("evals")
    checks = {"assert": [{"type": "regex", "value": WANTED, "metric": "Form"}]}
    tests = [asking(f"code of {n}", {"type": "contains", "value": f" {n}."}) for n in range(1, 51)]
    first = {"description": "Codes", "defaultTest": checks, "tests": tests}
    second = {**first, "tests": [*tests, asking("busy 1"), asking("broken 2")]}
    outputs = [word for end in ("json", "jsonl", "yaml") for word in ("-o", f"../first.{end}")]
    with ChatServer(answer) as server, ThreadPoolExecutor() as both:
        runs = [
            both.submit(evaluated, folder / "1", server.url, first, *outputs),
            both.submit(evaluated, folder / "2", server.url, second, "-o", "../second.json"),
        ]
        for run in runs:
            run.result()
    return folder


def counts(trials):
    return {
        "successes": sum(one.attempt.passed is True for one in trials),
        "failures": sum(
            one.attempt.passed is False and one.attempt.status == "completed" for one in trials
        ),
        "errors": sum(one.attempt.status != "completed" for one in trials),
    }


def test_the_figures_are_those_of_promptfoo(evals):
    found = read(evals / "first.json")
    stats = json.loads((evals / "first.json").read_text())["results"]["stats"]
    trials = list(found.trials())
    assert counts(trials) == {name: stats[name] for name in ("successes", "failures", "errors")}
    assert counts(trials) == {"successes": 49, "failures": 1, "errors": 0}
    assert [*found.suites] == ["Codes"]
    assert found.provenance.tool_version == "promptfoo 0.123.1"
    wrong = [one.attempt for one in trials if one.attempt.passed is False]
    assert {one.failures for one in wrong} == {("regex", "contains")}
    assert {one.response.answer for one in wrong} == {"I do not know."}
    usage = trials[0].attempt.response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (10, 5, None)


@pytest.mark.parametrize("end", ["jsonl", "yaml"])
def test_every_format_says_the_same(evals, end):
    def told(path):
        return [
            (one.case.id, one.case.digest, one.attempt.passed, one.attempt.latency_ms)
            for one in read(path).trials()
        ]

    assert told(evals / f"first.{end}") == told(evals / "first.json")


def test_errors_are_no_wrong_answers(evals):
    trials = {one.case.input: one for one in read(evals / "second.json").trials()}
    busy, broken = trials["busy 1"].attempt, trials["broken 2"].attempt
    assert (busy.status, busy.passed) == ("infra_error", None)
    assert (broken.status, broken.failures) == ("agent_error", ("provider_error",))
    assert counts([*trials.values()]) == {"successes": 49, "failures": 1, "errors": 2}


def test_two_evals_compare(evals, tmp_path):
    for name in ("first", "second"):
        shutil.copy(evals / f"{name}.json", tmp_path)
        done = gate(tmp_path, "import", "promptfoo", f"{name}.json", "--out", name)
        assert done.returncode == 0, done.stdout + done.stderr
    sessions = [str(next((tmp_path / name).glob("session-*"))) for name in ("first", "second")]
    done = gate(tmp_path, "compare", *sessions)
    assert "50 cases paired, 2 added" in done.stdout, done.stdout + done.stderr
