"""The session of the control's answers, inside the session of the run: opened, continued, or joined
from shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from gate.agents.under_test import settings_digest, subject_digest
from gate.errors import UsageError
from gate.records import Provenance
from gate.run.control_agent import Control
from gate.run.resume import OtherSession, reopen
from gate.run.setup import Setup
from gate.store.session import CONTROL, Meta, Session, SessionWriter, is_session


def control_of_shards(shards: Sequence[Session], baseline: str | None) -> Control | None:
    """The control that the shards asked, unless `baseline` replaces it; None without shards. Raises
    UsageError if only some of them asked one.
    """
    if not shards:
        return None
    folders = {shard.control() is not None: shard.folder for shard in shards}
    if len(folders) > 1:
        raise UsageError(
            f"{folders[True]} called a control agent and {folders[False]} did not; merge shards "
            "of one run"
        )
    return Control(fresh=True in folders and baseline in (None, "auto"))


@contextmanager
def open_control_session(
    setup: Setup,
    session: SessionWriter,
    joined: Sequence[Session],
    redact: Callable[[str], str],
) -> Iterator[SessionWriter | None]:
    """The session for the control's answers, with those of the `joined` sessions; None without a
    control. Raises OtherSession if the resumed session had another control.
    """
    resumed, folder = setup.resumed is not None, session.folder / CONTROL
    if resumed and is_session(folder) != setup.control.fresh:
        began = (
            "did not call a control agent" if setup.control.fresh else "also called a control agent"
        )
        raise OtherSession(
            f"--resume {session.folder}: the session {began}; start a new run, or "
            "continue with the original options and files"
        )
    if not setup.control.fresh:
        yield None
        return
    meta = _meta(setup, session, joined)
    opened = _reopen(folder, meta, redact) if resumed else SessionWriter.make(folder, meta, redact)
    with opened as writer:
        for row in chain.from_iterable(one.rows() for one in joined):
            writer.append(row)
        yield writer


def _meta(setup: Setup, session: SessionWriter, joined: Sequence[Session]) -> Meta:
    """No looks of its own, and no cases that only the candidate is asked."""
    return Meta(
        session_id=f"{session.meta.session_id}-control",
        created_at=session.meta.created_at,
        provenance=joined[0].meta.provenance if joined else _provenance(setup),
        suites={
            plan.name: replace(plan.meta(), cases=len(plan.chosen - plan.new_cases), looks=None)
            for plan in setup.plans
        },
    )


def _provenance(setup: Setup) -> Provenance:
    control, provenance = setup.control, setup.provenance
    return replace(
        provenance,
        commit=provenance.base_commit if control.of_base else None,
        agent=setup.control_agent.describe() if setup.control_agent else "",
        agent_digest=subject_digest(control.agent, control.retriever) if control.agent else "",
        agent_options=settings_digest(control.agent, control.retriever) if control.agent else "",
    )


def _reopen(folder: Path, meta: Meta, redact: Callable[[str], str]) -> SessionWriter:
    session = reopen(folder, meta, redact)
    was, now = session.meta.provenance, meta.provenance
    if (was.agent, was.agent_digest) != (now.agent, now.agent_digest):
        session.close()
        raise OtherSession(
            f"--resume {folder.parent}: the control agent has changed; start a new run"
        )
    return session
