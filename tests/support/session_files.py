"""What a run left in its folder: its sessions and what their files say."""

import json
import re
import time
from pathlib import Path


def sessions_in(folder):
    return sorted((folder / "results").glob("session-*"))


def trials_in(session):
    """The trials that are in the log; a line that is still being written is not."""
    events = (session / "events.jsonl").read_text("utf-8").split("\n")[:-1]
    return [row for row in map(json.loads, events) if "case_id" in row]


def wait_for_trials(folder, n):
    for _ in range(400):
        found = sessions_in(folder)
        if found and (found[0] / "events.jsonl").exists() and len(trials_in(found[0])) >= n:
            return found[0]
        time.sleep(0.02)
    raise AssertionError("no trial was finished")


def summary_of(session):
    return json.loads((session / "summary.json").read_text("utf-8"))


def details_of(session):
    return [
        json.loads(line) for line in (session / "details.jsonl").read_text("utf-8").split("\n")[:-1]
    ]


def told_session(done):
    found = re.search(r"Session written to: (\S+)", done.stdout)
    assert found, done.stdout + done.stderr
    return found[1]


def told_summary(folder, done):
    return json.loads((folder / told_session(done) / "summary.json").read_text("utf-8"))


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
