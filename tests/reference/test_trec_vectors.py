"""Imported runs against what trec_eval prints, and against its own code (pytrec_eval)."""

import json
import random

import pytest

from gate.importers.beir import Beir
from gate.importers.trec import Trec

K = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TREC = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "hit_rate": "success"}


def as_text(run, qrels, folder):
    lines = [
        f"{query} Q0 {document} 7 {score!r} tag"
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    judged = [f"{q} 0 {d} {grade}" for q, grades in qrels.items() for d, grade in grades.items()]
    (folder / "run.txt").write_text("\n".join(lines))
    (folder / "qrels.txt").write_text("\n".join(judged))


def measured(importer, path):
    trials = importer.read(path).trials()
    return {one.case.id: next(iter(one.attempt.scores.values())).values for one in trials}


def expected(figures):
    for ours, theirs in TREC.items():
        for k in K:
            if f"{theirs}_{k}" in figures:
                yield f"retrieval.{ours}@{k}", float(figures[f"{theirs}_{k}"])
    yield "retrieval.mrr", float(figures["recip_rank"])
    yield "retrieval.map", float(figures["map"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_topics_and_their_mean_equal_trec_eval(gate_real_data, tmp_path, form):
    path = gate_real_data / "trec" / "trec_eval-301-303.json"
    data = json.loads(path.read_text("utf-8"))
    if form == "text":
        as_text(data["run"], data["qrels"], tmp_path)
    else:
        (tmp_path / "run.txt").write_text(json.dumps(data["run"]))
        (tmp_path / "qrels.txt").write_text(json.dumps(data["qrels"]))
    found = measured(Trec(k=K, complete=False), tmp_path)
    assert set(found) == {"301", "302", "303"}
    for topic, values in found.items():
        wanted = dict(expected(data["expected"][topic]))
        assert len(wanted) == 31
        assert {name: values[name] for name in wanted} == pytest.approx(wanted, abs=5e-5)
    for name, theirs in expected(data["expected"]["all"]):
        mean = sum(values[name] for values in found.values()) / len(found)
        assert mean == pytest.approx(theirs, abs=5e-5), name


@pytest.mark.parametrize("seed", range(4))
def test_random_runs_equal_pytrec_eval(tmp_path, seed):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    rng = random.Random(seed)
    pool = [f"d{n}" for n in range(40)]
    names = [f"q{n}" for n in range(12)]
    judged = {q: {d: rng.randint(-1, 3) for d in rng.sample(pool, 9)} | {"d0": 1} for q in names}
    run = {q: {d: rng.randint(0, 5) / 7 for d in rng.sample(pool, 20)} for q in names[2:]}
    as_text(run, judged, tmp_path)
    cuts = "5,10"
    wanted = {*(f"{name}.{cuts}" for name in TREC.values()), "recip_rank", "map"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(run)
    ours = measured(Trec(k=(5, 10)), tmp_path)
    for query, values in ours.items():
        if query in theirs:
            found = dict(expected(theirs[query]))
            assert {name: values[name] for name in found} == pytest.approx(found, abs=1e-12)
        else:
            assert set(values.values()) == {0.0}
    assert len(ours) == len(theirs) + 2


def test_beirs_way_equals_pytrec_eval_without_the_querys_own_document(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    run = {"a": {"a": 3.0, "b": 2.0, "c": 1.0}, "b": {"c": 1.0, "b": 0.5, "a": 0.1}}
    judged = {"a": {"c": 2, "b": 1}, "b": {"a": 1}}
    (tmp_path / "qrels").mkdir()
    rows = [f"{q}\t{d}\t{grade}" for q, grades in judged.items() for d, grade in grades.items()]
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows))
    queries = [json.dumps({"_id": name, "text": "?"}) for name in judged]
    (tmp_path / "queries.jsonl").write_text("\n".join(queries))
    (tmp_path / "run.json").write_text(json.dumps(run))
    kept = {q: {d: s for d, s in scores.items() if d != q} for q, scores in run.items()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.3", "map"}).evaluate(kept)
    ours = measured(Beir(run=str(tmp_path / "run.json"), k=(3,)), tmp_path)
    for query, values in ours.items():
        found = (values["retrieval.ndcg@3"], values["retrieval.map"])
        assert found == pytest.approx((theirs[query]["ndcg_cut_3"], theirs[query]["map"]))
