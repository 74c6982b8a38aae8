"""The verdict of a suite written as code about an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

METRIC = "agent.own_verdict"


@GRADERS.register("run_record")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Passes if the suite's own code says so (`ok`), with its codes (`validation_errors`)."""

    keys: ClassVar[Mapping[str, Json]] = {}
    needs: ClassVar[tuple[str, ...]] = ()

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers that the suite's own code passes"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        verdict = response.own_verdict
        if verdict is None:
            return Score(unscored="the answer has no verdict of a suite written as code")
        if verdict.passed:
            return Score(values={METRIC: 1.0}, passed=True, reason=verdict.note)
        failures = verdict.failures or ("not_ok",)
        reason = "; ".join(filter(None, (", ".join(failures)[:1_000], verdict.note)))
        return Score(values={METRIC: 0.0}, passed=False, failures=failures, reason=reason)
