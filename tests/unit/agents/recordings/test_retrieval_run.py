"""Recorded retrieval in each of its forms, and what is wrong in it with its line."""

import json
import re

import pytest

from gate.agents.recordings.retrieval_run import parse_retrieval_run
from gate.agents.retrievers.recorded import RecordedRetriever
from gate.errors import InvalidInput, UsageError
from gate.plugins import World
from gate.records import Case


def case(name="q1", question="Why?"):
    return Case(id=name, input=question, keys={})


def ids(data, asked=None):
    data = data if isinstance(data, bytes) else data.encode()
    return [
        document.id
        for document in parse_retrieval_run(data, "run.txt").documents_for(asked or case())
    ]


def problems(data):
    with pytest.raises(InvalidInput) as caught:
        parse_retrieval_run(data if isinstance(data, bytes) else data.encode(), "run.txt")
    return [str(problem) for problem in caught.value.problems]


TREC = """\
q1 Q0 low 1 0.5 me
q1 Q0 high 2 9.5 me

q2 Q0 other 1 1 me
q1\tQ0\ttie-a\t3\t1e0\tme
q1 Q0 tie-b 4 1.0 me
"""


def test_a_trec_run_is_ordered_by_score_and_ties_by_id_both_descending():
    assert ids(TREC) == ["high", "tie-b", "tie-a", "low"]


def test_ids_tie_by_their_bytes():
    assert ids("q1 Q0 a 1 1 t\nq1 Q0 Z 1 1 t\nq1 Q0 é 1 1 t\n") == ["é", "a", "Z"]


def test_a_json_run_is_ordered_the_same_way():
    run = {"q1": {"low": 0.5, "tie-a": 1, "high": 9.5, "tie-b": 1.0}, "q2": {"other": 1}}
    assert ids(json.dumps(run, indent=2)) == ["high", "tie-b", "tie-a", "low"]


LIST = [{"id": "q1", "retrieved": ["b", {"id": "a", "score": 9}]}, {"id": 2, "retrieved": []}]


@pytest.mark.parametrize(
    "text", [json.dumps(LIST, indent=1), "\n".join(map(json.dumps, LIST)), json.dumps(LIST[0])]
)
def test_a_list_stays_as_it_is_written(text):
    assert ids(text) == ["b", "a"]


def test_a_list_may_name_questions_instead_of_cases():
    text = json.dumps([{"query": "Why?", "doc_ids": ["b", "a"]}])
    assert ids(text) == ["b", "a"]
    assert ids(text, case(question="How?")) == []


def test_a_case_that_the_run_does_not_have_got_nothing():
    assert ids(TREC, case("q9")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["run.txt: the file is empty"]),
        ("q1 Q0 a 1 1 t\nq1 Q0 b\n", ["run.txt:2: 3 columns instead of six: query Q0 document"]),
        ("q1 Q0 a 1 secret t\n", ["run.txt:1: the score (column 5) is not a finite number"]),
        ("q1 Q0 a 1 nan t\n", ["run.txt:1: the score (column 5) is not a finite number"]),
        (
            "q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n",
            ["run.txt:3: the document (column 3) is in this query already"],
        ),
        ('{"q1": {"a": 1, "b": null}}', ["run.txt: 1 scores of query 1 are not finite numbers"]),
        ('{"q1": {"a": true}}', ["run.txt: 1 scores of query 1 are not finite numbers"]),
        ('{"q1": {"a": 1, "a": 2}}', ["run.txt: a query or a document appears twice"]),
        ('{"q1": {"a": 1}', ["run.txt:1: not JSON"]),
        ("[1]", ["run.txt:1: a query is an object"]),
        ('[\n{"retrieved": []}]', ["run.txt:2: has neither `id`"]),
        ('[{"id": "q1"}]', ["run.txt:1: has no `retrieved`"]),
        ('[{"id": "q1", "retrieved": "a"}]', ["run.txt:1: retrieved is not a list"]),
        ('[{"id": "q1", "retrieved": [{}]}]', ["run.txt:1: retrieved[0] has no keys; an id"]),
        (
            '[{"id": "q1", "retrieved": ["a", "a"]}]',
            ["run.txt:1: a document appears twice"],
        ),
        (
            '{"id": "q1", "retrieved": []}\n{"id": "q1", "retrieved": []}',
            ["run.txt:2: the query appears twice"],
        ),
        (b"q1 Q0 caf\xe9 1 1 t\n", ["run.txt:1: byte 0xE9"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_without_its_text(text, expected):
    found = problems(text)
    assert len(found) == len(expected)
    for said, start in zip(found, expected, strict=True):
        assert said.startswith(start)
        assert "secret" not in said


def test_every_problem_is_told_at_once_up_to_fifty():
    assert len(problems("x\n" * 60)) == 50


@pytest.mark.parametrize(
    ("file", "said"), [(".", "a folder, not a regular file"), ("lost", "No such file")]
)
def test_what_is_no_file_is_told_with_its_setting(tmp_path, file, said):
    world = World(env={}, root=tmp_path, section="retriever")
    with pytest.raises(UsageError, match=rf"retriever\.file: {re.escape(file)}: {said}"):
        RecordedRetriever(file=file).check(world)
