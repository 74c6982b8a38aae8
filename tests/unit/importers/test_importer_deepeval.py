"""The importer of deepeval's test runs: what cases become, and what is refused."""

import json
from functools import partial

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from gate.records import Usage
from tests.support.importing import read_results, told_of
from tests.support.paths import DATA

read = partial(read_results, "deepeval")

EXAMPLES = DATA / "imports" / "deepeval"
METRIC = {"name": "Exact Match", "threshold": 0.5, "success": True, "score": 1.0}
FAILS = {**METRIC, "success": False, "score": 0.2}
BROKE = {**METRIC, "name": "GEval [Tone]", "success": False, "score": None, "error": "no JSON"}
CASE = {
    "name": "greets",
    "input": "Say hello.",
    "actualOutput": "Hello.",
    "expectedOutput": "Hello!",
    "success": True,
    "metricsData": [METRIC],
    "runDuration": 9.0,
}
SPANS = {"agentSpans": [{"error": "RuntimeError: HTTP Error 429: slow down"}]}


def written(folder, *cases, name="test_run_20260512_143052.json", **more):
    path = folder / name
    path.write_text(json.dumps({"testCases": [{**CASE, **one} for one in cases], **more}))
    return path


def trial(folder, **case):
    (found,) = read(written(folder, case)).trials()
    return found


def faults(path, kind=InvalidInput):
    return told_of(read, path, kind)


def test_a_case_that_passed(tmp_path):
    amounts = {"completionTime": 0.5, "tokenCost": 0.01, "inputTokenCount": 4}
    calls = [{"name": "f", "inputParameters": {"a": 1}, "output": "ok"}]
    known = {"toolsCalled": calls, "retrievalContext": ["one", "two"], "tags": ["t"]}
    found = trial(tmp_path, **amounts, **known, metadata={"category": "c"})
    judged = found.attempt
    assert (found.case.id, found.case.input, found.case.category) == ("greets", "Say hello.", "c")
    assert found.case.keys == {"expected_answer": "Hello!"}
    assert (judged.passed, judged.latency_ms) == (True, 500.0)
    assert judged.scores["deepeval.exact_match"].values == {"deepeval.exact_match": 1.0}
    assert judged.response.usage == Usage(input_tokens=4, cost_usd=0.01)
    assert [(one.name, one.arguments, one.result) for one in judged.response.steps] == [
        ("f", {"a": 1}, "ok")
    ]
    assert judged.response.context == "one\n\ntwo"


def test_what_it_does_not_tell_is_unknown(tmp_path):
    found = trial(tmp_path).attempt
    assert (found.latency_ms, found.response.steps, found.response.context) == (None, None, None)


def test_a_metric_that_failed_is_a_failure_code(tmp_path):
    flaky = {**FAILS, "name": "Shaky", "flaky": True}
    found = trial(tmp_path, success=False, metricsData=[FAILS, flaky, BROKE]).attempt
    assert (found.passed, found.failures) == (False, ("exact_match",))
    says = {name: score.passed for name, score in found.scores.items()}
    assert says["deepeval.exact_match"] is False
    assert (says["deepeval.shaky"], says["deepeval.g_eval_tone"]) == (None, None)
    inner = {"agentSpans": [{"metricsData": [{**FAILS, "name": "Step"}]}]}
    assert trial(tmp_path, success=False, trace=inner).attempt.failures == ("step",)


def test_a_metric_that_broke_off_leaves_the_case_unscored(tmp_path):
    found = trial(tmp_path, success=False, metricsData=[METRIC, BROKE]).attempt
    assert (found.status, found.passed, found.failures) == ("completed", None, ())
    assert found.scores["deepeval.g_eval_tone"].unscored == "no JSON"
    note = read(written(tmp_path, {"success": False, "metricsData": [BROKE]})).notes[1]
    assert note.startswith("1 of 1 case unscored, because a metric ended in an error")
    failed = written(tmp_path, {"success": False, "metricsData": [FAILS, BROKE]}, CASE)
    assert not any("broke off" in one for one in read(failed).notes), "they failed all the same"
    path = tmp_path / "nan.json"
    path.write_text(
        '[{"input": "a", "actual_output": "b", "success": false,'
        ' "metrics_data": [{"name": "M", "score": NaN, "success": false}]}]'
    )
    assert [one.attempt.passed for one in read(path).trials()] == [None]


