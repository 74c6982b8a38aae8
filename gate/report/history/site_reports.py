"""Reports of runs in a site: `reports/<run>/report.html`, the newest of them."""

from __future__ import annotations

import os
import re
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.plugins import REPORTERS
from gate.records.history import PastRun
from gate.store.baseline.answers import read_beside
from gate.store.event_log import SURROGATES
from gate.store.row_cache import SharedRows
from gate.store.session import Session, is_session, load_session, refuse_debugging
from gate.store.session_check import check_rows

REPORTS = "reports"
PAGE = "report.html"
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)


def find_report(folder: Path, run: PastRun) -> str:
    """The address of the run's report in a site or among sessions, seen from a page in `folder`;
    empty where there is none.
    """
    places = [(REPORTS, run.run_id), (REPORTS, run.session_id), ("", f"session-{run.session_id}")]
    for above, name in places:
        if name and _NAME.fullmatch(name) and (folder / above / name / PAGE).is_file():
            return "/".join(filter(None, (above, name, PAGE)))
    return ""


def publish_reports(sessions: Sequence[Path], site: Path) -> tuple[str, ...]:
    """Makes the page of each session from its records and puts it into the site, under the run of
    GitHub that made it, else under its own name. Nothing else of a session is copied. Returns what
    was left out, and why.
    """
    notes = []
    for folder in _list_sessions(sessions):
        try:
            _publish(load_session(folder), site)
        except UsageError as error:
            notes.append(f"left out: {error}")
    return tuple(notes)


def remove_old_reports(site: Path, keep: int) -> None:
    """All but the newest `keep` reports go. Raises OSError."""
    folder = site / REPORTS
    if not folder.is_dir():
        return
    pages = [one / PAGE for one in folder.iterdir() if (one / PAGE).is_file()]
    pages.sort(key=lambda page: (page.stat().st_mtime, page.parent.name), reverse=True)
    for page in pages[keep:]:
        shutil.rmtree(page.parent)


def _list_sessions(places: Iterable[Path]) -> Iterator[Path]:
    """Each place that is a session, and those right inside the others. Raises UsageError for a
    place that is no folder.
    """
    for place in places:
        if is_session(place):
            yield place
        elif place.is_dir():
            yield from sorted(one for one in place.iterdir() if is_session(one))
        else:
            raise UsageError(
                f"--reports {place}: no such folder; give a session or a folder of them"
            )


def _publish(session: Session, site: Path) -> None:
    """Its file has the time of the run, so that the newest runs are the newest files. Raises
    UsageError for a session without a verdict, or with damaged rows.
    """
    refuse_debugging(session)
    report, meta = session.report, session.meta
    if report is None:
        raise UsageError(f"{session.folder}: the run did not finish")
    name = meta.provenance.run_id or meta.session_id
    if not _NAME.fullmatch(name):
        raise UsageError(f"{session.folder}: a run without a plain name")
    deque(check_rows(session.rows(), meta.suites, session.folder), maxlen=0)
    rows = SharedRows(session.rows, before=partial(read_beside, session.folder))
    page = site / REPORTS / name / PAGE
    text = REPORTERS.get_class("html")().render(report, rows)
    write_whole(page, text.encode("utf-8", SURROGATES))
    try:
        moment = datetime.fromisoformat(meta.created_at).replace(tzinfo=UTC).timestamp()
        os.utime(page, (moment, moment))
    except (ValueError, OverflowError):  # it has the time of now
        return
