"""`gate run --case` and `--failed`: what the agent answers to some cases, and nothing more."""

import json
import re
import shlex

import pytest

from tests.support.chat_server import ChatServer
from tests.support.in_process import gate, output_of, run_command, run_session, save_baseline
from tests.support.session_files import details_of, summary_of
from tests.support.yes_project import right, write_project, wrong_on


@pytest.fixture
def measured(tmp_path):
    """A project with a baseline in which all is well; gives it with a way to make an agent."""
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none", "--stop", "off"))
    return tmp_path


def against(folder, answers, *arguments, **more):
    with ChatServer(answers) as server:
        write_project(folder, server.url, **more)
        return gate(folder, "run", *arguments)


def test_the_command_that_a_failed_run_prints_shows_the_case(measured):
    failed = against(measured, wrong_on(*range(8)), "--baseline", "baselines", "--stop", "off")
    assert failed.returncode == 1
    after = failed.stdout.partition("FAIL  ")[2]
    assert after.count("\n    asked ") == 3, "the worst three"
    case = ["asked     q0", "expected  yes", "before    yes", "now       no"]
    case += ["why       wrong answer: expected 'yes', got 'no'"]
    assert "\n    ".join(case) in after
    typed = re.search(r"Next: (gate run .*?--case \S+)", after)[1]
    assert shlex.split(typed) == ["gate", "run", "--suite", "s", "--case", "c0"]

    shown = against(measured, wrong_on(0), *shlex.split(typed)[2:])
    assert shown.returncode == 1
    for told in ("s: c0: 0 of 2 rounds passed", "question: q0", "expected_answer: yes"):
        assert told in shown.stdout
    assert "round 2: failed" in shown.stdout
    assert "answer: no" in shown.stdout
    assert "failed by exact_match: expected 'yes', got 'no'" in shown.stdout
    assert "scores: correctness.exact_match 0.00" in shown.stdout
    for told in ("NOT COMPARABLE", "Not comparable", "accept", "baseline"):
        assert told not in shown.stdout
    assert shown.stdout.splitlines()[-2] == "0 of 1 case passed every round; nothing was compared."


def test_a_mended_case_ends_with_0_and_an_agent_that_is_down_with_6(measured):
    assert against(measured, right, "--case", "c0", "--case", "c1").returncode == 0
    down = gate(measured, "run", "--case", "c0")
    assert down.returncode == 6
    assert "the agent cannot be reached" in down.stdout


def test_the_failing_cases_of_the_latest_whole_run_are_asked_again(measured):
    options = ("--baseline", "baselines", "--stop", "off")
    against(measured, wrong_on(2, 5), *options)
    assert against(measured, right, "--case", "c9").returncode == 0
    with ChatServer(wrong_on(5)) as server:
        write_project(measured, server.url)
        shown = gate(measured, "run", "--failed")
        assert server.asked == {"q2": 2, "q5": 2}
    assert shown.returncode == 1
    assert "1 of 2 cases passed every round" in shown.stdout


def test_a_session_without_failing_cases_asks_nobody(measured):
    shown = gate(measured, "run", "--failed")
    assert (shown.returncode, shown.stdout) == (
        0,
        "No case of that session failed, so none was run.\n",
    )
    told = json.loads(output_of(measured, "run", "--failed", "--format", "json"))
    assert told["cases"] == []


def test_cases_of_other_suites_have_to_be_named(measured):
    against(measured, wrong_on(2), "--baseline", "none")
    rules = (measured / "gate.yml").read_text("utf-8")
    (measured / "gate.yml").write_text(rules.replace("name: s", "name: other"), "utf-8")
    told = gate(measured, "run", "--failed")
    assert told.returncode == 2
    assert "none of its 1 failing case (suites s)" in told.stderr


@pytest.mark.parametrize(
    "option",
    [
        ("--baseline", "auto"),
        ("--sample", "2"),
        ("--shard", "1/2"),
        ("--stop", "off"),
        ("--failed",),
    ],
    ids=lambda option: option[0],
)
def test_what_belongs_to_a_measurement_is_refused(measured, option):
    told = gate(measured, "run", "--case", "c1", *option)
    assert told.returncode == 2
    assert option[0] in told.stderr
    assert not list(measured.glob("results/*/events.jsonl"))[1:], "nothing was begun"


def test_an_unknown_case_is_refused_with_the_nearest_names(measured):
    told = gate(measured, "run", "--case", "c111")
    assert told.returncode == 2
    assert "--case c111: no such case in the chosen suites - did you mean c11" in told.stderr


