"""The session folder: events.jsonl while the run goes on, details.jsonl and the reports at its end.

events.jsonl is the resume log: its first line says what runs, then one line a trial in order of
completion (event_log.py). details.jsonl has them by suite, case and round.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import cast

from gate.errors import InfrastructureError, UsageError
from gate.files.locked_update import FileLock
from gate.files.plain_file import check_folder
from gate.files.session_file import read_json, regular
from gate.records import (
    MOST_CASES,
    MOST_ROUNDS,
    CheckedJson,
    Health,
    Json,
    Looks,
    MetricSpec,
    Provenance,
    QuotedValue,
    Report,
    ToldBy,
    TrialRow,
)
from gate.records.codec import from_json, json_text, to_json
from gate.store.current_names import (
    list_names_of_rows,
    list_old_names,
    rename_report,
    rename_rows,
    rename_suite,
)
from gate.store.event_log import SURROGATES, EventLog, disk, parse_line
from gate.store.session_check import check_form, check_names, read_report, report_of
from gate.system.shortage import advice
from gate.user_code.hashes import Sources, merge_sources

EVENTS, DETAILS, META, SUMMARY = "events.jsonl", "details.jsonl", "meta.json", "summary.json"
LOCK = ".lock"
DEBUGGING = ("case", "failed")  # options of runs that show cases and decide nothing
LATEST = "latest"  # a word for the newest session of a folder
CONTROL = "_control"  # the session inside a session; no suite has a name like it
SCHEMA_VERSION = 1
_NEWEST = 20  # sessions that are looked through for one that ended
_META_BYTES = 50 << 20
_SECOND = len("session-20261122-193255")


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
    told_by: Mapping[str, ToldBy] = field(default_factory=dict)  # column -> where rows tell why
    quoted: tuple[QuotedValue, ...] = ()  # published results of others, beside its own
    looks: Looks | None = None  # the plan of a run that may stop early; None: all its rounds
    continued: bool = False  # somebody asked for more trials after its verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """meta.json: what ran, on what, and the first line of events.jsonl."""

    session_id: str
    created_at: str
    provenance: Provenance
    suites: Mapping[str, SuiteMeta]
    options: Mapping[str, CheckedJson] = field(default_factory=dict)
    health: Mapping[str, Json] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # grader -> file -> hash
    untold: tuple[str, ...] = ()  # changed defaults that concern a later run; it tells them
    heads: tuple[str, ...] = ()  # later commits with the same files, which it speaks for too
    same_agent: str = ""  # digest of who is asked, without key and pace; empty: an older version
    deployment: str = ""  # digest of `agent.version`
    seed: str | None = None  # of the order of the cases; None: the commit
    added: int | None = None  # rounds a case that were asked for after a verdict
    look: str = ""  # of a shard of stage 2: the id of the session that it goes on with
    schema_version: int = SCHEMA_VERSION

    @property
    def debugging(self) -> bool:
        """Whether somebody looked at some cases by name: no measurement, and without a verdict."""
        was_asked = self.provenance.event != "import"  # whose options have names of their own
        return was_asked and not self.options.keys().isdisjoint(DEBUGGING)

    @property
    def order_seed(self) -> str:
        """What decides the order of the cases of suites with looks."""
        return (self.provenance.commit or "") if self.seed is None else self.seed

    @property
    def commits(self) -> tuple[str | None, ...]:
        """Every commit that the session speaks for; the first one began it."""
        return (self.provenance.commit, *self.heads)


def _token(length: int) -> str:
    return os.urandom(length).hex()


def new_session_id(now: datetime, token: Callable[[int], str] = _token) -> str:
    """`YYYYmmdd-HHMMSS-<8 hex>`."""
    return f"{now:%Y%m%d-%H%M%S}-{token(4)}"


class SessionWriter:
    """An open session folder; holds its lock, so that two runs never write to one session."""

    def __init__(self, folder: Path, meta: Meta, redact: Callable[[str], str]) -> None:
        self.folder = folder
        self.meta = meta
        self.log = EventLog(folder / EVENTS, redact)
        self._redact = redact
        self._lock = FileLock(folder / LOCK)
        self._renamed = list_names_of_rows(meta.suites)

    @classmethod
    def create(cls, out: Path, meta: Meta, redact: Callable[[str], str]) -> SessionWriter:
        """Makes `<out>/session-<id>/` with meta.json and the head of events.jsonl. A folder that is
        made for it is kept out of git; one that is there already is left as it is.
        """
        check_folder(out, "--out")
        is_new = not os.path.lexists(out)
        writer = cls.make(out / f"session-{meta.session_id}", meta, redact)
        if is_new:
            with suppress(OSError):  # the session matters more
                (out / ".gitignore").write_text("*\n", encoding="utf-8")
        return writer

    @classmethod
    def make(cls, folder: Path, meta: Meta, redact: Callable[[str], str]) -> SessionWriter:
        """The same under a name of one's own."""
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            message = (
                f"{folder}: cannot be created: {error.strerror}; choose another folder with --out"
            )
            raise InfrastructureError(message) from error
        writer = cls(folder, meta, redact)
        try:
            writer._open()
            writer._write_meta()
            writer.log.line(json.dumps({"event": "session", **to_json(meta)}, ensure_ascii=False))
        except InfrastructureError as error:  # there is nothing to go on with
            writer.discard()
            why, what = getattr(error.__cause__, "strerror", ""), "choose another folder with --out"
            if isinstance(error.__cause__, OSError):
                what = advice(error.__cause__) or what
            raise InfrastructureError(f"{folder}: cannot be written: {why}; {what}") from error
        return writer

    @classmethod
    def resume(cls, folder: Path, redact: Callable[[str], str]) -> SessionWriter:
        """Opens a session to go on with; a half-written last line is dropped.

        Raises UsageError when it is no session or another process is writing to it.
        """
        writer = cls(folder, read_meta(folder), redact)
        writer._open()
        return writer

    def note_health(self, health: Health) -> None:
        """Into meta.json: what the agent's health check found, of the latest run that asked."""
        self.meta = replace(self.meta, health=to_json(health))
        self._write_meta()

    def note_sources(self, new_sources: Sources) -> None:
        """Into meta.json: what graders of the user's were loaded from, when they judged what is in
        this session; whoever goes on with it, or merges it, has to know.
        """
        if not new_sources:
            return
        sources = merge_sources(self.meta.sources, new_sources)
        if sources != self.meta.sources:
            self.meta = replace(self.meta, sources=sources)
            self._write_meta()

    def note_head(self, commit: str) -> None:
        """Into meta.json: one more commit that this session speaks for."""
        if commit not in self.meta.commits:
            self.meta = replace(self.meta, heads=(*self.meta.heads, commit))
            self._write_meta()

    def note_rounds(self, added: int, looks: Mapping[str, Looks | None]) -> None:
        """Into meta.json: that a judged session is to have so many rounds, and at which looks."""
        suites = {n: replace(one, looks=looks[n]) for n, one in self.meta.suites.items()}
        self.meta = replace(self.meta, suites=suites, added=added)
        self._write_meta()

    def note_continued(self) -> None:
        """Into meta.json: that a judged session is to have more trials."""
        suites = {n: replace(one, continued=True) for n, one in self.meta.suites.items()}
        self.meta = replace(self.meta, suites=suites)
        self._write_meta()

    def _write_meta(self) -> None:
        self.write(META, json_text(self.meta))

    def append(self, row: TrialRow, line: bytes = b"") -> None:
        """Writes one trial; on return it survives kill -9. `line`: its row, if encoded already."""
        self.log.append(row, line)

    def rows(self) -> Iterator[TrialRow]:
        """The trials so far, in the order suite, case, round; the last one of a key wins."""
        return rename_rows(self.log.rows(), self._renamed)

    def details(self) -> Iterator[TrialRow]:
        """The rows of details.jsonl, once `write_details` has written it."""
        return rename_rows(self.log.read_copy(self.folder / DETAILS), self._renamed)

    def rows_of(self, suite: str, case_ids: frozenset[str]) -> Iterator[TrialRow]:
        """The rows of some cases only, without reading the others."""
        return rename_rows(self.log.rows_of(suite, case_ids), self._renamed)

    def find_done(self) -> Set[tuple[str, str, int]]:
        """(suite, case, round) of every finished trial; nobody's answer is not finished."""
        return self.log.find_done()

    def write(self, name: str, text: str) -> Path:
        """One more file of the session; secrets are taken out."""
        return self._put(name, self._redact(text))

    def _put(self, name: str, clean: str) -> Path:
        path = self.folder / name
        part = path.with_name(f".{path.name}.part")  # a file that is cut off cannot be gone on with
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                part.write_bytes(clean.encode("utf-8", SURROGATES))
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise
        return path

    def write_report(self, text: str) -> Report:
        """summary.json, and what it says without secrets: by what was written, not by what stands
        there a moment later, when code of the agent may still run.
        """
        clean = self._redact(text)
        self._put(SUMMARY, clean)
        return report_of(clean)

    def write_details(self) -> None:
        """details.jsonl and <suite>/details.jsonl from the log."""
        self.log.copy(DETAILS, self.folder)

    def close(self) -> None:
        self.log.close()
        self._lock.release()

    def discard(self) -> None:
        """Takes the folder away again: nothing was asked, and nothing can be gone on with."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self) -> None:
        for name in (EVENTS, LOCK):
            if os.path.lexists(self.folder / name):
                regular(self.folder / name)
        with disk(self.folder / EVENTS):
            if not self._lock.acquire():
                raise UsageError(
                    f"{self.folder}: another run is writing to this session; wait until "
                    "it ends, or start a new run"
                )
        self.log.open()


# ------------------------------------------------------------------------------------------ reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stored session. `report` is None when the run never came to a verdict. `renamed`: suite ->
    names of metrics in its files -> those that they have now, which everything here has.
    """

    folder: Path
    meta: Meta
    report: Report | None
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def rows(self) -> Iterator[TrialRow]:
        """The rows of details.jsonl, or of the resume log when the run was cut off."""
        return rename_rows(self._stored_rows(), list_names_of_rows(self.meta.suites))

    def _stored_rows(self) -> Iterator[TrialRow]:
        details = self.folder / DETAILS
        there = details if os.path.lexists(details) else self.folder / EVENTS
        with regular(there).open("rb") as file:
            for line in file:
                row = parse_line(line)
                if row is not None and "case_id" in row:
                    yield cast("TrialRow", row)

    def control(self) -> Session | None:
        """The trials of the control that was asked beside; None where none was."""
        folder = self.folder / CONTROL
        return load_session(folder) if is_session(folder) else None


