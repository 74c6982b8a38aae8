"""reviews/labels.jsonl: each wrong row is told with its line and left out, the others count."""

import json
from dataclasses import replace

import pytest

from gate.analysis.labels import (
    LabelContext,
    keep_fitting,
    list_reviewers,
    notes,
    read_labels,
    schema,
    with_judge,
)
from gate.files.json_schema import mismatches
from gate.files.rows import DatasetSource
from gate.records import Label, MetricSpec
from gate.records.codec import to_json
from tests.support.labelled import DIGEST, FILE, METRIC, SPEC, label, lines, source

SUITES = {
    "s": LabelContext(
        specs={METRIC: SPEC},
        graders={METRIC: DIGEST},
        cases=frozenset({"c000", "c001"}),
        digests={"c000": "c000", "c001": "c001"},
    )
}


def told(problems):
    return [str(problem) for problem in problems]


def test_a_row_comes_back_as_it_was_written():
    rows = [label(), label("c001", 2.0, None, note="half\nright", weight=2.5, stratum="sure")]
    found = read_labels(source(lines(rows)))
    assert (list(found.rows), found.lines, found.wrong) == (rows, (1, 2), ())


def test_a_label_of_an_older_version_is_one_of_the_renamed_metric():
    old = [label(metric="correctness.correctness"), label("c001", metric="correctness.correctness")]
    found = read_labels(source(lines(old)))
    assert list(found.rows) == [label(), label("c001")]
    assert told(found.renamed) == [
        f"{FILE}:1: `correctness.correctness` is called `{METRIC}` now",
    ]


def test_an_old_and_a_new_label_of_one_answer_can_contradict_each_other():
    old, new = label(human=2.0, metric="correctness.correctness"), label(human=4.0)
    found = read_labels(source(lines([old, new])))
    assert found.rows == ()
    assert "rated this answer 4" in found.wrong[0].message


def test_labels_by_a_rubric_of_ones_own_keep_their_metric():
    own = label(metric="correctness.correctness", rubric="mine")
    assert read_labels(source(lines([own]))).rows == (own,)


def test_no_file_is_no_label():
    assert read_labels(None).rows == ()


def test_defaults_may_be_left_out():
    data = {k: v for k, v in to_json(label()).items() if k not in ("weight", "stratum", "note")}
    assert read_labels(source(json.dumps(data))).rows == (label(),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"human": "4"}, "human"),
        ({"human": None}, "human"),
        ({"human": True}, "human"),
        ({"round": 0}, "round"),
        ({"round": 1.5}, "round"),
        ({"weight": 0}, "weight"),
        ({"weight": -1}, "weight"),
        ({"answer_digest": "yes"}, "answer_digest"),
        ({"reviewer": " "}, "reviewer"),
        ({"suite": ""}, "suite"),
        ({"mood": "good"}, "mood"),
        ({"labelled_at": "yesterday"}, "labelled_at: not a time such as 2026-01-31T12:00:00Z"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_key(changes, message):
    rows = [to_json(label("c001")), {**to_json(label()), **changes}]
    found = read_labels(source("".join(json.dumps(row) + "\n" for row in rows)))
    assert found.rows == (label("c001"),)
    assert told(found.wrong)[0].startswith(f"{FILE}:2: {message}")


@pytest.mark.parametrize("text", ["[1, 2", "[]x", "nothing", '"label"', "7", '{"a": 1, "a": 2}'])
def test_what_is_no_label_is_told_and_the_rest_counts(text):
    found = read_labels(source(f"{lines([label()])}{text}\n{lines([label('c001')])}"))
    assert found.rows == (label(), label("c001"))
    assert [problem.place.line for problem in found.wrong] == [2]


def test_a_number_without_end_is_wrong():
    text = lines([label()]).replace('"human": 4.0', '"human": 1e999')
    assert "1e999 is too large" in told(read_labels(source(text)).wrong)[0]


def test_bytes_that_are_no_text_are_told():
    found = read_labels(source(b"\xff\xfe\x00" + lines([label()]).encode()))
    assert found.wrong
    assert not found.rows


def test_a_file_that_cannot_be_opened_is_told(tmp_path):
    missing = tmp_path / "labels.jsonl"
    found = read_labels(DatasetSource(name=FILE, open=lambda: missing.open("rb")))
    assert told(found.wrong) == [f"{FILE}: there is no such file - check its path"]


def test_a_reviewer_who_contradicts_himself_counts_with_neither():
    rows = [label(human=4.0), label("c001"), label(human=2.0, reviewer=" ann")]
    found = read_labels(source(lines(rows)))
    assert found.rows == (label("c001"),)
    assert told(found.wrong) == [
        f"{FILE}:3: ann rated this answer 2 on {METRIC} here and 4 in line 1; neither is "
        "used - keep one of the two"
    ]


def test_the_same_rating_twice_counts_once_without_a_word():
    found = read_labels(source(lines([label(), label()])))
    assert (found.rows, found.wrong) == ((label(),), ())


@pytest.mark.parametrize(
    "other",
    [
        {"reviewer": "Ben"},
        {"answer_digest": "0" * 64},
        {"metric": "correctness.reference_coverage"},
        {"judge_digest": "judge-2"},
    ],
)
def test_two_people_answers_criteria_or_judges_do_not_contradict_each_other(other):
    rows = [label(human=4.0), label(human=2.0, **other)]
    assert read_labels(source(lines(rows))).rows == tuple(rows)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": "t"}, "suite: there is no suite 't'"),
        (
            {"metric": "correctness.factual_corectness"},
            "metric: s does not measure correctness.factual_corectness",
        ),
        ({"case_id": "c999"}, "case_id: s has no case 'c999'"),
        ({"case_digest": "old"}, "case_digest: the case 'c000' was edited after this answer"),
    ],
)
def test_a_label_that_no_suite_has_a_use_for_is_out_of_date(changes, message):
    rows = [replace(label(), **changes), label("c001")]
    found = keep_fitting(read_labels(source(lines(rows))), SUITES, FILE)
    assert (found.rows, found.lines, found.wrong) == ((label("c001"),), (2,), ())
    assert told(found.stale)[0].startswith(f"{FILE}:1: {message}")


