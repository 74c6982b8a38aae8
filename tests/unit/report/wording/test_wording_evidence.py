"""What server logs say of declared calls, in words and in each report."""

import pytest

from gate.records import EvidenceCounts
from gate.report.console import render_console
from gate.report.formats.html import Html
from gate.report.formats.markdown import Markdown
from gate.report.wording import case_totals, evidence
from gate.text.spans import plain
from tests.support.reports import evidence_counts, passing, row, row_evidence, suite


def told(**changes):
    return plain(evidence.summary(suite(evidence=evidence_counts(**changes))))


def test_the_sentence_counts_and_names():
    assert told() == (
        "Server logs: 30 of 36 answers verified, 2 incomplete (not logged: FI-1 "
        "local_documents_scan, MX-1 web_fetch), 4 unknown (no server log could be read); 1 answer "
        "declares a call that is in no log: MX-1 web_fetch"
    )
    many = tuple((f"T-{n}", "shell") for n in range(5))
    assert told(fabricated=7, fabricated_calls=many).endswith(
        "7 answers declare a call that is in no log: T-0 shell, T-1 shell, T-2 shell, ..."
    )


def test_what_did_not_happen_is_not_told():
    whole = plain(evidence.summary(suite(evidence=EvidenceCounts(complete=1))))
    assert whole == "Server logs: 1 of 1 answer verified"
    assert evidence.summary(suite()) == ()
    assert evidence.lines(passing()) == []


def report():
    return passing(suites={"analytics": suite(evidence=evidence_counts())})


ROWS = (
    row("MX-1", 1, evidence=row_evidence()),
    row("MX-1", 2, evidence=row_evidence("incomplete", missing=["a", "b"], fabricated=["b", "b"])),
    row("MX-1", 3, evidence=row_evidence("unknown", notes=["no server log could be read"])),
    row("other", 1),
)


def test_report_md_has_a_row_a_trial():
    text = Markdown().render(report(), lambda: iter(ROWS))
    table = text.split("### Server logs")[1].split("###")[0]
    assert "| `MX-1` | 1 | complete | – | – |" in table
    assert "| `MX-1` | 2 | incomplete | a and b | b (2 times) |" in table
    assert "| `MX-1` | 3 | unknown: no server log could be read | – | – |" in table
    assert "| `other` |" not in table
    assert "### Server logs" not in Markdown().render(passing(), lambda: iter(ROWS[3:]))


def test_report_html_has_them_too_and_each_trial_its_own():
    text = Html().render(report(), lambda: iter(ROWS))
    assert text.count("Server logs of analytics") == 1
    assert "<td>incomplete</td><td>a and b</td><td>b (2 times)</td>" in text
    assert "Server logs: incomplete; not logged: <code>a and b</code>" in text
    assert "Server logs" not in Html().render(passing(), lambda: iter(ROWS[3:]))


def test_the_terminal_has_the_sentence():
    text = render_console(report(), color=False, unicode=True, width=400)
    assert told() in text


@pytest.mark.parametrize("more", [0, 3])
def test_a_table_has_an_end(more):
    book = case_totals.SuiteBook()
    for number in range(case_totals.CHECKED + more):
        book.add(row("a", number, evidence=row_evidence()))
    assert (len(book.checked), book.unlisted) == (case_totals.CHECKED, more)
