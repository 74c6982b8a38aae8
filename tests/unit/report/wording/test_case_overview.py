"""Failing cases in a comment: what was asked, expected, answered before and now; one row each."""

import re
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from gate.records import CaseChanges, CaseTexts
from gate.report.wording.case_overview import list_failing, texts_table, worse_overview
from gate.report.wording.sentences import report_links
from gate.text.hidden import show_hidden
from gate.text.spans import plain
from tests.support.reports import comparison, many_failing, passing, regression

SUITE = "analytics"
HOSTILE = "</td><script>@octocat \u202e`|`"


def with_texts(report, texts):
    suite = replace(report.suites[SUITE], texts=texts)
    return replace(report, suites={**report.suites, SUITE: suite})


def test_a_row_says_what_was_asked_expected_answered_before_and_now():
    made = regression()
    first = made.cases.newly_failing[0].case_id
    texts = {first: CaseTexts(asked="How many?", expected="54", was="There are 54.", now=None)}
    made = with_texts(made, texts)
    cases = list_failing(made)
    assert {case.case_id for case in cases} == {c.case_id for c in made.cases.newly_failing}
    table = texts_table(made, [case for case in cases if case.case_id == first])
    assert "| Newly failing | asked | expected | before | now |" in table
    assert "`How many?` | `54` | `There are 54.` | no answer |" in table


PAGE = "https://octo.github.io/bot/reports/12/report.html"


def test_cases_lead_to_the_hosted_page_in_the_form_that_it_reads():
    hostile = ("a/b", "a b", "x)|(y", "ü#&=%+`", "\N{ZERO WIDTH SPACE}", "<b>", "half\ud800")
    made = regression(page_url=PAGE + "#old")
    failing = [replace(made.cases.newly_failing[0], case_id=name) for name in hostile]
    made = replace(made, cases=CaseChanges(newly_failing=tuple(failing)))
    for table in (texts_table(made, list_failing(made)), worse_overview(made, most=9)):
        found = dict.fromkeys(re.findall(r"\]\((\S*)\) ", table))
        assert all(re.fullmatch(re.escape(PAGE) + r"#case=[\w.~%+-]+", url) for url in found)
        asked = [parse_qs(url.partition("#")[2])["case"] for url in found]
        names = map(show_hidden, hostile)
        assert sorted(asked) == sorted([f"{SUITE}/{name}"] for name in names)


def test_without_a_hosted_page_and_with_an_odd_address_nothing_is_linked():
    for url in ("", "javascript:alert(1)", "https://evil)"):
        made = regression(page_url=url)
        assert "](" not in texts_table(made, list_failing(made))
        assert plain(report_links(made)) == "run and full report"
    hosted = regression(page_url=PAGE)
    assert next(span.url for span in report_links(hosted) if span.url) == PAGE
    assert plain(report_links(hosted)) == "report · run"


def test_an_answer_that_nobody_stored_is_said_to_be_missing():
    made = regression()
    first = made.cases.newly_failing[0].case_id
    made = with_texts(made, {first: CaseTexts(asked="q", expected="", was=None, now="n")})
    table = texts_table(made, list_failing(made)[:1])
    assert "| no stored answer | `n` |" in table
    assert "expected" not in table
    assert "before" not in texts_table(replace(made, shows_answers=False), list_failing(made)[:1])


def test_an_answer_that_did_not_change_says_why_it_fails_now():
    made = regression()
    first = replace(made.cases.newly_failing[0], mode="retrieval_miss")
    made = replace(made, cases=CaseChanges(newly_failing=(first,)))
    made = with_texts(made, {first.case_id: CaseTexts(asked="q", was="same", now="same")})
    assert "| `same` | the same; retrieval miss |" in texts_table(made, list_failing(made))
    cut = CaseTexts(asked="q", was="same…", now="same…")
    made = with_texts(made, {first.case_id: cut})
    assert "the same;" not in texts_table(made, list_failing(made)[:1]), "the rest may differ"


@pytest.mark.parametrize(
    ("expected", "cell"),
    [
        ("54 tickets.; documents kb-001, kb-007, kb-012, kb-043", "`54 tickets. …`"),
        ("value: 1120.91, unit: USD; documents a", "`value: 1120.91, unit: USD …`"),
        ("54; 55; 56", "`54; 55; 56`"),
        ("a first one that does not fit into it; b", "`a first one that does not fit into…`"),
    ],
)
def test_of_several_expectations_those_that_fit_are_shown_whole(expected, cell):
    made = regression()
    first = made.cases.newly_failing[0].case_id
    made = with_texts(made, {first: CaseTexts(asked="q", expected=expected, now="n")})
    assert f"| {cell} |" in texts_table(made, list_failing(made)[:1])


def test_without_a_baseline_failing_cases_stand_with_their_answers():
    texts = {"c1": CaseTexts(asked="q", expected="e", was=None, now="n")}
    nothing = comparison(n_paired=0)
    made = replace(with_texts(passing(), texts), comparisons=(nothing,), cases=CaseChanges())
    (case,) = list_failing(made)
    assert texts_table(made, [case]).splitlines()[0] == "| Failing | asked | expected | now |"


def test_a_run_that_fails_otherwise_shows_the_cases_that_fail_and_no_others():
    texts = {
        "fails": CaseTexts(asked="q", was="before", now="now", failed=True),
        "new": CaseTexts(asked="q", now="now", failed=True),
        "passes": CaseTexts(asked="q", was="before", now="now", failed=False),
    }
    made = with_texts(regression(cases=CaseChanges()), texts)
    cases = list_failing(made)
    assert [case.case_id for case in cases] == ["fails", "new"]
    *_, first, second = texts_table(made, cases).splitlines()
    assert first == "| `fails` | `q` | `before` | `now` |"
    assert second == "| `new` | `q` | – | `now` |"
    well = with_texts(passing(cases=CaseChanges()), texts)
    assert list_failing(well) == []


def test_hostile_texts_stay_in_their_cell():
    made = regression()
    first = made.cases.newly_failing[0].case_id
    told = CaseTexts(asked=HOSTILE, expected=HOSTILE, was=HOSTILE, now=HOSTILE)
    table = texts_table(
        with_texts(made, {first: told}), list_failing(with_texts(made, {first: told}))[:1]
    )
    assert "<script>" not in table.replace("`", "") or "`" in table
    assert len(table.splitlines()) == 3
    assert "\u202e" not in table


def test_cases_that_got_worse_are_one_table_and_the_rest_is_counted():
    made = many_failing(40)
    table = worse_overview(made, most=10)
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 10
    assert table.endswith("more in `report.md`.")
    assert worse_overview(replace(passing(), cases=CaseChanges()), most=10) == ""
