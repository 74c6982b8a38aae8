"""`gate grade`: recorded answers are judged as a run judges those of an agent."""

import gzip
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from gate.agents.recordings.answers import recording_line
from gate.errors import AgentFailure, InfraFailure
from gate.records import Case, Response
from tests.support.as_process import gate_as_process, start_gate
from tests.support.grading_project import (
    CONFIG,
    answer_to,
    files_without_times,
    write_answers,
    write_grading_project,
)
from tests.support.in_process import run_command, run_session
from tests.support.rule_judge import rule_judge
from tests.support.session_files import details_of, sessions_in, summary_of, wait_for_trials

MANY = 260  # cases: 520 answers are three batches
OWN = """
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True)
class Own:
    keys, needs = {}, ()
    def metrics(self):
        return (MetricSpec(name="correctness.own", column="own", unit="share"),)
    def grade(self, case, response):
        return Score(values={"own": float(response.answer.startswith("There"))})
"""


def grade(folder, *arguments, code=0):
    """`gate grade` in this process; gives its session."""
    done = run_command(folder, "grade", *arguments, code=code)
    return folder / done.stdout.splitlines()[-1].removeprefix("Session written to: ")


def untimed(session):
    return [{**row, "started_at": ""} for row in details_of(session)]


def test_a_recording_is_judged_as_its_replay_is(tmp_path):
    write_grading_project(tmp_path, cases=3)
    cases = [
        Case(id=row["id"], input=row["input"], keys=row)
        for row in map(json.loads, (tmp_path / "cases.jsonl").read_text().splitlines())
    ]
    said = [Response(answer=f"It is {5000 + n}.") for n in range(3)]
    tries = [
        (cases[1], 1, said[1], 20.0),
        (cases[2], 1, AgentFailure("HTTP 500", transport="5xx"), 30.0),
        (cases[0], 1, said[0], 10.0),
        (cases[2], 2, said[2], 33.0),
        (cases[1], 2, said[0], 22.0),
        (cases[0], 2, said[0], 11.0),
    ]
    write_answers(tmp_path / "a.jsonl", [recording_line(*one).encode() for one in tries])
    graded = grade(tmp_path, "a.jsonl")
    done = run_command(tmp_path, "run", "--replay", "a.jsonl", "--concurrency", "1")
    replayed = tmp_path / done.stdout.splitlines()[-1].removeprefix("Session written to: ")
    rows, expected = untimed(graded), untimed(replayed)
    for row in (rows[4], expected[4]):  # a replay does not tell how long a failure took
        assert row.pop("latency_ms") == row["attempts"][0].pop("latency_ms")
    assert rows == expected
    summaries = [summary_of(session)["suites"]["s"] for session in (graded, replayed)]
    assert summaries[0]["metrics"] == summaries[1]["metrics"]


def test_a_replay_in_threads_gives_each_round_its_own_answers_as_grading_does(tmp_path):
    write_grading_project(tmp_path, cases=1)
    row = json.loads((tmp_path / "cases.jsonl").read_text())
    case = Case(id=row["id"], input=row["input"], keys=row)
    tries = [
        (case, 1, InfraFailure("refused"), 1.0),
        (case, 1, Response(answer="There are 5000 of them."), 2.0),
        (case, 2, Response(answer="no idea"), 3.0),
    ]
    write_answers(tmp_path / "a.jsonl", [recording_line(*one).encode() for one in tries])
    graded = grade(tmp_path, "a.jsonl")
    replayed = run_session(tmp_path, "--replay", "a.jsonl", "--concurrency", "4")
    found = [
        [
            (one["round"], len(one["attempts"]), one["scores"]["correctness.fact_accuracy"])
            for one in details_of(session)
        ]
        for session in (graded, replayed)
    ]
    assert sorted(found[1]) == found[0] == [(1, 2, 1.0), (2, 1, 0.0)]


def test_tries_of_one_trial_are_one_row(tmp_path):
    answers = write_grading_project(tmp_path, cases=1)
    refused = {"case_id": "c0", "round": 1, "infra_error": "refused", "latency_ms": 1.5}
    alone = {**refused, "round": 2}
    write_answers(tmp_path / "a.jsonl", [refused, alone, answers[0], alone])
    rows = untimed(grade(tmp_path, "a.jsonl", code=6))
    found = [[(a["status"], a["latency_ms"]) for a in row["attempts"]] for row in rows]
    nobody = ("infra_error", 1.5)
    assert found == [[nobody, ("completed", 100.5)], [nobody, nobody]]


