"""What is odd about a trace: counted by kind, told in one short sentence each."""

from __future__ import annotations

from typing import Literal

from gate.agents.traces.values import is_amount
from gate.text.shortening import shorten

Kind = Literal[
    "no_result",
    "no_call",
    "same_id",
    "backwards",
    "number",
    "some_usage",
    "unread",
    "cut_off",
    "half",
    "traces",
    "never_ran",
    "shape",
]

_SENTENCES: dict[Kind, tuple[str, str]] = {  # of one, of several
    "no_result": ("1 call has no result", "{n} calls have no result"),
    "no_call": ("1 result belongs to no call", "{n} results belong to no call"),
    "same_id": (
        "1 call has the id of another one: their results are matched in order",
        "{n} calls have the id of another one: their results are matched in order",
    ),
    "backwards": (
        "1 step ends before it starts: its latency is unknown",
        "{n} steps end before they start: their latencies are unknown",
    ),
    "number": (
        "1 value is not a number, negative or too large: it counts as unknown",
        "{n} values are not numbers, negative or too large: they count as unknown",
    ),
    "some_usage": (
        "1 total is unknown: not every model call reports its part",
        "{n} totals are unknown: not every model call reports its part",
    ),
    "unread": ("1 entry is of an unknown kind", "{n} entries are of an unknown kind"),
    "cut_off": ("the last line is cut off", "the last line is cut off"),
    "half": (
        "the messages of 1 model call are not JSON and are ignored: the exporter may have cut "
        "them off",
        "the messages of {n} model calls are not JSON and are ignored: the exporter may have cut "
        "them off",
    ),
    "traces": ("1 trace is read", "{n} traces are read as one"),
    "never_ran": ("1 call never ran", "{n} calls never ran"),
    "shape": (
        "1 key has a trace of an unknown shape: it is not read",
        "{n} keys have a trace of an unknown shape: they are not read",
    ),
}
_EXAMPLES = 3  # of what a sentence is about
_EXAMPLE_LIMIT = 60  # characters of one


class TraceFaults:
    """At most one sentence a kind, however much is wrong."""

    def __init__(self) -> None:
        self._counts: dict[Kind, int] = {}
        self._examples: dict[Kind, list[str]] = {}

    def tell(self, kind: Kind, what: str = "", *, n: int = 1) -> None:
        """`what`: hostile text that says where; `n` more of the kind."""
        self._counts[kind] = self._counts.get(kind, 0) + n
        examples = self._examples.setdefault(kind, [])
        if len(examples) < _EXAMPLES:
            shown = shorten(what, _EXAMPLE_LIMIT)
            if shown and shown not in examples:
                examples.append(shown)

    def number(self, value: object, key: str) -> float | None:
        """A number from 0 to 1e15; anything else is unknown, and told."""
        if value is None:
            return None
        if is_amount(value):
            return float(value)
        self.tell("number", key)
        return None

    def sentences(self) -> tuple[str, ...]:
        return tuple([self._sentence(kind, n) for kind, n in self._counts.items()])

    def _sentence(self, kind: Kind, n: int) -> str:
        singular, plural = _SENTENCES[kind]
        sentence = singular if n == 1 else plural.format(n=f"{n:,}")
        examples = self._examples[kind]
        more = ", ..." if 0 < len(examples) < n else ""
        return f"{sentence} ({', '.join(examples)}{more})" if examples else sentence
