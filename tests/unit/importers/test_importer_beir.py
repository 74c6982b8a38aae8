"""The importer of BEIR's collections: cases, results, and a corpus that is never opened."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.graders.retrieval import Retrieval
from gate.importers.beir import Beir
from gate.records import Response

QUERIES = [
    {"_id": "q 1", "text": "Which?"},
    {"_id": "d2", "text": "Who?"},
    {"_id": "q3", "text": "?"},
]
QRELS = "query-id\tcorpus-id\tscore\nq 1\td 1\t2\nq 1\td2\t0\nd2\td 1\t1\n"
RUN = {"q 1": {"d 1": 1.0, "d2": 2.0}, "d2": {"d2": 9.0, "d 1": 1.0}}


@pytest.fixture
def folder(tmp_path):
    def written(queries=QUERIES, qrels=QRELS, run=RUN):
        place = tmp_path / "Sci Fact"
        (place / "qrels").mkdir(parents=True, exist_ok=True)
        (place / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
        (place / "qrels" / "test.tsv").write_text(qrels)
        (tmp_path / "run.json").write_text(json.dumps(run))
        return place

    return written


def faults(place, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        Beir(**options).read(place)
    return str(caught.value).replace(f"{place.as_posix()}/", "")


def test_without_a_run_there_are_cases_that_the_grader_reads(folder):
    found = Beir().read(folder())
    assert (dict(found.suites), list(found.trials())) == ({}, [])
    cases = list(found.cases())
    assert [(one.id, one.input) for one in cases] == [("q 1", "Which?"), ("d2", "Who?")]
    score = Retrieval(k=(1,)).grade(cases[0], Response(answer="", retrieved=()))
    assert score.values["retrieval.recall@1"] == 0.0


def test_the_suite_has_a_name_that_a_folder_can_have(folder, tmp_path):
    place = folder().rename(tmp_path / "fruits.json")
    assert set(Beir(run=str(tmp_path / "run.json")).read(place).suites) == {"beir-fruits"}


def test_a_document_with_its_querys_id_is_dropped_as_beir_does_it(folder, tmp_path):
    place, run = folder(), str(tmp_path / "run.json")

    def mrr(**options):
        found = Beir(run=run, **options).read(place)
        assert set(found.suites) == {"beir-Sci-Fact"}
        return [one.attempt.scores["beir"].values["retrieval.mrr"] for one in found.trials()]

    assert mrr() == [0.5, 1.0]
    assert mrr(drop_same_id=False) == [0.5, 0.5]


def test_the_corpus_is_not_opened(folder):
    place = folder()
    (place / "corpus.jsonl").symlink_to("/dev/zero")  # has no end
    assert len(list(Beir().read(place).cases())) == 2


def test_two_splits_are_chosen_by_name(folder):
    place = folder()
    assert "choose one of test with --option split=NAME" in faults(place, UsageError, split="dev")
    assert "is not a split" in faults(place, UsageError, split="../../etc/passwd")


@pytest.mark.parametrize(
    ("queries", "qrels", "says"),
    [
        (QUERIES[:1], QRELS, "queries.jsonl: has no text for 1 judged queries ('d2')"),
        ([*QUERIES, QUERIES[0]], QRELS, "queries.jsonl:4: query 'q 1' appears twice"),
        ([{"_id": 1, "text": "x"}], QRELS, "queries.jsonl:1: `_id` and `text` must"),
        (QUERIES, QRELS + "q 1 d9 1\n", "qrels/test.tsv:5: has 1 columns instead of 3"),
        (QUERIES, QRELS + "q 1\td9\tx\n", "qrels/test.tsv:5: the grade"),
        (QUERIES, "q 1\td 1\t2\n", "qrels/test.tsv:1"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_place(folder, queries, qrels, says):
    assert says in faults(folder(queries, qrels))


def test_links_are_not_followed(folder, tmp_path):
    place = folder()
    (tmp_path / "link").symlink_to(place)
    assert "symbolic links are not followed" in faults(tmp_path / "link", UsageError)


def test_it_is_recognised_by_its_files(folder):
    assert Beir.recognises(look(folder()))
