"""The session folder: events.jsonl while the run goes on, details.jsonl and the reports at its end.

events.jsonl is the resume log: its first line says what runs, then one line a trial in order of
completion, each written and flushed on its own. details.jsonl has them by suite, case and round.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from gate.codec import from_json, to_json
from gate.errors import InfrastructureError, UsageError
from gate.filelock import FileLock
from gate.records import Json, MetricSpec, Provenance, Report
from gate.session_form import check_names, read_json, read_report

EVENTS, DETAILS, META, SUMMARY = "events.jsonl", "details.jsonl", "meta.json", "summary.json"
SCHEMA_VERSION = 1
SURROGATES = "backslashreplace"  # half a surrogate pair has no UTF-8; its JSON escape has

Row = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMeta:
    """What one suite of a session measured, so that its rows can be read again without its
    gate.yml.
    """

    dataset: str
    dataset_digest: str
    version: str | None = None
    rounds: int
    cases: int
    not_selected: int = 0
    specs: Mapping[str, MetricSpec] = field(default_factory=dict)
    graders: Mapping[str, str] = field(default_factory=dict)  # column -> hash of its grader


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """meta.json: what ran, on what, and the first line of events.jsonl."""

    session_id: str
    created_at: str
    provenance: Provenance
    suites: Mapping[str, SuiteMeta]
    options: Mapping[str, Json] = field(default_factory=dict)
    health: Mapping[str, Json] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION


def new_session_id(now: datetime, token: Callable[[int], str] = secrets.token_hex) -> str:
    """`YYYYmmdd-HHMMSS-<8 hex>`."""
    return f"{now:%Y%m%d-%H%M%S}-{token(4)}"


class SessionWriter:
    """An open session folder; holds its lock, so that two runs never write to one session."""

    def __init__(self, folder: Path, meta: Meta, redact: Callable[[str], str]) -> None:
        self.folder = folder
        self.meta = meta
        self._redact = redact
        self._lock = FileLock(folder / ".lock")
        self._index: list[tuple[str, str, int, int, int]] = []  # suite, case, round, offset, length
        self._done: set[tuple[str, str, int]] = set()
        self._events: BinaryIO | None = None
        self._size = 0

    @classmethod
    def create(cls, out: Path, meta: Meta, redact: Callable[[str], str]) -> SessionWriter:
        """Makes `<out>/session-<id>/` with meta.json and the head of events.jsonl."""
        folder = out / f"session-{meta.session_id}"
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            message = f"{folder}: cannot be made: {error.strerror}; name another place with --out"
            raise InfrastructureError(message) from error
        writer = cls(folder, meta, redact)
        writer._open()
        writer.write(META, json.dumps(to_json(meta), indent=2, ensure_ascii=False) + "\n")
        writer._line(json.dumps({"event": "session", **to_json(meta)}, ensure_ascii=False))
        return writer

    @classmethod
    def resume(cls, folder: Path, redact: Callable[[str], str]) -> SessionWriter:
        """Opens a session that was cut off; a half-written last line is dropped.

        Raises UsageError when it is no session or another process is writing to it.
        """
        writer = cls(folder, read_meta(folder), redact)
        writer._open()
        return writer

    def append(self, row: Row) -> None:
        """Writes one trial; on return it survives kill -9."""
        offset = self._size
        self._line(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        self._note(row, offset, self._size - offset)

    def rows(self) -> Iterator[Row]:
        """The trials so far, in the order suite, case, round; the last one of a key wins."""
        return self._read(self._index)

    def rows_of(self, suite: str, case_ids: frozenset[str]) -> Iterator[Row]:
        """The rows of some cases only, without reading the others."""
        return self._read(e for e in self._index if e[0] == suite and e[1] in case_ids)

    def done(self) -> Set[tuple[str, str, int]]:
        """(suite, case, round) of every finished trial; nobody's answer is not finished."""
        return self._done

    def write(self, name: str, text: str) -> Path:
        """One more file of the session; secrets are taken out."""
        path = self.folder / name
        with _disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._redact(text).encode("utf-8", SURROGATES))
        return path

    def write_details(self) -> None:
        """details.jsonl and <suite>/details.jsonl from the log, without parsing it again."""
        latest = {entry[:3]: entry for entry in self._index}
        ordered = sorted(latest.values())
        with (
            (self.folder / EVENTS).open("rb") as file,
            mmap(file.fileno(), 0, access=ACCESS_READ) as log,
            _disk(self.folder / DETAILS),
        ):
            self._copy(log, ordered, self.folder / DETAILS)
            for suite in dict.fromkeys(entry[0] for entry in ordered):
                (self.folder / suite).mkdir(exist_ok=True)
                own = [entry for entry in ordered if entry[0] == suite]
                self._copy(log, own, self.folder / suite / DETAILS)

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None
        self._lock.release()

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, entries: Iterable[tuple[str, str, int, int, int]]) -> Iterator[Row]:
        latest = {entry[:3]: entry for entry in entries}
        with (self.folder / EVENTS).open("rb") as file:
            for _, _, _, offset, length in sorted(latest.values()):
                file.seek(offset)
                yield json.loads(file.read(length))

    def _note(self, row: Row, offset: int, length: int) -> None:
        key = (row["suite"], row["case_id"], row["round"])
        self._index.append((*key, offset, length))
        if row.get("status") != "infra_error":
            self._done.add(key)

    def _open(self) -> None:
        path = self.folder / EVENTS
        with _disk(path):
            if not self._lock.acquire():
                raise UsageError(
                    f"{self.folder}: another run is writing to this session; wait for its end or "
                    "start a new one"
                )
            self._size = self._index_log(path) if path.exists() else 0
            self._events = path.open("r+b" if path.exists() else "w+b", buffering=0)
            self._events.truncate(self._size)
            self._events.seek(self._size)

    def _index_log(self, path: Path) -> int:
        """Finds every whole line; returns the length of the log up to the last one."""
        offset = 0
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                row = _parse(line)
                if row is not None and "case_id" in row:
                    self._note(row, offset, len(line))
                offset += len(line)
        return offset

    def _line(self, text: str) -> None:
        data = self._redact(text).encode("utf-8", SURROGATES) + b"\n"
        with _disk(self.folder / EVENTS):
            if self._events is None:
                raise InfrastructureError(f"{self.folder}: the session is closed")
            written = self._events.write(data)
            if written != len(data):
                self._events.truncate(self._size)
                raise OSError(28, os.strerror(28))
            self._size += len(data)

    @staticmethod
    def _copy(log: mmap, entries: Iterable[tuple[str, str, int, int, int]], to: Path) -> None:
        with to.open("wb") as file:
            file.writelines(log[offset : offset + length] for _, _, _, offset, length in entries)


