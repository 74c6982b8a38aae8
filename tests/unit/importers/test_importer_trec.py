"""The importer of TREC runs: forms of both files, what is counted, what is refused."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.importers.formats.trec import MOST_DOCUMENTS
from gate.importers.trec import Trec

RUN = "q1 Q0 a 1 2.0 bm25\nq1 Q0 b 2 1.0 bm25\nq2 Q0 b 1 5 bm25\nq9 Q0 b 1 5 bm25\n"
QRELS = "q1 0 b 1\nq1 0 a 0\nq2 0 a -1\nq2 0 b 2\nq3 0 a 1\nq4 0 a 0\n"


@pytest.fixture
def place(tmp_path):
    def written(run=RUN, qrels=QRELS):
        for name, content in (("run.txt", run), ("qrels.txt", qrels)):
            text = content if isinstance(content, str) else json.dumps(content)
            (tmp_path / name).write_bytes(text.encode(errors="surrogatepass"))
        return tmp_path

    return written


def values(folder, name="mrr", **options):
    trials = Trec(**options).read(folder).trials()
    return {one.case.id: one.attempt.scores["trec"].values[f"retrieval.{name}"] for one in trials}


def faults(folder, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        Trec(**options).read(folder)
    return str(caught.value).replace(f"{folder.as_posix()}/", "")


def test_a_query_that_the_run_does_not_have_counts_as_0_unless_it_is_left_out(place):
    assert values(place()) == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert values(place(), complete=False) == {"q1": 0.5, "q2": 1.0}


def test_what_is_not_counted_is_told(place):
    found = Trec().read(place())
    assert found.suites["trec"].cases == 3
    assert found.provenance.agent == "bm25"
    notes = " ".join(found.notes)
    assert "1 queries of the run are not judged" in notes
    assert "1 judged queries have no relevant document" in notes
    assert "1 judged queries are not in the run: each counts as 0" in notes
    assert "1 grades are negative" in notes
    assert len(found.notes) == 4
    *_, absent = found.trials()
    assert absent.attempt.scores["trec"].reason.startswith("the run does not have this query")
    left = Trec(complete=False).read(place()).notes
    assert "1 judged queries are not in the run: not counted (complete=false)" in left


def test_ties_are_ordered_by_document_and_ranks_are_not_looked_at(place):
    run = "q Q0 a 1 1.0 t\nq Q0 c 2 1.0 t\nq Q0 b 3 1.000000001 t\n"
    (trial,) = Trec().read(place(run, "q 0 c 1\n")).trials()
    assert [one.id for one in trial.attempt.response.retrieved] == ["c", "b", "a"]


def test_lines_of_a_query_need_not_stand_together(place):
    run = "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq1 Q0 b 1 2 t\n"
    assert values(place(run), "precision@1", complete=False) == {"q1": 1.0, "q2": 0.0}
    again = "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq1 Q0 a 1 2 t\n"
    assert "query q1: the document (column 3) is in this query already" in faults(place(again))


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"q 1": {"a b": 2, "c": 1}}, {"q 1": {"c": 1}}),
        (
            [{"query": "q 1", "retrieved": ["a", "c"]}],
            [{"query": "q 1", "relevant_doc_ids": ["c"]}],
        ),
        ([{"id": "q 1", "retrieved": ["a", "c"]}], {"q 1": {"c": 3}}),
        (
            '{"query": "What?", "retrieved": [1, 2]}\n{"query": "Who?", "retrieved": [1]}',
            '{"id": "q 1", "query": "What?", "relevance_scores": {"2": 1}}\n',
        ),
        ("q1 Q0 a 1 2 t\nq1 Q0 c 2 1 t", "query-id\tcorpus-id\tscore\nq1\tc\t1\n"),
    ],
)
def test_other_forms_of_both_files(place, run, qrels):
    assert list(values(place(run, qrels)).values()) == [0.5]


def test_the_question_of_a_row_is_the_input(place):
    rows = [{"query": "What?" * 100, "relevant_doc_ids": [7]}]
    (trial,) = Trec().read(place([{"query": "What?" * 100, "retrieved": [7]}], rows)).trials()
    assert trial.case.input == "What?" * 100
    assert len(trial.case.id) <= 200
    assert trial.attempt.scores["trec"].values["retrieval.map"] == 1.0


def test_cut_offs_are_options(place):
    found = Trec(k=(2,), mrr_k=(1,)).read(place()).suites["trec"].metrics
    names = {one.name.removeprefix("retrieval.") for one in found}
    assert names == {"precision@2", "recall@2", "hit_rate@2", "ndcg@2", "mrr@1", "mrr", "map"}
    assert "k is 0" in faults(place(), UsageError, k=(0,))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("q1 Q0 a b 1 2.0 t\n", "run.txt:1: 7 columns instead of six"),
        ("q1 Q0 a 1 2.0 t\nq1 Q0 b 1 t\n", "run.txt:2: 5 columns"),
        ("q1 Q0 a 1 nan t\n", "run.txt:1: the score (column 5) is not a finite number"),
        ("q1 Q0 a 1 1e999 t\n", "not a finite number"),
        ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", "run.txt:2: the document (column 3)"),
        ("q1 Q0 a 1 2.5 bm25\nq2 Q0 a 1 2.5 bm", "run.txt:2: cut off in the middle"),
        ("\n", "no line of six columns"),
        ("q1 Q0 \0 1 2 t\n", "NUL"),
        ("q1 Q0 " + "a" * 70_000 + " 1 2 t\n", "run.txt:1: longer than 64 kB"),
        ({"q1": {"a": "x"}}, "not finite numbers"),
    ],
)
def test_a_run_that_cannot_be_right_is_refused_with_its_place(place, run, says):
    assert says in faults(place(run))


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("q1 0 a b 1\n", "qrels.txt:1: has 5 columns instead of 4"),
        ("q1 0 a 0.5\n", "qrels.txt:1: the grade (last column) is not a whole number"),
        ("q1 0 a 1\nq1 0 a 1\n", "qrels.txt:2: the document is judged twice"),
        ({"q1": {"a": True}}, "qrels.txt: q1: the grade of document a is not a finite number"),
        ('{"q1": {"a": NaN}}', "qrels.txt:1"),
        ([{"query": "x", "relevant_doc_ids": ["a", "a"]}], "a document appears twice"),
        ([{"query": "x"}], "has no `relevant_doc_ids`"),
        ([{"relevant_doc_ids": []}], "neither `id` nor `query`"),
        ([{"id": 1, "relevant": ["a"]}, {"id": 1, "relevant": ["b"]}], "the query appears twice"),
        ("", "has no judgement"),
    ],
)
def test_judgements_that_cannot_be_right_are_refused_with_their_place(place, qrels, says):
    assert says in faults(place(qrels=qrels))


def test_every_problem_of_both_files_is_told_at_once(place):
    told = faults(place("q1 Q0 a\n" * 60, "q1\n"))
    assert "qrels.txt:1" in told
    assert "run.txt:49" in told
    assert "and 11 more problems" in told


def test_a_query_of_too_many_documents_is_refused_when_it_is_met(place):
    run = "".join(f"q1 Q0 d{n} 1 {n} t\n" for n in range(MOST_DOCUMENTS + 5))
    assert faults(place(run)) == (
        f"run.txt:{MOST_DOCUMENTS + 1}: more than 100,000 documents of one query"
    )


def test_files_of_two_collections_are_refused(place):
    assert "no query of the run is in the judgements" in faults(place("x Q0 a 1 2 t"), UsageError)


def test_ids_may_be_any_text(place):
    run = '{"q": {"\\ud800": 1.5, "\\u001b[31mred": 1.0}}'
    (trial,) = Trec().read(place(run, {"q": {"\x1b[31mred": 1}})).trials()
    assert trial.attempt.scores["trec"].values["retrieval.mrr"] == 0.5


def test_the_last_line_needs_no_end(place):
    assert values(place("q1 Q0 a 1 2.5 t\nq2 Q0 a 1 2.5 t")) == values(
        place("q1 Q0 a 1 2.5 t\nq2 Q0 a 1 2.5 t\n")
    )


def test_columns_are_parted_by_any_space(place):
    assert values(place("q1\tQ0  b 1\x1c2 t\r\n"), complete=False) == {"q1": 1.0}


def test_a_folder_has_one_run_and_its_judgements(place, tmp_path):
    (place() / "second.run").write_text(RUN)
    assert "2 runs and 1 files of judgements" in faults(tmp_path, UsageError)
    assert "judgements; add --option qrels=FILE" in faults(tmp_path / "run.txt", UsageError)


def test_it_is_recognised_by_its_second_column(place, tmp_path):
    assert Trec.recognises(look(place() / "run.txt"))
    assert Trec.recognises(look(tmp_path))
    assert not Trec.recognises(look(tmp_path / "qrels.txt"))