def test_the_session_is_no_measurement(measured):
    whole = against(measured, right, "--baseline", "none").stdout.splitlines()[-1].split(": ")[1]
    shown = against(measured, right, "--case", "c0")
    session = shown.stdout.splitlines()[-1].removeprefix("Session written to: ")
    assert not (measured / session / "summary.json").exists()
    for refused in (
        ("baseline", "save", session),
        ("merge", session, "--out", "joined"),
        ("report", session),
        ("export", session, "--format", "csv"),
        ("compare", session, session),
        ("calibrate", session, session),
        ("run", "--failed", session),
        ("run", "--baseline", session),
    ):
        told = gate(measured, *refused)
        assert (told.returncode, "a run of single cases" in told.stderr) == (2, True), refused
    assert output_of(measured, "report", "latest").startswith(whole)
    assert session not in gate(measured, "history", "results").stderr
    told = run_command(measured, "run", "--resume", session, code=2)
    assert "resume it with its own options" in told.stderr


def test_a_run_of_cases_goes_on_with_its_own_options(measured):
    session = run_session_of(against(measured, wrong_on(3), "--case", "c3"), measured)
    again = gate(measured, "run", "--case", "c3", "--resume", str(session))
    assert again.returncode == 6, "nobody is there, and the answers that are kept are shown"
    assert "answer: no" in again.stdout


def run_session_of(done, folder):
    return folder / done.stdout.splitlines()[-1].removeprefix("Session written to: ")


def test_a_hostile_answer_is_escaped_and_a_long_one_cut_with_a_mark(measured):
    answer = "\x1b[2J::error::x\n##[group]y\n" + "word " * 2000

    shown = against(measured, lambda question, nth: answer, "--case", "c0")
    assert "\x1b" not in shown.stdout
    assert not [line for line in shown.stdout.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in shown.stdout
    assert "more characters in details.jsonl" in shown.stdout
    (one, _) = details_of(run_session_of(shown, measured))
    assert len(one["output"]) > 9_000, "where the whole stands"


def test_the_same_as_data(measured):
    shown = against(measured, wrong_on(0), "--case", "c0", "--format", "json")
    told = json.loads(shown.stdout)
    (case,) = told["cases"]
    assert (told["exit_code"], case["question"]) == (1, "q0")
    assert case["expected"] == {"expected_answer": "yes"}
    assert [one["answer"] for one in case["rounds"]] == ["no", "no"]
    assert case["rounds"][0]["failed_by"] == ["exact_match"]


def test_steps_of_the_agent_are_shown(tmp_path):
    run_command(tmp_path, "init")
    cases = (tmp_path / "datasets").glob("*.jsonl")
    first = json.loads(next(iter(cases)).read_text("utf-8").splitlines()[0])
    shown = gate(tmp_path, "run", "--case", first["id"])
    assert shown.returncode in (0, 1), shown.stderr
    assert "steps:\n      1. " in shown.stdout


def test_a_summary_of_a_whole_run_names_the_command(measured):
    whole = against(measured, wrong_on(*range(8)), "--baseline", "baselines", "--stop", "off")
    report = summary_of(run_session_of(whole, measured))
    assert report["reproduce"] == "gate run --suite s --case c0"


def test_after_an_outage_the_printed_command_continues_the_session(tmp_path):
    (tmp_path / "other").mkdir()
    write_project(tmp_path / "other", "http://127.0.0.1:9")
    told = gate(tmp_path, "run", "--config", "other/gate.yml", "--baseline", "none").stdout
    session = told.splitlines()[-1].removeprefix("Session written to: ")
    command = f"gate run --config other/gate.yml --baseline none --resume {session}"
    assert f"continue where it stopped: {command}\n" in told
    with ChatServer(lambda question, nth: "yes") as server:
        write_project(tmp_path / "other", server.url)
        again = gate(tmp_path, *command.split()[1:])
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == f"Session written to: {session}"


def test_the_printed_command_names_the_config_as_it_was_typed(tmp_path):
    (tmp_path / "other").mkdir()
    with ChatServer(lambda question, nth: "no") as server:
        write_project(tmp_path / "other", server.url)
        told = gate(tmp_path, "run", "--config", "other/gate.yml", "--baseline", "none").stdout
        command = next(line for line in told.splitlines() if line.startswith("Next: gate run "))
        shown = gate(tmp_path, *command.removeprefix("Next: gate ").split())
    assert " --config other/gate.yml " in command
    assert shown.returncode == 1
    assert "question" in shown.stdout or "asked" in shown.stdout
