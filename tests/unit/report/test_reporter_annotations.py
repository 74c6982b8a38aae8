from collections import Counter
from dataclasses import replace

import pytest

from gate.errors import Place
from gate.report.wording.notes import render_annotations
from tests.support.reports import (
    SCENARIOS,
    change,
    comparison,
    gate,
    hostile,
    inconclusive,
    many_failing,
    no_baseline,
    passing,
    regression,
)


def levels(report):
    return Counter(line[2:].split(" ", 1)[0] for line in render_annotations(report))


def test_a_blocking_finding_is_an_error_and_a_case_a_warning():
    lines = render_annotations(regression())
    assert lines[0].startswith("::error title=Fail%3A analytics got worse::retrieval.recall@5 fell")
    assert lines[1].startswith("::error title=analytics%3A retrieval.recall@5%3A regression::0.84")
    assert any("churn-by-quarter-01 newly fails::12/12 → 0/3" in line for line in lines)


def test_what_does_not_block_is_a_warning():
    assert "error" not in levels(inconclusive())
    assert levels(replace(regression(), exit_code=0))["error"] == 0
    assert levels(passing()) == {"warning": 1}


def test_what_was_not_judged_is_a_warning_of_its_own():
    (line, *_) = render_annotations(no_baseline())
    assert line.startswith("::warning title=No baseline%3A nothing to compare analytics with yet::")


@pytest.mark.parametrize("name", SCENARIOS)
def test_at_most_ten_of_a_kind(name):
    assert max(levels(SCENARIOS[name]()).values(), default=0) <= 10


def test_what_the_runner_would_drop_is_counted():
    gates = tuple(gate(f"m{n}", status="fail") for n in range(40))
    report = replace(many_failing(40), gates=gates, comparisons=(comparison(),))
    assert levels(report) == {"error": 10, "warning": 10}
    last = [line for line in render_annotations(report) if line.startswith("::error")][-1]
    assert last.endswith("::32 more in the job summary and in report.md")


def test_a_place_is_named_when_it_is_known():
    place = Place("datasets/a,b:c.jsonl", 12)
    report = passing(cases=replace(passing().cases, newly_failing=(change(place=place),)))
    (line,) = render_annotations(report)
    assert line.startswith("::warning file=datasets/a%2Cb%3Ac.jsonl,line=12,title=")


def test_hostile_text_stays_one_command_a_line():
    for line in render_annotations(hostile()):
        assert len(line.splitlines()) == 1
        head, _, message = line[2:].partition("::")
        assert head.split(" ", 1)[0] in ("error", "warning")
        assert "##[" not in message
        assert len(message) <= 4096