@pytest.mark.parametrize(
    ("case", "status", "code"),
    [
        ({"trace": {"status": "ERRORED", **SPANS}}, "infra_error", None),
        (
            {"trace": {"status": "ERRORED", "baseSpans": [{"error": "boom"}]}},
            "agent_error",
            "agent_error",
        ),
        (
            {"trace": {"status": "ERRORED", "llmSpans": [{"error": "read timeout"}]}},
            "agent_error",
            "timeout",
        ),
        ({"metricsData": [BROKE]}, "agent_error", "no_output"),
        ({"metricsData": [FAILS]}, "completed", "exact_match"),
    ],
)
def test_an_answer_that_never_came(tmp_path, case, status, code):
    own = {"actualOutput": None, "success": False, "metricsData": [{"name": "M"}], **case}
    found = trial(tmp_path, **own).attempt
    assert (found.status, found.failures) == (status, (code,) if code else ())
    assert found.passed is (None if status == "infra_error" else False)


def test_a_case_without_a_verdict_has_none(tmp_path):
    open_ = {**METRIC, "threshold": None, "success": None}
    found = trial(tmp_path, success=None, metricsData=[open_]).attempt
    assert (found.status, found.passed) == ("completed", None)


def test_cases_are_named_by_name_else_by_input_and_repeats_are_rounds(tmp_path):
    other = {"name": "test_case_1", "input": "Say goodbye."}
    found = read(written(tmp_path, {}, other, {}, other))
    ids = [(one.case.id.partition(" ")[0], one.round) for one in found.trials()]
    assert ids == [("greets", 1), ("Say", 1), ("greets", 2), ("Say", 2)]
    uneven = read(written(tmp_path, {}, other, {}))
    assert [one.case.id for one in uneven.trials()][2] == "greets #2"
    assert (uneven.suites["deepeval"].rounds, uneven.suites["deepeval"].cases) == (1, 3)


def test_a_conversation_is_a_case(tmp_path):
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "One", "toolsCalled": [{"name": "f"}]},
        {"role": "assistant", "content": "Two", "retrievalContext": ["d"]},
    ]
    talk = {"name": "talk", "turns": turns, "success": True, "metricsData": [METRIC]}
    found = read(written(tmp_path, {}, conversationalTestCases=[talk], datasetAlias="Shop/1"))
    assert [*found.suites] == ["Shop-1", "Shop-1-conversations"]
    (_, told) = found.trials()
    assert (told.case.input, told.attempt.response.answer) == ("Hi", "Two")
    assert (told.attempt.response.turns, told.attempt.response.context) == (2, "d")
    assert [(one.name, one.turn) for one in told.attempt.response.steps] == [("f", 0)]


def test_dumps_of_its_objects_are_read(tmp_path):
    result = {
        "name": "greets",
        "success": True,
        "conversational": False,
        "input": "Say hello.",
        "actual_output": "Hello.",
        "metrics_data": [METRIC],
    }
    for data in ([result], {"test_results": [result], "confident_link": None}):
        path = tmp_path / "dump.json"
        path.write_text(json.dumps(data))
        (found,) = read(path).trials()
        assert (found.case.id, found.attempt.passed) == ("greets", True)
    path.write_text(json.dumps([{**result, "metrics_data": ["name='Exact Match'"]}]))
    assert "save the results with `model_dump()`" in faults(path)


def test_its_time_is_that_of_the_first_trace_or_of_the_file(tmp_path):
    assert read(written(tmp_path, {})).created_at == "2026-05-12T14:30:52Z"
    trace = {"startTime": "2026-05-11T08:00:00.500Z", "endTime": "2026-05-11T08:00:02Z"}
    traced = read(written(tmp_path, {"trace": trace}))
    assert traced.created_at == "2026-05-11T08:00:00Z"
    assert [one.attempt.latency_ms for one in traced.trials()] == [1500.0]
    assert read(written(tmp_path, {}, name="x.json")).created_at is None


