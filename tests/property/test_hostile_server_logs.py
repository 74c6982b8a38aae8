"""Whatever stands in a log, and in whatever pieces it is written, it is read: nothing is raised."""

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.agents.server_logs.cursor import LogCursor
from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.request_logs import LogBook
from gate.records import ServerLogs
from gate.records.codec import from_json, to_json
from tests.support.server_log_lines import Ticking, access, audited, new_console, old_console

LINES = [access(), access("9999/12/31 23:59:59.999"), access("0001/01/01 00:00:00.000")]
LINES += [old_console("a\0b"), old_console(), new_console("x", "y"), audited("z")]
LINES += [
    audited("z", at="9999-12-31T23:59:59-23:59"),
    audited("z", at="0001-01-01T00:00:00+14:00"),
]
LINES += ["Tool Call: [" + "]" * 999 + "x\n", "|" * 999 + "\n", "[" * 999 + "\n", "\r\u2028\n"]
PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from([line.encode() for line in LINES]).flatmap(
        lambda line: st.integers(0, len(line)).map(lambda n: line[:n])
    ),
    st.sampled_from([line.encode() for line in LINES]),
)
TIMES = st.integers(-(2**62), 2**62)


@given(
    before=st.lists(PIECES, max_size=3),
    pieces=st.lists(PIECES, max_size=8),
    bind=st.sampled_from(["offset", "window"]),
    timezone=st.sampled_from(["local", "UTC", "+14:00", "America/New_York"]),
    at=TIMES,
)
@example(before=[], pieces=[b"\0" * 50, b"\xff\xfe", b"\n"], bind="offset", timezone="UTC", at=0)
@settings(max_examples=40)
def test_every_log_is_read(before, pieces, bind, timezone, at):
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name, file) for file in ("a", "c", "audit/s.jsonl")]
        files[2].parent.mkdir()
        for file in files:
            file.write_bytes(b"".join(before))
        late = [lambda piece=piece: files[1].write_bytes(piece) for piece in pieces[-2:]]
        time = Ticking(dict(enumerate(late, 1)))
        book = LogBook(
            LogOptions(access="a", console="c", audit="audit", bind=bind, timezone=timezone),
            env={},
            root=Path(name),
            clock=time.clock,
            sleep=time.sleep,
        )
        mark = book.before()
        for file in files:
            with file.open("ab") as writer:
                writer.writelines(pieces)
        shown = book.after(mark, started_ms=at, ended_ms=at, alone=True)
        assert from_json(ServerLogs, to_json(shown)) == shown
        assert all(call.name.isprintable() for call in shown.calls or ())


@given(text=st.text(max_size=300), cuts=st.lists(st.integers(0, 1200), max_size=6))
@settings(max_examples=40)
def test_in_whatever_pieces_lines_are_written_the_same_lines_are_read(text, cuts):
    data = text.encode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "log")
        file.write_bytes(b"")
        pieces, whole = LogCursor(file), LogCursor(file)
        read = []
        for start, end in pairwise([0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]):
            with file.open("ab") as writer:
                writer.write(data[start:end])
            read += pieces.lines()
        assert [*read, *pieces.rest()] == [*whole.lines(), *whole.rest()]
        pieces.close()
        whole.close()
