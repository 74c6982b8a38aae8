"""What every report format owes, whoever writes it: found by its registration, never listed."""

import dataclasses
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.plugins import REPORTERS
from gate.records import Report
from gate.records.codec import from_json, to_json
from tests.support.hostile_text import PIECES
from tests.support.reports import SCENARIOS, hostile, hostile_rows, passing, row, rows_of

TREE = Path()
hostile_text = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


@pytest.fixture(params=REPORTERS.names())
def reporter(request):
    return REPORTERS.get_class(request.param)()


def test_there_are_the_formats_that_the_session_folder_promises():
    files = {REPORTERS.get_class(name).filename for name in REPORTERS}
    assert {"report.md", "report.html", "comment.md", "junit.xml"} <= files
    assert len(files) == len(REPORTERS.names())


def test_it_is_a_frozen_documented_dataclass(reporter):
    assert dataclasses.is_dataclass(reporter)
    assert type(reporter).__dataclass_params__.frozen
    assert type(reporter).__doc__
    assert re.fullmatch(r"[a-z]+\.[a-z]+", reporter.filename)


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_input_same_bytes(reporter, name):
    report = SCENARIOS[name]()
    rows = hostile_rows if name == "hostile" else rows_of(report)
    first = reporter.render(report, rows)
    assert first.encode() == reporter.render(report, rows).encode()
    assert first.endswith("\n")
    assert "\r" not in first


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_stored_report_renders_the_same(reporter, name):
    """`gate report` reads summary.json back."""
    report = SCENARIOS[name]()
    again = from_json(Report, json.loads(json.dumps(to_json(report))))
    rows = rows_of(report)
    assert reporter.render(again, rows) == reporter.render(report, rows)


def test_it_renders_a_report_without_any_trial(reporter):
    empty = replace(passing(), suites={}, comparisons=(), gates=())
    assert reporter.render(empty, lambda: iter(()))


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": outcome, "exit_code": code}
        for outcome in ("pass", "fail", "inconclusive", "no_baseline", "not_comparable", "error")
        for code in (0, 1)
    ],
    ids=str,
)
def test_it_renders_every_outcome(reporter, changes):
    report = passing(**changes)
    assert reporter.render(report, rows_of(report))


@settings(max_examples=25)
@given(hostile_text)
def test_any_text_anywhere_can_be_written(text):
    def rows():
        yield row(text, suite=text, question=text, output=text, failures=[text], passed=False,
                  reasons={text: text})  # fmt: skip

    for name in REPORTERS:
        REPORTERS.get_class(name)().render(hostile(text), rows).encode()


def test_unmeasured_and_broken_numbers_are_never_shown_as_numbers(reporter):
    report = passing()
    broken = tuple(
        replace(c, baseline=None, current=None, delta=None, ci_low=None, ci_high=None, mde=None)
        for c in report.comparisons
    )
    gates = tuple(replace(g, value=None, status="missing") for g in report.gates)
    report = replace(report, comparisons=broken, gates=gates)
    text = reporter.render(report, rows_of(report))
    assert not re.search(r"\b(None|nan|inf)\b", re.sub(r'="none"|: none', "", text))
