"""Compares the tool calls that an answer declares with those in the server's logs."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Literal

from gate.graders.openagent_rules.declared import (
    Declared,
    canonical_name,
    is_same_family,
    is_same_tool,
    list_observed_calls,
    list_unmatched,
)
from gate.records import CheckedEvidence, EvidenceVerdict, ServerLogs
from gate.records.server_logs import NO_CALLS, NOT_ALONE, NOTHING_READ, SEVERAL
from gate.text.shortening import shorten

Family = Literal["exact", "lax"]
SHOWN = 100  # names of one list
_NOTES, _NOTE = 10, 200  # how many, and characters of one

NO_LOGS = "no server log was looked for"
OWN_WORD = "no server log was looked for, and the agent's own steps are not proof"


def cross_check(
    calls: Sequence[Declared],
    logs: ServerLogs | None,
    required: Sequence[str],
    *,
    family: Family = "exact",
    upstream: bool = False,
    own_steps: bool = False,
) -> CheckedEvidence:
    """The verdict on the declared `calls`. `required`: tools that must have run. `upstream`: a log
    counts as soon as it shows one call. `own_steps`: the agent reports its calls itself, which
    proves nothing.

    If lines of other requests may be mixed in, the verdict is never complete; a call that even
    those lines do not show is still fabricated.
    """
    observed = None if logs is None or logs.calls is None else list_observed_calls(logs.calls)
    tools = tuple(dict.fromkeys(name for tool in required if (name := canonical_name(tool))))
    alike = is_same_family if family == "lax" else is_same_tool
    ran = observed or ()
    known_names = {*ran, *tools}
    names = tuple(_choose_name(call, known_names) for call in calls)
    missing = tuple(tool for tool in tools if not any(alike(tool, name) for name in ran))
    why = _explain_no_evidence(logs, observed, own_steps=own_steps) or (
        "" if upstream else _explain_mixed_logs(logs)
    )
    if upstream and not why and not ran:
        why = NO_CALLS
    verdict: EvidenceVerdict = "unknown" if why else "incomplete" if missing else "complete"
    is_own_log = observed is not None and not _explain_mixed_logs(logs)
    notes = list(dict.fromkeys((*([why] if why else []), *(logs.notes if logs else ()))))
    return CheckedEvidence(
        verdict=verdict,
        declared=names[:SHOWN],
        observed=None if observed is None else observed[:SHOWN],
        required=tools[:SHOWN],
        missing=() if why else missing[:SHOWN],
        fabricated=() if observed is None else list_unmatched(names, observed)[:SHOWN],
        undeclared=list_unmatched(ran, names)[:SHOWN] if is_own_log else (),
        logs=logs.logs if logs else (),
        notes=shorten_notes(notes),
    )


def shorten_notes(notes: Sequence[str]) -> tuple[str, ...]:
    """The first notes, one line each."""
    return tuple(shorten(note, _NOTE) for note in notes[:_NOTES])


def _choose_name(call: Declared, known_names: Container[str]) -> str:
    """The first name of an entry that is known here, or its first name."""
    return next((name for name in call.names if name in known_names), call.name)


def _explain_no_evidence(
    logs: ServerLogs | None, observed: Sequence[str] | None, *, own_steps: bool
) -> str:
    """Why the logs say nothing of calls; empty where they do."""
    if logs is None:
        return OWN_WORD if own_steps else NO_LOGS
    if observed is not None:
        return ""
    return NO_CALLS if any(log.bound for log in logs.logs) else NOTHING_READ


def _explain_mixed_logs(logs: ServerLogs | None) -> str:
    """Why lines of other requests may be among those of this one."""
    if logs is None:
        return ""
    if not logs.alone:
        return NOT_ALONE
    return SEVERAL if (logs.requests or 0) > 1 else ""
