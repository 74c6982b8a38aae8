"""The importer of Langfuse's exports: tables of traces, observations and scores."""

import csv
import json
import shutil

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from gate.records import Usage
from gate.records.codec import from_json
from tests.support.paths import DATA

EXAMPLES = DATA / "imports" / "langfuse"
BY_CASE = {"columns": {"id": "metadata.case_id"}}


def read(path, **options):
    return from_json(IMPORTERS.get_class("langfuse"), options).read(path)


def trials(path, **options):
    return list(read(path, **options).trials())


def values(one):
    return dict(one.attempt.scores["langfuse"].values)


@pytest.fixture
def traces(tmp_path):
    """A table of traces as the interface exports it, each row a change of the first one."""
    with (EXAMPLES / "traces.csv").open(newline="") as file:
        first = next(csv.DictReader(file))

    def table(*rows, drop=()):
        file = tmp_path / "traces.csv"
        names = [name for name in first if name not in drop]
        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**first, "id": f"t{n}", **row} for n, row in enumerate(rows))
        return file

    return table


def test_the_table_of_traces_is_seven_trials_of_four_cases():
    found = read(EXAMPLES / "traces.csv", **BY_CASE, pass_score="accuracy>=1")
    (suite,) = found.suites.values()
    assert (suite.cases, suite.rounds) == (4, 2)
    assert [m.name for m in suite.metrics] == ["langfuse.accuracy", "langfuse.helpfulness"]
    one, two, three, *_, last = found.trials()
    assert (one.case.id, one.case.category, one.case.tags) == (
        "q-1",
        "answer-question",
        ("weekly",),
    )
    assert values(one) == {"langfuse.accuracy": 1.0, "langfuse.helpfulness": 0.9}
    assert values(two)["langfuse.helpfulness"] == pytest.approx(0.7)  # two reviewers
    assert one.attempt.latency_ms == pytest.approx(1100)
    assert one.attempt.response.usage == Usage(input_tokens=41, output_tokens=9, cost_usd=0.0003)
    assert three.attempt.failures == ("score_missed:accuracy",)
    assert (last.attempt.status, last.attempt.error) == (
        "agent_error",
        "the trace has the level ERROR, without a message",
    )
    assert found.created_at == "2026-01-20T10:01:00+00:00"


def test_the_input_is_the_case_where_no_column_says_it():
    ids = [t.case.id for t in trials(EXAMPLES / "traces.csv", pass_score="accuracy>=1")]
    assert ids[:3] == ids[3:6]
    assert len(set(ids)) == 4
    assert all(one.startswith("input-") for one in ids)


def test_columns_of_langfuse_are_no_scores_and_categories_neither(traces):
    found = read(traces({"observationCount": "7", "tone": '["rude"]'}))
    assert {m.name for m in found.suites["langfuse"].metrics} == {
        "langfuse.accuracy",
        "langfuse.helpfulness",
    }


def test_a_level_of_an_inner_step_is_no_failed_answer(traces):
    (one,) = trials(traces({"level": "ERROR"}), pass_score="accuracy>=1")
    assert (one.attempt.status, one.attempt.passed) == ("completed", True)


def test_tokens_and_cost_of_0_are_unknown(traces):
    zero = dict.fromkeys(("inputTokens", "outputTokens", "totalTokens", "totalCost"), "0")
    assert trials(traces(zero))[0].attempt.response.usage == Usage()


def test_a_bucket_is_joined_by_trace():
    found = read(EXAMPLES / "bucket", pass_score="accuracy>=1")
    assert len(found.files) == 2
    first, *_, last = found.trials()
    assert values(first) == {"langfuse.accuracy": 1.0}
    assert first.case.input == [{"role": "user", "content": "Where is my parcel?"}]
    assert first.attempt.response.answer == "It is with the carrier."
    assert first.attempt.response.usage == Usage(input_tokens=41, output_tokens=9, cost_usd=0.0003)
    assert first.attempt.latency_ms == pytest.approx(1500)
    assert last.attempt.passed is False


def test_traces_of_a_bucket_have_the_tokens_of_its_observations(tmp_path):
    shutil.copytree(EXAMPLES / "bucket", tmp_path / "b")
    (tmp_path / "b" / "observations_v2").rename(tmp_path / "b" / "observations")
    trace = {"id": "t-1", "timestamp": "2026-01-20 10:01:00.000000", "input": "q", "output": "a"}
    (tmp_path / "b" / "traces").mkdir()
    (tmp_path / "b" / "traces" / "x.jsonl").write_text(json.dumps(trace))
    (one,) = trials(tmp_path / "b")
    assert (one.case.input, one.attempt.response.answer) == ("q", "a")
    assert one.attempt.response.usage.input_tokens == 41
    assert values(one) == {"langfuse.accuracy": 1.0}


