"""Did the agent call the tools that it should, with the right arguments?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gate.errors import GraderFailure
from gate.matching import maximum_matching
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score, ToolCall
from gate.schema import mismatches

ACCURACY, VALIDITY = "agent.tool_call_accuracy", "agent.tool_call_validity"
_NAME_LIMIT, _MOST_CODES = 80, 20
_NOT_TOLD = "the agent does not say which tools it called - it should return its calls as `steps`"

Mode = Literal["strict", "unordered", "subset", "superset"]
Args = Literal["exact", "ignore", "subset", "superset"]
_ABSENT = object()


@GRADERS.register("tool_calls")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """Compares the agent's calls with the case's `expected_tool_calls`. `mode`: strict (the same
    calls in the same order), unordered (in any order), superset (more calls are allowed), subset
    (fewer are). `args` likewise for the arguments of a call; `overrides` per tool: such a word, or
    the dotted keys that count.
    """

    mode: Mode = "unordered"
    args: Args = "exact"
    overrides: Mapping[str, Args | tuple[str, ...]] = field(default_factory=dict)

    keys: ClassVar[Mapping[str, Json]] = {
        "expected_tool_calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "args": {"type": ["object", "null"]}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "tools": {"type": "array", "items": {"type": "object"}},
    }
    needs: ClassVar[tuple[str, ...]] = ("expected_tool_calls",)

    def metrics(self) -> tuple[MetricSpec, ...]:
        made = "share of the expected tool calls that were made; 1 where none was expected or made"
        valid = "share of the calls that were made to a defined tool with arguments that fit it"
        return (
            MetricSpec(name=ACCURACY, column=ACCURACY, unit="share", description=made),
            MetricSpec(
                name=VALIDITY,
                column=VALIDITY,
                unit="share",
                on_agent_error=None,  # no answer, no calls
                description=valid,
            ),
        )

    def grade(self, case: Case, response: Response) -> Score:
        expected, tools = case.keys.get("expected_tool_calls"), case.keys.get("tools")
        if expected is None and not tools:
            return Score(values={ACCURACY: None, VALIDITY: None})
        if response.steps is None:
            return Score(unscored=_NOT_TOLD)
        validity, invalid = _validity(response.steps, tools)
        if expected is None:
            return Score(values={ACCURACY: None, VALIDITY: validity}, reason=invalid)
        found = self._compare(expected, response.steps)
        codes = list(dict.fromkeys(self._codes(found)))
        reason = f"{found.matched} of {len(expected)} expected calls, {len(response.steps)} made"
        return Score(
            values={ACCURACY: found.accuracy, VALIDITY: validity},
            passed=not codes,
            failures=tuple(codes[:_MOST_CODES]),
            reason=f"{reason}; {invalid}" if invalid else reason,
        )

    def _compare(self, expected: Sequence[Json], made: Sequence[ToolCall]) -> Comparison:
        fits = [[j for j, call in enumerate(made) if self._fits(one, call)] for one in expected]
        chosen = _in_order(fits) if self.mode == "strict" else maximum_matching(fits)
        used = {j for j in chosen if j is not None}
        missed = [i for i, j in enumerate(chosen) if j is None]
        extra = [j for j in range(len(made)) if j not in used]
        swapped = [i for i in missed if set(fits[i]) & set(extra)]
        return Comparison(
            expected=len(expected),
            matched=len(used),
            missing=[_name(expected[i].get("name")) for i in missed if i not in swapped],
            swapped=[_name(expected[i].get("name")) for i in swapped],
            extra=[_name(made[j].name) for j in extra],
        )

    def _codes(self, found: Comparison) -> Iterator[str]:
        """A missing and an extra call of one tool are one call with wrong arguments."""
        extra = Counter(found.extra)
        for name in found.swapped:
            extra[name] -= 1
            yield f"wrong_tool_order:{name}"
        for name in found.missing:
            wrong_args = extra[name] > 0
            extra[name] -= wrong_args
            if wrong_args:
                yield f"wrong_tool_args:{name}"
            elif self.mode != "subset":
                yield f"missing_tool_call:{name}"
        if self.mode != "superset" or not found.expected:
            yield from (f"unexpected_tool_call:{name}" for name in found.extra if extra[name] > 0)

    def _fits(self, expected: Mapping[str, Json], call: ToolCall) -> bool:
        if expected.get("name") != call.name:
            return False
        rule = self.overrides.get(call.name, self.args)
        wanted = expected.get("args")
        if rule == "ignore" or wanted is None:
            return True
        if not isinstance(call.arguments, dict):
            return False
        try:
            if isinstance(rule, str):
                return _ARGS[rule](call.arguments, wanted)
            return all(_same(_at(call.arguments, key), _at(wanted, key)) for key in rule)
        except RecursionError:  # nested too deeply to be what a dataset holds
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Names of the calls that have no partner. `swapped`: made, but at another place."""

    expected: int
    matched: int
    missing: list[str]
    swapped: list[str]
    extra: list[str]

    @property
    def accuracy(self) -> float:
        return self.matched / self.expected if self.expected else float(not self.extra)


