"""How well the retrieved documents are ranked: precision, recall, hit rate, nDCG, MRR, MAP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gate.errors import UsageError
from gate.graders.rankings.metrics import (
    cutoff_fault,
    list_lacking,
    list_not_counted,
    ranking_metrics,
    relevant_of,
)
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.stats.ranking import Gain, measures

_NO_RELEVANT = "no_relevant: the case names no relevant document"
_NOT_TOLD = "the agent does not say what it retrieved - it should return the ids as `retrieved`"


@GRADERS.register("retrieval")
@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Compares the retrieved documents, in the agent's order, with the case's `relevant_doc_ids` or
    graded `relevance_scores`. With `pass_k` an answer passes if a relevant document is among the
    first `pass_k`.
    """

    k: tuple[int, ...] = (1, 3, 5, 10)
    mrr_k: tuple[int, ...] = ()
    pass_k: int | None = None
    precision_denominator: Literal["k", "retrieved"] = "k"
    gain: Gain = "linear"

    keys: ClassVar[Mapping[str, Json]] = {
        "relevant_doc_ids": {"type": "array", "items": {"type": ["string", "integer"]}},
        "relevance_scores": {"type": "object", "additionalProperties": {"type": "number"}},
    }
    needs: ClassVar[tuple[str, ...]] = ()  # one of the two; a case with neither is not counted

    def __post_init__(self) -> None:
        for name, given in (("k", self.k), ("mrr_k", self.mrr_k), ("pass_k", (self.pass_k,))):
            if fault := cutoff_fault(name, given):
                raise UsageError(f"retrieval: {fault}")

    @property
    def decides(self) -> bool:
        return self.pass_k is not None

    def metrics(self) -> tuple[MetricSpec, ...]:
        return ranking_metrics(self.k, self.mrr_k)

    def grade(self, case: Case, response: Response) -> Score:
        gains = relevant_of(case.keys)
        if not gains:
            nothing = dict.fromkeys((spec.column for spec in self.metrics()), None)
            return Score(values=nothing, reason=_NO_RELEVANT)
        if response.retrieved is None:
            return Score(unscored=_NOT_TOLD)
        ids = list(dict.fromkeys(document.id for document in response.retrieved))
        values_found = measures(
            ids,
            gains,
            cutoffs=self.k,
            reciprocal_cutoffs=self.mrr_k,
            gain=self.gain,
            over_retrieved=self.precision_denominator == "retrieved",
        )
        passed = None if self.pass_k is None else not gains.keys().isdisjoint(ids[: self.pass_k])
        return Score(
            values={f"retrieval.{name}": value for name, value in values_found.items()},
            passed=passed,
            failures=("retrieval_miss",) if passed is False else (),
            reason="; ".join(
                (
                    *list_lacking(ids, gains, self.pass_k or max(self.k, default=len(ids))),
                    *list_not_counted(case, again=len(response.retrieved) - len(ids)),
                )
            ),
        )