class _disk:  # noqa: N801 - reads as a statement: with _disk(path): ...
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
            raise InfrastructureError(
                f"{self._path}: {error.strerror or error}; finished trials are kept: make room and "
                f"go on with `gate run --resume {self._path.parent}`"
            ) from error


# ------------------------------------------------------------------------------------------ reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stored session. `report` is None when the run never came to a verdict."""

    folder: Path
    meta: Meta
    report: Report | None

    def rows(self) -> Iterator[Row]:
        """The rows of details.jsonl, or of the resume log when the run was cut off."""
        details = self.folder / DETAILS
        with (details if details.exists() else self.folder / EVENTS).open("rb") as file:
            for line in file:
                row = _parse(line)
                if row is not None and "case_id" in row:
                    yield row


def is_session(path: Path) -> bool:
    return (path / META).is_file()


def load_session(folder: Path) -> Session:
    """Raises UsageError when the folder is no session of this version."""
    meta = read_meta(folder)
    summary = folder / SUMMARY
    report = read_report(summary) if summary.exists() else None
    return Session(folder=folder, meta=meta, report=report)


def read_meta(folder: Path) -> Meta:
    path = folder / META
    if not path.is_file():
        raise UsageError(
            f"{folder}: no session here (no {META}); give a folder that `gate run` wrote"
        )
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(f"{path}: not a session of this version of gate")
    try:
        meta = from_json(Meta, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: not readable as a session ({error})") from error
    check_names(meta.suites, path)
    return meta


def _parse(line: bytes) -> dict[str, Json] | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
