"""The importer of Braintrust experiments: what rows become, and what is refused with its place."""

import csv
import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from gate.records import Usage
from gate.records.codec import from_json
from tests.support.paths import DATA

EXAMPLE = DATA / "imports" / "braintrust" / "experiment.jsonl"
ROW = {
    "span_id": "s1",
    "root_span_id": "s1",
    "span_parents": None,
    "created": "2026-01-20T10:01:00.000Z",
    "input": "Where is it?",
    "output": "Here.",
    "expected": "here",
    "error": None,
    "scores": {"Factuality": 1, "Tone": None},
    "metrics": {"start": 1768903200.5, "end": 1768903202.0, "prompt_tokens": 40},
    "metadata": {"model": "m"},
    "tags": ["weekly"],
}


def importer(**options):
    return from_json(IMPORTERS.get_class("braintrust"), options)


@pytest.fixture
def read(tmp_path):
    def result(*rows, **options):
        file = tmp_path / "x.jsonl"
        whole = [
            one if isinstance(one, str) else json.dumps({**ROW, "id": f"r{n}", **one})
            for n, one in enumerate(rows)
        ]
        file.write_text("\n".join(whole) + "\n", encoding="utf-8")
        return importer(**options).read(file)

    return result


@pytest.fixture
def faults(read, tmp_path):
    def told(*rows, **options):
        with pytest.raises(InvalidInput) as caught:
            read(*rows, **options)
        return str(caught.value).replace(f"{tmp_path.as_posix()}/", "")

    return told


def trial(found):
    (one,) = found.trials()
    return one


def test_the_example_is_eight_trials_of_four_cases():
    found = importer(pass_score="Factuality>=0.5").read(EXAMPLE)
    (suite,) = found.suites.values()
    assert (suite.rounds, suite.cases) == (2, 4)
    judged = "braintrust export: Factuality >= 0.5"
    assert (suite.graders["success"], suite.graders["first_success"]) == (judged, judged)
    assert "rows of the same case are its rounds, in the order of the export" in found.notes
    trials = list(found.trials())
    assert [(t.case.id, t.round, t.attempt.status, t.attempt.passed) for t in trials[:4]] == [
        ("q-1", 1, "completed", True),
        ("q-2", 1, "completed", True),
        ("q-3", 1, "completed", False),
        ("q-4", 1, "agent_error", False),
    ]
    assert trials[0].attempt.response.usage == Usage(
        input_tokens=40, output_tokens=8, cost_usd=0.0002
    )
    assert [t.attempt.latency_ms for t in trials[:2]] == pytest.approx([1250, 1350])
    assert list(found.trials()) == trials
    assert found.created_at == "2026-01-20T10:01:00+00:00"


def test_a_row_becomes_a_trial(read):
    one = trial(read({"origin": {"id": "case-7"}}))
    assert (one.suite, one.case.id, one.case.input) == ("braintrust", "case-7", "Where is it?")
    assert one.case.keys == {"expected_answer": "here"}
    assert one.case.tags == ("weekly",)
    assert one.attempt.response.answer == "Here."
    assert one.attempt.response.model == "m"
    assert one.attempt.latency_ms == pytest.approx(1500)
    assert one.attempt.scores["braintrust"].values == {"braintrust.factuality": 1.0}
    assert one.attempt.passed is None
    assert one.started_at == "2026-01-20T10:00:00.500Z"


def test_the_same_input_is_the_same_case_in_every_experiment(read):
    first, second = read({}, {"id": "r2"}).trials()
    other = trial(read({"id": "elsewhere", "output": "There."}))
    assert first.case.id == second.case.id == other.case.id
    assert first.case.id.startswith("input-")
    assert (first.round, second.round) == (1, 2)
    assert first.case.digest == other.case.digest


def test_an_id_with_another_input_is_no_round(read, faults):
    clash = ({"dataset_record_id": "a"}, {"dataset_record_id": "a", "input": "Another?"})
    assert "x.jsonl:2: case 'a' has a different input in line 1" in faults(*clash)


def test_rounds_of_a_column_are_taken_and_never_twice(read, faults):
    rows = ({"metadata": {"try": 2}}, {"metadata": {"try": 1}})
    assert [t.round for t in read(*rows, round="metadata.try").trials()] == [2, 1]
    assert "two rows for round 2 - keep one" in faults(rows[0], rows[0], round="metadata.try")
    for wrong in (0, 1.5, "x", 10_001):
        told = faults({"metadata": {"try": wrong}}, round="metadata.try")
        assert "x.jsonl:1: metadata.try: not a whole number from 1 to 10,000" in told


