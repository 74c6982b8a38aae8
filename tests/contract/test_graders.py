"""Every registered grader keeps to the protocol; a new one is tested by being there.

The examples of docs/graders.md give each grader its options and a case that it can judge.
"""

import dataclasses
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gate.errors import GraderFailure
from gate.graders.stages import Stages
from gate.plugins import GRADERS, METRICS, build
from gate.records import Case, Document, OwnVerdict, PluginSpec, Reply, Response, ToolCall
from gate.records.codec import from_json, schema_of, to_json
from tests.support.paths import ROOT

NAMES = list(GRADERS)
DIMENSIONS = {"retrieval", "correctness", "response_quality", "operational", "agent", "webarena"}
TEXT = (ROOT / "docs" / "graders.md").read_text(encoding="utf-8")
HOSTILE = [
    "",
    "\0",
    "\ud800 lone surrogate",
    "\u202e right to left \u2066",
    "‮" + "́" * 1000,
    "{" * 10_000,
    "[" * 100_000,
    '{"a":' * 2000,
    "9" * 10_000,
    "1," * 5_000,
    "-" * 10_000,
    "$" * 10_000,
    "(" * 10_000 + ")" * 10_000,
    "a" * 400_000,
    "1e999 -1e999 NaN Infinity",
    "```json\n" * 3000,
    "<script>alert(1)</script> ::error::x ${{ secrets.KEY }}",
    "\x1b[31mred\x1b]0;title\x07",
]


@cache
def example(name):
    """The grader with the options, and the keys of the case, of its first example."""
    for block in re.findall(r"```yaml\n(grader:.*?)```", TEXT, re.DOTALL):
        written = yaml.safe_load(block)
        chosen = written["grader"]
        spec = (chosen, {}) if isinstance(chosen, str) else next(iter(chosen.items()))
        if spec[0] == name:
            grader = build(GRADERS, PluginSpec(name=name, options=spec[1]), Path())
            replies, response = written.get("replies", []), written["response"]
            state = response.get("state", {})
            return grader, written["case"], replies, response["answer"], state
    return build(GRADERS, PluginSpec(name=name), Path()), {}, [], "", {}


def grader_of(name):
    return example(name)[0]


def case_of(name, **more):
    return Case(id="a", input="?", keys={"input": "?", **example(name)[1], **more})


def replies_of(name):
    """What a model said in the example; nothing for a grader that asks none."""
    return [tuple(Reply(data=vote) for vote in votes) for votes in example(name)[2]]


each = pytest.mark.parametrize("name", NAMES)
ASKING = [name for name in NAMES if hasattr(GRADERS.get_class(name), "questions")]
asking = pytest.mark.parametrize("name", ASKING)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
NAME = st.sampled_from(["search", "get", "rm", ""]) | st.text(max_size=5)
STEPS = st.lists(
    st.builds(ToolCall, name=NAME, arguments=JSON, raw_arguments=st.none() | st.text()), max_size=6
)
DOCUMENTS = st.lists(
    st.builds(Document, id=st.sampled_from(["kb-1", "kb-3", "kb-7"]) | st.text(max_size=4)),
    max_size=12,
)
RESPONSES = st.builds(
    Response,
    answer=st.text() | st.sampled_from(HOSTILE) | JSON.map(str),
    retrieved=st.none() | DOCUMENTS.map(tuple),
    steps=st.none() | STEPS.map(tuple),
)


def check(grader, score):
    """What any score must be."""
    if score.unscored is not None:
        assert score.unscored
        assert (dict(score.values), score.passed, score.failures) == ({}, None, ())
        return
    specs = {spec.column: spec for spec in grader.metrics()}
    assert set(score.values) == set(specs)
    for column, value in score.values.items():
        if value is not None:
            assert type(value) is float
            assert specs[column].low is None or value >= specs[column].low
            assert specs[column].high is None or value <= specs[column].high
    assert score.passed in (True, False, None)
    assert bool(score.failures) is (score.passed is False)
    assert len(score.failures) <= 50
    assert all(isinstance(code, str) and len(code) <= 200 for code in score.failures)
    assert len(score.reason) <= 2000
    assert score.uncertainty is None or 0 <= score.uncertainty <= 1


@each
def test_it_is_a_frozen_dataclass_whose_fields_are_its_options(name):
    cls = GRADERS.get_class(name)
    assert dataclasses.is_dataclass(cls)
    grader = grader_of(name)
    for field in dataclasses.fields(cls):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(grader, field.name, None)
    assert not hasattr(grader, "__dict__")


@each
def test_its_options_have_a_schema_and_survive_json(name):
    cls, grader = GRADERS.get_class(name), grader_of(name)
    schema = schema_of(cls)
    Draft202012Validator.check_schema(schema)
    untyped = [option for option, kind in schema["properties"].items() if not kind]
    assert untyped == []
    assert not {"keys", "needs", "metrics", "grade", "decides"} & set(schema["properties"])
    written = to_json(grader)
    Draft202012Validator(schema).validate(written)
    assert from_json(cls, written) == grader


@each
def test_it_says_which_keys_it_reads(name):
    grader = grader_of(name)
    assert set(grader.needs) <= set(grader.keys)
    for schema in grader.keys.values():
        Draft202012Validator.check_schema(schema)


@each
def test_its_metrics_are_complete(name):
    metrics = grader_of(name).metrics()
    assert metrics
    assert (
        len({spec.name for spec in metrics})
        == len({spec.column for spec in metrics})
        == len(metrics)
    )
    for spec in metrics:
        assert spec.dimension in DIMENSIONS
        assert spec.column == spec.name  # dimension_scores of a row are read off the column
        assert spec.family in METRICS
        assert spec.unit
        assert spec.description
        assert spec.low is None or spec.high is None or spec.low < spec.high


