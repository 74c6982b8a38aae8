"""One `.traj.json` file: what the agent did, what it cost, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from gate.agents.traces.values import at
from gate.errors import AgentFailure, InvalidInput, Place, Problem
from gate.files.json_values import as_amount, as_string
from gate.files.plain import json_of
from gate.files.timestamps import after, iso
from gate.importers.formats.mini_swe_agent.messages import MessageReader, api_calls
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Json, Response
from gate.text.escaping import clean, one_line

SUFFIX = ".traj.json"
FORMATS = ("mini-swe-agent-1", "mini-swe-agent-1.1")
_MOST = 256 << 20  # bytes of one
_SAID = 2_000  # characters of an error
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryFile:
    """`exit_status` is "" of a run that did not end. `submission`: the patch, "" without one."""

    id: str
    task: str
    exit_status: str
    submission: str
    response: Response
    format: str
    version: str = ""
    latency_ms: float | None = None
    error: str | None = None
    started: float | None = None  # seconds since 1970

    @property
    def submitted(self) -> bool:
        return self.exit_status == "Submitted"

    @property
    def codes(self) -> tuple[str, ...]:
        return () if self.submitted else (exit_code(self.exit_status),)

    @property
    def is_nobodys(self) -> bool:
        """Whether it ended because nobody answered the agent."""
        return is_nobodys(f"{self.exit_status}: {self.error or ''}")

    @property
    def started_at(self) -> str:
        """ISO 8601, UTC; "" where no message has a time."""
        return "" if self.started is None else iso(after(self.started))


def exit_code(status: str) -> str:
    """The failure code of an exit status: `LimitsExceeded` is `limits_exceeded`."""
    words = _WORDS.sub("_", one_line(status, 60)).casefold()
    return re.sub(r"[^a-z0-9]+", "_", words).strip("_") or "unfinished"


def id_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def read_trajectory(path: Path) -> TrajectoryFile:
    """Raises InvalidInput (file, key), UsageError for what is no plain file."""
    data = json_of(path, _MOST)
    info = at(data, "info")
    if not isinstance(info, dict) or not isinstance(data.get("messages"), list):
        _refuse(path, "info, messages", "no trajectory of mini-SWE-agent - name its .traj.json")
    written = data.get("trajectory_format", FORMATS[0])
    if written not in FORMATS:
        shown = one_line(str(written), 60)
        _refuse(path, "trajectory_format", f"'{shown}' is none of {', '.join(FORMATS)}")
    messages = MessageReader()
    try:
        messages.read(data["messages"])
    except AgentFailure as failure:
        _refuse(path, "", f"{failure} - the file is not as mini-SWE-agent wrote it")
    status = as_string(info.get("exit_status"))
    submitted = status == "Submitted"
    told = as_string(info.get("submission"))
    named = data.get("instance_id")
    return TrajectoryFile(
        id=named if isinstance(named, str) and named else id_of(path),
        task=messages.task,
        exit_status=status,
        submission=told if submitted else "",
        response=_response(info, messages, told if submitted else ""),
        format=written,
        version=one_line(str(info.get("mini_version") or ""), 40),
        latency_ms=messages.latency_ms,
        # what version 1 has as the submission of a run that broke is the exception's text
        error=None if submitted else _error(info, told),
        started=messages.started,
    )


def _response(info: Mapping[str, Json], messages: MessageReader, answer: str) -> Response:
    trace = messages.into.trace("openai")
    model = at(info, "config", "model", "model_name")
    cost = as_amount(at(info, "model_stats", "instance_cost"))
    status = info.get("exit_status")
    return Response(
        answer=answer,
        steps=trace.steps,
        usage=replace(trace.usage, cost_usd=cost),
        model=one_line(model, 200) if isinstance(model, str) else None,
        finish_reason=one_line(status, 60) if isinstance(status, str) else None,
        turns=api_calls(info, messages),
        omitted_steps=trace.omitted_steps,
        trace_faults=trace.faults,
    )


def _error(info: Mapping[str, Json], told: str) -> str | None:
    said = info.get("exception_str") or told or info.get("traceback")
    return clean(said, _SAID) if isinstance(said, str) and said else None


def _refuse(path: Path, key: str, message: str) -> NoReturn:
    raise InvalidInput([Problem(Place(path.as_posix(), key=key), message)])