def _in_order(fits: Sequence[Sequence[int]]) -> list[int | None]:
    """The longest pairing that keeps both orders (longest common subsequence): the i-th expected
    call's partner, or None.
    """
    best: list[tuple[int, int]] = []  # per length: last partner (ascending), index in `links`
    links: list[tuple[int, int, int]] = []  # expected, partner, link before
    for i, partners in enumerate(fits):
        for j in sorted(partners, reverse=True):  # so that i is used once
            length = bisect_left(best, (j, -1))
            links.append((i, j, best[length - 1][1] if length else -1))
            best[length : length + 1] = [(j, len(links) - 1)]
    chosen: list[int | None] = [None] * len(fits)
    at = best[-1][1] if best else -1
    while at >= 0:
        i, j, at = links[at]
        chosen[i] = j
    return chosen


def _same(a: Json, b: Json) -> bool:
    """Equal as JSON: 1 is 1.0, and neither is true."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def _within(few: Mapping[str, Json], many: Mapping[str, Json]) -> bool:
    return all(key in many and _same(value, many[key]) for key, value in few.items())


_ARGS: Mapping[str, Callable[[Mapping[str, Json], Mapping[str, Json]], bool]] = {
    "exact": _same,
    "subset": lambda made, wanted: _within(made, wanted),
    "superset": lambda made, wanted: _within(wanted, made),
}


def _at(data: Json, path: str) -> Json:
    for key in path.split("."):
        data = data.get(key, _ABSENT) if isinstance(data, dict) else _ABSENT
    return data


def _name(name: object) -> str:
    return str(name)[:_NAME_LIMIT]


def _validity(made: Sequence[ToolCall], tools: Json) -> tuple[float | None, str]:
    """Share of valid calls, None without definitions or calls; and what is wrong with the first
    invalid one.
    """
    if not tools or not made:
        return None, ""
    schemas = dict(map(_definition, tools))
    faults = [_fault(call, schemas) for call in made]
    invalid = [fault for fault in faults if fault]
    return 1.0 - len(invalid) / len(made), invalid[0] if invalid else ""


def _definition(tool: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
    """Name and arguments' schema of a tool as OpenAI, Anthropic or MCP write it down."""
    inner = tool["function"] if isinstance(tool.get("function"), dict) else tool
    names = ("parameters", "input_schema", "inputSchema")
    schema: dict[str, Json] = next(
        (inner[key] for key in names if isinstance(inner.get(key), dict)), {}
    )
    return str(inner.get("name")), schema


def _fault(call: ToolCall, schemas: Mapping[str, dict[str, Json]]) -> str:
    name = _name(call.name)
    if call.name not in schemas:
        return f"{name} is not a tool"
    if call.arguments is None and call.raw_arguments:
        return f"{name}: the arguments are not JSON"
    arguments = {} if call.arguments is None else call.arguments
    try:
        wrong = mismatches(schemas[call.name], arguments)
    except Exception as error:  # a reference that leads nowhere, arguments nested too deeply
        raise GraderFailure(f"tools: {name}: {type(error).__name__}: {error}"[:300]) from error
    if not wrong:
        return ""
    where = ".".join((name, *map(str, wrong[0].path)))
    return f"{where}: {wrong[0].message}"[:200]
