import base64
import hashlib
import html
import re
from html.parser import HTMLParser

import pytest

from gate.records import CaseChanges, CausePart, FailureCause
from gate.report.formats import html as reporter
from gate.report.formats.html import Html
from tests.support.report_page import unpack_page
from tests.support.reports import (
    HOSTILE,
    SCENARIOS,
    change,
    hostile,
    hostile_rows,
    many_failing,
    passing,
    regression,
    row,
    rows_of,
    several_suites,
)

OURS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h4", "h5", "span", "p",
    "main", "section", "div", "table", "thead", "tbody", "tr", "th", "td", "code", "small", "form",
    "label", "input", "select", "option", "output", "details", "summary", "em", "pre", "ol", "ul",
    "li", "dl", "dt", "dd", "strong", "script", "a",
    "svg", "rect", "line", "circle", "article", "h3",
}  # fmt: skip
VOID = {"meta", "input"}  # those of SVG close themselves


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.is_unbalanced = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.is_unbalanced.append(tag)

    def handle_data(self, data):
        self.text += data


def render(report, *rows):
    return Html().render(report, lambda: iter(rows))


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_page_is_whole_and_needs_nothing_else(name):
    report = SCENARIOS[name]()
    text = Html().render(report, hostile_rows if name == "hostile" else rows_of(report))
    page = Page(text)
    assert set(page.tags) <= OURS
    assert page.is_unbalanced == []
    assert page.open == []
    kinds = [value for tag, name, value in page.attributes if (tag, name) == ("script", "type")]
    assert set(kinds) <= {"application/gzip;base64"}  # which no browser runs
    assert (page.tags.count("script") - len(kinds), page.tags.count("style")) == (1, 1)
    assert not [a for a in page.attributes if a[1].startswith("on") or a[1] in ("src", "style")]
    links = {value for tag, name, value in page.attributes if name == "href"}
    ours = ("https://github.com/acme/assistant/", "#case=")
    assert all(link.startswith(ours) for link in links)


def test_only_our_own_script_and_style_may_run():
    text = render(passing())
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)[1]
    policy = html.unescape(policy)
    assert "default-src 'none'" in policy
    for tag in ("script", "style"):
        body = re.search(f"<{tag}>(.*?)</{tag}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_a_case_shows_question_answer_scores_reasons_and_trace():
    bad = row(
        passed=False,
        steps=[{"name": "sql", "arguments": {"q": 1}, "result": None, "error": "no such table"}],
    )
    page = Page(render(regression(), bad))
    for words in ("How did churn develop", "Churn fell from", "4.2 % is not in the answer",
                  "correctness.fact_accuracy", "no such table", '{"q": 1}', "kb-112"):  # fmt: skip
        assert words in page.text


def test_an_unanswered_trial_says_so():
    down = row(passed=None, status="infra_error", error="connection refused", output=None,
               steps=None, retrieved_ids=None, usage=None, latency_ms=None)  # fmt: skip
    page = Page(render(passing(), down))
    assert "Round 1: infra error" in page.text
    assert "connection refused" in page.text


def test_newly_failing_cases_come_first_then_failing_ones():
    report = passing(cases=CaseChanges(newly_failing=(change(1, case_id="new"),)))
    text = render(report, row("a"), row("b", passed=False), row("new", passed=False))
    names = re.findall(r'<span class="name"><code>(.*?)</code>', text)
    assert names == ["new", "b", "a"]


def test_the_worst_twenty_stand_in_the_page_and_all_others_in_its_blocks():
    rows = [row(f"c{n:05}", passed=n % 100 != 0) for n in range(5_001)]
    text = render(passing(cases=CaseChanges(flaky=(change(1, case_id="c00001"),))), *rows)
    assert text.count('<details class="case"') == reporter.SHOWN
    names = re.findall(r'<span class="name"><code>(.*?)</code>', text)
    assert names[:2] == ["c00000", "c00100"]
    index, details = unpack_page(text)
    assert len(index["id"]) == len(set(index["id"])) == 5_001
    assert sum(len(block) for block in details) == 5_001
    assert "as this page would be too large" not in text


def test_few_cases_show_everything():
    text = render(passing(), *(row(f"c{n}") for n in range(20)))
    assert text.count('<details class="case"') == 20
    assert "as this page would be too large" not in text


def test_long_texts_and_traces_are_cut():
    step = {
        "name": "t",
        "arguments": None,
        "raw_arguments": "x" * 9_000,
        "result": None,
        "error": None,
    }
    text = render(passing(), row(output="y" * 2_000_000, steps=[step] * 80))
    assert len(text) < 150_000
    assert "30 more steps" in text
    _, ((case,),) = unpack_page(text)
    (trial,) = case["rounds"]
    assert len(trial["output"]) == 20_000
    assert len(trial["steps"][0]["raw_arguments"]) == 2_000
    assert "Long texts of 1 case are cut; they are whole in details.jsonl." in text


def test_suites_are_named_where_there_are_several():
    report = several_suites()
    text = Html().render(report, rows_of(report))
    assert "<h2>Suites</h2>" in text
    assert "All metrics of dialogue" in text


def test_how_it_was_decided_has_no_heading_where_there_is_nothing_to_say():
    assert "How this was decided" in render(passing())
    assert "How this was decided" not in render(passing(comparisons=(), gates=()))


def test_hostile_text_is_text():
    text = Html().render(hostile(), hostile_rows)
    page = Page(re.sub("<script type.*?</script>", "", text))
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "\u202e" not in page.text
    assert "\x1b" not in page.text
    assert HOSTILE not in page.text


def test_causes_are_cards_that_link_to_their_cases():
    part = CausePart(kind="argument", what="search.top_k", was="5", now="1", cases=33, of=33)
    cases = tuple(f"c{n:02}" for n in range(33))
    found = FailureCause(suite="analytics", parts=(part,), cases=cases)
    report = many_failing(33, causes=(found,))
    text = render(report, row("c00"))
    page = Page(re.search('<div class="cards">.*?</div>', text, re.S)[0])
    assert "Cause 1 (all 33 cases)" in page.text
    assert "search.top_k  5 → 1" in page.text
    assert "and 30 more" in page.text
    assert ("a", "href", "#case=analytics%2Fc00") in page.attributes
