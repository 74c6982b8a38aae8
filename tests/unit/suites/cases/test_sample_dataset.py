"""The bundled analytics suite is sound: every expected value can be derived from its data."""

import json
import re
from collections import Counter, defaultdict
from contextlib import closing
from typing import Any

import pytest

from gate.agents.sample_agent.analyst import ask
from gate.agents.sample_agent.database import Value, open_image, query
from gate.agents.sample_agent.documents import load_pages
from gate.agents.sample_agent.knowledge import load_knowledge
from gate.agents.sample_agent.options import TOOL_NAMES, SampleOptions
from gate.agents.sample_agent.tools import DEFINITIONS
from gate.errors import Place
from gate.files import bundled
from gate.graders.facts import Facts
from gate.graders.hallucination import RATE, Hallucination
from gate.graders.retrieval import Retrieval
from gate.graders.tool_calls import ToolCalls
from gate.records import Case, Response

ANALYTICS = bundled.folder() / "analytics"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (ANALYTICS / "dataset.jsonl").read_text("utf-8").splitlines()
]
PAGES = {page.id: " ".join(page.text.split()) for page in load_pages(ANALYTICS / "documents")}
KNOWLEDGE = load_knowledge(ANALYTICS)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
GRADERS = (Facts(), Retrieval(pass_k=5), ToolCalls(mode="superset", args="ignore"))
PATTERN = re.compile(r"[\\^(]")  # a text with these is no wording of a document
LED: dict[str, list[float]] = defaultdict(list)  # figures that follow by arithmetic
LED["product-016"] = [140 / 35]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def first(value: Any) -> Any:
    """The first of several right wordings."""
    return value[0] if isinstance(value, list) else value


def rows_of(sql: str) -> list[dict[str, Value]]:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        return query(connection, sql, max_rows=50)


def quotes_of(case: dict[str, Any]) -> list[tuple[str, str]]:
    """(page, words) of each quote that the case rests on."""
    evidence = case["metadata"]["evidence"]
    return [
        (page, quote)
        for page, quotes in evidence.items()
        for quote in ([quotes] if isinstance(quotes, str) else quotes)
    ]


def test_size_and_ids() -> None:
    assert len(CASES) == 200
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert len({case["input"] for case in CASES}) == len(CASES)
    assert len(Counter(case["category"] for case in CASES)) == 11
    assert len(PAGES) >= 40


def test_documents_are_short_and_the_older_ones_have_successors() -> None:
    assert [key for key, text in PAGES.items() if not 60 <= len(text.split()) <= 200] == []
    older = {page.id: page for page in load_pages(ANALYTICS / "previous")}
    assert older.keys() <= PAGES.keys()
    assert all(" ".join(page.text.split()) != PAGES[key] for key, page in older.items())


@each_case
def test_every_key_is_there_and_names_what_exists(case: dict[str, Any]) -> None:
    assert set(case) - {"check_allow"} == {
        "id", "input", "category", "tags", "context", "expected_answer", "expected_facts",
        "relevant_doc_ids", "relevance_scores", "expected_tool_calls", "optimal_steps", "status",
        "metadata",
    }  # fmt: skip
    assert case["status"] == "approved"
    assert {"provenance", "evidence", "sql"} <= case["metadata"].keys()
    grades = case["relevance_scores"]
    assert grades.keys() <= PAGES.keys()
    assert set(grades.values()) <= {1, 2, 3}
    assert case["relevant_doc_ids"] == [page for page, grade in grades.items() if grade >= 2]
    assert {call["name"] for call in case["expected_tool_calls"]} <= set(TOOL_NAMES)
    assert case["optimal_steps"] == len(case["expected_tool_calls"])
    assert case["expected_answer"]
    assert case["expected_facts"]


