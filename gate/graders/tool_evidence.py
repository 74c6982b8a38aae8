"""Does the answer to a tool task declare the required calls, and did they run?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gate.graders.openagent_rules.crosscheck import Family, cross_check
from gate.graders.openagent_rules.declared import Declared, list_declared_calls
from gate.graders.openagent_rules.form import FORM, FORM_METRIC
from gate.graders.openagent_rules.json_text import Fault, read_json, read_within
from gate.graders.openagent_rules.requirements import (
    OUTPUT_REQUIREMENTS,
    REQUIRED_TOOLS,
    Requirements,
    faults,
    list_unmet,
    missing_tools,
)
from gate.plugins import GRADERS
from gate.records import Case, CheckedEvidence, Json, MetricSpec, Response, Score
from gate.text.shortening import shorten

DECLARED = "agent.tool_evidence"
VERIFIED = "agent.evidence_verified_rate"
FABRICATED = "agent.fabricated_calls"
_METRICS = (FORM, DECLARED, VERIFIED, FABRICATED)
_OF_FORM = ("output_", "missing_field:")  # codes that are about the form
_VERIFIED = {"complete": 1.0, "incomplete": 0.0}
_MOST_CODES, _WHY, _TOLD = 50, 100, 5

Policy = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """An answer as far as it could be read; `codes`: what is wrong with its form."""

    data: Mapping[str, Json] | None
    codes: tuple[str, ...] = ()


@GRADERS.register("tool_evidence")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvidence:
    """Passes when the answer is the JSON that the case's `output_requirements` ask for, declares a
    call of each required tool, and the server's logs confirm it.

    `mode: upstream` checks only what the OpenAgent tool checks. `on_incomplete`: the logs lack a
    required tool; `on_unknown`: the logs cannot show it; `on_fabricated`: the logs lack a declared
    call. `family: lax`: any call of a browser counts for each, and so do calls for local files.
    """

    mode: Literal["strict", "upstream"] = "strict"
    on_incomplete: Policy = "fail"
    on_unknown: Policy = "warn"
    on_fabricated: Policy = "fail"
    family: Family = "exact"

    knows_modes: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("output_requirements",)

    @property
    def keys(self) -> Mapping[str, Json]:
        """A requirement that nobody knows is refused, but for the upstream tool, which reads past
        it.
        """
        wanted = {**OUTPUT_REQUIREMENTS, "additionalProperties": not self._strict}
        return {"required_tools": REQUIRED_TOOLS, "output_requirements": wanted}

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        return faults(keys)

    def metrics(self) -> tuple[MetricSpec, ...]:
        return (
            FORM_METRIC,
            MetricSpec(
                name=DECLARED,
                column=DECLARED,
                unit="share",
                description="share of the required tools of which the answer declares a call",
            ),
            MetricSpec(
                name=VERIFIED,
                column=VERIFIED,
                family="rate",
                unit="share",
                on_agent_error=None,
                description="share of the answers whose required tools all ran, by server logs",
            ),
            MetricSpec(
                name=FABRICATED,
                column=FABRICATED,
                unit="calls",
                direction="lower",
                high=None,
                on_agent_error=None,
                description="tool calls that an answer declares and no server log shows",
            ),
        )

    def grade(self, case: Case, response: Response) -> Score:
        wanted = Requirements.of(case.keys, strict=self._strict)
        if wanted is None:
            return Score(values=dict.fromkeys(_METRICS))
        read = self._read(response.answer, wanted)
        calls = list_declared_calls(read.data)
        checked = self._check_evidence(calls, response, wanted)
        codes = read.codes
        if read.data is not None:
            files = response.server_logs.files if response.server_logs else None
            codes += tuple(list_unmet(read.data, calls, wanted, strict=self._strict, files=files))
            codes += tuple(self._policies(checked))
        failures = tuple(dict.fromkeys(codes))[:_MOST_CODES]
        return Score(
            values=self._values(failures, calls, wanted, checked),
            passed=not failures,
            failures=failures,
            reason=_reason(failures, checked),
            evidence=checked,
        )

    @property
    def _strict(self) -> bool:
        return self.mode == "strict"

    def _read(self, answer: str, wanted: Requirements) -> _Read:
        """Without JSON that is all there is to say. Strict: of JSON with words around it the words
        are what is wrong, and only where the case wants JSON alone.
        """
        if not (answer.strip() if self._strict else answer):
            return _Read(data=None, codes=("output_parse:assistant_text_missing",))
        data = read_json(answer, constants=not self._strict)
        codes: tuple[str, ...] = ()
        if self._strict and isinstance(data, Fault):
            within = read_within(answer)
            if isinstance(within, dict):
                data, codes = within, ("output_not_json_only",) if wanted.only_json else ()
        if isinstance(data, Fault):
            # Without the place: equal faults are counted together.
            why = data.why.partition(":")[0] if self._strict else data.why
            return _Read(data=None, codes=(f"output_parse:{shorten(why, _WHY)}",))
        if data is None and not self._strict:
            return _Read(data=None, codes=("output_parse:None",))
        if not isinstance(data, dict):
            return _Read(data=None, codes=("output_not_json_object",))
        return _Read(data=data, codes=codes)

    def _check_evidence(
        self, calls: tuple[Declared, ...], response: Response, wanted: Requirements
    ) -> CheckedEvidence:
        return cross_check(
            calls,
            response.server_logs,
            wanted.logged,
            family=self.family if self._strict else "lax",
            upstream=not self._strict,
            own_steps=response.steps is not None,
        )

    def _policies(self, checked: CheckedEvidence) -> Iterator[str]:
        if not self._strict:
            return
        if self.on_incomplete == "fail":
            yield from (f"tool_evidence_incomplete:{name}" for name in checked.missing)
        if self.on_unknown == "fail" and checked.verdict == "unknown":
            yield "tool_evidence_unverified"
        if self.on_fabricated == "fail":
            yield from (f"fabricated_tool_call:{name}" for name in checked.fabricated)

    def _values(
        self,
        failures: tuple[str, ...],
        calls: tuple[Declared, ...],
        wanted: Requirements,
        checked: CheckedEvidence,
    ) -> dict[str, float | None]:
        lacking = len(missing_tools(calls, wanted, strict=self._strict))
        tools = len(wanted.tools)
        return {
            FORM: float(not any(code.startswith(_OF_FORM) for code in failures)),
            DECLARED: 1.0 - lacking / tools if tools else None,
            VERIFIED: _VERIFIED.get(checked.verdict),
            FABRICATED: None if checked.observed is None else float(len(checked.fabricated)),
        }


def _reason(failures: tuple[str, ...], checked: CheckedEvidence) -> str:
    """What failed, then what the logs say, whether or not it counts."""
    sentences = [
        *failures[:_TOLD],
        *([f"{len(failures) - _TOLD} more"] if failures[_TOLD:] else []),
    ]
    logs = f"server logs: {checked.verdict}"
    if checked.missing:
        logs += f", without {_join_names(checked.missing)}"
    if checked.fabricated:
        logs += f"; declared but not logged: {_join_names(checked.fabricated)}"
    if checked.notes:
        logs += f" ({checked.notes[0]})"
    return "; ".join((*sentences, logs))


def _join_names(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - _TOLD} more"] if names[_TOLD:] else []
    return ", ".join((*names[:_TOLD], *more))
