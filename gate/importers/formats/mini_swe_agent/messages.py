"""The messages of a mini-SWE-agent trajectory as steps, usage and times.

Version 2 has three shapes: OpenAI's tool calls, Responses, and text with one block of code a
message; version 1 has the last one. A step is one command; what `extra` says of it wins over what
its text shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gate.agents.traces.building import Builder
from gate.agents.traces.values import (
    Called,
    as_list,
    as_object,
    as_text,
    at,
    content_text,
    each,
    parse_call,
    result_of,
)
from gate.files.json_values import as_amount, as_count, string_or_none
from gate.records import Json

_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,10})</returncode>")
_MOMENTS = (946_684_800, 4_102_444_800)  # seconds since 1970: the years 2000 to 2099


class MessageReader:
    """Reads one message after the other; `into` is what they come to."""

    def __init__(self) -> None:
        self.into = Builder()
        self.task = ""
        self.started: float | None = None  # seconds since 1970, of the first message with a time
        self._last: float | None = None
        self._in_text = 0  # commands of the last message whose observation names no call

    def read(self, messages: Json) -> None:
        """Raises AgentFailure for a wrong type, with the number of the message."""
        each(as_list(messages, "messages"), "messages", self._message)

    @property
    def latency_ms(self) -> float | None:
        """From the first time that is told to the last one."""
        if self.started is None or self._last is None or self._last <= self.started:
            return None
        return (self._last - self.started) * 1000

    def _message(self, value: Json) -> None:
        item = as_object(value, "it")
        extra = item["extra"] if isinstance(item.get("extra"), dict) else {}
        now = _moment(extra.get("timestamp", item.get("timestamp")))
        if item.get("role") == "assistant" or item.get("object") == "response":
            self._turn(item, extra)
        elif item.get("type") == "function_call_output":
            self._result(item.get("output"), extra, item.get("call_id"), now)
        elif item.get("role") == "tool":
            self._result(item.get("content"), extra, item.get("tool_call_id"), now)
        elif item.get("role") == "user":
            self._heard(item, extra, now)
        if now is not None:
            self.started = now if self.started is None else min(self.started, now)
            self._last = now if self._last is None else max(self._last, now)

    def _turn(self, item: Mapping[str, Json], extra: Mapping[str, Json]) -> None:
        usage = at(extra, "response", "usage") or item.get("usage")
        self.into.turn("", usage=usage if isinstance(usage, dict) else None)
        self._in_text = 0
        for call in _calls(item, extra):
            self.into.call(call)
            self._in_text += call.id is None

    def _heard(
        self, item: Mapping[str, Json], extra: Mapping[str, Json], now: float | None
    ) -> None:
        """The task, an observation, or a word on the form of the last message."""
        if not self.into.turns:
            self.task = self.task or content_text(item.get("content")) or ""
        elif self._in_text and not extra.get("interrupt_type"):
            self._in_text -= 1
            self._result(item.get("content"), extra, None, now)

    def _result(
        self, content: Json, extra: Mapping[str, Json], call: Json, now: float | None
    ) -> None:
        step = self.into.open.take(string_or_none(call), None)
        if step is None:
            self.into.faults.tell("no_call", as_text(call))
            return
        raw = extra.get("raw_output")
        shown = result_of(content)
        step.result = raw if isinstance(raw, str) else shown
        step.error = _error(extra, shown)
        if now is not None and self._last is not None and now >= self._last:
            step.latency_ms = (now - self._last) * 1000


def _calls(item: Mapping[str, Json], extra: Mapping[str, Json]) -> Iterator[Called]:
    """The commands of a message."""
    if isinstance(item.get("tool_calls"), list):
        yield from map(parse_call, item["tool_calls"])
    elif isinstance(item.get("output"), list):
        for entry in item["output"]:
            if isinstance(entry, dict) and entry.get("type") == "function_call":
                yield parse_call({**entry, "id": entry.get("call_id") or entry.get("id")})
    elif isinstance(extra.get("actions"), list):
        for action in extra["actions"]:
            yield _command(as_text(at(action, "command")), at(action, "tool_call_id"))
    else:
        blocks = _COMMAND.findall(content_text(item.get("content")) or "")
        if len(blocks) == 1:  # the agent takes any other number for an error of form
            yield _command(blocks[0].strip(), None)


def _command(command: str, call: Json) -> Called:
    return Called("bash", {"command": command}, False, string_or_none(call))


def _error(extra: Mapping[str, Json], shown: Json) -> str | None:
    exception = extra.get("exception_info")
    if isinstance(exception, str) and exception:
        return exception
    code = extra.get("returncode")
    if not isinstance(code, int):
        found = _RETURN_CODE.search(shown) if isinstance(shown, str) else None
        code = int(found[1]) if found else 0
    return f"exit code {code}" if code else None


def _moment(value: Json) -> float | None:
    seconds = as_amount(value)
    return seconds if seconds is not None and _MOMENTS[0] <= seconds <= _MOMENTS[1] else None


def api_calls(info: Mapping[str, Json], messages: MessageReader) -> int:
    """As the agent counted them, else the messages of the model."""
    told = as_count(at(info, "model_stats", "api_calls"))
    return messages.into.turns if told is None else told