def refuse_debugging(session: Session) -> None:
    """Raises UsageError for a run that showed some cases: it measured nothing to go on from."""
    if session.meta.debugging:
        raise UsageError(
            f"{session.folder}: a run of single cases (`gate run --case` or `--failed`), which has "
            "no verdict; give the session of a whole run"
        )


def latest_session(out: Path) -> Path:
    """The newest session in `out` that came to a verdict. Raises UsageError where there is none."""
    for folder in _newest_first(out):
        try:
            judged = os.path.lexists(folder / SUMMARY) and not read_meta(folder).debugging
        except UsageError:
            continue
        if judged:
            return folder
    raise UsageError(
        f"{out}: no session with a verdict found here; `gate run` makes one, or give a session "
        "folder (session-...)"
    )


def newest_session(out: Path) -> Path:
    """The newest session in `out` that measures, whether it came to an end or not. Raises
    UsageError where there is none.
    """
    try:
        names = sorted((path.name for path in out.glob("session-*")), reverse=True)
    except OSError:
        names = []
    for name in names:
        try:
            if not read_meta(out / name).debugging:
                return out / name
        except UsageError:
            continue
    raise UsageError(f"{out}: no session found here; give a session folder (session-...)")


def find_session(given: str, out: Path) -> Path:
    """The folder that is `given`, or the one of `out` with this name or beginning; the newest
    session in `out` for `latest`. Raises UsageError where several begin so.
    """
    if given == LATEST:
        return latest_session(out)
    path = Path(given)
    if not given or os.path.lexists(path) or path.name != given:
        return path
    begins = given if given.startswith("session-") else f"session-{given}"
    there = (one for one in out.glob("session-*") if one.name.startswith(begins))
    names = sorted(one.name for one in there if is_session(one))
    if begins in names or len(names) == 1:
        return out / (begins if begins in names else names[0])
    if names:
        several = f"{len(names)} sessions in {out} begin so, such as {names[0]} and {names[1]}"
        raise UsageError(f"{given}: {several}; write more of the name")
    if given.startswith(LATEST[:2]):
        raise UsageError(f"{given}: no such session - did you mean '{LATEST}'?")
    return path


