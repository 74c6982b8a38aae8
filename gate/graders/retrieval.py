"""How well the retrieved documents are ranked: precision, recall, hit rate, nDCG, MRR, MAP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from gate.errors import UsageError
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.stats.ranking import Gain, measures

_AT_K = {  # metric -> what it is, {k} documents counted
    "precision": "relevant documents among the first {k}, divided by {k}",
    "recall": "share of the relevant documents that are among the first {k}",
    "hit_rate": "share of answers with a relevant document among the first {k}",
    "ndcg": "discounted gain of the first {k} documents, divided by that of the best order",
}
_MRR_AT = "1 / rank of the first relevant document, 0 when that is beyond {k}"
_OVERALL = {
    "mrr": "1 / rank of the first relevant document",
    "map": "mean, over the relevant documents, of the precision at their rank",
}
_NO_RELEVANT = "no_relevant: the case names no relevant document"
_NOT_TOLD = "the agent does not say what it retrieved - it should return the ids as `retrieved`"


@GRADERS.register("retrieval")
@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Compares the retrieved documents, in the agent's order, with the case's `relevant_doc_ids` or
    graded `relevance_scores`. With `pass_k` an answer passes when a relevant document is among the
    first so many.
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
            wrong = [k for k in given if k is not None and k < 1]
            if wrong:
                message = f"retrieval: {name} is {wrong[0]}, but documents are counted from 1"
                raise UsageError(message)
            if len(set(given)) < len(given):
                raise UsageError(f"retrieval: a value of {name} stands there twice")

    @property
    def decides(self) -> bool:
        return self.pass_k is not None

    def metrics(self) -> tuple[MetricSpec, ...]:
        at_k = {f"{name}@{k}": text.format(k=k) for name, text in _AT_K.items() for k in self.k}
        mrr_at = {f"mrr@{k}": _MRR_AT.format(k=k) for k in self.mrr_k}
        return tuple(
            MetricSpec(
                name=f"retrieval.{name}",
                column=f"retrieval.{name}",
                family="rate" if name.startswith("hit_rate") else "mean",
                unit="share",
                description=about,
            )
            for name, about in {**at_k, **mrr_at, **_OVERALL}.items()
        )

    def grade(self, case: Case, response: Response) -> Score:
        gains = _gains(case)
        if not gains:
            nothing = dict.fromkeys((spec.column for spec in self.metrics()), None)
            return Score(values=nothing, reason=_NO_RELEVANT)
        if response.retrieved is None:
            return Score(unscored=_NOT_TOLD)
        ids = list(dict.fromkeys(document.id for document in response.retrieved))
        found = measures(
            ids,
            gains,
            cutoffs=self.k,
            reciprocal_cutoffs=self.mrr_k,
            gain=self.gain,
            over_retrieved=self.precision_denominator == "retrieved",
        )
        passed = None if self.pass_k is None else not gains.keys().isdisjoint(ids[: self.pass_k])
        return Score(
            values={f"retrieval.{name}": value for name, value in found.items()},
            passed=passed,
            failures=("retrieval_miss",) if passed is False else (),
            reason="; ".join(
                (
                    *_missing(ids, gains, self.pass_k or max(self.k, default=len(ids))),
                    *_not_counted(case, again=len(response.retrieved) - len(ids)),
                )
            ),
        )


def _gains(case: Case) -> dict[str, float]:
    """Relevant document -> gain. A negative or zero grade is not relevant; an id alone is 1."""
    judged = {str(one): 1.0 for one in case.keys.get("relevant_doc_ids") or ()}
    graded = case.keys.get("relevance_scores") or {}
    judged.update({str(one): float(gain) for one, gain in graded.items()})
    return {one: gain for one, gain in judged.items() if gain > 0.0}


def _missing(ids: Sequence[str], gains: Mapping[str, float], k: int) -> Iterator[str]:
    found = frozenset(ids[:k])
    missing = [one for one in gains if one not in found]
    if missing:
        lacking = ", ".join(one[:80] for one in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        first = f"first was {ids[0][:80]}" if ids else "nothing was retrieved"
        yield f"not among the first {k}: {lacking}{more}; {first}"


def _not_counted(case: Case, *, again: int) -> Iterator[str]:
    if again:
        yield f"documents that came again and are not counted: {again}"
    graded = case.keys.get("relevance_scores") or {}
    negative = sum(gain < 0 for gain in graded.values())
    if negative:
        yield f"{case.place}: negative grades that count as 0: {negative}"
