"""The metric of every grader that judges whether an answer has the demanded form."""

from __future__ import annotations

from gate.records import MetricSpec

FORM = "response_quality.format_compliance"
FORM_METRIC = MetricSpec(
    name=FORM,
    column=FORM,
    family="rate",
    unit="share",
    description="share of answers that have the demanded form",
)
