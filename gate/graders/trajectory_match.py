"""Do the agent's steps match the reference: the same calls, turn by turn?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from gate.errors import AgentFailure, GraderFailure
from gate.graders.tool_calling.actual import NOT_TOLD, ArgsMode, ArgsRules, Numbers, Strings
from gate.graders.tool_calling.compare import Mode, first_difference, limit_codes
from gate.graders.tool_calling.reference import KEY, SCHEMA, read_reference, reference_faults
from gate.graders.tool_calling.trajectory import trajectory_faults
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

METRIC = "agent.trajectory_match"


@GRADERS.register("trajectory_match")
@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryMatch:
    """Compares the agent's calls with the case's `reference_trajectory`. `mode`: strict (the same
    calls in the same turns), unordered (the same calls), superset (more are allowed), subset (some
    may be missing). The other options are those of tool_calls.
    """

    mode: Mode = "strict"
    args: ArgsMode = "exact"
    overrides: Mapping[str, ArgsMode | tuple[str, ...]] = field(default_factory=dict)
    strings: Strings = "exact"
    numbers: Numbers = "equal"

    keys: ClassVar[Mapping[str, Json]] = {KEY: SCHEMA}
    needs: ClassVar[tuple[str, ...]] = (KEY,)

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        if keys.get(KEY) is not None:
            yield from reference_faults(keys[KEY])

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers whose tool calls match the reference trajectory"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get(KEY)
        if written is None:
            return Score(values={METRIC: None})
        if response.steps is None:
            return Score(unscored=NOT_TOLD)
        try:
            reference = read_reference(written)
        except AgentFailure as failure:
            raise GraderFailure(str(failure)[:300]) from failure
        rules = ArgsRules(
            mode=self.args, overrides=self.overrides, strings=self.strings, numbers=self.numbers
        )
        comparison, codes = trajectory_faults(reference, response, self.mode, rules)
        right, expected = len(comparison.pairs), len(comparison.wanted)
        summary = f"{right} of {expected} calls of the reference, {comparison.n_made} made"
        difference = first_difference(comparison, rules)
        return Score(
            values={METRIC: float(not codes)},
            passed=not codes,
            failures=limit_codes(codes),
            reason=f"{summary}; {difference}" if difference else summary,
        )
