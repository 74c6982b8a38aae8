"""Going on with a stored session: one that was cut off where it was, one that had ended with one
batch of trials more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote

from gate.errors import UsageError
from gate.run.early_stopping import as_begun
from gate.run.setup import Setup
from gate.store.session import Meta, SessionWriter, SuiteMeta
from gate.store.session_check import checked_rows
from gate.verdict.course import Course, course

# What rounds must have in common to count as one measurement.
_SAME = {
    "commit": "commit",
    "agent": "agent",
    "agent_digest": "agent's options",
    "config_digest": "rules",
}
_CHOICE = ("config", "suite", "case", "sample", "shard", "rounds")  # options that say what is asked


class OtherSession(UsageError):
    """The stored session is none that this run can go on with."""


def reopened(folder: Path, meta: Meta, redact: Callable[[str], str]) -> SessionWriter:
    """`meta`: what a new session would say of this run. Raises OtherSession for a session that is
    broken, in use, or not to be gone on with.
    """
    session = None
    try:
        session = SessionWriter.resume(folder, redact)
        _fits(session, meta)
        deque(checked_rows(session.rows(), session.meta.suites, folder), maxlen=0)
    except UsageError as error:
        if session is not None:
            session.close()
        raise OtherSession(str(error)) from error
    return session


def begun(setup: Setup, session: SessionWriter) -> tuple[Setup, Course]:
    """The setup with the looks that the session began with, and where it is between them."""
    wanted = setup.plans
    setup = replace(setup, plans=as_begun(wanted, session.meta.suites))
    # "error": an outage kept it from a verdict. What was accepted since asks the last look anew.
    stands = session.log.outcome not in (None, "error") and not setup.accepted
    now = _course(session.meta, session, stands=stands)
    notes = [*setup.notes, *_notes(now, session.meta.session_id)]
    if setup.plans != wanted:
        notes.append(
            f"session {session.meta.session_id} keeps its plan of looks: stop, max_rounds and "
            "concurrency count when a session begins"
        )
    return replace(setup, notes=tuple(notes)), now


def _fits(session: SessionWriter, meta: Meta) -> None:
    folder, before = session.folder, session.meta
    if _without_looks(before.suites) != _without_looks(meta.suites):
        raise UsageError(
            f"--resume {folder}: the suites, the choice of cases, datasets or graders have changed "
            "since; start a new run, or go on with the options and files as they were"
            f"{_began(before)}"
        )
    if not _course(before, session).again:
        return
    for what, name in _SAME.items():
        was, now = getattr(before.provenance, what), getattr(meta.provenance, what)
        if was != now:
            raise UsageError(
                f"--resume {folder}: it has ended, and no rounds can be added to it: the {name} "
                "changed since; start a new run"
            )


def _began(meta: Meta) -> str:
    """What to type again; empty where no option chose anything."""
    named = ((name, meta.options.get(name)) for name in _CHOICE)
    each = ((name, of if isinstance(of, list) else [of]) for name, of in named if of is not None)
    given = " ".join(f"--{name} {quote(str(one))}" for name, of in each for one in of)
    return f": {given}" if given else ""


def _course(meta: Meta, session: SessionWriter, *, stands: bool = True) -> Course:
    plans = {name: suite.looks for name, suite in meta.suites.items() if suite.looks is not None}
    return course(plans, meta.provenance.commit or "", session.log.look, stands=stands)


def _without_looks(suites: Mapping[str, SuiteMeta]) -> dict[str, SuiteMeta]:
    return {name: replace(suite, looks=None) for name, suite in suites.items()}


def _notes(now: Course, session_id: str) -> list[str]:
    if not now.again:
        return []
    if not now.going:
        return [f"session {session_id} is at its cap: no trial was added"]
    return [f"session {session_id} had ended: one batch of trials was added to it"]