def test_the_last_try_counts_where_any_failure_is_retried(tmp_path):
    config = CONFIG.replace("rounds: 2", "rounds: 2, retry: any_failure")
    answers = write_grading_project(tmp_path, cases=2, config=config)
    wrong = {**answers[1], "answer": "no idea"}
    write_answers(tmp_path / "a.jsonl", [wrong, *answers])
    rows = {(row["case_id"], row["round"]): row for row in untimed(grade(tmp_path, "a.jsonl"))}
    assert [a["passed"] for a in rows["c1", 1]["attempts"]] == [False, True]
    assert rows["c1", 1]["passed"] is True
    assert [a["passed"] for a in rows["c1", 2]["attempts"]] == [True]


def test_the_verdict_has_the_exit_code_of_a_run(tmp_path):
    answers = write_grading_project(tmp_path)
    write_answers(tmp_path / "good.jsonl", answers)
    write_answers(tmp_path / "bad.jsonl", [{**one, "answer": "no"} for one in answers])
    session = grade(tmp_path, "good.jsonl")
    assert summary_of(session)["outcome"] == "no_baseline"
    assert summary_of(session)["suites"]["s"]["metrics"]["agent.success_rate"]["value"] == 2 / 3
    assert summary_of(grade(tmp_path, "bad.jsonl", code=1))["outcome"] == "fail"


def test_answers_are_compared_with_a_baseline(tmp_path):
    answers = write_grading_project(tmp_path, cases=40)
    write_answers(tmp_path / "before.jsonl", answers)
    write_answers(tmp_path / "now.jsonl", [{**one, "answer": "no"} for one in answers])
    (tmp_path / "gate.yml").write_text(CONFIG.replace("gates: {correctness", "gates: {}\n# {"))
    before = grade(tmp_path, "before.jsonl")
    session = grade(tmp_path, "now.jsonl", "--baseline", str(before), code=1)
    compared = {one["metric"]: one["status"] for one in summary_of(session)["comparisons"]}
    assert compared["agent.success_rate"] == "regression"


def test_two_processes_write_what_one_writes(tmp_path):
    answers = write_grading_project(tmp_path, cases=MANY)
    answers[5] = b"{broken"
    answers[300] = {"case_id": "stranger", "answer": "x"}
    answers[301] = {"case_id": "c1", "round": 1, "answer": {"a": 1}, "latency_ms": "late"}
    write_answers(tmp_path / "a.jsonl", answers)
    one, two = (
        files_without_times(grade(tmp_path, "a.jsonl", "--processes", n)) for n in ("1", "2")
    )
    assert one.keys() == two.keys() >= {"events.jsonl", "not_graded.jsonl", "report.html"}
    assert [name for name in one if one[name] != two[name]] == []


@pytest.mark.parametrize("form", ["gz", "zst", "parquet"])
def test_packed_answers_are_graded_alike(tmp_path, form):
    answers = write_grading_project(tmp_path)
    plain = write_answers(tmp_path / "a.jsonl", answers)
    packed = tmp_path / f"a.{form}"
    if form == "gz":
        packed.write_bytes(gzip.compress(plain.read_bytes()))
    elif form == "zst":
        newer = sys.version_info >= (3, 14)
        zstd = pytest.importorskip("compression.zstd" if newer else "backports.zstd")
        packed.write_bytes(zstd.compress(plain.read_bytes()))
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        texts = [{**one, "tool_calls": json.dumps(one["tool_calls"])} for one in answers]
        parquet.write_table(arrow.Table.from_pylist(texts), packed)
    assert untimed(grade(tmp_path, packed.name)) == untimed(grade(tmp_path, "a.jsonl"))


