"""The control's session inside the run's own: what is asked, kept, gone on with and joined."""

import json

import pytest

from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.errors import UsageError
from gate.run.control_agent import Control
from gate.run.control_session import control_of_shards
from gate.run.execute import execute
from gate.run.options import Host
from gate.run.resume import OtherSession
from gate.store.session import CONTROL, load_session
from tests.support.stored_session import store

AGENTS = """
from gate.errors import InfraFailure
price = {"cost_usd": 0.01}
def new(case):
    return {"answer": "no" if "hard" in case["input"] else "yes", "usage": price}
def old(case):
    return {"answer": "yes", "usage": price}
def away(case):
    if case["input"] < "q 3":
        raise InfraFailure("nobody there")
    return {"answer": "yes"}
"""
CONFIG = """version: 1
agent: {type: python, callable: "./agents.py:new", concurrency: 1}
control_agent: {type: python, callable: "./agents.py:CONTROL", concurrency: 1}
suites: [{name: s, dataset: s.jsonl, graders: [exact_match], rounds: 2, max_attempts: 1}]
regression: {control: fresh, stop: off}
protect: false
MORE
"""


def write(folder, *, control="old", more="", hard=0):
    (folder / "agents.py").write_text(AGENTS)
    (folder / "gate.yml").write_text(CONFIG.replace("CONTROL", control).replace("MORE", more))
    rows = [
        {"id": f"c{n}", "input": f"q {n}{' hard' * (n < hard)}", "expected_answer": "yes"}
        for n in range(12)
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def run(tmp_path):
    """`gate run` in this process: its report and its session."""

    def go(*arguments):
        given = ["run", "--quiet", "--config", str(tmp_path / "gate.yml"), "--out", str(tmp_path)]
        options = parse([*given, *arguments])
        done = execute(run_options(options), Host(env={}))
        return done.report, load_session(done.session_dir)

    return go


def keys(session):
    return sorted((row["case_id"], row["round"]) for row in session.rows())


def test_the_controls_session_says_what_was_asked_and_has_no_verdict(tmp_path, run):
    write(tmp_path, hard=8)
    report, session = run()
    assert (report.outcome, report.baseline.source) == ("fail", "control")
    assert report.baseline.detail == "python ./agents.py:old"
    assert report.baseline.fingerprint_diff == (
        "agent: python ./agents.py:old -> python ./agents.py:new",
        "agent options",
    )
    control = session.control()
    assert control.report is None
    assert (control.meta.provenance.agent, control.meta.suites["s"].cases) == (
        "python ./agents.py:old",
        12,
    )
    assert keys(control) == keys(session)
    assert {row["passed"] for row in control.rows()} == {True}
    assert control.control() is None


def test_calls_cost_and_budget_count_both(tmp_path, run):
    write(tmp_path)
    report, _ = run()
    assert (report.calls.planned, report.calls.made, report.calls.saved) == (48, 48, 0)
    assert (report.cost.usd, report.cost.control_usd) == pytest.approx((0.48, 0.24))
    assert report.suites["s"].trials == 24
    write(tmp_path, more="budget: {calls: 10}")
    report, session = run()
    assert (len(keys(session)), len(keys(session.control()))) == (5, 5)
    assert report.outcome == "inconclusive"


def test_a_control_that_leaves_a_fifth_of_its_calls_unanswered_is_an_error(tmp_path, run):
    write(tmp_path, control="away")
    report, _ = run()
    assert (report.outcome, report.exit_code) == ("error", 6)
    assert "42 % of the control agent's calls ended in infrastructure errors" in report.reason


def test_a_session_is_gone_on_with_by_the_same_two_agents_only(tmp_path, run):
    write(tmp_path, more="budget: {calls: 10}")
    _, begun = run()
    resume = ("--resume", str(begun.folder))
    with pytest.raises(OtherSession, match="the session also called a control agent"):
        run(*resume, "--baseline", "none")
    write(tmp_path, control="away")
    with pytest.raises(OtherSession, match="the control agent has changed"):
        run(*resume)
    write(tmp_path)
    report, session = run(*resume)
    assert session.folder == begun.folder
    assert report.outcome == "pass"
    assert len(keys(session)) == len(set(keys(session))) == len(keys(session.control())) == 24


def test_a_session_without_a_control_gets_none_later(tmp_path, run):
    write(tmp_path)
    _, begun = run("--baseline", "none")
    assert begun.control() is None
    with pytest.raises(OtherSession, match="did not call a control agent"):
        run("--resume", str(begun.folder))


def test_without_any_control_nothing_is_begun(tmp_path, run):
    write(tmp_path)
    config = tmp_path / "gate.yml"
    config.write_text(config.read_text().replace("control_agent:", "# control_agent:"))
    before = set(tmp_path.iterdir())
    with pytest.raises(UsageError, match="or use control: stored"):
        run()
    assert set(tmp_path.iterdir()) == before


def test_shards_have_all_asked_a_control_or_none(tmp_path):
    plain = load_session(store(tmp_path / "1", {"a": [True]}))
    beside = load_session(store(tmp_path / "2", {"b": [True]}))
    store(tmp_path / "3", {"b": [True]}).rename(beside.folder / CONTROL)
    assert control_of_shards([], None) is None
    assert control_of_shards([plain], None) == Control()
    assert control_of_shards([beside], "auto") == Control(fresh=True)
    assert control_of_shards([beside], "repo") == Control(), "asked for by name"
    with pytest.raises(UsageError, match="merge shards of one run"):
        control_of_shards([plain, beside], None)
