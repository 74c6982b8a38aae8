"""Random runs against trec_eval's own code (pytrec_eval), for every metric and cut-off."""

import random

import pytest

from gate.agents.recordings.retrieval_run import parse_retrieval_run
from gate.graders.retrieval import Retrieval
from gate.records import Case, Response

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")

K = (1, 3, 5, 10, 100)
CUTS = ",".join(map(str, K))
THEIRS = {"precision": "P", "recall": "recall", "hit_rate": "success", "ndcg": "ndcg_cut"}
WANTED = {*(f"{name}.{CUTS}" for name in THEIRS.values()), "recip_rank", "map"}


def random_run(seed, *, ties):
    """Judgements with zero and negative grades, and scores that are all different or often tie."""
    rng = random.Random(seed)
    pool = [f"d{n}" for n in range(rng.choice((3, 30, 300)))]
    judged, run = {}, {}
    for number in range(20):
        some = rng.sample(pool, rng.randint(1, len(pool)))
        judged[f"q{number}"] = {one: rng.randint(-1, 4) for one in some} | {pool[0]: 1}
        found = rng.sample(pool, rng.randint(1, min(120, len(pool))))
        scores = [rng.randint(0, 9) if ties else n for n in range(len(found))]
        rng.shuffle(scores)
        run[f"q{number}"] = {one: s / 7 for one, s in zip(found, scores, strict=True)}
    return judged, run


def ours(judged, run):
    lines = [
        f"{query} Q0 {document} 0 {score!r} tag"
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    recorded, grader = parse_retrieval_run("\n".join(lines).encode(), "run.txt"), Retrieval(k=K)
    for query, grades in judged.items():
        case = Case(id=query, input="?", keys={"relevance_scores": grades})
        response = Response(answer="", retrieved=recorded.documents_for(case))
        yield query, grader.grade(case, response).values


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_random_runs_equal_trec_eval(seed, ties):
    judged, run = random_run(seed, ties=ties)
    theirs = pytrec_eval.RelevanceEvaluator(judged, WANTED).evaluate(run)
    for query, found in ours(judged, run):
        expected = {
            **{
                f"retrieval.{name}@{k}": theirs[query][f"{their}_{k}"]
                for name, their in THEIRS.items()
                for k in K
            },
            "retrieval.mrr": theirs[query]["recip_rank"],
            "retrieval.map": theirs[query]["map"],
        }
        assert found == pytest.approx(expected, abs=1e-12)


def test_scores_that_differ_in_the_ninth_digit_tie_as_in_trec_eval():
    judged, run = {"q": {"a": 1}}, {"q": {"a": 1.000000001, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(run)
    ((_, found),) = ours(judged, run)
    assert found["retrieval.mrr"] == theirs["q"]["recip_rank"] == 0.5
