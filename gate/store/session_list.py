"""The sessions of a folder in short. What is known of one is not read again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from gate.errors import UsageError
from gate.files.session_file import read_json
from gate.records import CheckedJson, Outcome
from gate.records.session_list import SessionEntry
from gate.store.session import DEBUGGING, META, SUMMARY

MOST = 1_000  # the newest sessions
PAGE = "report.html"
_FOLDER = re.compile(r"session-[\w-]{1,100}", re.ASCII)
_MOST_BYTES = 256 << 20  # of a file
_TEXT = 200  # characters of a name
_SUITES = 20


def list_sessions(folder: Path, known: Iterable[SessionEntry]) -> tuple[SessionEntry, ...]:
    """Those with a verdict, the newest first. Files of a session are opened only where `known` has
    no entry of it, or an older one; a damaged session is left out. Raises OSError if the folder
    cannot be read.
    """
    entries = {entry.folder: entry for entry in known}
    return tuple(sorted(_list(folder, entries), key=lambda one: one.created_at, reverse=True))


def _list(folder: Path, known: dict[str, SessionEntry]) -> Iterator[SessionEntry]:
    with os.scandir(folder) as found:
        names = [one.name for one in found if _FOLDER.fullmatch(one.name) and _is_folder(one)]
    for name in sorted(names, reverse=True)[:MOST]:
        stamp = _stamp(folder / name)
        entry = known.get(name)
        if stamp and (entry is None or entry.stamp != stamp):
            entry = _read(folder / name, stamp)
        if stamp and entry is not None:
            yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _stamp(session: Path) -> str:
    """Another one after each change of summary.json; empty where there is none."""
    try:
        status = (session / SUMMARY).lstat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}"


def _read(session: Path, stamp: str) -> SessionEntry | None:
    """None for a session that showed single cases, a shard, and one that is damaged."""
    try:
        summary: CheckedJson = read_json(session / SUMMARY, _MOST_BYTES)
        meta: CheckedJson = read_json(session / META, _MOST_BYTES)
        asked = meta["provenance"]["event"] != "import"  # an import's options have other names
        if asked and not meta["options"].keys().isdisjoint((*DEBUGGING, "shard")):
            return None
        return _entry(session, stamp, summary)
    except (UsageError, AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _entry(session: Path, stamp: str, summary: CheckedJson) -> SessionEntry:
    """Raises one of the errors above where something is missing or of another kind."""
    suites, provenance = summary["suites"], summary["provenance"]
    if summary["outcome"] not in get_args(Outcome):
        raise ValueError
    counts = [suite.get("counts") for suite in suites.values()]
    failed = [one["flaky"] + one["failing"] for one in counts if one]
    overall = summary.get("overall") or {}
    rate = overall.get("success_rate")
    if len(suites) == 1:
        metrics = next(iter(suites.values()))["metrics"]
        rate = (metrics.get("agent.success_rate") or {}).get("value")
    pull, commit = provenance.get("pull_request"), provenance.get("commit")
    return SessionEntry(
        folder=session.name,
        stamp=stamp,
        created_at=str(summary["created_at"])[:_TEXT],
        outcome=summary["outcome"],
        suites=tuple(str(name)[:_TEXT] for name in [*suites][:_SUITES]),
        cases=sum(int(suite["cases"]) for suite in suites.values()),
        failed=int(sum(failed)) if len(failed) == len(counts) else None,
        success_rate=None if rate is None else float(rate),
        cost_usd=None if (usd := summary["cost"]["usd"]) is None else float(usd),
        duration_s=float(summary["duration_s"]),
        commit=None if commit is None else str(commit)[:_TEXT],
        pull_request=None if pull is None else int(pull),
        has_page=(session / PAGE).is_file(),
    )