def test_scores_alone_are_a_trial_a_trace():
    found = read(EXAMPLES / "bucket" / "scores" / "2026-01-20.jsonl", pass_score="accuracy>=1")
    assert [(t.case.id, t.attempt.passed) for t in found.trials()] == [
        ("t-1", True),
        ("t-2", True),
        ("t-3", False),
    ]


def test_milliseconds_of_an_old_bucket_are_said_so(traces):
    file = traces({"latency": "1500"})
    old = {"latency_s": "", "latency_ms": "latency"}
    assert trials(file)[0].attempt.latency_ms == 1_500_000
    assert trials(file, columns=old)[0].attempt.latency_ms == 1500


def test_what_cannot_be_paired_or_read_is_refused(traces, tmp_path):
    for rows, told, options in (
        ([{"input": ""}], "traces.csv:2: has neither an id nor an input", {}),
        ([{"input": "a"}, {"input": "b"}], "a different input in line 2", BY_CASE),
        ([{}], "no row has a score 'acc' - known scores: accuracy", {"pass_score": "acc>0"}),
        ([], "traces.csv: has no row", {}),
    ):
        with pytest.raises(InvalidInput) as caught:
            read(traces(*rows), **options)
        assert told in str(caught.value)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no file that ends in \.csv"):
        read(tmp_path / "empty")


def test_a_broken_file_of_a_folder_is_told(tmp_path):
    shutil.copytree(EXAMPLES / "bucket", tmp_path / "b")
    (tmp_path / "b" / "scores" / "z.jsonl").write_text('{"trace_id": "t-1"\n')
    with pytest.raises(InvalidInput, match=r"z\.jsonl:1: not JSON"):
        read(tmp_path / "b")
    (tmp_path / "b" / "scores" / "z.jsonl").unlink()
    shutil.copy(EXAMPLES / "traces.csv", tmp_path / "b")  # beside which observations are parts
    inner = next((tmp_path / "b" / "observations_v2").iterdir())
    inner.write_text(inner.read_text() + '{"id": "o-9"\n')
    with pytest.raises(InvalidInput, match=r"2026-01-20\.jsonl:\d+: not JSON"):
        read(tmp_path / "b")


def test_it_is_recognised_and_nothing_else_is(tmp_path):
    kind = IMPORTERS.get_class("langfuse")
    here = (EXAMPLES / "traces.csv", EXAMPLES / "bucket")
    inside = [*(EXAMPLES / "bucket").glob("*/*.jsonl")]
    assert len(inside) == 2
    assert all(kind.recognises(look(path)) for path in (*here, *inside))
    assert not kind.recognises(look(EXAMPLES.parent))
    assert not kind.recognises(look(EXAMPLES.parent / "braintrust" / "experiment.jsonl"))
    (tmp_path / "x.csv").write_text("id,name,value\n")
    assert not kind.recognises(look(tmp_path / "x.csv"))


def bucket(folder, *, span=None, score=None):
    """A trace, its score, and one more row of either."""
    spans = [{"id": "s1", "trace_id": "t1", "input": "q", "output": "a", "start_time": None}]
    scores = [{"trace_id": "t1", "name": "ok", "value": 1, "data_type": "NUMERIC"}]
    tables = {"observations": [*spans, span], "scores": [*scores, score]}
    for name, rows in tables.items():
        lines = [json.dumps(row) for row in rows if row is not None]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return folder


def test_a_trace_of_which_only_inner_spans_are_there_is_told(tmp_path):
    lost = {"id": "s2", "trace_id": "t2", "parent_observation_id": "gone", "output": "b"}
    found = read(bucket(tmp_path, span=lost), pass_score="ok>=1")
    assert [note for note in found.notes if note.startswith("1 traces are left out")]
    assert not [n for n in read(bucket(tmp_path), pass_score="ok>=1").notes if "left out" in n]


@pytest.mark.parametrize(
    "change", [{"value": "bad"}, {"value": None}, {"name": ""}, {"data_type": None}], ids=str
)
def test_a_score_that_cannot_be_read_is_not_left_out(tmp_path, change):
    score = {"trace_id": "t1", "name": "ok", "value": 0, "data_type": "NUMERIC", **change}
    with pytest.raises(InvalidInput, match=r"scores.jsonl:2: a score has no name"):
        read(bucket(tmp_path, score=score), pass_score="ok>=1")


def test_a_total_alone_counts_as_tokens(traces):
    (one,) = trials(traces({"inputTokens": "", "outputTokens": "0", "totalTokens": "57"}))
    assert one.attempt.response.usage.total_tokens == 57
    assert one.attempt.response.usage.input_tokens is None
