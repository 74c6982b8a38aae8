"""Compares expected and actual calls: which belong together, and what is wrong with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gate.graders.tool_calling.actual import ArgsRules, CallIndex
from gate.graders.tool_calling.expected import ExpectedCall
from gate.graders.tool_calling.values import freeze
from gate.records import Json, ToolCall
from gate.stats.matching import list_positions, longest_in_order, make_mask, maximum_matching

Mode = Literal["strict", "unordered", "subset", "superset"]

NAME_LIMIT, MOST_CODES = 80, 20
_VALUE_LIMIT = 60  # characters of a value in a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison; numbers are positions from 0 in the lists of expected and of
    actual calls. `pairs`: expected -> actual. An expected call without a partner is `swapped`
    (made, but at another place), `wrong` (the tool was called with other arguments; expected ->
    actual) or `missing`. `extra`: actual calls that are in none of these.
    """

    wanted: Sequence[ExpectedCall]
    made: Sequence[ToolCall]
    omitted: int  # calls after the last one of `made`
    pairs: Mapping[int, int]
    swapped: Mapping[int, int]
    wrong: Mapping[int, int]
    missing: tuple[int, ...]
    extra: tuple[int, ...]

    @property
    def accuracy(self) -> float:
        """Expected calls that were made / all expected, 0 to 1; if none is expected, 1 if none was
        made.
        """
        return float(not self.n_made) if not self.wanted else len(self.pairs) / len(self.wanted)

    @property
    def precision(self) -> float | None:
        return len(self.pairs) / self.n_made if self.n_made else None

    @property
    def recall(self) -> float | None:
        return len(self.pairs) / len(self.wanted) if self.wanted else None

    @property
    def n_made(self) -> int:
        return len(self.made) + self.omitted

    def codes(self, mode: Mode, way: Collection[str] | None = None) -> Iterator[str]:
        """The failure codes, most important first. If no call is expected, none may be made. `way`:
        the tools of a good trajectory. If a call is missing, a call of a tool that is not in `way`
        replaced it, so `superset` names it, too.
        """
        yield from (f"wrong_tool_order:{self._wanted(i)}" for i in self.swapped)
        yield from (f"wrong_tool_args:{self._wanted(i)}" for i in self.wrong)
        if mode != "subset":
            yield from (f"missing_tool_call:{self._wanted(i)}" for i in self.missing)
        if mode != "superset" or not self.wanted:
            yield from (
                f"unexpected_tool_call:{shorten_name(self.made[j].name)}" for j in self.extra
            )
            if self.omitted:
                yield "unexpected_tool_call:(calls that were not kept)"
        elif self.missing and way is not None:
            known_tools = {*way, *(one.name for one in self.wanted)}
            strays = (self.made[j].name for j in self.extra if self.made[j].name not in known_tools)
            yield from (f"unexpected_tool_call:{shorten_name(name)}" for name in strays)

    def _wanted(self, i: int) -> str:
        return shorten_name(self.wanted[i].name)


def compare(
    wanted: Sequence[ExpectedCall],
    made: Sequence[ToolCall],
    rules: ArgsRules,
    *,
    in_order: bool = False,
    omitted: int = 0,
) -> Comparison:
    """Pairs as many calls as possible; `in_order`: pairs must keep both orders."""
    index = CallIndex(made, rules)
    fits = [index.find_fitting(call) for call in wanted]
    chosen = longest_in_order(fits, len(made)) if in_order else maximum_matching(fits)
    pairs = {i: j for i, j in enumerate(chosen) if j is not None}
    left = ((1 << len(made)) - 1) & ~make_mask(pairs.values())
    missed = [i for i, j in enumerate(chosen) if j is None]
    elsewhere = maximum_matching([fits[i] & left for i in missed])  # none but for `in_order`
    swapped = {i: j for i, j in zip(missed, elsewhere, strict=True) if j is not None}
    spare: dict[str, list[int]] = {}
    for j in list_positions(left & ~make_mask(swapped.values())):
        spare.setdefault(made[j].name, []).append(j)
    unmade = [i for i in missed if i not in swapped]
    wrong = {i: spare[wanted[i].name].pop(0) for i in unmade if spare.get(wanted[i].name)}
    return Comparison(
        wanted=wanted,
        made=made,
        omitted=omitted,
        pairs=pairs,
        swapped=swapped,
        wrong=wrong,
        missing=tuple(i for i in unmade if i not in wrong),
        extra=tuple(sorted(j for places in spare.values() for j in places)),
    )


def first_difference(comparison: Comparison, rules: ArgsRules) -> str:
    """How the first call with wrong arguments differs from the expected one; empty without one."""
    for i, j in comparison.wrong.items():
        return _difference(comparison.wanted[i], comparison.made[j], rules)
    return ""


def limit_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """Each code once, and at most MOST_CODES: the first ones of every kind."""
    kinds: Counter[str] = Counter()
    ranked: list[tuple[int, int, str]] = []
    for code in dict.fromkeys(codes):
        kind = code.partition(":")[0]
        ranked.append((kinds[kind], len(ranked), code))
        kinds[kind] += 1
    kept = sorted(ranked)[:MOST_CODES]
    return tuple(code for _, _, code in sorted(kept, key=lambda one: one[1]))


def shorten_name(name: object) -> str:
    return str(name)[:NAME_LIMIT]


def _difference(wanted: ExpectedCall, call: ToolCall, rules: ArgsRules) -> str:
    name = shorten_name(call.name)
    if not isinstance(call.arguments, dict):
        return f"{name}: the arguments are not an object"
    allowed, given = wanted.allowed or {}, call.arguments
    loose = rules.strings == "loose"
    for key, values in allowed.items():
        if key in given and freeze(given[key], loose=loose) not in [
            freeze(value, loose=loose) for value in values
        ]:
            others = " or ".join(_format_value(value) for value in values[:3])
            return f"{name}: {shorten_name(key)} is {_format_value(given[key])}, not {others}"
    absent = [key for key in allowed if key not in given and key not in wanted.optional]
    if absent:
        return f"{name}: {shorten_name(absent[0])} is missing"
    more = [key for key in given if key not in allowed and key not in wanted.optional]
    return f"{name}: {shorten_name(more[0])} is not expected" if more else ""


def _format_value(value: Json) -> str:
    text = repr(value) if not isinstance(value, (dict, list)) else f"{type(value).__name__}"
    return text if len(text) <= _VALUE_LIMIT else text[: _VALUE_LIMIT - 3] + "..."
