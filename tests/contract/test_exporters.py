"""What every export format owes, whoever writes it: found by its registration, never listed."""

import dataclasses
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.plugins import EXPORTERS
from tests.support.hostile_text import PIECES
from tests.support.reports import SCENARIOS, hostile, hostile_rows, passing, row, rows_of

TREE = Path()
hostile_text = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


@pytest.fixture(params=EXPORTERS.names())
def exporter(request):
    return EXPORTERS.get_class(request.param)()


def test_there_are_the_formats_that_the_contract_names():
    assert set(EXPORTERS) >= {"csv", "jsonl", "junit", "otel", "promptfoo"}


def test_it_is_a_frozen_documented_dataclass(exporter):
    assert dataclasses.is_dataclass(exporter)
    assert type(exporter).__dataclass_params__.frozen
    assert type(exporter).__doc__


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_input_same_bytes(exporter, name):
    report = SCENARIOS[name]()
    rows = hostile_rows if name == "hostile" else rows_of(report)
    first = "".join(exporter.pieces(report, rows))
    assert first.encode("utf-8", "replace") == "".join(exporter.pieces(report, rows)).encode(
        "utf-8", "replace"
    )
    assert first.endswith("\n")


def test_it_exports_a_session_without_any_trial(exporter):
    empty = replace(passing(), suites={}, comparisons=(), gates=())
    list(exporter.pieces(empty, lambda: iter(())))


@settings(max_examples=25)
@given(hostile_text)
def test_any_text_anywhere_can_be_written(text):
    def rows():
        yield row(text, suite=text, question=text, output=text, failures=[text], passed=False,
                  reasons={text: text}, unscored={text: text}, scores={text: 0.5}, error=text,
                  model=text, started_at=text, category=text, failed_by=[text])  # fmt: skip

    for name in EXPORTERS:
        exporter = EXPORTERS.get_class(name)()
        assert "".join(exporter.pieces(hostile(text), rows)).encode("utf-8", "replace")


def test_memory_does_not_grow_with_the_rows(exporter):
    """20 MB of answers, of one case: what is kept of a case is bounded."""

    def rows():
        return (row("one", n, output="x" * 100_000) for n in range(1, 201))

    list(exporter.pieces(passing(), lambda: iter(list(rows())[:2])))
    tracemalloc.start()
    for piece in exporter.pieces(passing(), rows):
        assert piece
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000
