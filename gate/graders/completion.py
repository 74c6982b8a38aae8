"""Did an answer come at all?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.graders.openagent_rules.findings import Mode
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

METRIC = "agent.completion_rate"
CODES = ("empty_response",)


@GRADERS.register("completion")
@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Passes when the answer has anything but white space. It means the same in both modes."""

    mode: Mode = "strict"

    knows_modes: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Json]] = {}
    needs: ClassVar[tuple[str, ...]] = ()

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers that are not empty"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        if (response.answer or "").strip():
            return Score(values={METRIC: 1.0}, passed=True)
        reason = "the answer is empty"
        return Score(values={METRIC: 0.0}, passed=False, failures=CODES, reason=reason)