def find_ended(folder: Path, redact: Callable[[str], str]) -> Report | None:
    """The verdict of a session that lacks no trial and gets none any more; None where `--resume`
    has something to do.
    """
    with SessionWriter.resume(folder, redact) as session:
        planned = sum(
            suite.looks.cap if suite.looks else suite.cases * suite.rounds
            for suite in session.meta.suites.values()
        )
        outcome = session.log.outcome
        has_all = len(session.find_done()) >= planned
    if session.meta.debugging or outcome in (None, "error") or not has_all:
        return None
    return load_session(folder).report


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier session: the version that wrote it, and the changed defaults that its report
    did not mention.
    """

    version: str
    untold: tuple[str, ...] = ()


def newest_ended(out: Path) -> Earlier | None:
    """The newest finished session in `out`; None where no run came to its end. Sessions with
    broken files are skipped.
    """
    for folder in islice(_newest_first(out), _NEWEST):
        if candidate := earlier(folder):
            return candidate
    return None


def _newest_first(out: Path) -> Iterator[Path]:
    """The sessions in `out` whose details are written."""
    try:
        names = sorted(path.name for path in out.iterdir() if path.name.startswith("session-"))
    except OSError:
        return
    for _, some in groupby(reversed(names), key=lambda name: name[:_SECOND]):
        ended = [folder for name in some if _end_time(folder := out / name)[1] >= 0]
        yield from sorted(ended, key=_end_time, reverse=True)


def _end_time(folder: Path) -> tuple[str, int]:
    """The second of its name, and when its details were written: -1 where they were not."""
    try:
        return folder.name[:_SECOND], (folder / DETAILS).lstat().st_mtime_ns
    except OSError:
        return folder.name[:_SECOND], -1


def earlier(folder: Path) -> Earlier | None:
    """None for an import, whose version is another tool's, and for what no run wrote."""
    try:
        data: CheckedJson = read_json(folder / META, _META_BYTES)  # whatever lacks is caught
        provenance, untold = data["provenance"], data.get("untold", [])
        if provenance["event"] == "import":
            return None
        return Earlier(version=str(provenance["tool_version"]), untold=tuple(map(str, untold)))
    except (UsageError, AttributeError, KeyError, TypeError):
        return None