@pytest.mark.parametrize(
    ("rule", "passed"),
    [("Factuality>=0.5", True), ("Factuality > 0.9", True), ("Factuality<1", False)],
)
def test_a_score_decides(read, rule, passed):
    one = trial(read({}, pass_score=rule))
    assert one.attempt.passed is passed
    assert one.attempt.failures == (() if passed else ("score_missed:Factuality",))


@pytest.mark.parametrize(
    ("value", "passed"), [(True, True), ("PASS", True), (0, False), ("no", False), (None, None)]
)
def test_a_column_decides(read, value, passed):
    rows = ({"metadata": {"ok": value}}, {"metadata": {"ok": True}, "input": "b"})
    assert next(read(*rows, passed="metadata.ok").trials()).attempt.passed is passed


def test_what_is_neither_true_nor_false_is_refused(faults):
    for odd in ("maybe", 2):
        told = faults({"metadata": {"ok": odd}}, passed="metadata.ok")
        assert f"metadata.ok: '{odd}' must be true, false, passed or failed" in told
    assert "x.jsonl:1: metadata.ok: '2'" in told


def test_without_a_rule_there_is_no_success_rate_and_a_note_says_so(read, faults):
    found = read({})
    assert "it is not known which rows" in found.notes[0]
    failed = {"output": None, "error": "it broke", "input": "b"}
    assert "1 rows ended in an error, but it is not known which of the others passed" in faults(
        {}, failed
    )


def test_whose_error_it_was(read):
    rows = (
        {"input": "a", "output": None, "error": "Error code: 429 - rate limit"},
        {"input": "b", "output": None, "error": {"message": "it broke"}},
        {"input": "c", "error": "a scorer broke"},
    )
    found = read(*rows, pass_score="Factuality>=1")
    nobody, agent, answered = (one.attempt for one in found.trials())
    assert (nobody.status, nobody.passed) == ("infra_error", None)
    assert (agent.status, agent.passed, agent.failures) == ("agent_error", False, ("agent_error",))
    assert agent.error == '{"message": "it broke"}'
    assert (answered.status, answered.passed) == ("completed", True)


def test_an_error_of_the_agent_counts_as_0_in_shares_alone(read):
    rows = (
        {"scores": {"Factuality": 0.5, "toxicity": 0.1, "stars": 4}},
        {"input": "b", "output": None, "error": "it broke", "scores": {}},
    )
    found = read(*rows, pass_score="Factuality>=0.5", lower=["toxicity"])
    _, failed = found.trials()
    assert failed.attempt.scores["braintrust"].values == {"braintrust.factuality": 0.0}
    assert any("counts as 0" in note for note in found.notes)
    specs = {spec.name: spec for spec in found.suites["braintrust"].metrics}
    assert specs["braintrust.toxicity"].direction == "lower"
    assert (specs["braintrust.stars"].low, specs["braintrust.stars"].unit) == (None, "")


def test_inner_spans_are_no_trials_and_their_tokens_count(read):
    inner = {"span_id": "s2", "span_parents": ["s1"], "input": "x", "scores": None}
    inner |= {"metrics": {"prompt_tokens": 7, "completion_tokens": 3, "estimated_cost": 0.25}}
    one = trial(read({"metrics": {}}, inner, inner))
    assert one.attempt.response.usage == Usage(input_tokens=14, output_tokens=6, cost_usd=0.5)
    alone = list(read(inner).trials())
    assert len(alone) == 1  # a table of spans without their roots is a table all the same


def test_options_that_make_no_sense_are_named(read, tmp_path):
    for options, told in (
        ({"columns": {"imput": "x"}}, "unknown key 'imput' - did you mean 'input'?"),
        ({"passed": "a", "pass_score": "b>1"}, "cannot be combined; use"),
        ({"pass_score": "Factuality"}, "must be NAME>=NUMBER"),
        ({"pass_score": "Factuality>=."}, "must be NAME>=NUMBER"),
        ({"suite": "../x"}, "a suite name may only have letters"),
    ):
        with pytest.raises(UsageError) as caught:
            read({}, **options)
        assert told in str(caught.value)


def test_columns_and_scores_that_no_row_has_are_named(faults):
    told = faults({}, columns={"id": "metadata.case"}, pass_score="Facts>=1", lower=["Nope"])
    assert "no row has a value of 'metadata.case' - use another column" in told
    assert "no row has a score 'Facts' - known scores: Factuality" in told
    assert "no row has a score 'Nope'" in told
    assert "no row has a score 'Tone'" in faults({}, scores=["Tone"])


