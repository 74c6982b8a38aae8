"""Retrieval metrics against pytrec_eval (trec_eval's C code) and against numpy over all queries.

    python benchmarks/retrieval.py [--queries 10000] [--documents 100] [--runs 7]

Precision, recall, hit rate and nDCG at 1, 3, 5, 10 and 100, reciprocal rank and average precision
of every query. In the clock (processor time), for each: ids as strings and judgements in, one
mapping of numbers a query out; making the ids and imports are not. The sides take turns in one
process, and must agree to 1e-12 before any is timed.

* measures: from a ranked list and {id: gain}.
* by score: the same from {id: score}, which is sorted in the clock, as pytrec_eval does it.
* grader: whole `Retrieval.grade` calls, from Case and Response to a Score with its reason;
  documents that came twice are looked for.
* numpy: all queries in flat arrays (below), linear gain only; ids are looked up in Python.
* pytrec_eval: RelevanceEvaluator made and run on {query: {id: score}}.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from gate.graders.retrieval import Retrieval
from gate.records import Case, Document, Response
from gate.stats.ranking import measures

K = (1, 3, 5, 10, 100)
THEIRS = {"precision": "P", "recall": "recall", "hit_rate": "success", "ndcg": "ndcg_cut"}
Values = Sequence[Mapping[str, float]]
Gains = Mapping[str, float]


def over_all_queries(lists: Sequence[Sequence[str]], judged: Sequence[Gains]) -> Values:
    """The formulas of gate/stats/ranking.py on flat arrays. A query that found nothing gets one
    document without gain at an infinite rank.
    """
    starts, ranks, gains, nth = [], [], [], []
    for ids, relevant in zip(lists, judged, strict=True):
        starts.append(len(ranks))
        found = list(map(relevant.__contains__, ids))
        hits = list(compress(count(1), found)) or [math.inf]
        ranks += hits
        gains += list(map(relevant.__getitem__, compress(ids, found))) or [0.0]
        nth += range(1, len(hits) + 1)
    sizes = np.array([len(relevant) for relevant in judged])
    best = np.array([gain for one in judged for gain in sorted(one.values(), reverse=True)])
    firsts = np.cumsum(sizes) - sizes
    best_ranks = (np.arange(len(best)) - np.repeat(firsts, sizes) + 1.0)[:, np.newaxis]
    at, ks = np.array(ranks, float)[:, np.newaxis], np.array(K, float)
    gained = (at <= ks) * (np.array(gains)[:, np.newaxis] / np.log2(at + 1))
    hits = np.add.reduceat((at <= ks).astype(float), starts, axis=0)
    dcg = np.add.reduceat(gained, starts, axis=0)
    ideal_gain = (best_ranks <= ks) * (best[:, np.newaxis] / np.log2(best_ranks + 1))
    ideal = np.add.reduceat(ideal_gain, firsts, axis=0)
    total = sizes[:, np.newaxis]
    columns = (hits / ks, hits / total, (hits > 0) * 1.0, np.minimum(dcg / ideal, 1.0))
    average = np.add.reduceat(np.array(nth) / at[:, 0], starts) / sizes
    names = [*(f"{name}@{k}" for name in THEIRS for k in K), "mrr", "map"]
    table = np.column_stack((*columns, 1.0 / at[starts, 0], average))
    return [dict(zip(names, row, strict=True)) for row in table.tolist()]


def material(queries: int, documents: int) -> tuple[list[list[str]], list[dict[str, float]]]:
    """Ten of twenty relevant documents are retrieved, with grades 1 to 3."""
    rng = random.Random(1)
    pool = 10 * documents + 1_000
    lists, judged = [], []
    for _ in range(queries):
        ids = [f"document-{n}" for n in rng.sample(range(pool), documents)]
        relevant = [*rng.sample(ids, min(10, documents)), *(f"other-{n}" for n in range(10))]
        lists.append(ids)
        judged.append({one: float(rng.randint(1, 3)) for one in relevant})
    return lists, judged


def sides(
    lists: list[list[str]], judged: list[dict[str, float]]
) -> dict[str, Callable[[], Values]]:
    scores = [{one: float(-n) for n, one in enumerate(ids)} for ids in lists]
    grader = Retrieval(k=K)
    asked = [
        (
            Case(id="q", input="q", keys={"relevance_scores": gains}),
            Response(answer="", retrieved=tuple(Document(id=one) for one in ids)),
        )
        for ids, gains in zip(lists, judged, strict=True)
    ]

    def ours(found: Sequence[Sequence[str]]) -> Values:
        return [measures(ids, gains, cutoffs=K) for ids, gains in zip(found, judged, strict=True)]

    def graded() -> Values:
        every = [grader.grade(case, response).values for case, response in asked]
        return [{name.partition(".")[2]: v for name, v in one.items()} for one in every]

    found = {
        "measures": lambda: ours(lists),
        "measures, by score": lambda: ours(
            [sorted(one, key=one.__getitem__, reverse=True) for one in scores]
        ),
        "grader": graded,
        "numpy over all queries": lambda: over_all_queries(lists, judged),
    }
    return {**found, **_pytrec_eval(scores, judged)}


def _pytrec_eval(
    scores: list[dict[str, float]], judged: list[dict[str, float]]
) -> dict[str, Callable[[], Values]]:
    try:
        import pytrec_eval
    except ImportError:
        print("pytrec_eval: not installed, left out")
        return {}
    cuts = ",".join(map(str, K))
    wanted = {*(f"{name}.{cuts}" for name in THEIRS.values()), "recip_rank", "map"}
    run = {str(n): one for n, one in enumerate(scores)}
    qrels = {str(n): {d: int(g) for d, g in one.items()} for n, one in enumerate(judged)}

    def evaluate() -> Values:
        found = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
        return [found[query] for query in run]

    return {"pytrec_eval": evaluate}


def agree(values: Values, others: Values) -> None:
    renamed = {f"{name}@{k}": f"{their}_{k}" for name, their in THEIRS.items() for k in K}
    for one, other in zip(values, others, strict=True):
        for name, value in one.items():
            theirs = other.get(name, other.get(renamed.get(name, "recip_rank")))
            if theirs is None or abs(value - theirs) > 1e-12:
                raise SystemExit(f"{name}: {value} against {theirs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, default in (("queries", 10_000), ("documents", 100), ("runs", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    every = sides(*material(options.queries, options.documents))
    first = every["measures"]()
    for side in every.values():
        agree(first, side())
    gc.collect()
    gc.freeze()  # what was made before is nobody's garbage
    times: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(options.runs):
        for name, side in every.items():
            start = time.process_time()
            side()
            times[name].append(time.process_time() - start)
    base = statistics.median(times["measures"])
    print("| | s (median) | fastest | us a query | ratio to measures |\n|:--|--:|--:|--:|--:|")
    for name, taken in times.items():
        middle = statistics.median(taken)
        each = middle / options.queries * 1e6
        print(f"| {name} | {middle:.3f} | {min(taken):.3f} | {each:.1f} | {middle / base:.2f} |")


if __name__ == "__main__":
    main()
