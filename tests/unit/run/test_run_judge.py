"""What is made of the collected trials: notes, outcome, exit code and files."""

import json
from dataclasses import replace

import pytest

from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.plugins import World
from gate.run.judge import judge
from gate.run.options import Host, RunOptions
from gate.run.pipeline import Effects, measure
from gate.run.setup import set_up
from gate.store.session import Meta, SessionWriter, load_session

AGENT = """
def agent(case):
    if "down" in case["input"]:
        raise ConnectionRefusedError("down")
    return "no" if "wrong" in case["input"] else "yes"
"""
CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:agent"}
suites:
  - {name: s, dataset: s.jsonl, graders: [exact_match], rounds: 2}
  - {name: t, dataset: t.jsonl, graders: [exact_match, {contains: {text: yes}}], rounds: 1}
MORE
"""


def write(folder, *, s=("",) * 8, more=""):
    """Two suites; `s` holds the word that is in the question of each case of the first."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "gate.yml").write_text(CONFIG.replace("MORE", more).replace("yes}}", '"yes"}}'))
    for name, words in (("s", s), ("t", ("",) * 8)):
        rows = [
            {"id": f"{name}{n}", "input": f"{word} {n}", "expected_answer": "yes"}
            for n, word in enumerate(words)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def judged(tmp_path):
    """Runs everything in this process and gives the outcome of `judge`."""

    def go(*arguments, env=None, ask=True, unreachable="", ended_early="", settled=()):
        options = parse(["run", "--config", str(tmp_path / "gate.yml"), *arguments])
        host = Host(env=env or {})
        setup = set_up(run_options(options), host)
        meta = Meta(
            session_id="20261120-120000-0123abcd",
            created_at="2026-11-20T12:00:00Z",
            provenance=setup.provenance,
            suites={plan.name: plan.meta() for plan in setup.plans},
        )
        world = World(env={}, root=tmp_path)
        with SessionWriter.create(tmp_path / "out", meta, lambda text: text) as session:
            effects = Effects(
                world=world, session=session, stop=host.stop, progress=lambda row: None
            )
            agent = setup.agent if ask else None
            found = measure(
                setup.plans, agent, effects, budget=setup.place.config.budget, prices={}
            )
            session.write_details()
            if ended_early:
                found = replace(found, ended_early=ended_early)
            ended = dict.fromkeys(settled, "every blocking metric of it is settled")
            found = replace(found, course=replace(found.course, ended=ended))
            return judge(setup, session, found, unreachable)

    return go


def test_everything_is_written_and_read_back(tmp_path, judged):
    write(tmp_path)
    outcome = judged("--baseline", "none")
    assert outcome.report.outcome == "no_baseline"
    assert {suite.trials for suite in outcome.report.suites.values()} == {16, 8}
    session = load_session(outcome.session_dir)
    assert session.report == outcome.report
    names = {path.name for path in outcome.session_dir.iterdir()}
    assert {"summary.json", "details.jsonl", "report.md", "report.html", "comment.md"} <= names
    words = outcome.words(RunOptions(), {})
    assert words[-1] == f"Session written to: {outcome.session_dir}"


def test_what_stands_in_a_file_of_the_session_does_not_change_the_verdict(tmp_path, judged):
    """Code of the agent may still run when it is written, and write over it."""
    write(tmp_path, s=("wrong",) * 8, more="gates: {agent.success_rate: {min: 0.9}}")
    lying = "import os, pathlib\n" + AGENT.replace(
        "    if ",
        "    for folder in pathlib.Path(__file__).parent.glob('out/session-*'):\n"
        "        if not (folder / 'summary.json').exists():\n"
        "            os.symlink('/dev/null', folder / 'summary.json')\n"
        "    if ",
        1,
    )
    (tmp_path / "agent.py").write_text(lying)
    outcome = judged("--baseline", "none")
    written = json.loads((outcome.session_dir / "summary.json").read_text())
    assert (written["outcome"], written["exit_code"]) == ("fail", 1), "its link was taken away"
    assert (outcome.report.outcome, outcome.report.exit_code) == ("fail", 1)


def test_on_a_laptop_without_a_repository_nobody_asks_whose_rules_judge(tmp_path, judged):
    write(tmp_path)
    notes = judged("--baseline", "none").report.notes
    assert not any("own rules" in note for note in notes)


def test_notes_are_told_once_and_say_why_the_run_ended(tmp_path, judged):
    write(tmp_path)
    ended = "the budget of 3 calls is used up"
    report = judged("--baseline", "none", ended_early=ended, env={"CI": "true"}).report
    assert "the budget of 3 calls is used up: some planned trials were not run" in report.notes
    assert any(note.startswith("judged by its own rules:") for note in report.notes)
    assert len(set(report.notes)) == len(report.notes)


@pytest.mark.parametrize(
    ("settled", "not_run", "outcome"), [(("s",), 0, "pass"), ((), 10, "inconclusive")]
)
def test_a_budget_takes_nothing_from_a_suite_that_was_settled(
    tmp_path, judged, settled, not_run, outcome
):
    """It asked six of its eight cases; the budget then ended the other suite."""
    write(tmp_path)
    judged("--baseline", "none").session_dir.rename(tmp_path / "base")
    write(tmp_path, more="budget: {calls: 6}")
    report = judged("--baseline", str(tmp_path / "base"), settled=settled).report
    suite = report.suites["s"]
    assert (suite.trials, suite.not_run, suite.outcome) == (6, not_run, outcome)
    assert report.calls.saved == 0
    assert report.suites["t"].not_run == 8


def test_an_agent_out_of_reach_is_an_error_and_all_cases_are_unasked(tmp_path, judged):
    write(tmp_path)
    report = judged("--baseline", "none", ask=False, unreachable="refused: start it").report
    assert (report.outcome, report.exit_code) == ("error", 6)
    assert report.suites["s"].not_run == 16
    assert "start it" in report.reason


GATES = "gates: {agent.success_rate: {min: 0.9, rule: point}}"


def test_a_shard_decides_nothing(tmp_path, judged):
    write(tmp_path, s=("wrong",) * 8, more=GATES)
    assert judged("--baseline", "none", "--out", "a").report.exit_code == 1
    (tmp_path / "out" / "session-20261120-120000-0123abcd").rename(tmp_path / "first")
    report = judged("--baseline", "none", "--shard", "1/2").report
    assert (report.outcome, report.exit_code) == ("fail", 0)
    assert report.notes[0] == (
        "shard 1/2: only a part of the cases; join the shards with `gate merge` for a verdict"
    )


def test_a_shard_that_could_not_be_measured_still_fails_its_job(tmp_path, judged):
    write(tmp_path)
    report = judged("--baseline", "none", "--shard", "1/2", ask=False, unreachable="gone").report
    assert (report.outcome, report.exit_code) == ("error", 6)


def test_gates_on_suites_that_were_left_out_wait_for_them(tmp_path, judged):
    write(tmp_path, more="gates: {correctness.contains: {min: 0.5}}")
    report = judged("--suite", "s", "--baseline", "none").report
    assert report.gates == ()
    assert report.outcome == "no_baseline"


def test_the_action_names_its_comment(tmp_path, judged):
    write(tmp_path)
    env = {"INPUT_COMMENT-ID": "nightly"}
    assert judged("--baseline", "none", env=env).report.comment_id == "nightly"


def test_the_page_has_the_address_of_this_run(tmp_path, judged):
    write(
        tmp_path, s=("wrong",) * 8, more='report: {url: "https://o.github.io/${RUN}/report.html"}'
    )
    outcome = judged("--baseline", "none", env={"RUN": "8123"})
    page = "https://o.github.io/8123/report.html"
    assert outcome.report.page_url == page
    comment = (outcome.session_dir / "comment.md").read_text("utf-8")
    assert f"[`s0`]({page}#case=s%2Fs0)" in comment
    assert f"3 more in the [report]({page})." in comment
    assert load_session(outcome.session_dir).report.page_url == page


def test_on_a_laptop_the_page_has_no_address(tmp_path, judged):
    write(tmp_path, more='report: {url: "https://o.github.io/${RUN}/report.html"}')
    assert judged("--baseline", "none").report.page_url == ""


def test_cases_that_were_not_chosen_are_no_loss(tmp_path, judged):
    write(tmp_path)
    first = judged("--baseline", "none")
    first.session_dir.rename(tmp_path / "base")
    base = str(tmp_path / "base")
    report = judged("--baseline", base, "--sample", "6").report
    assert report.outcome == "inconclusive"  # of the suite with one round; the other has two
    assert report.suites["s"].outcome == "pass"
    assert report.reason == (
        "t: `agent.success_rate`: no result of 6 cases with 1 round each could be "
        "distinguished from chance; 2 rounds, or 7 cases could"
    )
    assert report.cases.removed == ()
    assert report.suites["s"].not_selected == 2
    paired = {c.n_paired for c in report.comparisons if c.suite == "s" and "pass" not in c.metric}
    assert paired == {6}
