"""What is appended to a log while a request runs, whatever happens to the file meanwhile."""

import os
import threading

import pytest

from gate.agents.server_logs.cursor import (
    APPEARED,
    CUT,
    GONE,
    MOST_BYTES,
    ROTATED,
    TRUNCATED,
    LogCursor,
)
from gate.agents.server_logs.folder import FolderCursor


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "openagent.log"
    path.write_text("before\n")
    return path


@pytest.fixture
def opened():
    """LogCursor(path), closed when the test ends."""
    cursors = []

    def opened(path, **options):
        cursors.append(LogCursor(path, **options))
        return cursors[-1]

    yield opened
    for cursor in cursors:
        cursor.close()


def append(path, text):
    with path.open("a", newline="") as file:
        file.write(text)


def test_only_what_was_appended_is_read_and_each_line_once(log, opened):
    cursor = opened(log)
    assert cursor.lines() == []
    append(log, "one\r\n\n\x1b[97;42mtwo\x1b[0m\n")
    assert cursor.lines() == ["one", "two"]
    assert cursor.lines() == []
    assert cursor.notes == ()


def test_half_a_line_waits_for_its_end(log, opened):
    cursor = opened(log)
    append(log, "one\nTool Call: [web")
    assert (cursor.lines(), cursor.pending) == (["one"], True)
    append(log, "_search]\n")
    assert (cursor.lines(), cursor.pending) == (["Tool Call: [web_search]"], False)


def test_half_a_line_that_never_ends_is_taken_in_the_end(log, opened):
    cursor = opened(log)
    append(log, "one\ntwo")
    assert (cursor.lines(), cursor.rest(), cursor.pending) == (["one"], ["two"], False)


def test_a_renamed_log_is_read_to_its_end_and_then_its_successor(log, opened):
    cursor = opened(log)
    append(log, "old 1\nold 2")
    log.rename(log.with_suffix(".1"))
    log.write_text("new 1\n")
    assert cursor.lines() == ["old 1", "old 2", "new 1"]
    append(log, "new 2\n")
    assert cursor.lines() == ["new 2"]
    assert cursor.notes == (ROTATED,)


def test_a_line_that_was_begun_before_a_rotation_ends_there(log, opened):
    cursor = opened(log)
    append(log, "half")
    assert cursor.lines() == []
    log.rename(log.with_suffix(".1"))
    log.write_text("new\n")
    assert cursor.lines() == ["half", "new"]


def test_a_log_that_was_copied_and_emptied_is_read_from_its_beginning(log, opened):
    append(log, "much that was there before\n")
    cursor = opened(log)
    os.truncate(log, 0)
    append(log, "new\n")
    assert (cursor.lines(), cursor.notes) == (["new"], (TRUNCATED,))


def test_half_a_line_that_was_emptied_away_is_no_beginning_of_another(log, opened):
    cursor = opened(log)
    append(log, "half")
    assert cursor.lines() == []
    os.truncate(log, 0)
    append(log, "new\n")
    assert cursor.lines() == ["half", "new"]


def test_a_log_that_was_emptied_and_has_outgrown_its_offset_is_still_seen_to_be_another(
    log, opened
):
    cursor = opened(log)
    os.truncate(log, 0)
    append(log, "new, and longer than what was there before\nmore\n")
    assert cursor.lines() == ["new, and longer than what was there before", "more"]
    assert cursor.notes == (TRUNCATED,)


def test_a_writer_that_does_not_append_leaves_a_hole_which_is_no_line(log, opened):
    with log.open("r+b") as writer:
        writer.seek(0, os.SEEK_END)
        cursor = opened(log)
        os.truncate(log, 0)
        writer.write(b"new\n")
    assert (cursor.lines(), cursor.notes) == (["new"], (TRUNCATED,))


def test_a_log_that_appears_while_the_request_runs_is_read_from_its_beginning(tmp_path, opened):
    cursor = opened(tmp_path / "logs" / "console.log")
    assert (cursor.there, cursor.lines()) == (False, [])
    (tmp_path / "logs").mkdir()
    cursor.path.write_text("one\n")
    assert (cursor.lines(), cursor.there, cursor.notes) == (["one"], True, (APPEARED,))


def test_a_log_that_vanishes_is_told_and_what_was_written_to_it_is_read(log, opened):
    cursor = opened(log)
    append(log, "last\n")
    log.unlink()
    assert (cursor.lines(), cursor.notes) == (["last"], (GONE,))
    log.write_text("new\n")
    assert (cursor.lines(), cursor.notes) == (["new"], (ROTATED,))


