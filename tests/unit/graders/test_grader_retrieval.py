import io
import math

import pytest

from gate.errors import InvalidInput, Place, UsageError
from gate.files.rows import DatasetSource
from gate.graders.retrieval import Retrieval
from gate.records import Case, Document, Response
from gate.suites.cases.dataset import check


def score(ids, relevant=None, graded=None, **options):
    keys = {"relevant_doc_ids": relevant, "relevance_scores": graded}
    retrieved = None if ids is None else tuple(Document(id=one) for one in ids)
    case = Case(id="a", input="?", keys=keys)
    return Retrieval(**options).grade(case, Response(answer="", retrieved=retrieved))


def value(found, name):
    return found.values[f"retrieval.{name}"]


def test_metrics_of_one_answer():
    found = score("abcde", ["b", "d", "x"], k=(1, 3, 5))
    expected = {
        "precision@1": 0, "precision@3": 1 / 3, "precision@5": 2 / 5,
        "recall@1": 0, "recall@3": 1 / 3, "recall@5": 2 / 3,
        "hit_rate@1": 0, "hit_rate@3": 1, "hit_rate@5": 1,
        "mrr": 1 / 2, "map": (1 / 2 + 2 / 4) / 3,
    }  # fmt: skip
    for name, number in expected.items():
        assert value(found, name) == pytest.approx(number), name
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    gained = 1 / math.log2(3) + 1 / math.log2(5)
    assert value(found, "ndcg@5") == pytest.approx(gained / ideal)


def test_default_columns():
    names = [spec.column for spec in Retrieval().metrics()]
    at_k = ("precision", "recall", "hit_rate", "ndcg")
    assert names == [
        *(f"retrieval.{n}@{k}" for n in at_k for k in (1, 3, 5, 10)),
        "retrieval.mrr",
        "retrieval.map",
    ]


@pytest.mark.parametrize(
    ("relevant", "graded"), [(None, None), ([], None), ([], {"a": 0, "b": -1})]
)
def test_a_case_without_relevant_documents_is_not_counted(relevant, graded):  # B14
    found = score("ab", relevant, graded, pass_k=1)
    assert set(found.values.values()) == {None}
    assert found.passed is None
    assert found.reason.startswith("no_relevant: ")


def test_nothing_retrieved_is_zero():
    found = score("", ["a"], pass_k=1)
    assert set(found.values.values()) == {0.0}
    assert found.reason == "not among the first 1: a; nothing was retrieved"


def test_an_agent_that_does_not_tell_is_unscored():
    found = score(None, ["a"])
    assert "`retrieved`" in found.unscored
    assert found.values == {}


def test_a_document_counts_once_at_its_first_place():  # B15
    found = score("aaab", ["a", "b"], k=(3,))
    assert value(found, "precision@3") == pytest.approx(2 / 3)
    assert value(found, "ndcg@3") == pytest.approx(1.0)


def test_the_reason_tells_how_many_documents_came_again():  # B15
    assert score("aaab", ["a", "b"]).reason == "repeated documents, not counted: 2"
    assert score("ab", ["a", "b"]).reason == ""


def test_the_reason_tells_where_grades_are_negative():
    case = Case(
        id="a", input="?", keys={"relevance_scores": {"a": 2, "b": -1}}, place=Place("d.jsonl", 7)
    )
    response = Response(answer="", retrieved=(Document(id="a"),))
    reason = Retrieval().grade(case, response).reason
    assert reason == "d.jsonl:7: negative grades, counted as 0: 1"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"a": null}', "relevance_scores.a: null is not a number"),
        ('{"a": true}', "relevance_scores.a: true is not a number"),
        ('{"a": "2"}', "relevance_scores.a: '2' is not a number"),
        ('{"a": NaN}', "not JSON"),
        ("[1]", "relevance_scores: "),
    ],
)
def test_a_grade_that_is_no_number_is_told_with_its_line(written, message):
    lines = '{"id": "1", "input": "q"}\n{"id": "2", "input": "q", "relevance_scores": %s}\n'
    source = DatasetSource(name="d.jsonl", open=lambda: io.BytesIO((lines % written).encode()))
    with pytest.raises(InvalidInput) as caught:
        check(source, {"retrieval": Retrieval()})
    (problem,) = caught.value.problems
    assert problem.place == Place("d.jsonl", 2)
    assert message in problem.message


