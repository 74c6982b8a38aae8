"""The bundled analytics suite is sound: every expected value can be derived from its data."""

import json
import re
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from gate import bundled
from gate.sample.analyst import ask
from gate.sample.database import open_image, query
from gate.sample.documents import load_pages
from gate.sample.knowledge import load_knowledge
from gate.sample.options import TOOL_NAMES, SampleOptions
from gate.sample.tools import DEFINITIONS

ANALYTICS = bundled.folder() / "analytics"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (ANALYTICS / "dataset.jsonl").read_text("utf-8").splitlines()
]
PAGES = {page.id: " ".join(page.text.split()) for page in load_pages(ANALYTICS / "documents")}
KNOWLEDGE = load_knowledge(ANALYTICS)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def near(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= max(tolerance * abs(other), 1e-9)


def test_size_and_ids() -> None:
    assert len(CASES) >= 60
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert len({case["input"] for case in CASES}) == len(CASES)
    assert len(Counter(case["category"] for case in CASES)) >= 8
    assert len(PAGES) >= 40


def test_documents_are_short_and_the_older_ones_have_successors() -> None:
    assert [key for key, text in PAGES.items() if not 60 <= len(text.split()) <= 200] == []
    older = {page.id: page for page in load_pages(ANALYTICS / "previous")}
    assert older.keys() <= PAGES.keys()
    assert all(" ".join(page.text.split()) != PAGES[key] for key, page in older.items())


@each_case
def test_every_key_is_there_and_names_what_exists(case: dict[str, Any]) -> None:
    assert set(case) == {
        "id", "input", "category", "tags", "expected_answer", "expected_facts", "relevant_doc_ids",
        "expected_tool_calls", "optimal_steps", "status", "metadata",
    }  # fmt: skip
    assert case["status"] == "approved"
    assert case["metadata"]["provenance"] == "project"
    assert set(case["relevant_doc_ids"]) <= PAGES.keys()
    assert {call["name"] for call in case["expected_tool_calls"]} <= set(TOOL_NAMES)
    assert case["optimal_steps"] == len(case["expected_tool_calls"])
    assert case["expected_facts"]


@each_case
def test_every_fact_can_be_derived(case: dict[str, Any]) -> None:
    evidence, sql = case["metadata"]["evidence"], case["metadata"]["sql"]
    assert all(quote in PAGES[key] for key, quote in evidence.items())
    facts = case["expected_facts"]
    if sql:
        with closing(open_image(KNOWLEDGE.database.image)) as connection:
            rows = query(connection, sql, max_rows=50)
        cells = [value for row in rows for value in row.values()]
        for cell, fact in zip(cells, facts, strict=True):
            value = fact["value"]
            assert cell == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9))
    elif case["category"] != "abstain":
        text = " ".join(evidence.values())
        for fact in facts:
            value = fact["value"]
            assert value in text if isinstance(value, str) else value in numbers(text)


def test_tools_are_described_as_they_are() -> None:
    assert set(DEFINITIONS) == set(TOOL_NAMES)


def passes(case: dict[str, Any], options: SampleOptions) -> bool:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        found = ask(
            case["input"], nth=1, knowledge=KNOWLEDGE, options=options, connection=connection
        )
    for fact in case["expected_facts"]:
        value = fact["value"]
        if isinstance(value, str):
            right = re.search(rf"\b{re.escape(value.casefold())}\b", found.answer.casefold())
        else:
            right = any(near(n, value, fact["tolerance"]) for n in numbers(found.answer))
        if not right:
            return False
    wanted = Counter(call["name"] for call in case["expected_tool_calls"])
    return not wanted - Counter(step.name for step in found.steps or ())


def rate(options: SampleOptions) -> float:
    return sum(passes(case, options) for case in CASES) / len(CASES)


def test_the_agent_passes_most_cases_and_not_all() -> None:
    assert 0.85 <= rate(SampleOptions()) <= 0.95


def test_worse_agents_pass_clearly_fewer() -> None:
    usual = rate(SampleOptions())
    assert rate(SampleOptions(top_k=1)) <= usual - 0.12
    assert rate(SampleOptions(flaky=0.3)) <= usual - 0.12
    assert rate(SampleOptions(no_tool=("run_sql",))) <= 0.5


def test_the_suite_is_found() -> None:
    assert "analytics" in bundled.suites()
    assert (bundled.folder() / "analytics" / "suite.yml").is_file()
