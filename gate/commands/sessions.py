"""`gate sessions`: lists the stored sessions; `--keep N` removes all but the newest ones."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from gate.commands.options.records import results_folder
from gate.errors import InfrastructureError, UsageError
from gate.files.locked_update import FileLock
from gate.records.session_list import SessionEntry
from gate.report.session_index.keep import INDEX, keep_index
from gate.store.session import LOCK, META
from gate.store.session_list import list_sessions
from gate.text import figures
from gate.text.escaping import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """One session of the folder. `outcome`: of its verdict; empty: it has none that is listed."""

    name: str
    outcome: str
    suites: tuple[str, ...]
    cases: int
    megabytes: float


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints a line a session, the newest first, and returns 0. Raises UsageError for a folder that
    is not there, InfrastructureError for a session that cannot be removed.
    """
    folder = Path(options.dir) if options.dir else results_folder()
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; `gate run` makes it")
    found = list_folders(folder)
    entries = {entry.folder: entry for entry in list_sessions(folder, ())}
    removed = found[options.keep :] if options.keep is not None else []
    kept = [one for one in found if one not in removed]
    shown = [_describe(one, entries.get(one.name)) for one in kept]
    if options.format == "json":
        print(json.dumps([asdict(one) for one in shown], indent=2))
    else:
        for line in _lines(shown, folder):
            print(plain(line))
    freed = sum(remove(one) for one in removed)
    if removed and kept and os.path.lexists(folder / INDEX):
        keep_index(kept[0])
    if removed and options.format != "json":
        print(plain(f"Removed {figures.count(len(removed), 'session')}, {freed / 1e6:,.1f} MB."))
    return 0


def list_folders(folder: Path) -> list[Path]:
    """The sessions in the folder, the newest first. Links are none, and neither is what has no
    meta.json.
    """
    found = [
        one
        for one in folder.glob("session-*")
        if one.is_dir() and not one.is_symlink() and (one / META).is_file()
    ]
    return sorted(found, key=lambda one: one.name, reverse=True)


def _describe(session: Path, entry: SessionEntry | None) -> StoredSession:
    return StoredSession(
        name=session.name,
        outcome=entry.outcome if entry else "",
        suites=entry.suites if entry else (),
        cases=entry.cases if entry else 0,
        megabytes=round(_size(session) / 1e6, 1),
    )


def remove(session: Path) -> int:
    """Removes a session and returns its bytes. Raises InfrastructureError if it cannot be removed,
    or if a run is writing to it.
    """
    lock = FileLock(session / LOCK)
    if not lock.acquire():
        raise InfrastructureError(f"{session}: a run is writing to it; wait until it ends")
    lock.release()
    size = _size(session)
    try:
        shutil.rmtree(session)
    except OSError as error:
        raise InfrastructureError(f"{session}: cannot be removed: {error.strerror}") from error
    return size


def _size(session: Path) -> int:
    """Bytes on the disk: a file with two names counts once."""
    statuses = [one.lstat() for one in session.rglob("*") if not one.is_dir()]
    return sum({(one.st_dev, one.st_ino): one.st_size for one in statuses}.values())


def _lines(sessions: list[StoredSession], folder: Path) -> Iterator[str]:
    width = max((len(one.name) for one in sessions), default=0)
    for one in sessions:
        words = f"{', '.join(one.suites)}: {figures.count(one.cases, 'case')}" if one.suites else ""
        outcome = one.outcome.replace("_", " ") or "no verdict"
        yield f"{one.name:{width}}  {outcome:14}  {one.megabytes:8,.1f} MB  {words}".rstrip()
    total = sum(one.megabytes for one in sessions)
    yield f"{folder}: {figures.count(len(sessions), 'session')}, {total:,.1f} MB"