def test_every_line_that_is_not_graded_is_listed_and_counted(tmp_path):
    answers = write_grading_project(tmp_path)
    wrong = [
        b'{"case_id": "c1"',
        b"[1, 2]",
        {"answer": "of nobody"},
        {"case_id": "cx", "answer": "of a stranger"},
        {"case_id": "c2", "round": 1, "answer": "a second time"},
        {"case_id": "c2", "round": 0, "answer": "never"},
        {"case_id": "c2", "round": 2, "suite": "t", "answer": "elsewhere"},
    ]
    write_answers(tmp_path / "a.jsonl", [*answers, *wrong])
    session = grade(tmp_path, "a.jsonl")
    listed = [json.loads(one) for one in (session / "not_graded.jsonl").read_text().splitlines()]
    assert [(one["line"], one["kind"]) for one in listed] == [
        (13, "unreadable"),
        (14, "unreadable"),
        (15, "unreadable"),
        (16, "unknown"),
        (17, "duplicate"),
        (18, "unreadable"),
        (19, "unknown"),
    ]
    assert {one["file"] for one in listed} == {"a.jsonl"}
    notes = " ".join(summary_of(session)["notes"])
    assert "4 lines of the recorded answers cannot be read" in notes
    assert "a.jsonl:13: not JSON" in notes
    assert "a.jsonl:16: the case 'cx' is not in the dataset of s" in notes
    assert "a.jsonl:17: the case 'c2' has an answer of round 1 before this line" in notes
    assert summary_of(session)["suites"]["s"]["trials"] == 12


def test_missing_answers_are_told(tmp_path):
    answers = write_grading_project(tmp_path)
    write_answers(tmp_path / "a.jsonl", answers[:-2])
    session = grade(tmp_path, "a.jsonl")
    assert any(
        "2 of 12 answers are missing: some planned trials were not run" in note
        for note in summary_of(session)["notes"]
    )


def test_more_rounds_of_one_case_do_not_stand_in_for_another_case(tmp_path):
    answers = write_grading_project(tmp_path, cases=3)
    more = [{**answers[1], "round": number} for number in (3, 4, 5)]
    write_answers(tmp_path / "a.jsonl", [answers[1], answers[4], *more, answers[2], answers[5]])
    summary = summary_of(grade(tmp_path, "a.jsonl"))
    suite = summary["suites"]["s"]
    assert summary["reason"].endswith("; 7 calls, 1 more than planned")
    assert (suite["trials"], suite["not_run"]) == (7, 2)


def test_files_without_any_answer_are_an_error(tmp_path):
    write_grading_project(tmp_path)
    write_answers(tmp_path / "a.jsonl", [{"case_id": "cx", "answer": "x"}, b"nonsense"])
    (tmp_path / "empty.jsonl").write_text("")
    done = run_command(tmp_path, "grade", "a.jsonl", code=2)
    assert "2 lines, but no answer to a case that is graded" in done.stderr
    assert "a.jsonl:1: the case 'cx'" in done.stderr
    assert "a.jsonl:2: not JSON" in done.stderr
    done = run_command(tmp_path, "grade", "empty.jsonl", code=2)
    assert "empty.jsonl: has no recorded answer" in done.stderr
    done = run_command(tmp_path, "grade", "missing.jsonl", code=2)
    assert "missing.jsonl: No such file" in done.stderr
    assert sessions_in(tmp_path) == []


def test_graders_of_the_users_code_are_called_from_one_process(tmp_path):
    answers = write_grading_project(
        tmp_path, config=CONFIG.replace("graders: [", 'graders: ["./own.py:Own", ')
    )
    (tmp_path / "own.py").write_text(OWN)
    write_answers(tmp_path / "a.jsonl", answers)
    session = grade(tmp_path, "a.jsonl")
    assert summary_of(session)["suites"]["s"]["metrics"]["correctness.own"]["value"] == 1.0


def test_own_code_that_ends_its_process_each_time_is_an_error(tmp_path):
    answers = write_grading_project(
        tmp_path, config=CONFIG.replace("graders: [", 'graders: ["./own.py:Own", ')
    )
    (tmp_path / "own.py").write_text(
        OWN.replace("        return Score", "        import os; os._exit(3)\n        return Score")
    )
    write_answers(tmp_path / "a.jsonl", answers)
    done = run_command(tmp_path, "grade", "a.jsonl", code=6)
    assert summary_of(sessions_in(tmp_path)[0])["outcome"] == "error", done.stdout


def test_graders_that_ask_a_model_ask_it(tmp_path):
    config = CONFIG.replace("tool_calls]", "{judge: {rubric: answer}}]")
    with rule_judge() as judge:
        model = f'judge: {{type: openai, base_url: "{judge.url}", model: rules}}\nsuites:'
        answers = write_grading_project(tmp_path, config=config.replace("suites:", model))
        write_answers(tmp_path / "a.jsonl", [{**one, "context": "5001"} for one in answers])
        session = grade(tmp_path, "a.jsonl", "--processes", "2")
    rows = untimed(session)
    scores = {row["case_id"]: row["scores"]["correctness.faithfulness"] for row in rows}
    assert scores["c1"] == 5.0
    assert scores["c2"] == 1.0
    assert summary_of(session)["suites"]["s"]["trials"] == 12


