"""Keys that are absent rather than null, and `expected` for the expected answer."""

import io
import json
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.source import DatasetSource
from gate.plugins import GRADERS
from gate.records import PluginSpec, Response
from gate.run.grade import grade_attempt, make_graders
from gate.suites.cases.curation.lines import cases_of
from gate.suites.cases.dataset import cases, check

FACTS = {"expected_facts": [{"value": "x"}]}
BOTH = ("facts", "exact_match")


def source(*rows):
    lines = b"".join(json.dumps({"input": "q", **row}).encode() + b"\n" for row in rows)
    return DatasetSource(name="d.jsonl", open=lambda: io.BytesIO(lines))


def graders(tmp_path, *names):
    options = {"contains": {"key": "expected"}}
    specs = tuple(PluginSpec(name=name, options=options.get(name, {})) for name in names)
    return make_graders(specs, tmp_path)


def faults(given, made):
    with pytest.raises(InvalidInput) as caught:
        check(given, made)
    return str(caught.value)


def test_a_key_that_some_cases_lack_does_not_apply_to_them(tmp_path):
    made = graders(tmp_path, *BOTH)
    given = source(
        {"id": "a", "expected_answer": "x", **FACTS},
        {"id": "b", **FACTS},
        {"id": "c", "expected_answer": "x"},
        {"id": "d", **FACTS},
        {"id": "e", "expected_answer": None, **FACTS},
    )
    found = check(given, made)
    assert found.warnings == (
        "d.jsonl:2: 'expected_answer' is missing in this case and in 1 more: the grader "
        "'exact_match' does not score 2 of 5 cases, as with null",
        "d.jsonl:3: 'expected_facts' is missing in this case: the grader 'facts' does not "
        "score 1 of 5 cases, as with null",
    )
    read = {case.id: case for case in cases(given, made)}
    assert read["b"].keys["expected_answer"] is read["c"].keys["expected_facts"] is None
    # What is absent is hashed as absent: the hash is that of before.
    before = check(source({"id": "b", **FACTS}), graders(tmp_path, "facts")).digests["b"]
    assert read["b"].digest == found.digests["b"] == before


@pytest.mark.parametrize(
    ("rows", "names", "said"),
    [
        ([{**FACTS}], BOTH, "d.jsonl:1: 'expected_answer' is missing, the grader"),
        (
            [{"expected_answer": "x", **FACTS}, {}],
            BOTH,
            "d.jsonl:2: 'expected_facts' is missing, the grader 'facts' needs it",
        ),
        (
            [{**FACTS}, {}],
            ("facts",),
            "d.jsonl:2: 'expected_facts' is missing, the grader 'facts' needs it",
        ),
        (
            [{"expected_answer": "x", **FACTS}, {"expected_anser": "x", **FACTS}],
            BOTH,
            "d.jsonl:2: 'expected_answer' is missing, the grader 'exact_match' needs it - the "
            "case has 'expected_anser': rename that key",
        ),
    ],
)
def test_what_is_an_error_all_the_same(tmp_path, rows, names, said):
    given = source(*({"id": f"c{number}", **row} for number, row in enumerate(rows)))
    assert said in faults(given, graders(tmp_path, *names))


@pytest.mark.parametrize("expected", ["Paris", ["Paris", "Paris, France"]])
def test_expected_is_another_name_of_the_expected_answer(tmp_path, expected):
    made = graders(tmp_path, "exact_match")
    given = source({"id": "a", "expected": expected})
    assert check(given, made).warnings == ()
    (case,) = cases(given, made)
    assert case.keys["expected_answer"] == case.keys["expected"] == expected
    assert case.digest == check(given, {}).digests["a"]


def test_expected_is_what_a_grader_that_reads_it_says(tmp_path):
    made = graders(tmp_path, "contains", "conciseness")
    (case,) = cases(source({"id": "a", "expected": "Paris"}), made)
    assert "expected_answer" not in case.keys


@pytest.mark.parametrize("expected", [{"city": "Paris"}, [{"name": "t"}], [], True, None])
def test_other_things_under_expected_are_somebodys_own(tmp_path, expected):
    (case,) = cases(source({"id": "a", "expected": expected, **FACTS}), graders(tmp_path, "facts"))
    assert "expected_answer" not in case.keys
    said = faults(source({"id": "a", "expected": expected}), graders(tmp_path, "exact_match"))
    assert "'expected_answer' is missing" in said


def test_the_proper_name_wins(tmp_path):
    row = {"id": "a", "expected": "other", "expected_answer": "own"}
    (case,) = cases(source(row), graders(tmp_path, "exact_match"))
    assert case.keys["expected_answer"] == "own"


def test_commands_on_datasets_know_the_name(tmp_path):
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "query": "q", "expected": "Paris"}\n', encoding="utf-8")
    (row,) = cases_of(file)
    assert row == {"id": "a", "input": "q", "expected_answer": "Paris"}


# ------------------------------------------------------------------- the same for every grader

ALONE = "readability"  # needs no key


def list_needing():
    """Registered graders that need a key of the case with the options that they must have."""
    for name in sorted(GRADERS):
        for options in ({}, {"key": "own_key"}):
            try:
                (grader,) = make_graders((PluginSpec(name=name, options=options),), Path()).values()
            except (TypeError, UsageError):
                continue
            if grader.needs:
                yield name, options
            break


NEEDING = list(list_needing())


def make_both(name, options):
    specs = (PluginSpec(name=name, options=options), PluginSpec(name=ALONE))
    return make_graders(specs, Path())


def test_the_graders_with_a_key_of_the_case_are_found():
    assert {"exact_match", "facts", "judge", "tool_calls", "numeric"} <= {n for n, _ in NEEDING}


@pytest.mark.parametrize(("name", "options"), NEEDING, ids=[name for name, _ in NEEDING])
def test_where_some_cases_lack_a_graders_key_it_leaves_them_out_and_says_how_many(name, options):
    made = make_both(name, options)
    needs = made[name].needs
    given = source({"id": "a", **dict.fromkeys(needs)}, {"id": "b"}, {"id": "c"})
    warnings = check(given, made).warnings
    for key in needs:
        told = (
            f"d.jsonl:2: '{key}' is missing in this case and in 1 more: the grader '{name}' does "
            "not score 2 of 3 cases, as with null"
        )
        assert told in warnings
    lacking = [case for case in cases(given, made) if case.id != "a"]
    for case in lacking:
        attempt = grade_attempt(case, Response(answer="An answer. It has words.", steps=()), made)
        score = attempt.scores[name]
        assert (score.passed, set(score.values.values()) <= {None}) == (None, True)
        assert score.unscored is None
        assert attempt.failures == ()


@pytest.mark.parametrize(("name", "options"), NEEDING, ids=[name for name, _ in NEEDING])
def test_where_all_cases_lack_it_that_is_an_error(name, options):
    made = make_both(name, options)
    said = faults(source({"id": "a"}, {"id": "b"}), made)
    for key in made[name].needs:
        told = f"d.jsonl:1: '{key}' is missing, the grader '{name}' needs it"
        todo = " - write it, or null where it does not apply"
        assert f"{told}{todo} (2 cases: lines 1, 2)" in said


def test_cases_that_do_not_run_are_not_counted():
    made = make_both("exact_match", {})
    waits = {"id": "w", "status": "proposed"}
    given = source({"id": "a", "expected_answer": "x"}, {"id": "b"}, waits)
    (warning,) = check(given, made).warnings
    assert "does not score 1 of 2 cases" in warning
    held = {**waits, "expected_answer": "x"}
    assert "'expected_answer' is missing" in faults(source({"id": "a"}, held), made)
