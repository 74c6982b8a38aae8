"""`gate calibrate` through the parser: where the rounds come from, what is printed, exit codes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gate.commands import calibrate
from gate.commands.options.all import parse
from gate.errors import UsageError
from gate.system.signals import Stop
from tests.support.stored_session import store

CONFIG = """\
version: 1
agent: {type: sample}
suites: [{name: analytics, dataset: cases.jsonl, graders: [exact_match], rounds: 2}]
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder has a gate.yml with 20 cases."""
    rows = ({"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(20))
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "gate.yml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def session(work: Path, number: int, *, rounds: int = 4, suite: str = "analytics", **made) -> str:
    """Half of the cases are coin flips."""
    rng = random.Random(number)
    passed = {
        f"c{n}": [bool(n % 2) or rng.random() < 0.5 for _ in range(rounds)] for n in range(20)
    }
    return str(store(work / "sessions", passed, number=number, suite=suite, **made))


def gate(*arguments: str) -> int:
    options = parse(["calibrate", *arguments])
    options.stop = Stop()
    return calibrate.run(options, {})


def printed(capsys: pytest.CaptureFixture[str], *arguments: str):
    assert gate(*arguments, "--reps", "20", "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_sessions_are_dealt_out_by_the_rules_of_gate_yml(work, capsys):
    found = printed(capsys, session(work, 1), session(work, 2), session(work, 3))
    shape = found["shapes"][0]
    assert (shape["recorded"], shape["runs"], shape["planned"]) == (12, 3, 2)
    assert (shape["baseline"], shape["at_most"], shape["drawn"]) == (12, 4, True)
    assert found["splits"]["blocked"]["of"] == 20
    judged = [run["run"] for run in found["by_run"]["runs"]]
    assert judged == [f"20261119-12000{n}-0123abcd" for n in (1, 2, 3)]


def test_the_same_seed_prints_the_same_bytes(work, capsys):
    one, shown = session(work, 1, rounds=6), []
    for form in ("text", "text", "markdown", "markdown"):
        assert gate(one, "--reps", "10", "--seed", "3", "--format", form) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != shown[2] == shown[3]
    assert "(seed 3)" in " ".join(shown[0].split())  # wrapped after the length of the path
    assert "### Run against run" in shown[2]


def test_a_baseline_is_found_as_a_run_finds_it_and_a_session_in_it_counts_once(work, capsys):
    one, two = session(work, 1), session(work, 2)
    assert printed(capsys, "--baseline", one)["shapes"][0]["recorded"] == 4
    both = printed(capsys, one, two, "--baseline", one)["shapes"][0]
    assert (both["recorded"], both["runs"]) == (8, 2)


def test_without_any_recording_it_says_what_to_give(work):
    with pytest.raises(UsageError, match=r"there is no baseline.*give sessions.*with --runs N"):
        gate("--reps", "5")


def test_suites_are_chosen_by_name(work, capsys):
    sessions = session(work, 1), session(work, 2, suite="other")
    assert len(printed(capsys, *sessions)["shapes"]) == 2
    only = printed(capsys, *sessions, "--suite", "other")["shapes"]
    assert [shape["suite"] for shape in only] == ["other"]
    with pytest.raises(UsageError, match="--suite ohter: not in these sessions - did you mean"):
        gate(*sessions, "--suite", "ohter")


def test_a_suite_that_gate_yml_does_not_know_has_the_rounds_of_its_session(work, capsys):
    shape = printed(capsys, session(work, 1, suite="other", rounds=8))["shapes"][0]
    assert (shape["planned"], shape["at_most"]) == (8, 16)
    more = printed(capsys, session(work, 2, suite="other", rounds=8), "--rounds", "2")["shapes"][0]
    assert (more["planned"], more["at_most"]) == (2, 4)


def test_quarantined_cases_are_left_out(work, capsys):
    entry = "quarantine: [{case: c0, owner: a, until: 2999-01-01}]\n"
    (work / "gate.yml").write_text(CONFIG + entry)
    assert printed(capsys, session(work, 1))["shapes"][0]["cases"] == 19


def test_runs_of_different_agents_are_no_a_a(work, capsys):
    found = printed(capsys, session(work, 1), session(work, 2, agent="openai other"))
    assert (
        "made with other settings than the one before it: agent: openai m -> openai other"
        in found["notes"][0]
    )


@pytest.mark.parametrize(("most", "code"), [("0.1%", 1), ("0.001", 1), ("90%", 0), ("1", 0)])
def test_max_fails_where_more_are_surely_blocked(work, most, code):
    rules = "regression: {alpha: 0.4, tolerance: 0, stop: 'off'}\n"
    (work / "gate.yml").write_text(CONFIG + rules)
    assert gate(session(work, 1, rounds=8), "--reps", "60", "--max", most) == code


@pytest.mark.parametrize("rate", ["2", "-1", "often", "nan", "101%"])
def test_max_is_a_rate(rate, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(["calibrate", "--max", rate])
    assert caught.value.code == 2
    assert "is not a rate from 0 to 1" in capsys.readouterr().err


def test_calls_beyond_the_budget_are_refused_before_the_first(work):
    (work / "gate.yml").write_text(CONFIG + "budget: {calls: 100}\n")
    with pytest.raises(UsageError, match="--runs 3: 120 calls, and budget"):
        gate("--runs", "3")
    assert not (work / "results").exists()