def test_secrets_stay_out_of_the_session(tmp_path):
    config = CONFIG.replace('9"}', '9", api_key_env: MY_KEY}')
    answers = write_grading_project(tmp_path, cases=MANY, config=config)
    answers[519]["answer"] += " The key is hunter2-hunter2."
    write_answers(tmp_path / "a.jsonl", answers)
    done = gate_as_process(tmp_path, "grade", "a.jsonl", env={"MY_KEY": "hunter2-hunter2"})
    assert done.returncode == 0, done.stderr
    for path in sessions_in(tmp_path)[0].rglob("*.*"):
        assert b"hunter2" not in path.read_bytes()


# ------------------------------------------------------------------------- interrupted and killed


@pytest.fixture(scope="module")
def long_project(tmp_path_factory):
    """A project that takes more than a second, and the rows of its undisturbed session."""
    folder = tmp_path_factory.mktemp("long")
    answers = write_grading_project(folder, cases=1500)
    filler = " The team looked at the figures again." * 20
    write_answers(folder / "a.jsonl", [{**a, "answer": a["answer"] + filler} for a in answers])
    return folder, untimed(grade(folder, "a.jsonl", "--out", "whole", "--quiet"))


@pytest.fixture
def under_way(long_project):
    """The same while it runs, with its first trials; its process ends with the test."""
    folder = long_project[0]
    shutil.rmtree(folder / "results", ignore_errors=True)
    running = start_gate(folder, "grade", "a.jsonl", "--processes", "2", "--quiet")
    try:
        yield running, wait_for_trials(folder, 200)
    finally:
        running.kill()
        if not running.stdout.closed:
            running.communicate()


def resume(folder, session):
    done = gate_as_process(folder, "grade", "a.jsonl", "--resume", str(session), "--quiet")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_it_and_it_goes_on(under_way, long_project):
    (running, session), (folder, whole) = under_way, long_project
    begun = time.monotonic()
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=20)[0]
    assert time.monotonic() - begun < 5
    assert running.returncode == 130, said
    assert f"--resume results/{session.name}" in said
    assert not (session / "details.jsonl").exists()
    resume(folder, session)
    assert untimed(session) == whole


def test_a_killed_one_goes_on(under_way, long_project):
    (running, session), (folder, whole) = under_way, long_project
    running.kill()
    running.communicate()
    resume(folder, session)
    assert untimed(session) == whole


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find processes")
def test_a_killed_worker_loses_nothing(under_way, long_project):
    (running, session), (_, whole) = under_way, long_project
    tasks = Path(f"/proc/{running.pid}/task")
    workers = {
        int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()
    }
    assert len(workers) == 2
    os.kill(min(workers), signal.SIGKILL)
    said = running.communicate(timeout=100)[0]
    assert running.returncode == 0, said
    assert untimed(session) == whole


def test_only_its_own_files_go_on(tmp_path):
    answers = write_grading_project(tmp_path)
    write_answers(tmp_path / "a.jsonl", answers[:6])
    session = str(grade(tmp_path, "a.jsonl"))
    write_answers(tmp_path / "b.jsonl", [answer_to(5, 1)])
    done = run_command(tmp_path, "grade", "b.jsonl", "--resume", session, code=2)
    assert "b.jsonl: it begins with other answers than when the session" in done.stderr
    done = run_command(tmp_path, "run", "--resume", session, code=2)
    assert "`gate grade` began it; continue with `gate grade`" in done.stderr
    write_answers(tmp_path / "a.jsonl", answers)  # it has grown
    grade(tmp_path, "a.jsonl", "--resume", session)
    assert len(details_of(Path(session))) == 12


def test_a_file_that_is_cut_off_is_told_and_goes_on_when_it_is_whole(tmp_path):
    answers = write_grading_project(tmp_path, cases=MANY)
    data = gzip.compress(write_answers(tmp_path / "a.jsonl", answers).read_bytes())
    (tmp_path / "a.gz").write_bytes(data[: len(data) // 2])
    done = run_command(tmp_path, "grade", "a.gz", code=2)
    assert "a.gz: cannot be read after line" in done.stderr
    session = sessions_in(tmp_path)[0]
    assert f"--resume results/{session.name}" in done.stderr
    (tmp_path / "a.gz").write_bytes(data)
    grade(tmp_path, "a.gz", "--resume", str(session))
    assert untimed(session) == untimed(grade(tmp_path, "a.jsonl"))
