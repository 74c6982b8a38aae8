"""docs/reports.md explains what report.md shows, heading by heading; reference.md the keys."""

import re
from dataclasses import fields
from itertools import dropwhile, pairwise, takewhile

import pytest

from gate.records import Comparison, Estimate, GateResult, Report, SuiteReport
from gate.report.formats.markdown import Markdown
from tests.support.paths import ROOT
from tests.support.reports import SCENARIOS, rows_of

PAGE = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
TOP = PAGE.partition("## report.md from top")[2].partition("\n## summary.json\n")[0]
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
NAMED = re.compile(r"^(Suite|Metrics|Worse in)\b.*|(?:\s\(?[\d,]+\)?)$")  # what comes behind varies


def rendered(name):
    report = SCENARIOS[name]()
    return Markdown().render(report, rows_of(report)).splitlines()


def headings(lines):
    """Without the title, counts, and names of suites and metrics."""
    for line in lines:
        if found := re.match(r"##+ (.*)", line):
            yield NAMED.sub(lambda match: match[1] or "", found[1]).strip()


def columns(lines):
    for head, rule in pairwise(lines):
        if rule.startswith(("| :", "| -")):
            for cell in head.replace("\xa0", " ").strip("| ").split(" | "):
                name = re.sub(r"^change \(.*\)$", "change", cell.strip())
                yield re.sub(r"^last \d+ ", "", name)


def rows_of_suites(lines):
    """The first column of the table right below each `## Suite`."""
    for number, line in enumerate(lines):
        if line.startswith("## Suite "):
            below = dropwhile(lambda row: not row.startswith("| "), lines[number + 1 :])
            for row in list(takewhile(lambda row: row.startswith("| "), below))[2:]:
                yield re.sub(r"of \d+ failed calls?", "of … failed calls", row.split(" | ")[0][2:])


PLAIN = [name for name in SCENARIOS if name != "hostile"]


def test_the_scenarios_have_what_the_page_must_explain():
    found = {heading for name in PLAIN for heading in headings(rendered(name))}
    assert {"Suite", "Metrics", "Worse in", "Failures, top", "Newly failing"} <= found
    rows = {row for name in PLAIN for row in rows_of_suites(rendered(name))}
    assert {"success rate", "latency", "tokens"} <= rows


@pytest.mark.parametrize("name", PLAIN)
def test_each_heading_column_and_row_of_a_report_is_explained(name):
    lines = rendered(name)
    missing = [one for one in headings(lines) if not re.search(rf"\b{re.escape(one)}\b", TOP)]
    missing += [one for one in columns(lines) if one and f"`{one}`" not in TOP]
    missing += [one for one in rows_of_suites(lines) if f"`{one}`" not in TOP]
    assert missing == []


@pytest.mark.parametrize("record", [Report, SuiteReport, Estimate, Comparison, GateResult])
def test_each_key_of_the_summary_is_explained(record):
    names = [field.name for field in fields(record)]
    assert [name for name in names if f"| `{name}` |" not in REFERENCE] == []