@each
def test_its_example_is_judged(name):
    grader = grader_of(name)
    case = case_of(name)
    own = OwnVerdict(passed=True)  # the suite's, where it is written as code
    _, _, _, answer, state = example(name)
    response = Response(answer=answer, retrieved=(), steps=(), own_verdict=own, state=state)
    replies = replies_of(name)
    score = grader.read(case, response, replies) if replies else grader.grade(case, response)
    check(grader, score)
    assert score.unscored is None
    assert any(value is not None for value in score.values.values())


@each
@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_are_judged(name, answer):
    grader = grader_of(name)
    documents = tuple(Document(id=answer) for _ in range(100))
    steps = tuple(ToolCall(name=answer, arguments={answer: answer}) for _ in range(100))
    check(grader, grader.grade(case_of(name), Response(answer=answer)))
    told = Response(answer=answer, retrieved=documents, steps=steps)
    check(grader, grader.grade(case_of(name), told))


@each
@given(response=RESPONSES)
def test_any_answer_gives_a_score_and_always_the_same(name, response):
    grader = grader_of(name)
    score = grader.grade(case_of(name), response)
    check(grader, score)
    assert grader.grade(case_of(name), response) == score


def looks_anyway(grader):
    """Whether keys only add to what it looks for in any answer."""
    return bool(getattr(grader, "fills", ())) or isinstance(grader, Stages)


@each
def test_a_key_that_is_null_does_not_apply(name):
    grader = grader_of(name)
    if not grader.keys:
        pytest.skip(f"'{name}' reads no key of the case")
    nothing = dict.fromkeys(grader.keys)
    for response in (Response(answer="x"), Response(answer="x", retrieved=(), steps=())):
        score = grader.grade(case_of(name, **nothing), response)
        if looks_anyway(grader):
            assert score == grader.grade(Case(id="a", input="?", keys={"input": "?"}), response)
            continue
        assert set(score.values) == {spec.column for spec in grader.metrics()}
        assert set(score.values.values()) == {None}
        assert (score.passed, score.failures, score.unscored) == (None, (), None)


@each
@given(keys=st.dictionaries(st.integers(0, 5), JSON))
def test_a_case_of_any_kind_is_judged_or_refused(name, keys):
    """Cases are checked against `keys` before; one that slips through must not end the run."""
    grader = grader_of(name)
    own = sorted(grader.keys)
    written = {own[i]: value for i, value in keys.items() if i < len(own)}
    valid = all(
        value is None or Draft202012Validator(grader.keys[key]).is_valid(value)
        for key, value in written.items()
    )
    if valid:
        try:
            score = grader.grade(case_of(name, **written), Response(answer="1", steps=()))
        except GraderFailure:
            return
        check(grader, score)


@each
def test_threads_agree(name):
    grader, case = grader_of(name), case_of(name)
    responses = [
        Response(
            answer=f"{i} days, sorry, USD {i} [{i}]",
            retrieved=(Document(id=f"kb-{i % 9}"), Document(id="kb-1")),
            steps=(ToolCall(name="search", arguments={"q": "rain", "n": i}),) * (i % 3),
        )
        for i in range(300)
    ]
    serial = [grader.grade(case, response) for response in responses]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda r: grader.grade(case, r), responses)) == serial


def fitting(schema):
    """JSON that fits a schema of the kinds that questions use."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        return st.fixed_dictionaries({k: fitting(v) for k, v in schema["properties"].items()})
    if schema["type"] == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if schema["type"] == "number":
        return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False)
    return {"boolean": st.booleans(), "string": st.text() | st.sampled_from(HOSTILE)}[
        schema["type"]
    ]


@asking
@given(response=RESPONSES, data=st.data())
def test_any_replies_that_fit_are_read_and_always_the_same(name, response, data):
    grader, case = grader_of(name), case_of(name)
    questions = grader.questions(case, response)
    assert grader.questions(case, response) == questions
    replies = [
        tuple(data.draw(st.lists(vote_on(question), max_size=4), label=question.name))
        for question in questions
    ]
    score = grader.read(case, response, replies)
    check(grader, score)
    assert grader.read(case, response, replies) == score


def vote_on(question):
    failed = st.just(Reply(data=None, failure="timed out"))
    return failed | fitting(question.schema).map(lambda data: Reply(data=data))


@asking
@given(response=RESPONSES)
def test_what_it_asks_is_whole_and_nothing_of_the_answer_stands_in_its_instructions(name, response):
    grader, case = grader_of(name), case_of(name)
    for question, other in zip(
        grader.questions(case, response),
        grader.questions(case, dataclasses.replace(response, answer="")),
        strict=False,
    ):
        Draft202012Validator.check_schema(question.schema)
        assert question.role == grader.role
        assert question.name
        question.material.encode("utf-8")
        told = question.instructions.replace(question.canary or "\0", "")
        assert told == other.instructions.replace(other.canary or "\0", "")


@asking
@given(response=RESPONSES)
def test_a_judge_without_replies_never_scores(name, response):
    grader = grader_of(name)
    if grader.role != "judge" or getattr(grader, "partly_offline", False):
        pytest.skip("it may know a part without it")
    for replies in ([], [()], [(Reply(data=None, failure="refused"),)]):
        score = grader.read(case_of(name), response, replies)
        assert score.unscored
    assert grader.grade(case_of(name), response).unscored
