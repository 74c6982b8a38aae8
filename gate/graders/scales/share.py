"""What graders of one share from 0 to 1 have in common: a value, and the share to pass from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gate.errors import UsageError
from gate.records import Json, MetricSpec, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGrader:
    """A grader with one metric from 0 to 1. It passes an answer from `pass_at` on; without it, it
    measures, and decides nothing. Subclasses say what is their `metric`.
    """

    pass_at: float | None = None

    metric: ClassVar[MetricSpec]

    def check_pass_at(self, grader: str) -> None:
        """Raises UsageError if `pass_at` is no share."""
        if self.pass_at is not None and not 0 <= self.pass_at <= 1:
            raise UsageError(f"{grader}: pass_at must be between 0 and 1")

    @property
    def keys(self) -> Mapping[str, Json]:
        """The keys of a case that the grader reads, with their schemas."""
        return {}

    @property
    def needs(self) -> tuple[str, ...]:
        """Those without which a case has no value."""
        return ()

    @property
    def decides(self) -> bool:
        return self.pass_at is not None

    def metrics(self) -> tuple[MetricSpec, ...]:
        return (self.metric,)

    def without_value(self) -> Score:
        return Score(values={self.metric.name: None})

    def score(self, value: float, reason: str, failures: Sequence[str]) -> Score:
        """`failures`: the codes of an answer that does not pass."""
        values = {self.metric.name: round(value, 6)}
        if self.pass_at is None:
            return Score(values=values, reason=reason)
        passed = values[self.metric.name] >= self.pass_at
        codes = () if passed else tuple(failures)
        return Score(values=values, passed=passed, failures=codes, reason=reason)
