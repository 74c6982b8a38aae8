"""Others' published results in each report: marked as quoted, and held against nothing."""

import re
from dataclasses import replace

import pytest

from gate.records import QuotedValue
from gate.report.console import render_console
from gate.report.formats.comment import LIMIT, Comment
from gate.report.formats.html import Html
from gate.report.formats.junit import JUnit
from gate.report.formats.markdown import Markdown
from gate.report.wording import published_scores
from gate.report.wording.notes import render_annotations
from gate.text.spans import markdown, plain
from tests.support.reports import P95, SUCCESS, passing, suite
from tests.support.reports import quoted as scenario

VALUE = QuotedValue(metric=SUCCESS, value=0.65, of="GPT-4", year=2023, source="arxiv.org/abs/1")


def of(*values, **changes):
    return passing(suites={"analytics": suite(quoted=values, **changes)})


def told(*values, **changes):
    return [plain(line) for line in published_scores.lines(of(*values, **changes))]


def test_a_line_a_metric_names_who_when_and_where_beside_the_own_value():
    human = replace(VALUE, of="human", value=1, source="by construction")
    assert told(VALUE, human, replace(VALUE, metric=P95, value=900.0, year=2024)) == [
        f"{SUCCESS} 0.92 here; quoted, not measured here: GPT-4 0.65 (2023, arxiv.org/abs/1); "
        "human 1.00 (2023, by construction)",
        f"{P95} 2,281 ms here; quoted, not measured here: GPT-4 900 ms (2024, arxiv.org/abs/1)",
    ]


def test_a_value_that_is_about_right_is_marked():
    (line,) = told(replace(VALUE, value=0.5, approximate=True))
    assert "GPT-4 ~0.50 (2023" in line
    assert "~" not in told(VALUE)[0]
    assert r"GPT-4 \~0.5" in markdown(
        published_scores.lines(of(replace(VALUE, value=0.5, approximate=True)))[0]
    )


def test_several_suites_are_told_apart_and_none_is_told_without_quotations():
    two = {"a": suite("a", quoted=(VALUE,)), "b": suite("b")}
    (line,) = published_scores.lines(passing(suites=two))
    assert plain(line).startswith(f"a: {SUCCESS} 0.92 here")
    assert published_scores.lines(passing()) == []


def test_a_metric_that_was_not_measured_has_no_figure():
    assert told(replace(VALUE, metric="x.y"))[0].startswith("x.y – here; quoted")


RENDERED = {
    "comment": lambda report: Comment().render(report, lambda: iter(())),
    "markdown": lambda report: Markdown().render(report, lambda: iter(())),
    "html": lambda report: Html().render(report, lambda: iter(())),
    "console": lambda report: render_console(report, color=True, unicode=True, width=500),
}


@pytest.mark.parametrize("name", RENDERED)
def test_each_report_shows_it_as_quoted(name):
    text = RENDERED[name](scenario())
    for piece in (
        "quoted",
        "not measured here",
        "mini-SWE-agent",
        "2025",
        "example.org/swe",
        "0.65",
    ):
        assert piece in text
    assert "mini-SWE-agent" not in RENDERED[name](passing())


def test_the_terminal_gives_it_no_colour_and_no_log_annotates_it():
    lines = render_console(scenario(), color=True, unicode=True, width=500).splitlines()
    (line,) = [line for line in lines if "mini-SWE-agent" in line]
    assert "\x1b" not in line
    assert "mini-SWE-agent" not in "".join(render_annotations(scenario()))
    assert "mini-SWE-agent" not in JUnit().render(scenario(), lambda: iter(()))


def test_the_page_gives_it_no_colour_and_no_verdict():
    text = RENDERED["html"](scenario())
    table = text[text.index("<h4>Quoted") :].split("</table>")[0]
    assert not [word for word in ("bad", "ok", "warn", "❌", "✅") if f'"{word}"' in table]


@pytest.mark.parametrize("name", ["comment", "markdown", "console"])
def test_nothing_but_the_quotation_differs(name):
    """Not the heading, not a row of a table, not the next step."""
    own, both = (RENDERED[name](report).splitlines() for report in (of(), of(VALUE)))
    assert [line for line in own if line not in both] == []
    added = {line for line in both if line not in own}
    mine = (
        "GPT-4",
        published_scores.NOTE,
        "### Quoted",
        "| Metric | here | quoted |",
        "| :-- | --: | --:",
    )
    assert added
    assert not [line for line in added if not any(piece in line for piece in mine)]


def test_nothing_but_the_quotation_differs_in_the_page():
    both = RENDERED["html"](of(VALUE))
    table = re.compile(r"<h4>Quoted</h4>.*?</div><p>[^<]*</p>\s?", re.DOTALL)
    assert "".join(table.sub("", both).split()) == "".join(RENDERED["html"](of()).split())


def test_ten_thousand_of_them_are_cut():
    many = [replace(VALUE, metric=f"m{n % 200}", of="x" * 500) for n in range(10_000)]
    report = of(*many)
    assert len(published_scores.lines(report)) == 20
    assert len(RENDERED["comment"](report)) < LIMIT / 2
    assert len(RENDERED["html"](report)) - len(RENDERED["html"](of())) < 200_000
