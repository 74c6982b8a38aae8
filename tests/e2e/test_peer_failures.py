"""Ways in which other evaluation tools were seen to go wrong; none of them may happen here."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.as_process import start_gate
from tests.support.chat_server import ChatServer, answer
from tests.support.in_process import gate, run_command, run_session, save_baseline
from tests.support.session_files import details_of, sessions_in, summary_of, wait_for_trials
from tests.support.yes_project import right, write_project, wrong_on

BUSY = (429, {}, {"error": {"message": "slow down", "type": "rate_limit"}})
DOWN = (503, {}, {"error": {"message": "down for a moment"}})


def cases(number):
    return [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(number)]


def test_throttling_never_removes_rows_or_raises_the_score(tmp_path):
    """The three cases that are always wrong are now not answered: the rest is no gain."""
    rules = "gates: {agent.success_rate: {min: 0.9, rule: point}}"
    with ChatServer(wrong_on(0, 1, 2)) as server:
        write_project(tmp_path, server.url, cases=cases(20))
        baseline = run_session(tmp_path, "--baseline", "none")
        save_baseline(tmp_path, baseline)

    def throttled(question, nth):
        return BUSY if question in ("q0", "q1", "q2") else "yes"

    with ChatServer(throttled) as server:
        write_project(tmp_path, server.url, cases=cases(20), more=rules)
        session = run_session(tmp_path, "--baseline", "baselines", "--stop", "off", code=1)
    report = summary_of(session)
    assert len(details_of(session)) == 40
    assert report["suites"]["s"]["infra_errors"] == 6
    assert report["gates"][0]["value"] == pytest.approx(0.85)
    assert report["outcome"] == "fail"
    improved = [c["metric"] for c in report["comparisons"] if c["status"] == "improvement"]
    assert "agent.success_rate" not in improved
    assert {change["case_id"] for change in report["cases"]["errored"]} == {"c0", "c1", "c2"}


def test_an_outage_is_never_a_wrong_answer(tmp_path):
    def sometimes(question, nth):
        return DOWN if question in ("q3", "q11") else "yes"

    with ChatServer(sometimes) as server:
        write_project(tmp_path, server.url, cases=cases(20), suite_more="rounds: 1")
        session = run_session(tmp_path, "--baseline", "none")
    report = summary_of(session)
    assert report["suites"]["s"]["metrics"]["agent.success_rate"]["value"] == 1
    assert report["suites"]["s"]["failures_top"] == []
    lost = [row for row in details_of(session) if row["status"] == "infra_error"]
    assert {row["case_id"] for row in lost} == {"c3", "c11"}
    for row in lost:
        assert row["passed"] is None
        assert row["failures"] == []
        assert not any(value is not None for value in row["scores"].values())
    assert "2 trials without an answer" in (session / "report.md").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
def test_the_summary_is_right_after_a_resume(tmp_path):
    wrong = wrong_on(1, 4, 8)
    prices = "pricing: {stub-model: {input: 1, output: 2}}"
    with ChatServer(wrong, delay_s=0.1) as server:
        write_project(tmp_path, server.url, more=prices)
        process = start_gate(tmp_path, "run", "--baseline", "none")
        session = wait_for_trials(tmp_path, 5)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
        run_command(tmp_path, "run", "--baseline", "none", "--resume", str(session))
    rows, report = details_of(session), summary_of(session)
    suite = report["suites"]["s"]
    passed = [row["passed"] for row in rows]
    assert len(rows) == suite["trials"] == 24
    assert suite["metrics"]["agent.success_rate"]["n"] == len(passed)
    assert suite["metrics"]["agent.success_rate"]["value"] == pytest.approx(sum(passed) / 24)
    assert report["calls"]["made"] == sum(len(row["attempts"]) for row in rows)
    assert report["cost"]["usd"] == pytest.approx(sum(row["cost_usd"] for row in rows))
    codes = Counter(code for row in rows for code in row["failures"])
    assert dict(suite["failures_top"]) == codes
    assert (session / "junit.xml").read_text("utf-8").count("<testcase") == 12


def written(folder, number):
    """Bytes that the process wrote, to files and sockets, and the session it left."""
    code = (
        "import os, sys; from gate.cli import run; code = run(sys.argv[1:], os.environ); "
        "print([l for l in open('/proc/self/io') if l.startswith('wchar')][0]); sys.exit(code)"
    )
    with ChatServer(right) as server:
        write_project(folder, server.url, cases=cases(number), suite_more="rounds: 1")
        command = [sys.executable, "-c", code, "run", "--quiet", "--baseline", "none"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=120
        )
    return int(done.stdout.split("wchar:")[1]), sessions_in(folder)[0]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="/proc counts the bytes written")
def test_files_grow_in_step_with_the_cases_and_each_row_is_written_once(tmp_path):
    sizes, wrote = {}, {}
    for number in (50, 500):
        folder = tmp_path / str(number)
        folder.mkdir()
        wrote[number], session = written(folder, number)
        sizes[number] = sum(p.stat().st_size for p in session.rglob("*") if p.is_file())
        log = (session / "events.jsonl").read_text("utf-8").splitlines()
        assert len(log) == number + 2  # what ran, the trials, the outcome
        assert len({json.loads(line).get("case_id") for line in log}) == number + 1
    assert sizes[500] / 500 <= sizes[50] / 50
    assert wrote[500] / 500 <= wrote[50] / 50


AUDIT = """
import sys
seen = []
sys.addaudithook(lambda name, args: seen.append(str(args[0]))
                 if name in ("open", "os.listdir", "os.scandir") else None)
