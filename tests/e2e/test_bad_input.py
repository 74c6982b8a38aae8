"""Every row of the table of bad input: the exit code, what is said, and that nothing is lost."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.as_process import gate_as_process, start_gate
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.session_files import sessions_in, trials_in, wait_for_trials
from tests.support.yes_project import CASES, right, write_project


def test_agent_not_running_is_6_and_says_what_to_start(tmp_path):
    write_project(tmp_path, "http://127.0.0.1:9")
    done = gate(tmp_path, "run", "--baseline", "none")
    assert done.returncode == 6, done.stderr + done.stdout
    said = done.stderr + done.stdout
    assert "127.0.0.1:9" in said
    assert "start" in said
    summary = json.loads((sessions_in(tmp_path)[0] / "summary.json").read_text("utf-8"))
    assert summary["outcome"] == "error"


@pytest.mark.parametrize("share", ["half", "all"])
def test_many_infrastructure_errors_are_6_and_keep_the_rest(tmp_path, share):
    def reply(question, nth):
        if share == "all" or int(question[1:]) % 2:
            return 503, {}, {"error": {"message": "overloaded"}}
        return "yes"

    with ChatServer(reply) as server:
        write_project(tmp_path, server.url)
        done = gate(tmp_path, "run", "--baseline", "none")
    assert done.returncode == 6, done.stdout + done.stderr
    rows = trials_in(sessions_in(tmp_path)[0])
    assert len(rows) == 24
    completed = [row for row in rows if row["status"] == "completed"]
    assert len(completed) == (0 if share == "all" else 12)
    assert all(row["passed"] for row in completed)


def test_all_agent_errors_are_a_plain_fail(tmp_path):
    with ChatServer(lambda q, n: (422, {}, {"error": {"message": "boom"}})) as server:
        write_project(tmp_path, server.url, more="gates: {agent.success_rate: {min: 0.5}}")
        done = gate(tmp_path, "run", "--baseline", "none")
    assert done.returncode == 1, done.stdout + done.stderr
    assert all(row["status"] == "agent_error" for row in trials_in(sessions_in(tmp_path)[0]))


def test_throttled_calls_are_neither_lost_nor_wrong(tmp_path):
    def reply(question, nth):
        if nth == 0 and int(question[1:]) % 3 == 0:
            return 429, {"Retry-After": "1"}, {"error": {"message": "slow down"}}
        return "yes"

    with ChatServer(reply) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 1")
        done = gate(tmp_path, "run", "--baseline", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = trials_in(sessions_in(tmp_path)[0])
    assert len(rows) == 12
    assert all(row["passed"] and len(row["attempts"]) == 1 for row in rows)
    assert all(row["latency_ms"] < 900 for row in rows)


USAGE = {
    "unknown key": ("gate.yml", "graders:", "gradres:", "gate.yml:6: suites[0].gradres"),
    "empty dataset": ("cases.jsonl", None, "", "cases.jsonl"),
    "a line that is not JSON": ("cases.jsonl", '{"id": "c3"', '{"id": c3"', "cases.jsonl:4"),
    "a duplicate id": ("cases.jsonl", '"c5"', '"c2"', "cases.jsonl:6"),
    "a missing key": ("cases.jsonl", "expected_answer", "expected_anwser", "cases.jsonl:1"),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_files_are_2_with_file_and_line(tmp_path, name):
    write_project(tmp_path, "http://127.0.0.1:9")
    file, old, new, said = USAGE[name]
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text.replace(old, new, 1) if old else new)
    done = gate(tmp_path, "run")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert gate(tmp_path, "validate").returncode == 2
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "text", ["{", '{"schema_version": 1, "cases": [', "[]", '{"session_id": "x"}', "<html>"]
)
def test_a_truncated_or_foreign_baseline_is_2(tmp_path, text):
    (tmp_path / "old.json").write_text(text)
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        done = gate(tmp_path, "run", "--baseline", "old.json")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "old.json" in done.stderr
    assert server.calls == 0, "a baseline that cannot be read is found before any call is made"


def test_baseline_save_under_pull_request_is_2(tmp_path):
    event = tmp_path / "event.json"
    pull = {"number": 1, "head": {"sha": "a" * 40}, "base": {"sha": "b" * 40, "ref": "main"}}
    event.write_text(json.dumps({"pull_request": pull, "repository": {}}))
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        assert gate(tmp_path, "run", "--baseline", "none").returncode == 0
    env = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
    done = gate(tmp_path, "baseline", "save", str(sessions_in(tmp_path)[0]), env=env)
    assert done.returncode == 2
    assert "pull_request" in done.stderr
    assert not (tmp_path / "baselines").exists()


def test_baseline_of_another_dataset_is_5(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        assert gate(tmp_path, "run", "--baseline", "none").returncode == 0
        assert gate(tmp_path, "baseline", "save", str(sessions_in(tmp_path)[0])).returncode == 0
        others = [{**case, "id": "other-" + case["id"]} for case in CASES]
        write_project(tmp_path, server.url, cases=others)
        done = gate(tmp_path, "run", "--baseline", "baselines")
    assert done.returncode == 5, done.stdout + done.stderr


def test_no_baseline_is_4_where_the_policy_says_fail(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, more="policy: {no_baseline: fail}")
        done = gate(tmp_path, "run", "--baseline", "auto")
    assert done.returncode == 4, done.stdout + done.stderr


def test_no_event_file_is_laptop_mode(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        env = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": "nowhere.json"}
        done = gate(tmp_path, "run", "--baseline", "none", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((sessions_in(tmp_path)[0] / "summary.json").read_text("utf-8"))
    assert summary["provenance"]["mode"] == "laptop"


def test_two_runs_at_once_have_two_folders_and_a_second_resume_is_2(tmp_path):
    with ChatServer(right, delay_s=0.8) as server:
        write_project(tmp_path, server.url)
        first = start_gate(tmp_path, "run", "--baseline", "none")
        session = wait_for_trials(tmp_path, 1)
        second = gate_as_process(tmp_path, "run", "--baseline", "none", "--resume", str(session))
        assert second.returncode == 2, second.stdout + second.stderr
        assert "another run" in second.stderr
        other = gate(tmp_path, "run", "--case", "c1")
        assert other.returncode == 0, other.stdout + other.stderr
        output, _ = first.communicate(timeout=60)
        assert first.returncode == 0, output
    assert len(sessions_in(tmp_path)) == 2


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), ("SIGKILL", -9)]
)
def test_an_interrupted_run_is_resumed_without_asking_twice(tmp_path, number, code):
    number = signal.SIGKILL if number == "SIGKILL" else number
    with ChatServer(right, delay_s=0.25) as server:
        write_project(tmp_path, server.url)
        process = start_gate(tmp_path, "run", "--baseline", "none")
        session = wait_for_trials(tmp_path, 4)
        at = time.monotonic()
        process.send_signal(number)
        output, _ = process.communicate(timeout=20)
        assert time.monotonic() - at < 5
        assert process.returncode == code, output
        finished = len(trials_in(session))
        before = server.calls
        done = gate_as_process(tmp_path, "run", "--baseline", "none", "--resume")  # the newest
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.calls - before == 24 - finished
    details = (session / "details.jsonl").read_text("utf-8").splitlines()
    keys = [(row["case_id"], row["round"]) for row in map(json.loads, details)]
    assert len(keys) == len(set(keys)) == 24
    if code > 0:
        assert f"gate run --resume {Path('results') / session.name}" in output


def test_a_full_disk_is_6_and_keeps_the_finished_trials(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of a process are POSIX")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (24_000, 24_000))  # meta.json has 16,000

    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        done = gate_as_process(tmp_path, "run", "--baseline", "none", preexec_fn=limit)
        assert done.returncode == 6, done.stdout + done.stderr
        kept = len(trials_in(sessions_in(tmp_path)[0]))
        assert 0 < kept < 24
        again = gate_as_process(
            tmp_path, "run", "--baseline", "none", "--resume", str(sessions_in(tmp_path)[0])
        )
        assert again.returncode == 0, again.stdout + again.stderr
    assert len(trials_in(sessions_in(tmp_path)[0])) == 24
