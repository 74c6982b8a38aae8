"""Retrieval metrics against what trec_eval prints for its own test data (topics 301 to 303)."""

import json

import pytest

from gate.graders.retrieval import Retrieval
from gate.records import Case, Document, Response

K = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TREC = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "hit_rate": "success"}


@pytest.fixture(scope="module")
def trec(gate_real_data):
    return json.loads((gate_real_data / "trec" / "trec_eval-301-303.json").read_text("utf-8"))


def values(trec, topic):
    # trec_eval orders by score, ties by document id, both descending
    run = sorted(trec["run"][topic].items(), key=lambda item: (item[1], item[0]), reverse=True)
    case = Case(id=topic, input="?", keys={"relevance_scores": trec["qrels"][topic]})
    retrieved = tuple(Document(id=name, score=score) for name, score in run)
    return Retrieval(k=(1, *K)).grade(case, Response(answer="", retrieved=retrieved)).values


def expected(figures):
    for ours, theirs in TREC.items():
        for k in (1, *K):
            if f"{theirs}_{k}" in figures:
                yield f"retrieval.{ours}@{k}", float(figures[f"{theirs}_{k}"])
    yield "retrieval.mrr", float(figures["recip_rank"])
    yield "retrieval.map", float(figures["map"])


@pytest.mark.parametrize("topic", ["301", "302", "303"])
def test_each_topic_equals_trec_eval(trec, topic):
    found = values(trec, topic)
    compared = dict(expected(trec["expected"][topic]))
    assert len(compared) == 32
    assert {name: found[name] for name in compared} == pytest.approx(compared, abs=5e-5)


def test_the_mean_over_topics_equals_trec_eval(trec):
    topics = [values(trec, topic) for topic in trec["run"]]
    for name, theirs in expected(trec["expected"]["all"]):
        mean = sum(one[name] for one in topics) / len(topics)
        assert mean == pytest.approx(theirs, abs=5e-5), name