import os
from gate.cli import run
code = run(sys.argv[1:], os.environ)
print("SEEN", [path for path in seen if "elsewhere" in path or "session-old" in path])
sys.exit(code)
"""


def test_a_start_reads_only_what_it_needs(tmp_path):
    """Not the project's other folders, not the sessions of last week."""
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 1")
        for name in ("elsewhere", "results/session-old", "baselines/elsewhere"):
            (tmp_path / name).mkdir(parents=True)
            for number in range(20):
                (tmp_path / name / f"{number}.yml").write_text("{broken")
                (tmp_path / name / f"{number}.py").write_text("raise SystemExit(9)")
        for command in (["validate"], ["run"]):
            audited = subprocess.run(
                [sys.executable, "-c", AUDIT, *command],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert audited.returncode == 0, audited.stdout + audited.stderr
            assert audited.stdout.splitlines()[-1] == "SEEN []"


def test_no_trace_is_lost_with_64_at_once(tmp_path):
    def reply(question, nth):
        body = answer(f"yes, {question} for the {nth + 1}. time")
        call = {"name": "look_up", "arguments": json.dumps({"of": question})}
        body["choices"][0]["message"]["tool_calls"] = [
            {"id": f"call-{question}", "type": "function", "function": call}
        ]
        return 200, {}, body

    with ChatServer(reply, delay_s=0.02) as server:
        write_project(
            tmp_path, server.url, cases=cases(320), suite_more="rounds: 2\n    floor: false"
        )
        session = run_session(tmp_path, "--baseline", "none", "--concurrency", "64")
    rows = details_of(session)
    assert len({(row["case_id"], row["round"]) for row in rows}) == len(rows) == 640
    for row in rows:
        question = "q" + row["case_id"][1:]
        assert row["question"] == question
        assert row["output"].startswith(f"yes, {question} for the ")
        assert row["steps"][0]["arguments"] == {"of": question}
        assert row["usage"]["input_tokens"] == 10
    answers = Counter(row["output"] for row in rows)
    assert set(answers.values()) == {1}


def test_every_module_imports_without_a_warning():
    code = (
        "import gate, importlib, pkgutil\n"
        "for found in pkgutil.walk_packages(gate.__path__, 'gate.'):\n"
        "    if found.name != 'gate.__main__': importlib.import_module(found.name)\n"
    )
    imported = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert imported.returncode == 0, imported.stderr


def test_a_case_that_is_taken_out_never_improves_the_score(tmp_path):
    """The hard cases leave the dataset; what they scored stays in what the gate looks at."""
    rules = "gates: {agent.success_rate: {min: 0.95, rule: point}}\nregression: {max_removed: 20%}"
    with ChatServer(wrong_on(0, 1)) as server:
        write_project(tmp_path, server.url, cases=cases(20))
        save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none"))
        write_project(tmp_path, server.url, cases=cases(20)[2:], more=rules)
        session = run_session(tmp_path, "--baseline", "baselines", "--stop", "off", code=1)
    report = summary_of(session)
    assert report["gates"][0]["value"] == pytest.approx(0.9)
    assert [change["case_id"] for change in report["cases"]["removed"]] == ["c0", "c1"]


def test_an_agent_that_hangs_costs_its_timeout_and_nothing_more(tmp_path):
    with ChatServer(right, delay_s=1.5) as server:
        write_project(tmp_path, server.url, cases=cases(3), suite_more="rounds: 1")
        finished = gate(tmp_path, "run", "--baseline", "none", "--timeout", "0.3")
    rows = details_of(sessions_in(tmp_path)[0])
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert [row["status"] for row in rows] == ["agent_error"] * 3
    assert all(row["latency_ms"] < 1200 for row in rows)
