"""events.jsonl, the resume log: a line a trial, written and flushed on its own in order of
completion; between them a line after each look at the verdict, and one with the outcome. An answer
that is judged outside this process has a line of its own before that.
"""

from __future__ import annotations

import json
import math
import mmap as mmap_module
import os
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import BinaryIO, TypeGuard, get_args

from gate.analysis.outages import is_unjudged
from gate.errors import InfrastructureError
from gate.records import Json, Outcome, TrialRow
from gate.records.codec import json_line
from gate.system.shortage import advice

SURROGATES = "backslashreplace"  # half a surrogate pair has no UTF-8; its JSON escape has
_DECODER = json.JSONDecoder(parse_constant=lambda word: math.inf)
ANSWER, LOOK, VERDICT = "answer", "look", "verdict"

Key = tuple[str, str, int]  # suite, case, round
_BLOCK = 1 << 20  # bytes that are copied at once
_LINES_HELD = 4096
_GIVE_BACK: int | None = getattr(mmap_module, "MADV_DONTNEED", None)  # not everywhere


class EventLog:
    """An open log. Only the places of its lines are kept in memory, 16 bytes a trial and about 250
    a case; a half-written last line is dropped.
    """

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact
        # Suite -> case -> round and offset, a pair a line.
        self._places: dict[str, dict[str, array[int]]] = {}
        self._unanswered: set[Key] = set()
        self._answers: dict[Key, tuple[int, int]] = {}  # of an earlier run, not judged: its place
        self._writing = RLock()
        self._file: BinaryIO | None = None
        self._size = 0
        self.look: Mapping[str, Json] | None = None  # what the last look left, as it was written
        self.outcome: Json = None  # of the verdict on it; None: there is none yet
        self.verdicts: dict[str, str] = {}  # commit -> the last outcome that it was told

    def open(self) -> None:
        with disk(self._path):
            there = self._path.exists()
            self._size = self._read_index() if there else 0
            self._file = self._path.open("r+b" if there else "w+b", buffering=0)
            self._file.truncate(self._size)
            self._file.seek(self._size)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def append(self, row: TrialRow, line: bytes = b"") -> None:
        """Writes one trial; on return it survives kill -9. `line`: what `encode_row` made of it."""
        data = line or encode_row(row, self._redact)
        with self._writing:
            offset = self._size
            self._put(data)
            self._note(row, offset)

    def append_answer(self, key: Key, answer: Mapping[str, Json]) -> None:
        """Writes what was answered, before it is judged; any thread may. `answer` is not empty, and
        secrets were taken out of it.
        """
        # What is told holds no secrets any more; a case's id may.
        of = self._redact(json_line(list(key)))
        self._write(f'{{"event":"{ANSWER}","of":{of},{json_line(answer)[1:]}')

    def answer(self, key: Key) -> Mapping[str, Json] | None:
        """What an earlier run was answered and did not come to judge."""
        place = self._answers.get(key)
        if place is None:
            return None
        with self._path.open("rb") as file:
            file.seek(place[0])
            return parse_line(file.read(place[1]))

    def append_look(self, state: Mapping[str, Json]) -> None:
        """Writes what a look left; the last one wins."""
        self.line(json.dumps({"event": LOOK, **state}, ensure_ascii=False))
        self.look, self.outcome = state, None

    def append_verdict(self, outcome: str, commit: str | None = None) -> None:
        """Writes that the reports are there, and what they say of the commit."""
        line = {"event": VERDICT, "outcome": outcome, "commit": commit}
        self.line(json.dumps(line))
        self._note_verdict(line)

    def rows(self) -> Iterator[TrialRow]:
        """The trials so far, in the order suite, case, round; the last one of a key wins."""
        for suite in sorted(self._places):
            yield from self._read_cases(suite, self._places[suite])

    def rows_of(self, suite: str, case_ids: frozenset[str]) -> Iterator[TrialRow]:
        """The rows of some cases only, without reading the others."""
        return self._read_cases(suite, case_ids & self._places.get(suite, {}).keys())

    def find_done(self) -> Set[tuple[str, str, int]]:
        """(suite, case, round) of every finished trial; nobody's answer is not finished."""
        keys = {
            (suite, case, number)
            for suite, cases in self._places.items()
            for case, places in cases.items()
            for number in places[::2]
        }
        return keys - self._unanswered

    def copy(self, name: str, folder: Path) -> None:
        """Writes <folder>/<suite>/<name> for each suite without parsing the lines again, and
        <folder>/<name> with all of them: of one suite it is the same file, where links can be made.
        """
        parts = [folder / suite / name for suite in sorted(self._places)]
        with (
            disk(folder / name),
            self._path.open("rb") as file,
            mmap(file.fileno(), 0, access=ACCESS_READ) as log,
        ):
            for part in parts:
                suite = part.parent.name
                part.parent.mkdir(exist_ok=True)
                with _create(part) as lines:
                    lines.writelines(
                        self._read_lines(log, self._find_lines(suite, self._places[suite]))
                    )
            if len(parts) != 1 or not _link(parts[0], folder / name):
                _join(parts, folder / name)

    def read_copy(self, copied: Path) -> Iterator[TrialRow]:
        """The rows of a file that `copy` has written: in the same order, and quicker than `rows`,
        which looks for each of them.
        """
        with copied.open("rb") as lines:
            yield from map(self._parse_own, lines)

    def line(self, text: str) -> None:
        self._write(self._redact(text))

    def _write(self, text: str) -> None:
        self._put(_encode(text))

    def _put(self, data: bytes) -> None:
        with disk(self._path), self._writing:
            if self._file is None:
                raise InfrastructureError(f"{self._path.parent}: the session is closed")
            written = self._file.write(data)
            if written != len(data):
                self._file.truncate(self._size)
                raise OSError(28, os.strerror(28))
            self._size += len(data)

    def _find_lines(self, suite: str, cases: Iterable[str]) -> Iterator[int]:
        """Where the last line of each of their trials begins, by case and round."""
        found = self._places.get(suite, {})
        for case in sorted(cases):
            places = found[case]
            latest = dict(zip(places[::2], places[1::2], strict=True))
            yield from (latest[number] for number in sorted(latest))

    def _read_cases(self, suite: str, cases: Iterable[str]) -> Iterator[TrialRow]:
        with self._path.open("rb") as file:
            for offset in self._find_lines(suite, cases):
                file.seek(offset)
                yield self._parse_own(file.readline())

    def _parse_own(self, line: bytes) -> TrialRow:
        """A line that was written here."""
        row = parse_line(line)
        if row is None or not is_trial(row):
            raise self._is_changed()
        return row

    def _is_changed(self) -> InfrastructureError:
        return InfrastructureError(
            f"{self._path}: another program changed it during the run; keep "
            "other programs away from the session folder and run again"
        )

    def _read_lines(self, log: mmap, offsets: Iterable[int]) -> Iterator[bytes]:
        """The lines that begin there. The log's pages are given back now and then, as they count as
        memory of the process.
        """
        for number, offset in enumerate(offsets, start=1):
            end = log.find(b"\n", offset) + 1
            if not end:
                raise self._is_changed()
            yield log[offset:end]
            if number % _LINES_HELD == 0 and _GIVE_BACK is not None:
                log.madvise(_GIVE_BACK)

    def _note(self, row: TrialRow, offset: int) -> None:
        suite, case, number = row["suite"], row["case_id"], row["round"]
        cases = self._places.setdefault(suite, {})
        if (places := cases.get(case)) is None:
            places = cases[case] = array("q")
        places.extend((number, offset))
        if is_unanswered(row):
            self._unanswered.add((suite, case, number))
        elif self._unanswered or self._answers:
            key = suite, case, number
            self._unanswered.discard(key)
            self._answers.pop(key, None)

    def _read_index(self) -> int:
        """Finds every whole line; returns the length of the log up to the last one."""
        offset = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                row = parse_line(line)
                if row is not None and is_trial(row):
                    self._note(row, offset)
                elif row is not None and row.get("event") == LOOK:
                    self.look, self.outcome = row, None
                elif row is not None and row.get("event") == VERDICT:
                    self._note_verdict(row)
                elif row is not None and row.get("event") == ANSWER:
                    self._note_answer(row.get("of"), offset, len(line))
                offset += len(line)
        return offset

    def _note_verdict(self, line: Mapping[str, Json]) -> None:
        self.outcome, commit = line.get("outcome"), line.get("commit")
        if isinstance(commit, str) and self.outcome in get_args(Outcome):
            self.verdicts.pop(commit, None)  # the newest is the last
            self.verdicts[commit] = str(self.outcome)

    def _note_answer(self, of: Json, offset: int, length: int) -> None:
        if isinstance(of, list) and len(of) == 3 and type(of[2]) is int:
            self._answers[(str(of[0]), str(of[1]), of[2])] = (offset, length)


