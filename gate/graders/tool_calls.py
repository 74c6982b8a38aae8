"""Did the agent call the tools that it should, with the right arguments? Were its calls valid?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gate.files.yaml import format_path
from gate.graders.tool_calling.actual import NOT_TOLD, ArgsMode, ArgsRules, Numbers, Strings
from gate.graders.tool_calling.compare import (
    Comparison,
    Mode,
    compare,
    first_difference,
    limit_codes,
)
from gate.graders.tool_calling.definitions import definition, definition_faults
from gate.graders.tool_calling.expected import (
    EXPECTED_CALL,
    find_contradictions,
    read_expected_call,
)
from gate.graders.tool_calling.reference import KEY, SCHEMA, reference_faults, reference_tools
from gate.graders.tool_calling.validity import CallFault, Kind, call_faults
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, Json, MetricSpec, Response, Score
from gate.text.suggestions import did_you_mean

ACCURACY, VALIDITY = "agent.tool_call_accuracy", "agent.tool_call_validity"
PRECISION, RECALL = "agent.tool_call_precision", "agent.tool_call_recall"
FAULTS: Mapping[Kind, str] = {  # what is counted -> its metric
    "type": "agent.tool_type_errors",
    "missing": "agent.tool_missing_args",
    "unknown": "agent.tool_unknown_args",
    "unknown_tool": "agent.tool_unknown_tools",
    "unparsable": "agent.tool_unparsable_args",
}
_SHARES = {  # metric -> what it is, its value where the agent failed
    ACCURACY: ("expected calls that were made; 1 where none was expected or made", 0.0),
    PRECISION: ("calls made that were expected", None),
    RECALL: ("expected calls that were made", 0.0),
    VALIDITY: ("calls made to a defined tool with arguments that fit its schema", None),
}
_COUNTS: Mapping[Kind, str] = {
    "type": "arguments of the wrong type, or with a value that their schema does not allow",
    "missing": "required arguments that were left out",
    "unknown": "arguments that the schema of the tool does not know and does not allow",
    "unknown_tool": "calls of tools that the case does not define",
    "unparsable": "calls whose arguments are not JSON",
}


@GRADERS.register("tool_calls")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """Compares the agent's calls with the case's `expected_tool_calls`.

    `mode`: strict (the same calls in the same order), unordered (in any order), superset (more
    calls are allowed), subset (calls may be missing). `args`: the same for the arguments of a call;
    `overrides`: by tool, such a word or the dotted keys that count. Calls are also checked against
    the case's `tools`; `invalid: fail` makes an invalid call fail the answer, `formats: assert`
    also checks the `format` of texts.
    """

    mode: Mode = "unordered"
    args: ArgsMode = "exact"
    overrides: Mapping[str, ArgsMode | tuple[str, ...]] = field(default_factory=dict)
    strings: Strings = "exact"
    numbers: Numbers = "equal"
    invalid: Literal["report", "fail"] = "report"
    formats: Literal["ignore", "assert"] = "ignore"

    keys: ClassVar[Mapping[str, Json]] = {
        "expected_tool_calls": {"type": "array", "items": EXPECTED_CALL},
        "tools": {"type": "array", "items": {"type": "object"}},
        KEY: SCHEMA,
    }
    needs: ClassVar[tuple[str, ...]] = ("expected_tool_calls",)

    def case_faults(self, keys: Mapping[str, CheckedJson]) -> Iterator[str]:
        """Invalid definitions, and expected calls that contradict them or themselves."""
        tools = keys.get("tools") or []
        for path, message in definition_faults(tools):
            yield f"{format_path(('tools', *path))}: {message}"
        defined = [definition(tool)[0] for tool in tools]
        for n, call in enumerate(keys.get("expected_tool_calls") or []):
            for message in find_contradictions(call):
                yield f"expected_tool_calls[{n}]: {message}"
            if defined and call["name"] not in defined:
                near = did_you_mean(call["name"], defined)
                message = f"'{call['name']}' is not one of the case's tools{near}"
                yield f"expected_tool_calls[{n}].name: {message}"
        if keys.get(KEY):
            yield from reference_faults(keys[KEY])

    def metrics(self) -> tuple[MetricSpec, ...]:
        shares = (
            MetricSpec(
                name=name,
                column=name,
                unit="share",
                on_agent_error=failed,
                description=f"share of the {about}",
            )
            for name, (about, failed) in _SHARES.items()
        )
        counts = (
            MetricSpec(
                name=FAULTS[kind],
                column=FAULTS[kind],
                unit="errors",
                direction="lower",
                high=None,
                on_agent_error=None,  # no answer, no calls
                description=f"{about}, per trial",
            )
            for kind, about in _COUNTS.items()
        )
        return (*shares, *counts)

    def grade(self, case: Case, response: Response) -> Score:
        expected, tools = case.keys.get("expected_tool_calls"), case.keys.get("tools")
        nothing = dict.fromkeys((*_SHARES, *FAULTS.values()), None)
        if expected is None and not tools:
            return Score(values=nothing)
        if response.steps is None:
            return Score(unscored=NOT_TOLD)
        asserted = self.formats == "assert"
        faults = call_faults(response.steps, tools, formats=asserted) if tools else []
        comparison = None if expected is None else self._compare(expected, response)
        values = {**nothing, **_correctness(comparison), **(_validity(faults) if tools else {})}
        way = reference_tools(case.keys.get(KEY))
        codes = list(comparison.codes(self.mode, way)) if comparison else []
        invalid = [fault for some in faults for fault in some]
        if codes or self.invalid == "fail":
            codes += [fault.code for fault in invalid]
        decides = comparison is not None or (bool(tools) and self.invalid == "fail")
        return Score(
            values=values,
            passed=not codes if decides else None,
            failures=limit_codes(codes),
            reason="; ".join(self._reasons(comparison, invalid)),
        )

    def _compare(self, expected: Sequence[CheckedJson], response: Response) -> Comparison:
        return compare(
            [read_expected_call(call) for call in expected],
            response.steps or (),
            self._rules,
            in_order=self.mode == "strict",
            omitted=response.omitted_steps,
        )

    @property
    def _rules(self) -> ArgsRules:
        return ArgsRules(
            mode=self.args, overrides=self.overrides, strings=self.strings, numbers=self.numbers
        )

    def _reasons(
        self, comparison: Comparison | None, invalid: Sequence[CallFault]
    ) -> Iterator[str]:
        if comparison:
            right, expected = len(comparison.pairs), len(comparison.wanted)
            yield f"{right} of {expected} expected calls, {comparison.n_made} made"
            difference = first_difference(comparison, self._rules)
            if difference:
                yield difference
        if invalid:
            more = f" and {len(invalid) - 1} more" if len(invalid) > 1 else ""
            yield f"invalid: {invalid[0].message}{more}"


def _correctness(comparison: Comparison | None) -> dict[str, float | None]:
    if comparison is None:
        return {}
    return {
        ACCURACY: comparison.accuracy,
        PRECISION: comparison.precision,
        RECALL: comparison.recall,
    }


def _validity(faults: Sequence[Sequence[CallFault]]) -> dict[str, float | None]:
    """`faults` of each call made; the share has no value without a call, the counts are then 0."""
    kinds = Counter(fault.kind for some in faults for fault in some)
    valid = sum(not some for some in faults) / len(faults) if faults else None
    return {VALIDITY: valid, **{name: float(kinds[kind]) for kind, name in FAULTS.items()}}
