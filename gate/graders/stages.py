"""Does the answer have its three stages, each with as many entries as required?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.graders.openagent_rules import counts, stages
from gate.graders.openagent_rules.findings import Mode, failure_codes, failure_reason, share_held
from gate.graders.openagent_rules.form import FORM, FORM_METRIC
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

COVERAGE = "response_quality.stage_coverage"
FOLLOWED = "response_quality.instruction_following"


@GRADERS.register("stages")
@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Passes when the answer is a JSON object with the stages collect, normalize and summarize.
    `mode`: strict also requires that none is empty and that the counts of `count_rules`, or of the
    prompt, are met; upstream checks as the OpenAgent benchmark tool does.
    """

    mode: Mode = "strict"

    knows_modes: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Json]] = {
        stages.KEY: {"type": "object", "additionalProperties": {"type": ["boolean", "null"]}},
        counts.KEY: counts.SCHEMA,
    }
    needs: ClassVar[tuple[str, ...]] = ()

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        prompt = Case(id="", input=keys.get("input"), keys=keys).question
        return stages.faults(keys, prompt, self.mode)

    def metrics(self) -> tuple[MetricSpec, ...]:
        coverage = "share of the demanded stages that the answer has"
        followed = "share of the demanded counts that the answer keeps"
        return (
            FORM_METRIC,
            MetricSpec(name=COVERAGE, column=COVERAGE, unit="share", description=coverage),
            MetricSpec(name=FOLLOWED, column=FOLLOWED, unit="share", description=followed),
        )

    def grade(self, case: Case, response: Response) -> Score:
        findings = stages.check(case.keys, case.question, response.answer or "", self.mode)
        wrong = failure_codes(findings)
        return Score(
            values={
                FORM: share_held(findings, "format"),
                COVERAGE: share_held(findings, "stage"),
                FOLLOWED: share_held(findings, "instruction"),
            },
            passed=not wrong,
            failures=wrong,
            reason=failure_reason(findings),
        )