def encode_row(row: TrialRow, redact: Callable[[str], str]) -> bytes:
    """The line of one trial; secrets are taken out."""
    return _encode(redact(json_line(row)))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", SURROGATES) + b"\n"


def parse_line(line: bytes) -> dict[str, Json] | None:
    """A line's object; None when it is none. A number that no run writes, such as NaN, is infinite,
    which `checked_rows` refuses.
    """
    try:
        text = line.decode(json.detect_encoding(line), "surrogatepass")
        data: Json = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def is_unanswered(row: TrialRow) -> bool:
    """Whether nobody answered, or a judge that was out of reach gave no score: `--resume` makes
    such a trial again. What a judge that answered could not score stays as it is.
    """
    return row.get("status") == "infra_error" or is_unjudged(row)


def is_trial(row: Mapping[str, Json]) -> TypeGuard[TrialRow]:
    """Whether the line has the key of a trial; the rest of it is for the reader to check."""
    named = isinstance(row.get("suite"), str) and isinstance(row.get("case_id"), str)
    number = row.get("round")
    return named and isinstance(number, int) and abs(number) <= sys.maxsize


def _link(source: Path, path: Path) -> bool:
    """Makes `path` another name of the file; False where the file system has no such thing."""
    path.unlink(missing_ok=True)
    try:
        path.hardlink_to(source)
    except OSError:
        return False
    return True


def _join(parts: Iterable[Path], path: Path) -> None:
    """Writes the files one after the other into one."""
    with _create(path) as whole:
        for part in parts:
            with part.open("rb") as lines:
                while block := lines.read(_BLOCK):
                    whole.write(block)


def _create(path: Path) -> BinaryIO:
    path.unlink(missing_ok=True)  # nothing is written through a link, or into a pipe
    return path.open("x+b")


class disk:  # noqa: N801 - reads as a statement: with disk(path): ...
    """Turns a failing disk into exit 6 with the finished trials kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):
            what = advice(error) or "make room"
            raise InfrastructureError(
                f"{self._path}: {error.strerror or error}; finished trials are kept: "
                f"{what}, then continue with --resume {self._path.parent}"
            ) from error