@each_case
def test_every_fact_can_be_derived(case: dict[str, Any]) -> None:
    """Patterns tell wordings and orders of what the others state, and what must not be said."""
    sql = case["metadata"]["sql"]
    facts = [one for one in case["expected_facts"] if not one.get("regex") or not sql]
    facts = [one for one in facts if not one.get("must_not")]
    quoted = " ".join(quote for _, quote in quotes_of(case))
    if case["category"] == "abstain":
        assert not sql or set(rows_of(sql)[0].values()) == {0}, "there is nothing to count"
        return
    cells = [value for row in rows_of(sql) for value in row.values()] if sql else []
    assert len(cells) <= len(facts)
    for cell, fact in zip(cells, facts, strict=False):
        value = fact["value"]
        assert cell == (
            pytest.approx(value, rel=1e-9) if isinstance(value, float) else first(value)
        )
    for fact in facts[len(cells) :]:
        value = first(fact["value"])
        if isinstance(value, str) and PATTERN.search(value):
            assert any(not PATTERN.search(str(first(one["value"]))) for one in facts)
            continue
        assert (
            value in quoted
            if isinstance(value, str)
            else value in numbers(quoted) + LED[case["id"]]
        )


@each_case
def test_the_context_is_what_the_documents_and_the_query_say(case: dict[str, Any]) -> None:
    """Quotes word for word, then the rows of the query in one line."""
    assert all(quote in PAGES[page] for page, quote in quotes_of(case))
    quoted = [f"{page}: {quote}" for page, quote in quotes_of(case)]
    assert case["context"][: len(quoted)] == quoted
    sql, lines = case["metadata"]["sql"], case["context"][len(quoted) :]
    assert len(lines) == bool(sql)
    if sql:
        rows = "; ".join(", ".join(map(str, row.values())) for row in rows_of(sql))
        assert re.fullmatch(r"database \([^()]+\): (.*)", lines[0])[1] == rows  # type: ignore[index]
    assert case["context"] or case["category"] == "abstain"


@each_case
def test_what_the_answer_states_stands_in_its_context(case: dict[str, Any]) -> None:
    said = numbers(re.sub(r"\b(?:Q\d|H\d|P\d)\b", "", case["expected_answer"]))
    known = numbers(" ".join(case["context"]) + case["input"]) + LED[case["id"]]
    assert [one for one in said if one not in known] == []


def test_tools_are_described_as_they_are() -> None:
    assert set(DEFINITIONS) == set(TOOL_NAMES)


def asked(case: dict[str, Any], options: SampleOptions) -> Response:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        return ask(
            case["input"], nth=1, knowledge=KNOWLEDGE, options=options, connection=connection
        )


def graded(case: dict[str, Any]) -> Case:
    return Case(id=case["id"], input=case["input"], keys=case, place=Place("dataset.jsonl"))


def passes(case: dict[str, Any], options: SampleOptions) -> bool:
    found = asked(case, options)
    return all(grader.grade(graded(case), found).passed is not False for grader in GRADERS)


def rate(options: SampleOptions) -> float:
    return sum(passes(case, options) for case in CASES) / len(CASES)


def test_the_agent_passes_most_cases_and_not_all() -> None:
    assert 0.82 <= rate(SampleOptions()) <= 0.92


def test_worse_agents_pass_clearly_fewer() -> None:
    usual = rate(SampleOptions())
    assert rate(SampleOptions(top_k=1)) <= usual - 0.12
    assert rate(SampleOptions(flaky=0.3)) <= usual - 0.12
    assert rate(SampleOptions(hallucinate=0.5)) <= usual - 0.12
    assert rate(SampleOptions(no_tool=("run_sql",))) <= 0.5


def hallucinated(options: SampleOptions, unverified: str = "apart") -> float:
    """The mean share of an answer's numbers that nothing supports."""
    grader = Hallucination(unverified=unverified)
    rates = [grader.grade(graded(case), asked(case, options)).values[RATE] or 0.0 for case in CASES]
    return sum(rates) / len(rates)


def test_an_honest_agent_invents_no_number_and_one_that_does_is_seen() -> None:
    assert hallucinated(SampleOptions()) == 0.0
    assert 0.2 <= hallucinated(SampleOptions(hallucinate=0.5)) <= 0.6
    assert 0.4 <= hallucinated(SampleOptions(hallucinate=0.5), "count") <= 0.6


def test_the_suite_is_found() -> None:
    assert "analytics" in bundled.suites()
    assert (bundled.folder() / "analytics" / "suite.yml").is_file()
