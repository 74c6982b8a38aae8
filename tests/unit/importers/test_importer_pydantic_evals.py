"""The importer of pydantic-evals' reports: what cases become, and what is refused."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from gate.records import Usage
from tests.support.importing import told_of
from tests.support.paths import DATA

EXAMPLE = DATA / "imports" / "pydantic-evals" / "report.json"
Importer = IMPORTERS.get_class("pydantic-evals")


def result(value, *, source="Right", **more):
    return {"name": "x", "value": value, "reason": None, "source": {"name": source}, **more}


def case(name="a", **more):
    empty = {key: {} for key in ("metrics", "attributes", "scores", "labels", "assertions")}
    return {"name": name, "inputs": "q", "output": "out", "task_duration": 0.5, **empty, **more}


def failure(name="f", message="KeyError: 'x'", **more):
    return {"name": name, "inputs": "q", "error_message": message, **more}


def written(folder, *cases, failures=(), **more):
    path = folder / "report.json"
    report = {"name": "run 1", "cases": cases, "failures": failures, **more}
    path.write_text(json.dumps(report))
    return path


def attempts(path):
    return {(t.case.id, t.round): t.attempt for t in Importer().read(path).trials()}


def attempt(folder, **more):
    (found,) = attempts(written(folder, case(**more))).values()
    return found


def faults(path, kind=InvalidInput):
    return told_of(Importer().read, path, kind)


def test_the_example_has_what_the_page_says():
    found = Importer().read(EXAMPLE)
    suite = found.suites["rates"]
    assert (found.created_at, suite.cases, suite.rounds) == (None, 3, 2)
    assert found.provenance.agent == "ask"
    told = {key: (one.status, one.passed) for key, one in attempts(EXAMPLE).items()}
    assert told == {
        ("euro", 1): ("completed", True),
        ("euro", 2): ("completed", True),
        ("dollar", 1): ("completed", False),
        ("dollar", 2): ("completed", None),
        ("pound", 1): ("agent_error", False),
        ("pound", 2): ("infra_error", None),
    }
    one, *_ = found.trials()
    response = one.attempt.response
    assert (one.case.keys, one.attempt.latency_ms) == ({"expected_answer": "11.7"}, 1500.0)
    assert (response.turns, response.usage) == (2, Usage(input_tokens=50, output_tokens=14))
    directions = {spec.name: spec.direction for spec in suite.metrics}
    assert directions == {
        "pydantic_evals.contains": "higher",
        "pydantic_evals.length": "higher",
        "pydantic_evals.metric.lookups": "lower",
    }
    assert Importer.recognises(look(EXAMPLE))


def test_a_case_passes_when_all_its_assertions_hold(tmp_path):
    both = {"First": result(True), "Second One": result(False, reason="no")}
    found = attempt(tmp_path, assertions=both)
    assert (found.passed, found.failures) == (False, ("assertion_failed:Second One",))
    second = found.scores["pydantic_evals.second_one"]
    assert (second.values, second.reason) == ({"pydantic_evals.second_one": 0.0}, "no")
    assert attempt(tmp_path, assertions={"First": result(True)}).passed is True
    nothing = Importer().read(written(tmp_path, case()))
    assert [one.attempt.passed for one in nothing.trials()] == [None]
    assert "no case has an assertion" in nothing.notes[0]


@pytest.mark.parametrize(
    ("assertions", "broken", "passed"),
    [
        ({"Right": result(True)}, "Judge", None),  # nobody knows what it would have said
        ({"Right": result(False)}, "Judge", False),
        ({"Right": result(True)}, "Scorer", True),  # elsewhere it gives scores alone
    ],
)
def test_what_an_evaluator_could_not_judge_is_open(tmp_path, assertions, broken, passed):
    lacking = {"name": broken, "error_message": "down", "source": {"name": broken}}
    path = written(
        tmp_path,
        case("a", assertions=assertions, evaluator_failures=[lacking]),
        case("b", scores={"s": result(0.5, source="Scorer")}),
    )
    found = attempts(path)[("a", 1)]
    assert found.passed is passed
    assert found.scores[f"pydantic_evals.failed.{broken.lower()}"].unscored == "down"


def test_labels_are_reasons_and_a_score_that_is_no_number_is_unscored(tmp_path):
    labels = {"Mood": result("calm", reason="no shouting")}
    found = attempt(tmp_path, labels=labels, scores={"s": result(None), "t": result(2)})
    assert found.scores["pydantic_evals.label.mood"].reason == "calm: no shouting"
    assert found.scores["pydantic_evals.s"].unscored == "the score is not a number"
    assert found.scores["pydantic_evals.t"].values == {"pydantic_evals.t": 2.0}


def test_what_raised_an_exception_is_never_lost(tmp_path):
    path = written(
        tmp_path,
        failures=[
            failure(),
            failure("g", "TimeoutError: 30 s"),
            failure("h", "APIStatusError: Error code: 503"),
        ],
    )
    told = {key[0]: (one.status, one.failures) for key, one in attempts(path).items()}
    assert told == {
        "f": ("agent_error", ("agent_error",)),
        "g": ("agent_error", ("timeout",)),
        "h": ("infra_error", ()),
    }
    assert "3 trials raised an exception: counted as failed here" in Importer().read(path).notes[1]


def test_what_was_left_out_is_told_and_nothing_else(tmp_path):
    sound = case(assertions={"x": result(True)})
    assert Importer().read(written(tmp_path, sound)).notes == ()
    failed = [{"name": "x", "error_message": "down"}]
    (note,) = Importer().read(written(tmp_path, sound, report_evaluator_failures=failed)).notes
    assert note.startswith("1 evaluators of the whole report failed")


def test_anything_can_be_asked_and_answered(tmp_path):
    path = written(
        tmp_path,
        case("a", inputs={"q": float("nan")}, output=[1, None], expected_output={"b": 2}),
        case("b", inputs=3, output=None),
    )
    first, second = Importer().read(path).trials()
    assert (first.case.input, first.attempt.response.answer) == ({"q": None}, "[1, null]")
    assert (first.case.keys, second.case.input) == ({"expected_answer": '{"b": 2}'}, "3")
    assert second.attempt.response.answer == ""


def test_everything_that_is_wrong_is_told_at_once_with_its_line(tmp_path):
    path = written(
        tmp_path,
        case("a"),
        case("a"),
        case("b [4/3]", source_case_name="b"),
        case("c [1/3]", source_case_name="d"),
        case("e", assertions={"x": result("yes")}),
        case("f", output=json.loads("[" * 300 + "]" * 300)),
        case("g", scores={"p-q": result(1)}, assertions={"p_q": result(True)}),
    )
    message = faults(path)
    assert "report.json:1: 'a' has round 1 twice" in message
    assert "the round must be from 1 to 3 - rename it" in message
    assert "'c [1/3]' must be 'd' with [n/m] at its end" in message
    assert "cases.assertions.x.value" in message
    assert "nested too deeply" in message
    assert message.count("gets the same metric name as another result") == 2


def test_what_is_no_report_is_refused(tmp_path):
    path = tmp_path / "report.json"
    for text in ('{"cases": [1]}', '{"name": "x", "cases": []}', '{"name": 7, "cases": [1]}'):
        path.write_text(text)
        assert "EvaluationReportAdapter.dump_json" in faults(path, UsageError)
    path.write_text('{"name": "x", "cases": {}}')
    assert "cases: not a list" in faults(path)
    path.write_text('{"name": "x", "cases": [null]}')
    assert "report.json:1: cases: " in faults(path)
    path.write_text(EXAMPLE.read_text()[:-500])
    assert "cut off in the middle" in faults(path)


@pytest.mark.parametrize("failures", [-1, "x", {"a": 1}, True], ids=str)
def test_failures_that_are_no_list_are_not_taken_for_none(tmp_path, failures):
    path = written(tmp_path, case())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"failures": failures}))
    assert "failures: not a list" in faults(path)


@pytest.mark.parametrize("number", [float("inf"), 1e61, 10**400], ids=["inf", "1e61", "10^400"])
def test_a_number_that_nobody_measured_is_refused(tmp_path, number):
    assert "over 1e+60" in faults(written(tmp_path, case(scores={"s": result(number)})))
    assert "over 1e+60" in faults(written(tmp_path, case(metrics={"m": number})))


def test_a_total_alone_counts_as_tokens(tmp_path):
    usage = attempt(tmp_path, metrics={"total_tokens": 17}).response.usage
    assert (usage.input_tokens, usage.total_tokens) == (None, 17)
