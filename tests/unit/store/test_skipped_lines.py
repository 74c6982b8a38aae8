"""The lines of recorded answers that were not graded, as a file of the session."""

import json

from gate.store.skipped_lines import NAME, SkippedLines


def test_lines_are_listed_and_counted_without_secrets(tmp_path):
    with SkippedLines(tmp_path, lambda text: text.replace("hunter2", "***")) as skipped:
        skipped.add("a.jsonl", 3, "unknown", "the case 'hunter2' is unknown")
        skipped.add("a.jsonl", 9, "unreadable", "not JSON")
        skipped.add("b.jsonl", 1, "unknown", "the case 'x' is unknown")
    rows = [json.loads(line) for line in (tmp_path / NAME).read_text("utf-8").splitlines()]
    assert rows[0] == {
        "file": "a.jsonl",
        "line": 3,
        "kind": "unknown",
        "why": "the case '***' is unknown",
    }
    assert [row["line"] for row in rows] == [3, 9, 1]
    assert skipped.counts == {"unknown": 2, "unreadable": 1}
    assert skipped.first == {
        "unknown": "a.jsonl:3: the case '***' is unknown",
        "unreadable": "a.jsonl:9: not JSON",
    }


def test_the_file_of_an_earlier_try_is_written_anew(tmp_path):
    with SkippedLines(tmp_path, str) as skipped:
        skipped.add("a.jsonl", 3, "unknown", "why")
    with SkippedLines(tmp_path, str):
        pass
    assert not (tmp_path / NAME).exists()
