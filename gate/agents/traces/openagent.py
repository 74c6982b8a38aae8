"""OpenAgent's own records: lines of its console (old and new), and its audit log."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gate.agents.traces.building import Builder
from gate.agents.traces.detecting import OPENAGENT_TYPES
from gate.agents.traces.open_calls import Step
from gate.agents.traces.openagent_lines import CONSOLE, NAMELESS, NO_CALL, RAN, strip_colours
from gate.agents.traces.values import Called, arguments_of, as_list, as_object, as_text, each, text
from gate.records import Json


def read(data: Json, into: Builder) -> None:
    """The console's text, or a list of audit records."""
    if isinstance(data, str):
        _Console(into).read(data)
    else:
        records = data if isinstance(data, list) else [data]
        # A log that names no model call does not show them at all.
        into.shows_turns = any(isinstance(r, dict) and r.get("type") == "llm_call" for r in records)
        each(
            as_list(records, "the trace"),
            "records",
            lambda one: _read_audit_record(as_object(one, "it"), into),
        )


class _Console:
    """Results have no ids: they belong to the calls in order."""

    def __init__(self, into: Builder) -> None:
        self._into = into
        self._call: Step | None = None  # an old one, whose arguments are still to come
        self._result: list[str] | None = None  # lines of a result that may go on

    def read(self, text: str) -> None:
        for line in text.splitlines():
            plain = strip_colours(line)
            match = CONSOLE.match(plain)
            if match:
                self._finish()
                self._line(match)
            elif self._result is not None:
                self._result.append(plain)
        self._finish()
        self._into.shows_turns = self._into.turns > 0

    def _line(self, match: re.Match[str]) -> None:
        if match["turn"] is not None:
            self._into.turn("")
        elif match["old"] is not None:
            self._call = None if match["old"] == NO_CALL else self._add_call(match["old"], None)
        elif match["arguments"] is not None and self._call is not None:
            given = arguments_of(match["arguments"])
            self._call.arguments, self._call.raw_arguments = given
            self._call = None
        elif match["new"] is not None:
            self._add_call(match["new"], match["args"])
        elif match["result"] is not None:
            self._result = [match["result"]]

    def _add_call(self, name: str, given: Json) -> Step:
        return self._into.call(Called(name or NAMELESS, given, False, None))

    def _finish(self) -> None:
        """A result ends where the next line of the console begins."""
        if self._result is not None:
            result_text = "\n".join(self._result).rstrip()
            self._into.result(result_text.removesuffix("]"), id=None)
            self._result = None


def _read_audit_record(record: Mapping[str, Json], into: Builder) -> None:
    """Reads one audit record. For a call it holds only the name, the outcome and the time."""
    kind, outcome = record.get("type"), record.get("outcome")
    if kind == "llm_call":
        if outcome != "attempted":
            into.turn("", model=record.get("model"))
    elif kind == "message":
        if record.get("role") == "assistant":
            into.says(text(record.get("text"), "text") or "")
    elif kind == "tool_call":
        _read_audit_call(record, outcome, into)
    elif kind not in OPENAGENT_TYPES:
        into.faults.tell("unread", f"type {as_text(kind)}")


def _read_audit_call(record: Mapping[str, Json], outcome: Json, into: Builder) -> None:
    name = text(record.get("tool"), "tool") or NAMELESS
    if outcome == "not_found":
        into.faults.tell("never_ran", name)
    if outcome not in (*RAN, "attempted"):
        return
    step = into.open.take(None, name) if outcome in RAN else None
    if step is None:
        step = into.call(Called(name, None, True, None), waits=outcome == "attempted")
    if outcome == "failure":
        step.error = text(record.get("reason"), "reason") or "failure"
    if outcome in RAN:
        step.latency_ms = into.faults.number(record.get("durationMs"), "durationMs")
