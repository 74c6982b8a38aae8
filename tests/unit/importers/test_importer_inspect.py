"""The importer of Inspect's logs: what samples become, what is told, and what is refused."""

import copy
import json
import zipfile

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.importers.formats.inspect.logs import SAMPLES
from gate.plugins import IMPORTERS
from gate.records import Usage
from tests.support.importing import told_of
from tests.support.paths import DATA

EXAMPLE = DATA / "imports" / "inspect" / "rates.json"
Importer = IMPORTERS.get_class("inspect")
SAMPLE = {
    "id": "a",
    "epoch": 1,
    "input": "How much?",
    "target": "5",
    "output": {"completion": "It is 5.", "choices": [{"stop_reason": "stop"}]},
    "scores": {"includes": {"value": "C"}},
}


def log_of(*samples, **more):
    """A log with these samples, each adding to SAMPLE."""
    spec = {"task": "own/task", "created": "2026-05-12T14:30:52+02:00", "model": "m/1"}
    whole = [{**copy.deepcopy(SAMPLE), **one} for one in samples]
    return {"version": 2, "status": "success", "eval": spec, "plan": {}, **more, "samples": whole}


def written(folder, *samples, name="log.json", **more):
    path = folder / name
    path.write_text(json.dumps(log_of(*samples, **more)))
    return path