def _link(path, log):
    path.symlink_to(log)


def _folder(path, log):
    path.mkdir()


def _pipe(path, log):
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "why"),
    [(_link, "symbolic link"), (_folder, "a folder"), (_pipe, "not a regular file")],
)
def test_what_is_no_plain_file_is_not_read(log, tmp_path, opened, make, why):
    path = tmp_path / "other"
    make(path, log)
    cursor = opened(path)
    append(log, "x\n")
    assert why in cursor.problem
    assert (cursor.there, cursor.lines(), cursor.rest()) == (True, [], [])


def test_a_log_that_is_replaced_by_a_pipe_does_not_block(log, opened):
    cursor = opened(log)
    log.unlink()
    os.mkfifo(log)
    cursor.lines()
    assert "not a regular file" in cursor.problem


def test_a_log_without_permission_is_told(log, opened):
    log.chmod(0)
    if os.access(log, os.R_OK):
        pytest.skip("this user may read every file")
    assert opened(log).problem == "no permission"


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_name_that_no_file_can_have_is_told(tmp_path, opened, name):
    cursor = opened(tmp_path / name)
    assert cursor.problem
    assert cursor.lines() == []


def test_of_too_much_the_last_is_read_and_told(log, opened):
    cursor = opened(log)
    with log.open("ab") as file:
        file.write(b"first\n" + b"x" * MOST_BYTES + b"\nlast\n")
    assert (cursor.lines(), cursor.cut, cursor.notes) == (["last"], True, (CUT,))


def test_a_writer_at_work_is_read_without_loss_through_rotations(log, opened):
    cursor = opened(log)
    wanted = [f"line {n}" for n in range(1500)]
    read = []
    rotated, noticed = threading.Event(), threading.Event()

    def write():
        for n, line in enumerate(wanted):
            if n % 500 == 499:
                log.rename(log.with_suffix(f".{n}"))
            with log.open("a") as file:
                file.write(line[:3])
                file.flush()
                file.write(line[3:] + "\n")
            if n % 500 == 499:  # no file comes and goes between two looks
                rotated.set()
                noticed.wait(10)
                noticed.clear()

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        new_file = rotated.is_set()
        read += cursor.lines()
        if new_file:
            rotated.clear()
            noticed.set()
    writer.join()
    read += cursor.lines()
    assert read == wanted


def test_of_a_folder_sessions_that_grow_and_new_ones_are_read(tmp_path):
    (tmp_path / "old.jsonl").write_text("before\n")
    (tmp_path / "quiet.jsonl").write_text("before\n")
    cursor = FolderCursor(tmp_path)
    append(tmp_path / "old.jsonl", "grown\n")
    append(tmp_path / "new.jsonl", "new\nha")
    append(tmp_path / "new.txt", "no session\n")
    assert sorted(cursor.lines()) == ["grown", "new"]
    assert cursor.pending
    append(tmp_path / "new.jsonl", "lf\n")
    assert (cursor.lines(), cursor.notes, cursor.cut) == (["half"], (), False)
    cursor.close()


def test_a_session_that_was_written_anew_is_read_from_its_beginning(tmp_path):
    (tmp_path / "a.jsonl").write_text("before\n")
    cursor = FolderCursor(tmp_path)
    (tmp_path / "b").write_text("longer than before\n")
    (tmp_path / "b").rename(tmp_path / "a.jsonl")
    assert cursor.lines() == ["longer than before"]
    cursor.close()


def test_a_folder_that_appears_or_is_none_is_no_error(tmp_path):
    later, file, link = (FolderCursor(tmp_path / name) for name in ("later", "file", "link"))
    (tmp_path / "later").mkdir()
    append(tmp_path / "later" / "a.jsonl", "one\n")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "later")
    assert (later.lines(), file.lines(), link.lines()) == (["one"], [], [])
    assert (later.problem, file.problem) == ("", "a file, not a folder")
    assert "symbolic link" in link.problem
    later.close()


def test_links_in_the_folder_are_not_followed(tmp_path):
    (tmp_path / "audit").mkdir()
    cursor = FolderCursor(tmp_path / "audit")
    (tmp_path / "secret.jsonl").write_text("secret\n")
    (tmp_path / "audit" / "a.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert cursor.lines() == []
