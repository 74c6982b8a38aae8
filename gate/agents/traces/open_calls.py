"""Calls that wait for their results, found by id, by name or by order in constant time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from gate.records import Json

MOST_OPEN = 10_000  # calls that are remembered; far more than a model makes before it reads results

_Key = tuple[str, str]
_NO_ID: _Key = ("without an id", "")


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """A tool call that is still being put together."""

    name: str
    id: str | None
    turn: int | None
    number: int  # from 0, over the whole trace
    arguments: Json = None
    raw_arguments: str | None = None
    result: Json = None
    error: str | None = None
    latency_ms: float | None = None


class OpenCalls:
    """An OrderedDict an index, since finding the oldest key of a plain dict takes longer and longer
    once many have been removed from its front.
    """

    def __init__(self) -> None:
        self._all: OrderedDict[int, Step] = OrderedDict()
        self._indices: dict[_Key, OrderedDict[int, Step]] = {}
        self._named = False  # whether there are indices of names: few traces need them
        self.overflowed = 0  # calls that were not remembered

    def add(self, step: Step) -> bool:
        """Whether no other call with its id is open."""
        if len(self._all) >= MOST_OPEN:
            self.overflowed += 1
            return True
        alone = step.id is None or ("id", step.id) not in self._indices
        self._all[step.number] = step
        self._index(step, _by_id(step))
        if self._named:
            self._index(step, ("name", step.name))
        return alone

    def take(self, id: str | None, name: str | None) -> Step | None:
        """The oldest that a result with this id and name can belong to; it is open no longer.

        A result without an id belongs to the oldest call of its name, or of any if it has none; one
        whose id no call has, to the oldest call without an id.
        """
        if id is not None:
            indices = self._indices.get(("id", id)) or self._indices.get(_NO_ID)
        elif name is None:
            indices = self._all
        else:
            self._index_names()
            indices = self._indices.get(("name", name))
        return self._close_step(next(iter(indices.values()))) if indices else None

    def with_id(self, id: str) -> Step | None:
        """The oldest with this id; it is open no longer."""
        indices = self._indices.get(("id", id))
        return self._close_step(next(iter(indices.values()))) if indices else None

    def __iter__(self) -> Iterator[Step]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def _index_names(self) -> None:
        if not self._named:
            self._named = True
            for step in self._all.values():
                self._index(step, ("name", step.name))

    def _index(self, step: Step, key: _Key) -> None:
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = OrderedDict()
        index[step.number] = step

    def _close_step(self, step: Step) -> Step:
        del self._all[step.number]
        for key in (_by_id(step), ("name", step.name)) if self._named else (_by_id(step),):
            index = self._indices[key]
            del index[step.number]
            if not index:
                del self._indices[key]
        return step


def _by_id(step: Step) -> _Key:
    return _NO_ID if step.id is None else ("id", step.id)
