"""An agent that passes nothing: the real command, without a baseline or a limit."""

import json
import subprocess
import sys

import pytest

from gate.github.checks import verdict
from gate.report.wording.notes import render_annotations
from gate.store.session import load_session

CRASH = "import sys; sys.exit('out of order')"
REFUSED = "{type: openai, base_url: 'http://127.0.0.1:9', model: m}"
CASES = [{"id": f"q-{n}", "input": f"{n}?"} for n in range(6)]


@pytest.fixture
def gate(tmp_path):
    """Runs the suite with an agent and further keys of the suite: exit code and output."""
    (tmp_path / "crash.py").write_text(CRASH, "utf-8")
    lines = (json.dumps(case) + "\n" for case in CASES)
    (tmp_path / "cases.jsonl").write_text("".join(lines), "utf-8")

    def made(agent, more="", grader="{contains: {text: 'yes'}}"):
        suite = f"{{name: s, dataset: cases.jsonl, graders: [{grader}], rounds: 1"
        (tmp_path / "gate.yml").write_text(
            f"version: 1\nagent: {agent}\nsuites: [{suite}{more}}}]\n", "utf-8"
        )
        command = [sys.executable, "-m", "gate", "run", "--baseline", "none", "--no-color"]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return made


def test_an_agent_that_crashes_on_every_call_fails_by_the_floor(gate, tmp_path):
    crashing = json.dumps({"type": "command", "command": [sys.executable, "crash.py"]})
    code, told = gate(crashing)
    assert code == 1, told
    assert "none of the 6 graded answers passed" in told.lower()
    (session,) = (tmp_path / "results").glob("session-*")
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    assert summary["suites"]["s"]["floor"] == {"answers": 6, "mild": ""}
    assert (
        "none of the 6 graded answers passed" in (session / "report.md").read_text("utf-8").lower()
    )
    code, told = gate(crashing, ", floor: false")
    assert code == 0, told
    assert "graded answers passed" not in told.lower()


def test_every_other_way_to_the_verdict_keeps_the_floor(gate, tmp_path):
    """A session rendered again, resumed, merged of shards, or shown as a check run."""
    crashing = json.dumps({"type": "command", "command": [sys.executable, "crash.py"]})
    gate(crashing)
    (whole,) = (tmp_path / "results").glob("session-*")
    stated = "none of the 6 graded answers passed"

    def command(*given):
        done = subprocess.run(
            [sys.executable, "-m", "gate", *given],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    for page in ("comment.md", "report.md", "report.html", "junit.xml"):
        assert stated in (whole / page).read_text("utf-8").lower(), page
        (whole / page).unlink()
    assert command("report", str(whole))[0] == 0
    for page in ("comment.md", "report.md", "report.html", "junit.xml"):
        assert stated in (whole / page).read_text("utf-8").lower(), page

    code, told = command("run", "--resume", str(whole), "--no-color")
    assert (code, stated in told.lower()) == (1, True), told

    shards = []
    for number in (1, 2):
        given = ("--shard", f"{number}/2", "--baseline", "none", "--out", f"shard-{number}")
        code, told = command("run", *given)
        assert code == 0, told
        shards += map(str, (tmp_path / f"shard-{number}").glob("session-*"))
    code, told = command("merge", *shards, "--baseline", "none", "--out", "merged", "--no-color")
    assert (code, stated in told.lower()) == (1, True), told

    report = load_session(whole).report
    assert report is not None
    assert verdict(report, lambda limit: "", str).conclusion == "failure"
    first = render_annotations(report)[0]
    assert first.startswith("::error")
    assert stated in first.lower()


def test_an_outage_goes_before_the_floor(gate):
    code, told = gate(REFUSED)
    assert code == 6, told
    assert "graded answers passed" not in told.lower()


LENGTH = """
from dataclasses import dataclass

from gate.records import MetricSpec, Score


@dataclass(frozen=True)
class Length:
    keys = {}
    needs = ()

    def metrics(self):
        return (MetricSpec(name="style.length", column="style.length", low=0.0, high=9.0),)

    def grade(self, case, response):
        return Score(values={"style.length": float(min(9, len(response.answer)))})
"""


def test_graders_that_never_say_pass_or_fail_have_no_floor(gate, tmp_path):
    """They do not say so of themselves; crashes count as failures all the same."""
    (tmp_path / "length.py").write_text(LENGTH, "utf-8")
    crashing = json.dumps({"type": "command", "command": [sys.executable, "crash.py"]})
    code, told = gate(crashing, grader="'./length.py:Length'")
    assert code == 0, told
    assert "graded answers passed" not in told.lower()


SMALL = """version: 1
agent: {type: python, callable: "./agent.py:agent"}
suites: [{name: s, dataset: three.jsonl, graders: [{contains: {text: "yes"}}], rounds: ROUNDS}]
"""


@pytest.mark.parametrize(
    ("cases", "rounds", "wanted", "said"),
    [
        (3, 3, 1, "fell by 100.0 points"),
        (2, 1, 0, "no result of 2 cases with 1 round each could be distinguished from chance; "),
    ],
)
def test_a_suite_of_a_few_cases_is_judged_or_says_what_size_would_do(
    tmp_path, cases, rounds, wanted, said
):
    def run(answer, *more):
        (tmp_path / "agent.py").write_text(f"def agent(case):\n    return {answer!r}\n", "utf-8")
        command = [sys.executable, "-m", "gate", "run", "--no-color", *more]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout + done.stderr

    (tmp_path / "gate.yml").write_text(SMALL.replace("ROUNDS", str(rounds)), "utf-8")
    rows = "".join(json.dumps(case) + "\n" for case in CASES[:cases])
    (tmp_path / "three.jsonl").write_text(rows, "utf-8")
    run("yes", "--baseline", "none")
    (base,) = (tmp_path / "results").glob("session-*")
    base = base.rename(tmp_path / "base")
    code, told = run("no", "--baseline", str(base))
    assert said in told, told
    assert code == wanted, told