def test_a_score_that_is_named_must_be_a_number(read, faults):
    odd = {"scores": {"Factuality": "high"}}
    assert "x.jsonl:2: Factuality: 'high' is not a number" in faults({}, odd, scores=["Factuality"])
    found = read({}, odd)
    assert found.suites["braintrust"].metrics == ()
    assert any("not scores: Factuality" in note for note in found.notes)


def test_several_values_of_a_score_are_their_mean_if_all_are_numbers(read):
    found = trial(read({"scores": {"a": [1, 0, "0.5"], "b": [1, "x"]}}))
    assert found.attempt.scores["braintrust"].values == {"braintrust.a": 0.5}


def test_rounds_that_the_export_has_itself_need_no_note(read):
    notes = [read({}).notes, read({"n": 1}, {"n": 2}, round="n").notes]
    assert not [one for note in notes for one in note if "are its rounds" in one]


def test_what_is_a_number_in_some_rows_alone_is_no_score(read):
    found = read({"scores": {"a": 1, "b": "x"}}, {"scores": {"a": 0, "b": 2}})
    assert [one.attempt.scores["braintrust"].values for one in found.trials()] == [
        {"braintrust.a": 1},
        {"braintrust.a": 0},
    ]
    assert any("are not scores: b" in note for note in found.notes)


def test_names_that_would_be_one_metric_are_told_apart(read):
    found = read({"scores": {"My Score": 1, "my_score": 0}})
    names = [spec.name for spec in found.suites["braintrust"].metrics]
    assert names == ["braintrust.my_score", "braintrust.my_score__2"]


def test_every_problem_is_told_at_once_and_the_rest_is_counted(faults):
    told = faults(*["{", "7"])
    assert "x.jsonl:1: not JSON" in told
    told = faults({}, *["7"] * 61)
    assert told.count("not a JSON object") == 50
    assert "and 11 more problems" in told


def test_an_answer_is_what_was_said(read):
    said = {"role": "assistant", "content": "Hello."}
    for output in (said, [said], json.dumps(said), {"choices": 1, "output": said}):
        assert trial(read({"output": output})).attempt.response.answer == "Hello."
    assert trial(read({"output": {"a": 1}})).attempt.response.answer == '{"a": 1}'


def test_the_csv_of_an_experiment_says_the_same(tmp_path):
    file = tmp_path / "experiment.csv"
    rows = [json.loads(line) for line in EXAMPLE.read_text().splitlines()]
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(
            {k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in row.items()}
            for row in rows
        )
    as_lines, as_csv = (
        [
            (
                t.case.id,
                t.round,
                t.case.digest,
                t.attempt.passed,
                t.attempt.scores,
                t.attempt.latency_ms,
            )
            for t in importer(pass_score="Factuality>=0.5").read(path).trials()
        ]
        for path in (EXAMPLE, file)
    )
    assert as_csv == as_lines


def test_columns_of_scores_are_read_with_their_prefix_or_by_name(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("input,output,scores.Tone,Facts\na,b,0.5,1\nc,d,,0\n")
    named = importer(scores=["Tone", "Facts"], columns={"id": "input"}).read(file)
    assert names(named) == ["braintrust.facts", "braintrust.tone"]
    assert names(importer().read(file)) == ["braintrust.tone"]


def names(found):
    return [spec.name for spec in found.suites["braintrust"].metrics]


def test_it_is_recognised_and_nothing_else_is(tmp_path):
    kind = IMPORTERS.get_class("braintrust")
    assert kind.recognises(look(EXAMPLE))
    (tmp_path / "x.csv").write_text("id,input,scores,experiment_id\n")
    assert kind.recognises(look(tmp_path / "x.csv"))
    (tmp_path / "y.csv").write_text("id,input,scores\n")
    assert not kind.recognises(look(tmp_path / "y.csv"))
    assert not kind.recognises(look(tmp_path))


def test_a_row_that_is_there_twice_counts_once_at_most(read, faults):
    assert "x.jsonl:2: row 'a' appears twice - keep one" in faults({"id": "a"}, {"id": "a"})
    own = {"columns": {"id": "id"}}
    assert len(list(read({"id": "a"}, {"id": "a"}, **own).trials())) == 2, "there the case's name"


@pytest.mark.parametrize(
    ("metrics", "usage"),
    [
        ({"tokens": 57}, Usage(total_tokens=57)),
        ({"total_tokens": 57}, Usage(total_tokens=57)),
        ({"prompt_tokens": 40, "tokens": 57}, Usage(input_tokens=40)),
        ({"tokens": -1}, Usage()),
    ],
)
def test_a_total_alone_counts_as_tokens(read, metrics, usage):
    assert trial(read({"metrics": metrics})).attempt.response.usage == usage
