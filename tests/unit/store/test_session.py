import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.errors import InfrastructureError, UsageError
from gate.store.session import (
    SessionWriter,
    find_session,
    is_session,
    load_session,
    new_session_id,
)
from tests.support.paths import ROOT
from tests.support.unfinished_session import open_session, session_meta, written_row


def test_session_id_has_the_published_form():
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert new_session_id(moment, lambda n: "f" * 2 * n) == "20260102-030405-ffffffff"


def test_a_folder_made_for_sessions_is_kept_out_of_git_and_an_older_one_left_alone(tmp_path):
    with open_session(tmp_path / "results"):
        assert (tmp_path / "results" / ".gitignore").read_text() == "*\n"
    (tmp_path / "results" / ".gitignore").write_text("mine")
    with SessionWriter.create(tmp_path / "results", replace(session_meta(), session_id="b"), str):
        assert (tmp_path / "results" / ".gitignore").read_text() == "mine"
    with open_session(tmp_path):
        assert not (tmp_path / ".gitignore").exists(), "it may hold much else"


def test_a_trial_is_on_disk_when_append_returns(tmp_path):
    with open_session(tmp_path) as session:
        session.append(written_row("a", 1))
        lines = (session.folder / "events.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[0])["event"] == "session"
    assert json.loads(lines[1])["output"] == "täxt"


def test_details_are_in_order_whatever_the_order_of_completion(tmp_path):
    with open_session(tmp_path) as session:
        for case, number in [("b", 2), ("a", 2), ("b", 1), ("a", 1)]:
            session.append(written_row(case, number))
        session.write_details()
        assert [(r["case_id"], r["round"]) for r in session.rows()] == [
            ("a", 1),
            ("a", 2),
            ("b", 1),
            ("b", 2),
        ]
    top = (session.folder / "details.jsonl").read_bytes()
    assert top == (session.folder / "s" / "details.jsonl").read_bytes()
    assert [json.loads(x)["case_id"] for x in top.splitlines()] == ["a", "a", "b", "b"]


def test_details_of_the_only_suite_are_stored_once(tmp_path):
    with open_session(tmp_path) as session:
        for _ in range(2):  # anew, as a session that goes on writes them
            session.append(written_row("a", 1))
            session.write_details()
    top = session.folder / "details.jsonl"
    assert top.samefile(session.folder / "s" / "details.jsonl")
    assert top.read_bytes().count(b"\n") == 1


def test_details_of_several_suites_are_one_file_after_the_other(tmp_path):
    with open_session(tmp_path) as session:
        for suite in ("z", "s"):
            session.append({**written_row("a", 1), "suite": suite})
        session.write_details()
    parts = [(session.folder / suite / "details.jsonl").read_bytes() for suite in ("s", "z")]
    assert (session.folder / "details.jsonl").read_bytes() == b"".join(parts)


def test_resume_keeps_whole_lines_and_drops_a_half_one(tmp_path):
    with open_session(tmp_path) as session:
        session.append(written_row("a", 1))
        session.append(written_row("c", 1, status="infra_error"))
    with (session.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"suite": "s", "case_id": "b", "ro')
    resumed = SessionWriter.resume(session.folder, lambda text: text)
    with resumed:
        assert resumed.meta == session_meta()
        assert resumed.find_done() == {("s", "a", 1)}  # the unanswered one is asked again
        resumed.append(written_row("b", 1))
        resumed.append(written_row("c", 1, status="completed"))
        resumed.write_details()
        assert [r["case_id"] for r in resumed.rows_of("s", frozenset("bc"))] == ["b", "c"]
    found = load_session(session.folder)
    assert [(r["case_id"], r.get("status")) for r in found.rows()] == [
        ("a", None),
        ("b", None),
        ("c", "completed"),
    ]
    assert found.report is None


def test_kill_9_loses_no_finished_trial(tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from tests.support.unfinished_session import open_session, written_row
        session = open_session(Path(sys.argv[1]))
        for n in range(1, 51):
            session.append(written_row("a", n))
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path), str(ROOT)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"ready"
    folder = next(tmp_path.glob("session-*"))
    with pytest.raises(UsageError, match="another run is writing"):
        SessionWriter.resume(folder, lambda text: text)
    process.kill() if os.name == "nt" else os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    session = SessionWriter.resume(folder, lambda text: text)
    with session:
        assert len(session.find_done()) == 50


def test_secrets_never_reach_the_disk(tmp_path):
    with open_session(tmp_path, lambda text: text.replace("sk-secret", "***")) as session:
        session.append(written_row("a", 1, reasons={"g": "the key is sk-secret"}))
        session.write("report.md", "sk-secret")
        session.write_details()
    assert not any(
        b"sk-secret" in path.read_bytes() for path in session.folder.rglob("*") if path.is_file()
    )


def test_a_full_disk_is_infrastructure_and_keeps_what_is_there(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with open_session(tmp_path) as session:
        session.append(written_row("a", 1))
        kept = session.log._file
        with Path("/dev/full").open("wb", buffering=0) as full:
            session.log._file = full
            with pytest.raises(InfrastructureError, match="with --resume"):
                session.append(written_row("a", 2))
        session.log._file = kept
    assert [r["round"] for r in load_session(session.folder).rows()] == [1]


def test_two_sessions_never_share_a_folder(tmp_path):
    with open_session(tmp_path), pytest.raises(InfrastructureError):
        open_session(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "not a session folder"),
        ("{", "not readable"),
        ("[]", "not a session of this version"),
        ('{"schema_version": 99}', "not a session of this version"),
        ('{"schema_version": 1}', "meta.json: 'session_id' is missing; not a session"),
        (
            '{"schema_version": 1, "session_id": "x", "created_at": 5, "provenance": {}, '
            '"suites": {}}',
            "meta.json: created_at: ",
        ),
    ],
)
def test_what_is_no_session_is_named(tmp_path, text, message):
    if text is not None:
        (tmp_path / "meta.json").write_text(text)
    assert is_session(tmp_path) == (text is not None)
    with pytest.raises(UsageError, match=message):
        load_session(tmp_path)


@pytest.mark.parametrize(
    ("judging", "done"),
    [
        (None, True),
        ({"asked": 1, "scored": 0, "unreachable": 1}, False),
        ({"asked": 2, "scored": 2, "unreachable": 1}, True),  # the other votes did
        ({"asked": 1, "scored": 0, "unreachable": 0, "failures": ["it does not fit"]}, True),
        (["not", "ours"], True),
    ],
)
def test_an_answer_that_no_judge_could_be_asked_about_is_made_again(tmp_path, judging, done):
    with SessionWriter.create(tmp_path, session_meta(), str) as session:
        session.append(written_row("a", 1, judging=judging))
    with SessionWriter.resume(session.folder, str) as resumed:
        assert (("s", "a", 1) in resumed.find_done()) is done


def test_a_session_is_found_by_its_name_or_beginning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "results"
    for name in ("20260101-120000-aaaaaaaa", "20260102-120000-bbbbbbbb"):
        (out / f"session-{name}").mkdir(parents=True)
        (out / f"session-{name}" / "meta.json").write_text("{}")
    first = out / "session-20260101-120000-aaaaaaaa"
    for given in (first.name, "session-20260101", "20260101", "20260101-120000-aaaaaaaa"):
        assert find_session(given, out) == first
    assert find_session(str(first), out) == first
    with pytest.raises(UsageError, match=r"2 sessions in .* begin so"):
        find_session("2026010", out)
    with pytest.raises(UsageError, match="did you mean 'latest'"):
        find_session("lates", out)
    assert find_session("other", out) == Path("other")
