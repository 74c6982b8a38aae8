"""The lines of an OpenAgent server's logs: the access log, the console in two forms, the audit log.

The access line is that of beego 1.12 (router.go); it has colours in files too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

from gate.records import CheckedJson, Response, ToolCall
from gate.text.shortening import shorten

ConsoleFormat = Literal["new", "old"]
NO_SUCH_TOOL = "there is no tool"  # how the error of a call begins that no tool took

_RESET = "\x1b[0m"
_STATUS_COLOURS = {2: "\x1b[97;42m", 3: "\x1b[90;47m", 4: "\x1b[97;43m"}
_BAD = "\x1b[97;41m"
_METHOD_COLOURS = {"GET": "\x1b[97;44m", "POST": "\x1b[97;46m"}
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_MOST = 2000  # characters of a call's arguments or result


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRequest:
    """A request that has been answered; `known`: its path is a route of the server."""

    address: str
    method: str
    path: str
    status: int
    ns: int
    known: bool


def access_line(request: EndedRequest, *, at: datetime) -> str:
    """The line of one request; `at` is local time."""
    path = "".join(sign if sign.isprintable() else "?" for sign in request.path)
    colour = _STATUS_COLOURS.get(request.status // 100, _BAD)
    method = f"{_METHOD_COLOURS.get(request.method, _RESET)} {request.method:<7} {_RESET}"
    return (
        f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03} [D] [router.go:1013]  "
        f"|{request.address:>15}|{colour} {request.status:3} {_RESET}|{go_duration(request.ns):>13}"
        f"|{'match' if request.known else 'nomatch':>8}|{method} {path:<3}"
        + f"   r:{path}"
        * request.known
    )


def go_duration(ns: int) -> str:
    """A duration as Go writes it: "312.4µs", "5.6761ms", "10.1s", "1m2.5s"."""
    if ns == 0:
        return "0s"
    minutes, rest = divmod(ns, 60 * 1_000_000_000)
    if minutes:
        hours, minutes = divmod(minutes, 60)
        return f"{hours}h" * bool(hours) + f"{minutes}m{_decimal(rest, 1_000_000_000)}s"
    size, unit = next((u for u in _UNITS if ns >= u[0]), (1, "ns"))
    return _decimal(ns, size) + unit


def _decimal(ns: int, size: int) -> str:
    units, part = divmod(ns, size)
    decimals = f"{part:0{len(str(size)) - 1}}".rstrip("0") if part else ""
    return f"{units}.{decimals}" if decimals else str(units)


def console(steps: Sequence[ToolCall], form: ConsoleFormat, *, offered: int) -> Iterator[str]:
    """What one answered request prints; `offered` is the number of tools that the agent has."""
    return _new(steps, offered) if form == "new" else _old(steps)


def _old(steps: Sequence[ToolCall]) -> Iterator[str]:
    for step in steps:
        yield f"Tool Call: [{step.name}]"
        yield f"Arguments: [{_arguments(step)}]"
        yield f"Tool Result: [{_result(step)}]"
    if not steps:
        yield "Tool Call: [None]"


def _new(steps: Sequence[ToolCall], offered: int) -> Iterator[str]:
    yield from ("", f"--- LLM Call (Round 0) | Tools available: [{offered}] ---")
    number = 0
    for number, calls in enumerate(_rounds(steps), start=1):
        yield ""
        yield f"--- Agent Round {number} | LLM Decision: [{len(calls)} tool call(s)] ---"
        for place, step in enumerate(calls, start=1):
            yield f"  Tool {place}: [{step.name}] args: {_arguments(step)}"
        for step in calls:
            yield f"Tool Result: [{_result(step)}]"
        yield from ("", f"--- LLM Call (Round {number}) | Tool results fed back ---")
    message = f"no more tool calls after round {number}" if number else "no tool calls"
    yield f"LLM Decision: [Final Answer — {message}]"


def _rounds(steps: Sequence[ToolCall]) -> list[list[ToolCall]]:
    return [list(calls) for _, calls in groupby(steps, key=lambda step: step.turn)]


def _arguments(step: ToolCall) -> str:
    return shorten(_compact(step.arguments or {}), _MOST)


def _result(step: ToolCall) -> str:
    if step.error:
        return shorten(step.error, _MOST)
    text = step.result if isinstance(step.result, str) else _compact(step.result)
    return _compact([{"type": "text", "text": shorten(text, _MOST)}])


def audit(response: Response, *, session: str, at: datetime) -> Iterator[str]:
    """The records of one chat; `at` is UTC. No text of the chat is in them."""
    for record in _audit_events(response):
        head = {"timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"}
        yield _compact({**head, "sessionId": session, **record})


def _audit_events(response: Response) -> Iterator[Mapping[str, CheckedJson]]:
    steps = response.steps or ()
    for calls in _rounds(steps):
        yield {"type": "llm_call", "model": response.model, "outcome": "success"}
        for step in calls:
            length = len(_compact(step.arguments or {}))
            about = {"type": "tool_call", "tool": step.name, "argumentsLength": length}
            yield {**about, "outcome": "attempted"}
            yield {**about, "outcome": outcome(step)}
    yield {"type": "llm_call", "model": response.model, "outcome": "success"}
    yield {"type": "message", "role": "assistant", "contentLength": len(response.answer)}


def outcome(step: ToolCall) -> Literal["success", "failure", "not_found"]:
    """What became of a call; only `success` and `failure` mean that a tool ran."""
    if step.error is None:
        return "success"
    return "not_found" if step.error.startswith(NO_SUCH_TOOL) else "failure"


def _compact(value: CheckedJson) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