def is_session(path: Path) -> bool:
    return os.path.lexists(path / META)


def load_session(folder: Path, *, most: int | None = None) -> Session:
    """Raises UsageError when the folder is no session of this version.

    `most`: bytes of each file that is read, for a folder that others made.
    """
    stored = _read_meta(folder, most)
    meta, summary = _rename_suites(stored), folder / SUMMARY
    report = read_report(summary, most) if os.path.lexists(summary) else None
    return Session(
        folder=folder,
        meta=meta,
        report=rename_report(report, meta.suites) if report else None,
        renamed=list_old_names(stored.suites),
    )


def read_meta(folder: Path, most: int | None = None) -> Meta:
    """meta.json, with the names that metrics have now."""
    return _rename_suites(_read_meta(folder, most))


def _read_meta(folder: Path, most: int | None) -> Meta:
    path = folder / META
    if not os.path.lexists(path):
        raise UsageError(
            f"{folder}: not a session folder (no {META}); give a folder named session-..."
        )
    data = read_json(path, most)
    if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(f"{path}: not a session of this version of gate")
    check_form(Meta, data, path, quick=most is not None)
    try:
        meta = from_json(Meta, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: not readable as a session ({error})") from error
    check_names(meta.suites, path)
    for name, suite in meta.suites.items():
        if not _possible(suite):
            raise UsageError(f"{path}: suites.{name}: impossible numbers of cases or trials")
    return meta


def _rename_suites(meta: Meta) -> Meta:
    return replace(meta, suites={n: rename_suite(one) for n, one in meta.suites.items()})


def _possible(suite: SuiteMeta) -> bool:
    cap = suite.looks.cap if suite.looks else 0
    return (
        0 <= suite.cases <= MOST_CASES
        and 0 <= suite.rounds <= MOST_ROUNDS
        and cap <= suite.cases * MOST_ROUNDS
    )