def test_what_judged_has_thresholds_and_models(tmp_path):
    judge = {**METRIC, "name": "Tone", "evaluationModel": "gpt-5", "evaluationCost": 0.25}
    found = read(written(tmp_path, {"metricsData": [METRIC, judge]}))
    graders = found.suites["deepeval"].graders
    assert graders["success"] == "deepeval: Exact Match 0.5, Tone 0.5 (gpt-5)"
    assert graders["deepeval.tone"] == "deepeval: Tone (gpt-5)"
    assert "judging cost $0.25" in found.notes[-1]


def test_a_metric_that_passes_below_its_threshold_is_better_when_lower(tmp_path):
    bias = {"name": "Bias", "threshold": 0.5, "success": True, "score": 0.1}
    found = read(
        written(tmp_path, {"metricsData": [METRIC, bias, {**METRIC, "name": "N", "score": 7}]})
    )
    specs = {spec.name: spec for spec in found.suites["deepeval"].metrics}
    told = {name: (spec.direction, spec.high) for name, spec in specs.items()}
    assert told == {
        "deepeval.bias": ("lower", 1.0),
        "deepeval.exact_match": ("higher", 1.0),
        "deepeval.n": ("higher", None),
    }


@pytest.mark.parametrize(
    ("case", "more", "told"),
    [
        ({"metricsData": [FAILS]}, {}, "success is true, but its metric 'Exact Match' failed"),
        ({}, {"testPassed": 2}, "test_passed: says 2, but there are 1 such cases"),
        ({}, {"metricsScores": [{"metric": "Exact Match", "passes": 0}]}, "passes: says 0"),
        ({"success": "yes"}, {}, "testCases[0].success: 'yes' is not"),
        ({"metricsData": [{"score": 1}]}, {}, "testCases[0].metrics_data.0: 'name' is"),
        ({"metricsData": [{**METRIC, "score": "1"}]}, {}, "metrics_data.0.score: '1' is not"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, case, more, told):
    assert told in faults(written(tmp_path, case, **more))


def test_what_is_no_test_run_is_refused(tmp_path):
    path = tmp_path / "run.json"
    for text, told in (
        ('{"testCases": [{"na', "run.json:1: cut off in the middle"),
        ('{"testCases": []}', "run.json: has no test case"),
        ('{"tests": []}', "run.json: not a deepeval test run: it has"),
        ('{"testCases": [7]}', "run.json: testCases[0]: 7 is not"),
    ):
        path.write_text(text)
        assert told in faults(path)
    path.rename(tmp_path / "run.db")
    assert "SQLite files cannot be imported;" in faults(tmp_path / "run.db", UsageError)
    (tmp_path / "link.json").symlink_to(tmp_path / "run.db")
    assert "a symbolic link" in faults(tmp_path / "link.json", UsageError)


def test_a_folder_must_have_one_run(tmp_path):
    with pytest.raises(UsageError, match=r"has no test_run_\*\.json"):
        read(tmp_path)
    first = written(tmp_path, {})
    assert read(tmp_path).files == (first,)
    written(tmp_path, {}, name="test_run_20260513_000000.json")
    with pytest.raises(UsageError, match="has 2 test runs"):
        read(tmp_path)


def test_hostile_texts_are_bounded(tmp_path):
    nasty = "\x1b[31m" + "A\n|`<b>" * 5000
    case = {"name": nasty, "input": nasty, "tags": [nasty], "metadata": {"category": nasty}}
    case["metricsData"] = [{**METRIC, "name": nasty, "evaluationModel": nasty}]
    found = read(written(tmp_path, case, datasetAlias=nasty, identifier=nasty))
    (trial_,) = found.trials()
    ((name, suite),) = found.suites.items()
    assert len(name) <= 100
    assert len(trial_.case.id) < 200
    assert "\x1b" not in f"{trial_.case.id}{found.provenance.agent}{suite.graders}"
    assert max(map(len, suite.graders.values())) < 300


def test_the_example_is_recognised():
    for path in (EXAMPLES, EXAMPLES / "test_run_20260512_143052.json"):
        found = look(path)
        formats = [name for name in IMPORTERS if IMPORTERS.get_class(name).recognises(found)]
        assert formats == ["deepeval"]
