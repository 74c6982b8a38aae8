"""The names of the metrics of a ranked list, and what a case says about relevance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gate.records import Case, CheckedJson, MetricSpec

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


def cutoff_fault(name: str, given: Sequence[int | None]) -> str | None:
    """What is wrong with the cut-offs of an option; None if they can be used."""
    wrong = [k for k in given if k is not None and k < 1]
    if wrong:
        return f"{name} is {wrong[0]}, but documents are counted from 1"
    return f"{name} has a value twice" if len(set(given)) < len(given) else None


def ranking_metrics(k: Iterable[int], mrr_k: Iterable[int] = ()) -> tuple[MetricSpec, ...]:
    """A metric for each value of `gate.stats.ranking.measures` at these cut-offs, named
    `retrieval.<value>`.
    """
    cutoffs = tuple(k)
    at_k = {f"{name}@{k}": text.format(k=k) for name, text in _AT_K.items() for k in cutoffs}
    mrr_at = {f"mrr@{k}": _MRR_AT.format(k=k) for k in mrr_k}
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


def relevant_of(keys: Mapping[str, CheckedJson]) -> dict[str, float]:
    """Relevant document -> gain. A document with a grade of 0 or below is not relevant; one without
    a grade has the gain 1.
    """
    judged = {str(one): 1.0 for one in keys.get("relevant_doc_ids") or ()}
    graded = keys.get("relevance_scores") or {}
    judged.update({str(one): float(gain) for one, gain in graded.items()})
    return {one: gain for one, gain in judged.items() if gain > 0.0}


def list_lacking(ids: Sequence[str], relevant: Mapping[str, float], k: int) -> Iterator[str]:
    """A sentence about the relevant documents that are not among the first `k`; nothing if all
    are.
    """
    first_ids = frozenset(ids[:k])
    missing = [document for document in relevant if document not in first_ids]
    if missing:
        some = ", ".join(document[:80] for document in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        first = f"first was {ids[0][:80]}" if ids else "nothing was retrieved"
        yield f"not among the first {k}: {some}{more}; {first}"


def list_not_counted(case: Case, *, again: int) -> Iterator[str]:
    """Sentences about what does not count: repeated documents, and negative grades."""
    if again:
        yield f"repeated documents, not counted: {again}"
    graded = case.keys.get("relevance_scores") or {}
    negative = sum(gain < 0 for gain in graded.values())
    if negative:
        yield f"{case.place}: negative grades, counted as 0: {negative}"
