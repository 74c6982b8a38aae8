"""Token counts and costs: the names they go by, and their sum over the model calls of a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.values import at, cost_of, first, is_amount
from gate.records import Json, Usage

_INPUT = ("input_tokens", "prompt_tokens")
_OUTPUT = ("output_tokens", "completion_tokens")
_TOTAL = "total_tokens"
COUNTS = (*_INPUT, *_OUTPUT, _TOTAL)  # that an answer may have beside it instead of in `usage`
_CACHED = (
    *(("cached_tokens",), ("prompt_tokens_details", "cached_tokens")),
    *(("input_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",)),
    *(("input_token_details", "cache_read"), ("cache_read_input_tokens",)),
)
_REASONING = (
    *(("reasoning_tokens",), ("completion_tokens_details", "reasoning_tokens")),
    *(("output_tokens_details", "reasoning_tokens"), ("output_token_details", "reasoning")),
)
# What Anthropic does not count among its input_tokens.
_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")


def usage_of(value: Json, faults: TraceFaults) -> Usage:
    """Token counts under OpenAI's, Anthropic's, LangChain's or our names; what is not said, or is
    no number of tokens, stays unknown: a wrong bill is no wrong answer. A cost that is none is NaN.
    """
    if value is None:
        return Usage()
    if not isinstance(value, dict):
        faults.tell("number", "usage")
        return Usage()
    data = value

    def count(value: Json, key: str) -> int | None:
        counted = faults.number(value, f"usage.{key}")
        return None if counted is None else int(counted)

    given = count(first(data, *_INPUT), "input_tokens")
    if given is not None and data.get("input_tokens") is not None:
        given += sum(count(data.get(key), key) or 0 for key in _BESIDE_INPUT)
    written = count(first(data, *_OUTPUT), "output_tokens")
    counts = {"input_tokens": given, "output_tokens": written}
    if given is None or written is None:
        counts = split(given, written, count(data.get(_TOTAL), _TOTAL))
    cached, thought = _deep(data, _CACHED), _deep(data, _REASONING)
    return Usage(
        **counts,
        cached_tokens=None if cached is None else count(cached, "cached_tokens"),
        reasoning_tokens=None if thought is None else count(thought, "reasoning_tokens"),
        cost_usd=cost_of(first(data, "cost_usd", "cost")),
    )


def split(read: int | None, written: int | None, total: int | None) -> dict[str, int | None]:
    """Tokens read, written and both together, as Usage names them: of a total and one part the
    other follows; of a total alone the parts stay unknown.
    """
    if total is not None and read is not None and written is None:
        written = max(0, total - read)
    elif total is not None and written is not None and read is None:
        read = max(0, total - written)
    return {"input_tokens": read, "output_tokens": written, "total_tokens": total}


class Spending:
    """The sum over model calls, of which each tells its own part or nothing.

    An unknown part makes a sum unknown, but for cached and reasoning tokens, which servers leave
    out where there are none.
    """

    _WHOLE = ("input_tokens", "output_tokens", "cost_usd")
    _PARTS = ("cached_tokens", "reasoning_tokens")

    def __init__(self, faults: TraceFaults) -> None:
        self._faults = faults
        self._sums: dict[str, float] = {}
        self._told: dict[str, int] = {}
        self._whole = False

    def add(self, value: Json) -> None:
        """What one model call says of its usage."""
        if value is None:
            return
        usage = usage_of(value, self._faults)
        if usage.cost_usd is not None and math.isnan(usage.cost_usd):
            self._faults.tell("number", "usage.cost_usd")
        for name in (*self._WHOLE, *self._PARTS, _TOTAL):
            self._add(name, getattr(usage, name))

    def add_named(self, parts: Mapping[str, Json]) -> None:
        """The same, where each part already has our name and they are all that is told."""
        for name, value in parts.items():
            if value is None:
                continue
            part = self._faults.number(value, f"usage.{name}")
            if name == "cost_usd":
                self._add(name, math.nan if part is None else part)
            elif part is not None:
                self._add(name, int(part))
        if parts.get(_TOTAL) is None:  # beside calls of which the total alone is told
            both = Usage(**{name: _count(parts.get(name)) for name in self._WHOLE[:2]})
            self._add(_TOTAL, both.total_tokens)

    def _add(self, name: str, part: float | None) -> None:
        if part is not None:
            self._sums[name] = self._sums.get(name, 0) + part
            self._told[name] = self._told.get(name, 0) + 1

    @property
    def has_usage(self) -> bool:
        """Whether any model call told anything."""
        return bool(self._told)

    def add_whole(self, value: Json) -> None:
        """What is said of all model calls together, where none told its own part."""
        if not self.has_usage:
            self.add(value)
            self._whole = True

    def total(self, calls: int) -> Usage:
        """The usage of all `calls` of the model. A cost that is known for only some of them is NaN:
        no price table may stand in for what the agent says.
        """
        calls = 1 if self._whole else calls
        sums = dict(self._sums)
        for name in self._WHOLE:
            if 0 < self._told.get(name, 0) < calls:
                self._faults.tell("some_usage", f"{name}: {self._told[name]} of {calls}")
                sums[name] = math.nan
        if self._told.get(_TOTAL, 0) < calls:
            sums.pop(_TOTAL, None)
        cost = sums.pop("cost_usd", None)
        counts = {name: int(n) for name, n in sums.items() if not math.isnan(n)}
        return Usage(cost_usd=cost, **counts)


def _count(value: Json) -> int | None:
    return int(value) if is_amount(value) else None


def _deep(data: Mapping[str, Json], paths: tuple[tuple[str, ...], ...]) -> Json:
    for path in paths:
        if path[0] in data and (found := at(data, *path)) is not None:
            return found
    return None
