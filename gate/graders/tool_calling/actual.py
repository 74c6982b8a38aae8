"""The calls of an answer, indexed by their content: which of them fit an expected call."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from gate.files.json_values import as_object
from gate.graders.tool_calling.expected import ExpectedCall
from gate.graders.tool_calling.values import ABSENT, are_alike, freeze, has_whole_float, value_at
from gate.records import Json, ToolCall
from gate.stats.matching import list_positions

ArgsMode = Literal["exact", "ignore", "subset", "superset"]
Strings = Literal["exact", "loose"]
Numbers = Literal["equal", "typed"]
# Why an answer is unscored by graders that look at its calls.
NOT_TOLD = "the agent does not say which tools it called - it should return its calls as `steps`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgsRules:
    """How arguments are compared. `overrides`: tool -> its own mode, or the dotted keys that alone
    count. `numbers`: typed means that an expected 5 is not met by 5.0.
    """

    mode: ArgsMode = "exact"
    overrides: Mapping[str, ArgsMode | tuple[str, ...]] = field(default_factory=dict)
    strings: Strings = "exact"
    numbers: Numbers = "equal"


class CallIndex:
    """An index of bit masks, bit j for call j, so that calls are not compared pair by pair."""

    def __init__(self, calls: Sequence[ToolCall], rules: ArgsRules) -> None:
        self._calls = calls
        self._rules = rules
        self._named: dict[str, int] = {}
        self._objects = 0  # calls whose arguments are an object
        self._having: dict[str, int] = {}  # parameter -> calls that give it
        self._keys: dict[frozenset[str], int] = {}  # all parameters of a call
        self._holding: dict[str, _Held] = {}  # by path, made when it is asked for
        self._inside: dict[frozenset[str], int] = {}  # parameters -> calls that give no others
        for j, call in enumerate(calls):
            bit = 1 << j
            self._named[call.name] = self._named.get(call.name, 0) | bit
            if isinstance(call.arguments, dict):
                self._objects |= bit
                keys = frozenset(call.arguments)
                self._keys[keys] = self._keys.get(keys, 0) | bit
                for key in keys:
                    self._having[key] = self._having.get(key, 0) | bit

    def find_fitting(self, wanted: ExpectedCall) -> int:
        """The mask of the calls that may be the expected one."""
        rule = self._rules.overrides.get(wanted.name, self._rules.mode)
        fits = self._named.get(wanted.name, 0)
        if not fits or rule == "ignore" or wanted.allowed is None:
            return fits
        fits &= self._objects
        if isinstance(rule, str):
            fits &= self._by_parameters(wanted, wanted.allowed, rule)
        else:
            for path in rule:
                fits &= self._at_path(wanted, wanted.allowed, path)
        return fits

    def _by_parameters(
        self, wanted: ExpectedCall, allowed: Mapping[str, tuple[Json, ...]], rule: ArgsMode
    ) -> int:
        calls_left = self._objects
        for name, values in allowed.items():
            held = self._held(name, nested=False)
            fits = 0
            for value in values:
                fits |= held.find_equal(value)
            if rule == "subset" or name in wanted.optional:
                fits |= ~self._having.get(name, 0)
            calls_left &= fits
            if not calls_left:
                return 0
        return (
            calls_left
            if rule == "superset"
            else calls_left & self._only(frozenset((*wanted.optional, *allowed)))
        )

    def _only(self, names: frozenset[str]) -> int:
        if names not in self._inside:
            self._inside[names] = sum(bits for keys, bits in self._keys.items() if keys <= names)
        return self._inside[names]

    def _at_path(
        self, wanted: ExpectedCall, allowed: Mapping[str, tuple[Json, ...]], path: str
    ) -> int:
        name, _, rest = path.partition(".")
        if name in wanted.optional and name not in allowed:
            return self._objects
        held = self._held(path, nested=True)
        fits = 0
        for value in allowed.get(name, ()):
            fits |= held.find_equal(value_at(value, rest))
        if name in wanted.optional or name not in allowed:
            fits |= held.find_equal(ABSENT)
        return fits

    def _held(self, name: str, *, nested: bool) -> _Held:
        """`nested`: the name is a dotted path, and calls without it hold ABSENT there."""
        key = f"path {name}" if nested else f"name {name}"
        if key not in self._holding:
            held = self._holding[key] = _Held(self._rules)
            among = self._objects if nested else self._having.get(name, 0)
            for j in list_positions(among):
                given = as_object(self._calls[j].arguments)
                held.add(value_at(given, name) if nested else given[name], 1 << j)
        return self._holding[key]


class _Held:
    """Which calls hold which value at one path."""

    def __init__(self, rules: ArgsRules) -> None:
        self._freeze = partial(freeze, loose=rules.strings == "loose")
        self._loose, self._typed = rules.strings == "loose", rules.numbers == "typed"
        self._calls: dict[Hashable, int] = {}
        self._floats: dict[Hashable, dict[str, tuple[object, int]]] = {}  # values with 5.0 in them

    def add(self, value: object, bit: int) -> None:
        key = self._freeze(value)
        self._calls[key] = self._calls.get(key, 0) | bit
        if self._typed and type(key) is not object and has_whole_float(value):
            alike_ones = self._floats.setdefault(key, {})
            _, bits = alike_ones.get(repr(value), (value, 0))
            alike_ones[repr(value)] = value, bits | bit

    def find_equal(self, value: object) -> int:
        """Equal as the rules say."""
        key = self._freeze(value)
        equal_calls = self._calls.get(key, 0)
        for held, bits in self._floats.get(key, {}).values():
            if not are_alike(value, held, loose=self._loose):
                equal_calls &= ~bits
        return equal_calls
