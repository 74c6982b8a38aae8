"""What is left of a report that a fork's own run made."""

from dataclasses import replace

from gate.records import CaseTexts
from gate.store.foreign_report import origin_of, strip_report
from tests.support.reports import SCENARIOS

TEXTS = {"a": CaseTexts(asked="q", expected="yes", was="yes", now="no", why="not yes")}


def test_expectations_and_what_came_before_can_be_taken_out():
    made = next(iter(SCENARIOS.values()))()
    page = "https://evil.example/report.html"
    report = replace(
        made, page_url=page, suites={n: replace(s, texts=TEXTS) for n, s in made.suites.items()}
    )
    for shown in (True, False):
        safe = strip_report(report, origin_of(report), shows_answers=shown)
        assert safe.shows_answers is shown
        assert safe.page_url == "", "an address that the fork wrote"
        for suite in safe.suites.values():
            assert suite.texts == (TEXTS if shown else {"a": CaseTexts(asked="q", now="no")})