def zipped(path, log):
    """As Inspect packs one, but with deflate."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        head = {key: value for key, value in log.items() if key != "samples"}
        archive.writestr("_journal/start.json", json.dumps({**head, "status": "started"}))
        for one in log["samples"]:
            name = f"{SAMPLES}{one['id']}_epoch_{one['epoch']}.json"
            archive.writestr(name, json.dumps(one))
        archive.writestr("header.json", json.dumps(head))
    return path


def attempts(path, **options):
    return [one.attempt for one in Importer(**options).read(path).trials()]


def attempt(folder, **sample):
    (found,) = attempts(written(folder, sample))
    return found


def faults(path, kind=InvalidInput, **options):
    return told_of(Importer(**options).read, path, kind)


def test_the_example_has_what_the_page_says():
    found = Importer().read(EXAMPLE)
    suite = found.suites["rates"]
    assert (found.created_at, suite.cases, suite.rounds) == ("2026-05-12T14:30:50+00:00", 3, 2)
    assert (suite.version, suite.dataset) == ("3", "currencies")
    assert (found.provenance.agent, found.provenance.tool_version) == (
        "example/small",
        "inspect-ai 0.3.285",
    )
    one, *_ = found.trials()
    response = one.attempt.response
    assert (one.case.id, one.round, one.case.keys) == ("euro", 1, {"expected_answer": "11.7"})
    assert (one.started_at, one.attempt.latency_ms) == ("2026-05-12T14:30:51Z", 2000.0)
    assert response.usage == Usage(input_tokens=50, cached_tokens=10, output_tokens=12)
    assert [(call.name, call.arguments, call.result) for call in response.steps] == [
        ("rates", {"currency": "euro"}, "euro: 11.7")
    ]
    statuses = [trial.attempt.status for trial in found.trials()]
    assert statuses.count("agent_error") == statuses.count("infra_error") == 1


def test_an_archive_says_the_same_as_the_document(tmp_path):
    path = zipped(tmp_path / "log.eval", json.loads(EXAMPLE.read_text()))
    assert Importer.recognises(look(path))
    assert attempts(path) == attempts(EXAMPLE)


def test_an_archive_that_was_never_ended_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        head = log_of()
        start = {"version": 2, "eval": head["eval"], "plan": {}}
        archive.writestr("_journal/start.json", json.dumps(start))
        archive.writestr(f"{SAMPLES}a_epoch_1.json", json.dumps(SAMPLE))
    found = Importer().read(path)
    assert "the log is incomplete, its status is started" in found.notes[0]
    assert len(list(found.trials())) == 1


def test_how_a_log_that_broke_off_ended_is_told_and_what_is_missing_counted(tmp_path):
    results = {"total_samples": 10}
    error = {"message": "KeyError('x')\u001b[31m"}
    path = written(tmp_path, {}, status="error", error=error, results=results)
    found = Importer().read(path)
    assert found.notes[0] == "task: the log is incomplete, its status is error: KeyError('x')"
    assert found.suites["task"].cases == 10


@pytest.mark.parametrize(
    ("value", "number", "passed", "failures"),
    [
        ("C", 1.0, True, ()),
        ("P", 0.5, False, ("partial",)),
        ("I", 0.0, False, ("incorrect",)),
        ("N", 0.0, False, ("no_answer",)),
        (True, 1.0, True, ()),
        ("no", 0.0, False, ("incorrect",)),
        (0, 0.0, False, ("incorrect",)),
    ],
)
def test_what_says_correct_or_incorrect_decides(tmp_path, value, number, passed, failures):
    found = attempt(tmp_path, scores={"includes": {"value": value, "explanation": "why"}})
    score = found.scores["inspect.includes"]
    assert (found.passed, found.failures, score.values) == (
        passed,
        failures,
        {"inspect.includes": number},
    )
    assert (score.reason, score.passed) == ("why", passed)


def test_numbers_decide_only_where_they_are_named(tmp_path):
    scores = {"length": {"value": 7.5}, "parts": {"value": {"a": 0.4, "b": 1}}}
    path = written(tmp_path, {"scores": scores}, {"epoch": 2, "scores": scores})
    found = Importer().read(path)
    assert [one.attempt.passed for one in found.trials()] == [True, True], "of parts.b: 0 or 1"
    for name, limit, passed in (("length", 7.6, False), ("parts.a", 0.4, True)):
        named = attempts(path, scorer=name, threshold=limit)
        assert [one.passed for one in named] == [passed, passed]
    specs = {one.name: (one.family, one.high) for one in found.suites["task"].metrics}
    assert specs == {
        "inspect.length": ("mean", None),
        "inspect.parts.a": ("rate", 1.0),
        "inspect.parts.b": ("rate", 1.0),
    }
    assert "has no scorer 'gone' - choose one of length, parts.a, parts.b" in faults(
        path, scorer="gone"
    )


def test_without_a_score_that_decides_nothing_passed_or_failed(tmp_path):
    path = written(tmp_path, {"scores": {"length": {"value": 7.5}}})
    found = Importer().read(path)
    assert [one.attempt.passed for one in found.trials()] == [None]
    assert "success" not in found.suites["task"].graders
    assert "nothing passed or failed" in found.notes[0]


def test_what_was_not_scored_is_unscored_and_never_wrong(tmp_path):
    unscored = {"includes": {"value": float("nan"), "reason": "grader_failed"}}
    path = written(tmp_path, {}, {"id": "b", "scores": unscored}, {"id": "c", "scores": None})
    scored, no_value, no_score = attempts(path)
    assert scored.passed is True, "its scorer decides all the same"
    assert (no_value.passed, no_value.scores["inspect.includes"].unscored) == (
        None,
        "grader_failed",
    )
    assert (no_score.passed, no_score.scores) == (None, {})


@pytest.mark.parametrize(
    ("message", "status", "failures"),
    [
        ("ValueError('x')", "agent_error", ("agent_error",)),
        ("TimeoutError()", "agent_error", ("timeout",)),
        ("RateLimitError('Error code: 429 - slow down')", "infra_error", ()),
        ("APIConnectionError('Connection error.')", "infra_error", ()),
        ("SandboxUnavailableError('gone')", "infra_error", ()),
        ("PrerequisiteError('no docker')", "infra_error", ()),
    ],
)
def test_whose_failure_an_error_is(tmp_path, message, status, failures):
    """The error counts even where scorers gave something."""
    found = attempt(tmp_path, error={"message": message}, scores=None)
    assert (found.status, found.failures, found.error) == (status, failures, message)
    assert found.passed is (None if status == "infra_error" else False)


def test_the_score_of_a_sample_with_an_error_is_kept_for_the_scorers_own_metric(tmp_path):
    found = attempt(tmp_path, error={"message": "KeyError()"})
    assert (found.passed, found.scores["inspect.includes"].values) == (
        False,
        {"inspect.includes": 1.0},
    )


def test_a_limit_and_the_scorers_reason_are_why_it_did_not_pass(tmp_path):
    limit = {"type": "token", "limit": 100}
    wrong = {"includes": {"value": "I", "reason": "Refusal!"}}
    found = attempt(tmp_path, limit=limit, scores=wrong)
    assert found.failures == ("token_limit", "refusal", "incorrect")
    assert attempt(tmp_path, limit=limit).failures == ()


def test_attachments_are_put_back_as_far_as_they_are_there(tmp_path):
    said = "attachment://0a"
    messages = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [{"type": "text", "text": said}]},
    ]
    output = {"completion": "attachment://gone"}
    sample = {"input": said, "messages": messages, "output": output, "attachments": {"0a": "long"}}
    (found,) = Importer().read(written(tmp_path, sample)).trials()
    assert (found.case.input, found.attempt.response.answer) == ("long", "attachment://gone")
    assert "1 attachments are not in the log" in found.attempt.response.trace_faults[-1]


@pytest.mark.parametrize(
    ("usages", "roles", "expected"),
    [
        ({"m/1": (10, 5, 17, 2)}, None, (12, 5, 2)),
        ({"m/1": (10, 5, 15, 2)}, None, (10, 5, 2)),  # older: input includes the cache
        ({"m/1": (10, 5, 15, 0), "judge": (9, 9, 18, 0)}, None, (10, 5, 0)),
        ({"m/1": (10, 5, 15, 0)}, (4, 1, 5, 0), (6, 4, 0)),
        ({"x": (1, 1, 2, 0), "y": (2, 2, 4, 0)}, None, (3, 3, 0)),
        ({}, None, (None, None, None)),
    ],
)
def test_tokens_are_those_of_the_model_that_was_evaluated(tmp_path, usages, roles, expected):
    keys = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read")
    by_model = {name: dict(zip(keys, one, strict=True)) for name, one in usages.items()}
    by_role = {"grader": dict(zip(keys, roles, strict=True))} if roles else {}
    usage = attempt(tmp_path, model_usage=by_model, role_usage=by_role).response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == expected


def test_results_that_the_samples_do_not_bear_out_are_refused(tmp_path):
    scorers = [{"name": "includes", "metrics": [{"name": "inspect_ai/accuracy"}]}]
    score = {"name": "includes", "scorer": "includes", "metrics": {"accuracy": {"value": 0.9}}}

    def log(**changes):
        log = log_of({}, {"id": "b", "scores": {"includes": {"value": "I"}}})
        log["eval"]["scorers"] = changes.pop("scorers", scorers)
        log["results"] = {"total_samples": 2, "scores": [{**score, **changes}]}
        path = tmp_path / "log.json"
        path.write_text(json.dumps(log))
        return path

    assert "includes.accuracy: says 0.9, but the samples give 0.5" in faults(log())
    assert Importer().read(log(reducer="max")), "of the best epoch: not computed again"
    own = [{"name": "includes", "metrics": [{"name": "accuracy"}]}]
    assert Importer().read(log(scorers=own)), "a user's metric of the same name"
    assert Importer().read(log(metrics={"accuracy": {"value": 0.5}}))


def test_a_whole_log_has_all_its_samples(tmp_path):
    path = written(tmp_path, {}, results={"total_samples": 2})
    assert "says 2, but the log has 1 samples - the file was changed or cut off" in faults(path)
    stopped = {"total_samples": 2, "early_stopping": {"manager": "x"}}
    assert Importer().read(written(tmp_path, {}, results=stopped))


def test_everything_that_is_wrong_is_told_at_once_with_its_place(tmp_path):
    path = written(
        tmp_path,
        {},
        {},
        {"id": 7, "epoch": 0},
        {"id": "7"},
        {"id": 7, "epoch": 2},
        {"id": "b", "scores": {"includes": {}}},
        {"id": "c", "input": [{"deep": json.loads("[" * 300 + "]" * 300)}]},
    )
    message = faults(path)
    assert "sample 'a' has epoch 1 twice - keep one" in message
    assert ": epoch: " in message
    assert "id 7 is both a number and a string - rename one" in message
    assert "scores.includes: " in message
    assert "nested too deeply" in message
    assert message.count("\n") == 4


def test_scores_that_become_one_name_are_refused(tmp_path):
    path = written(tmp_path, {"scores": {"a-b": {"value": 1}, "a_b": {"value": 0}}})
    assert faults(path).count("gets the same metric name as another score") == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": None}, "has no samples"),
        ({"version": 3}, "version"),
        ({"eval": {"task": "t", "created": "now", "model": "m"}}, "eval.created: not a date"),
        ({"eval": {"task": "", "created": "2026-01-01", "model": "m"}}, "eval.task"),
        ({"status": "started", "results": {"total_samples": 10**12}}, "results.total_samples"),
    ],
)
def test_a_head_that_is_none_is_refused(tmp_path, change, message):
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**log_of({}), **change}))
    assert message in faults(path)


def test_a_log_that_is_cut_off_or_has_chunks_is_refused(tmp_path):
    path = written(tmp_path, {})
    path.write_text(path.read_text()[:-40])
    assert "cut off in the middle" in faults(path)
    chunked = tmp_path / "log.eval"
    with zipfile.ZipFile(chunked, "w") as archive:
        archive.writestr("header.json", json.dumps(log_of()))
        archive.writestr(f"{SAMPLES}a_epoch_1/sample.json", "{}")
    assert "inspect log convert" in faults(chunked, UsageError)
    with zipfile.ZipFile(chunked, "w") as archive:
        archive.writestr("summaries.json", "[]")
    assert "archive has no header.json" in faults(chunked, UsageError)


def test_a_folder_has_a_suite_a_task_and_the_newest_of_retries(tmp_path):
    old = log_of({"scores": {"includes": {"value": "I"}}})
    new = log_of({})
    for name, log, day in (("old", old, 11), ("new", new, 12)):
        log["eval"] |= {"task_id": "t1", "created": f"2026-05-{day}T10:00:00+00:00"}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    other = log_of({})
    other["eval"]["task"] = "more"
    zipped(tmp_path / "more.eval", other)
    (tmp_path / "logs.json").write_text('{"old.json": {}}')
    found = Importer().read(tmp_path)
    assert [*found.suites] == ["more", "task"]
    assert [one.attempt.passed for one in found.trials()] == [True, True]
    assert [path.name for path in found.files] == ["more.eval", "new.json"]
    assert "own/task: 2 logs; the newest is used: new.json" in found.notes
    assert "1 JSON files of the folder are not logs and are left out" in found.notes


def test_several_runs_of_a_task_are_a_question(tmp_path):
    for n in (1, 2):
        log = log_of({})
        log["eval"] |= {"task_id": f"t{n}", "created": f"2026-05-1{n}T10:00:00+00:00"}
        (tmp_path / f"{n}.json").write_text(json.dumps(log))
    assert "2 runs of the task own/task, the newest in 2.json" in faults(tmp_path, UsageError)
    assert Importer(logs="newest").read(tmp_path).files == (tmp_path / "2.json",)


def test_a_folder_without_a_log_is_refused(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    assert "has no Inspect log" in faults(tmp_path, UsageError)


def test_texts_that_are_no_number_count_as_0_beside_numbers_as_in_inspects_mean(tmp_path):
    path = written(
        tmp_path,
        {"id": "a", "scores": {"includes": {"value": "C"}, "mood": {"value": "calm"}}},
        {"id": "b", "scores": {"includes": {"value": "wrong"}, "mood": {"value": "sad"}}},
    )
    found = Importer(scorer="includes").read(path)
    values = [t.attempt.scores["inspect.includes"].values for t in found.trials()]
    assert values == [{"inspect.includes": 1.0}, {"inspect.includes": 0.0}]
    assert [t.attempt.passed for t in found.trials()] == [True, False]
    (suite,) = found.suites.values()
    assert [spec.name for spec in suite.metrics] == ["inspect.includes"], "texts alone: no score"


@pytest.mark.parametrize("number", [float("inf"), -1e61, 10**400], ids=["inf", "-1e61", "10^400"])
def test_a_number_that_nobody_measured_is_refused_wherever_it_stands(tmp_path, number):
    path = written(tmp_path, {"scores": {"includes": {"value": number}}})
    assert "score 'includes' is over 1e+60" in faults(path)
    scorers = [{"name": "includes", "metrics": [{"name": "inspect_ai/accuracy"}]}]
    stated = {"name": "includes", "scorer": "includes", "metrics": {"accuracy": {"value": number}}}
    log = log_of({"scores": {"includes": {"value": "C"}}})
    log["eval"]["scorers"], log["results"] = scorers, {"scores": [stated]}
    path.write_text(json.dumps(log))
    assert "but the samples give 1" in faults(path)


def test_a_total_alone_counts_as_tokens(tmp_path):
    usage = attempt(tmp_path, model_usage={"m/1": {"total_tokens": 17}}).response.usage
    assert (usage.input_tokens, usage.total_tokens) == (None, 17)
