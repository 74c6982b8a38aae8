"""Signals while a run ends, and a session that is written to by others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.as_process import gate_as_process
from tests.support.session_files import sessions_in

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer", timeout_s: 5}
suites: [{name: s, dataset: cases.jsonl, graders: [{contains: {text: yes}}], rounds: 1}]
"""
# A thread that never ends keeps the process of the agent, and so the end of the run, for a second.
STAYS = """
import threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
def answer(case):
    return "yes"
"""
WRITES = """
from pathlib import Path
def answer(case):
    if case["id"] == "c4":
        for file in Path("results").glob("*/events.jsonl"):
            file.write_text('{"a')
    return "yes"
"""


def write(folder: Path, agent: str) -> None:
    (folder / "gate.yml").write_text(CONFIG.replace("text: yes", 'text: "yes"'))
    (folder / "agent.py").write_text(agent)
    cases = "".join(json.dumps({"id": f"c{n}", "input": "q"}) + "\n" for n in range(5))
    (folder / "cases.jsonl").write_text(cases)


def test_a_signal_after_the_verdict_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, STAYS)
    words = [sys.executable, "-m", "gate", "run"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("Session written to:"):
                break
        time.sleep(0.3)  # all is said; the process of the agent has a second to end
        os.kill(running.pid, signal.SIGTERM)
        time.sleep(0.1)
        os.kill(running.pid, signal.SIGINT)
        assert running.stderr is not None
        said = running.stderr.read()
    assert running.returncode == 0
    assert "Traceback" not in said


def test_a_log_that_others_write_to_is_told(tmp_path: Path) -> None:
    write(tmp_path, WRITES)
    finished = gate_as_process(tmp_path, "run", "--concurrency", "1")
    assert finished.returncode == 6, finished.stdout + finished.stderr
    assert "events.jsonl: another program changed it" in finished.stderr
    assert len(sessions_in(tmp_path)) == 1
