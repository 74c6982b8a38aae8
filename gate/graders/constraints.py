"""Does the answer meet the demands of a text task: its form, its facts, its limits?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.errors import GraderFailure
from gate.graders.openagent_rules import case_limits
from gate.graders.openagent_rules.constraints import KEYS, check
from gate.graders.openagent_rules.findings import Mode, failure_codes, failure_reason, share_held
from gate.graders.openagent_rules.form import FORM, FORM_METRIC
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

FACTS = "correctness.fact_pattern_match"
FOLLOWED = "response_quality.instruction_following"


@GRADERS.register("constraints")
@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Passes when the answer meets every demand in the case's keys. `mode`: upstream checks as the
    OpenAgent benchmark tool does, strict closes its gaps. `fail`: false only measures. In strict
    mode a case without any of the keys has no value.
    """

    mode: Mode = "strict"
    fail: bool = True

    knows_modes: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Json]] = KEYS
    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def decides(self) -> bool:
        return self.fail

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        return case_limits.faults(keys, self.mode)

    def metrics(self) -> tuple[MetricSpec, ...]:
        facts = "share of the demanded facts that the answer states"
        followed = "share of the other demands on an answer that it keeps"
        return (
            FORM_METRIC,
            MetricSpec(name=FACTS, column=FACTS, unit="share", description=facts),
            MetricSpec(name=FOLLOWED, column=FOLLOWED, unit="share", description=followed),
        )

    def grade(self, case: Case, response: Response) -> Score:
        has_demands = any(case.keys.get(key) not in (None, [], "") for key in KEYS)
        if not has_demands and self.mode == "strict":
            return Score(values=dict.fromkeys((FORM, FACTS, FOLLOWED)))
        try:
            findings = check(case.keys, response.answer or "", self.mode)
        except ValueError as error:
            raise GraderFailure(str(error)) from error
        form, wrong = share_held(findings, "format"), failure_codes(findings)
        return Score(
            values={
                FORM: None if form is None else float(form == 1),
                FACTS: share_held(findings, "fact"),
                FOLLOWED: share_held(findings, "instruction"),
            },
            passed=not wrong if self.fail else None,
            failures=wrong if self.fail else (),
            reason=failure_reason(findings),
        )