def test_denominator_of_precision():  # B16
    assert value(score("ab", ["a", "b"], k=(10,)), "precision@10") == pytest.approx(0.2)
    by_retrieved = {"k": (10,), "precision_denominator": "retrieved"}
    assert value(score("ab", ["a", "b"], **by_retrieved), "precision@10") == 1.0
    assert value(score("", ["a", "b"], **by_retrieved), "precision@10") == 0.0


def test_reciprocal_rank_has_no_cut_off():  # B17
    ids = [str(i) for i in range(50)]
    assert value(score(ids, ["49"], k=(1,)), "mrr") == pytest.approx(1 / 50)


def test_reciprocal_rank_may_have_a_cut_off():
    found = score("abc", ["c"], mrr_k=(2, 3))
    assert (value(found, "mrr@2"), value(found, "mrr@3")) == (0.0, pytest.approx(1 / 3))


@pytest.mark.parametrize("options", [{}, {"k": ()}, {"k": (2,), "mrr_k": (1, 2), "pass_k": 1}])
def test_what_is_measured_is_what_was_announced(options):
    columns = [spec.column for spec in Retrieval(**options).metrics()]
    assert set(score("ab", ["b"], **options).values) == set(columns)


@pytest.mark.parametrize(("gain", "expected"), [("linear", 0.7967), ("exponential", 0.7098)])
def test_graded_relevance_in_the_wrong_order(gain, expected):
    found = score("ba", graded={"a": 3, "b": 1}, k=(10,), gain=gain)
    assert value(found, "ndcg@10") == pytest.approx(expected, abs=5e-5)


def test_grades_win_over_plain_ids_and_negative_ones_are_nothing():  # B18
    found = score("ab", ["a", "b"], {"a": -1, "b": 2}, k=(1, 2))
    assert value(found, "recall@1") == 0.0
    assert value(found, "ndcg@2") == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("grades", [(1e308, 1e300), (1e-300, 1e-308), (61.0, 3.0)])
def test_extreme_grades_stay_in_range(gain, grades):
    found = score("ba", graded=dict(zip("ab", grades, strict=True)), gain=gain)
    assert 0.0 <= value(found, "ndcg@10") <= 1.0


def test_numbers_are_ids_too():
    assert value(score("1", [1, 2], k=(1,)), "recall@1") == 0.5


@pytest.mark.parametrize(("pass_k", "passed"), [(1, False), (2, True), (None, None)])
def test_passes_with_a_relevant_document_among_the_first(pass_k, passed):
    found = score("abc", ["b", "x"], pass_k=pass_k)
    assert found.passed is passed
    assert found.failures == (("retrieval_miss",) if passed is False else ())
    assert Retrieval(pass_k=pass_k).decides is (pass_k is not None)


def test_the_reason_names_what_is_missing_and_what_came_first():
    found = score("abc", ["b", "u", "v", "w", "x"], pass_k=1)
    assert found.reason == "not among the first 1: b, u, v and 2 more; first was a"
    assert score("ab", ["a"]).reason == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": (0,)}, "k is 0, but documents are counted from 1"),
        ({"k": (1, -3)}, "k is -3"),
        ({"pass_k": 0}, "pass_k is 0"),
        ({"mrr_k": (0,)}, "mrr_k is 0"),
        ({"k": (5, 5)}, "twice"),
    ],
)
def test_wrong_k_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Retrieval(**options)
