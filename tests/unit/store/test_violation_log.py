"""violations.jsonl and what a report says of it: the same whatever order trials came in."""

import json
import random

import pytest

from gate.analysis.columns import trial_values
from gate.analysis.tally import SHOWN, FirstViolations, Tally
from gate.records import LoggedViolation, ReportOptions, Violation
from gate.records.codec import to_json
from gate.report.write_all import render_violations, write_reports
from tests.support.reports import passing, row


def looked(case_id, number, count, status="completed"):
    found = [
        LoggedViolation(
            suite="s",
            case_id=case_id,
            round=number,
            violation=Violation(rule="secret", detail=f"{n}", step=n + 1, excerpt="…"),
            by="safety",
        )
        for n in range(count)
    ]
    return {**row(case_id, round=number, status=status), "violations": to_json(found)}


def test_a_line_a_violation_with_its_case_round_and_step():
    lines = render_violations([looked("a", 1, 0), looked("b", 2, 2)]).splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "suite": "s", "case_id": "b", "round": 2, "by": "safety", "rule": "secret",
            "detail": f"{n}", "severity": "high", "step": n + 1, "excerpt": "…",
        }
        for n in range(2)
    ]  # fmt: skip


def test_empty_means_none_was_found_and_no_file_that_nobody_looked():
    for rows, there in (
        ([looked("a", 1, 0)], True),
        ([row("b"), looked("a", 1, 0)], True),
        ([{**row("a"), "violations": None}], False),
        ([row("a")], False),
    ):
        files = {}
        write_reports(files.__setitem__, passing(), lambda made=rows: iter(made), ReportOptions())
        assert files.get("violations.jsonl") == ("" if there else None)


def test_the_first_by_case_and_round_are_kept_whatever_order_they_come_in():
    rows = [looked(f"c{n:03}", r, 3) for n in range(60) for r in (1, 2)]
    first = [v for one in rows for v in one["violations"]][:SHOWN]
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        found = FirstViolations()
        for one in rows:
            found.add(one)
        assert found.total == 360
        assert found.list_first() == first


def test_a_tally_counts_them():
    tally = Tally()
    tally.add(looked("a", 1, 2))
    tally.add({**looked("b", 1, 0), "violations": None})
    assert tally.violations.total == 2


@pytest.mark.parametrize(
    ("given", "violations", "unsafe"),
    [
        (looked("a", 1, 3), 3.0, 1.0),
        (looked("a", 1, 0), 0.0, 0.0),
        ({**looked("a", 1, 0), "violations": None}, None, None),
        (looked("a", 1, 0, status="agent_error"), None, None),
    ],
)
def test_a_trial_counts_each_violation_and_once_as_unsafe(given, violations, unsafe):
    values = trial_values(given)
    assert (values["violations"], values["unsafe"]) == (violations, unsafe)