def test_a_near_metric_is_proposed():
    rows = [label(metric="correctness.factual_corectness")]
    (problem,) = keep_fitting(read_labels(source(lines(rows))), SUITES, FILE).stale
    assert problem.message.endswith(f"did you mean '{METRIC}'?")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"human": 6.0},
            "human: 6 is not within 1 to 5, the scale of correctness.factual_correctness",
        ),
        ({"human": 0.0}, "human: 0 is not within 1 to 5"),
        ({"judge": 5.5}, "judge: 5.5 is not within 1 to 5"),
    ],
)
def test_a_value_beyond_the_scale_is_wrong(changes, message):
    found = keep_fitting(read_labels(source(lines([replace(label(), **changes)]))), SUITES, FILE)
    assert told(found.wrong)[0].startswith(f"{FILE}:1: {message}")
    assert (found.rows, found.stale) == ((), ())


def test_a_scale_without_an_end_takes_any_value():
    open_ended = MetricSpec(name=METRIC, column=METRIC, low=None, high=None, asks="judge")
    suites = {"s": LabelContext(specs={METRIC: open_ended}, graders={})}
    assert keep_fitting(read_labels(source(lines([label(human=-40.0)]))), suites, FILE).rows


def test_where_nobody_knows_the_cases_none_is_unknown():
    known = replace(SUITES["s"], cases=None, digests={})
    rows = [label("c999", case_digest="any")]
    assert keep_fitting(read_labels(source(lines(rows))), {"s": known}, FILE).rows == tuple(rows)


def test_a_report_names_the_first_rows_that_were_left_out_and_counts_the_others():
    rows = [label(case, human=9.0) for case in ("c000", "c001")] * 3
    apart = [replace(row, reviewer=f"r{n}") for n, row in enumerate(rows)]
    found = keep_fitting(read_labels(source(lines([*apart, label("gone")]))), SUITES, FILE)
    wrong, stale = notes(found, FILE)
    assert wrong.startswith(f"{FILE}: 6 rows are wrong and left out: line 1: human: 9 is not")
    assert "line 3" in wrong
    assert "line 4" not in wrong
    assert "and 3 more" in wrong
    assert stale.startswith(f"{FILE}: 1 row is out of date and left out: line 7: case_id")


def test_names_that_differ_in_case_and_blanks_are_one_reviewer():
    rows = [label(reviewer="Ann"), label(reviewer="ann "), label(reviewer="Ben")]
    assert list_reviewers(rows) == ("Ann", "Ben")


def test_only_labels_beside_this_judge_with_its_value_count_for_it():
    rows = [label(), label("c001", judge=None), label("c001", judge_digest="judge-2")]
    assert with_judge(rows, DIGEST) == (label(),)
    assert with_judge(rows, None) == ()


def test_the_published_schema_takes_what_is_written_and_knows_every_key():
    assert mismatches(schema(), to_json(label())) == []
    assert set(schema()["properties"]) == set(Label.__dataclass_fields__)


def test_each_key_that_is_missing_is_told_once():
    found = read_labels(source('{"suite": "s"}'))
    messages = [problem.message for problem in found.wrong]
    assert "'case_id' is missing" in messages
    assert len(messages) == len(set(messages))
    assert "1 row is wrong" in next(notes(found, "labels.jsonl"))
