"""How well the retrieved documents are ranked: precision, recall, hit rate, nDCG, MRR, MAP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from gate.errors import UsageError
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score

_AT_K = {  # metric -> what it is, {k} documents counted
    "precision": "relevant documents among the first {k}, divided by {k}",
    "recall": "share of the relevant documents that are among the first {k}",
    "hit_rate": "share of answers with a relevant document among the first {k}",
    "ndcg": "discounted gain of the first {k} documents, divided by that of the best order",
}
_LARGE = 60.0  # from here on 2^gain - 1 is 2^gain
_OVERALL = {
    "mrr": "1 / rank of the first relevant document",
    "map": "mean, over the relevant documents, of the precision at their rank",
}
_NOT_TOLD = "the agent does not say what it retrieved - it should return the ids as `retrieved`"


@GRADERS.register("retrieval")
@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Compares the retrieved documents, in the agent's order, with the case's `relevant_doc_ids` or
    graded `relevance_scores`. With `pass_k` an answer passes when a relevant document is among the
    first so many.
    """

    k: tuple[int, ...] = (1, 3, 5, 10)
    pass_k: int | None = None
    precision_denominator: Literal["k", "retrieved"] = "k"
    gain: Literal["linear", "exponential"] = "linear"

    keys: ClassVar[Mapping[str, Json]] = {
        "relevant_doc_ids": {"type": "array", "items": {"type": ["string", "integer"]}},
        "relevance_scores": {"type": "object", "additionalProperties": {"type": "number"}},
    }
    needs: ClassVar[tuple[str, ...]] = ()  # one of the two; a case with neither is not counted

    def __post_init__(self) -> None:
        wrong = [k for k in (*self.k, self.pass_k) if k is not None and k < 1]
        if wrong:
            raise UsageError(f"retrieval: k is {wrong[0]}, but documents are counted from 1")
        if len(set(self.k)) < len(self.k):
            raise UsageError("retrieval: a value of k stands there twice")

    @property
    def decides(self) -> bool:
        return self.pass_k is not None

    def metrics(self) -> tuple[MetricSpec, ...]:
        at_k = {f"{name}@{k}": text.format(k=k) for name, text in _AT_K.items() for k in self.k}
        return tuple(
            MetricSpec(
                name=f"retrieval.{name}",
                column=f"retrieval.{name}",
                family="rate" if name.startswith("hit_rate") else "mean",
                unit="share",
                description=about,
            )
            for name, about in {**at_k, **_OVERALL}.items()
        )

    def grade(self, case: Case, response: Response) -> Score:
        gains = _gains(case)
        if not gains:
            return Score(values=dict.fromkeys((spec.column for spec in self.metrics()), None))
        if response.retrieved is None:
            return Score(unscored=_NOT_TOLD)
        ids = tuple(dict.fromkeys(str(document.id) for document in response.retrieved))
        ranks = [rank for rank, one in enumerate(ids, 1) if one in gains]
        passed = None if self.pass_k is None else bool(ranks) and ranks[0] <= self.pass_k
        return Score(
            values=self._values(ids, ranks, gains),
            passed=passed,
            failures=("retrieval_miss",) if passed is False else (),
            reason=_reason(ids, gains, self.pass_k or max(self.k, default=len(ids))),
        )

    def _values(
        self, ids: Sequence[str], ranks: Sequence[int], gains: Mapping[str, float]
    ) -> dict[str, float | None]:
        values: dict[str, float | None] = {}
        for k in self.k:
            hits = sum(rank <= k for rank in ranks)
            shown = k if self.precision_denominator == "k" else min(k, len(ids))
            values[f"retrieval.precision@{k}"] = hits / shown if shown else 0.0
            values[f"retrieval.recall@{k}"] = hits / len(gains)
            values[f"retrieval.hit_rate@{k}"] = float(hits > 0)
            values[f"retrieval.ndcg@{k}"] = self._ndcg(ids, gains, k)
        values["retrieval.mrr"] = 1.0 / ranks[0] if ranks else 0.0
        precisions = (found / rank for found, rank in enumerate(ranks, 1))
        values["retrieval.map"] = math.fsum(precisions) / len(gains)
        return values

    def _ndcg(self, ids: Sequence[str], gains: Mapping[str, float], k: int) -> float:
        """Järvelin and Kekäläinen 2002, discount log2(rank + 1), as trec_eval has it. The ideal
        order is over all judged documents.
        """
        worth = self._worth(gains)
        ideal = _dcg(sorted(worth.values(), reverse=True)[:k])
        return min(1.0, _dcg([worth.get(one, 0.0) for one in ids[:k]]) / ideal)

    def _worth(self, gains: Mapping[str, float]) -> dict[str, float]:
        """Gains on a scale on which the largest cannot overflow; nDCG is a ratio."""
        top = max(gains.values())
        if self.gain == "linear":
            return {one: gain / top for one, gain in gains.items()}
        if top <= _LARGE:
            return {one: math.expm1(gain * math.log(2.0)) for one, gain in gains.items()}
        return {one: math.exp2(gain - top) for one, gain in gains.items()}


def _dcg(worth: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(worth, 1))


def _gains(case: Case) -> dict[str, float]:
    """Relevant document -> gain. A negative or zero grade is not relevant; an id alone is 1."""
    judged = {str(one): 1.0 for one in case.keys.get("relevant_doc_ids") or ()}
    graded = case.keys.get("relevance_scores") or {}
    judged.update({str(one): float(gain) for one, gain in graded.items()})
    return {one: gain for one, gain in judged.items() if gain > 0.0}


def _reason(ids: Sequence[str], gains: Mapping[str, float], k: int) -> str:
    found = frozenset(ids[:k])
    missing = [one for one in gains if one not in found]
    if not missing:
        return ""
    lacking = ", ".join(one[:80] for one in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    first = f"first was {ids[0][:80]}" if ids else "nothing was retrieved"
    return f"not among the first {k}: {lacking}{more}; {first}"
