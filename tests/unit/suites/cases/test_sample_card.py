"""The data card of the analytics suite says what the file holds, and the questions are varied."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest

from gate.agents.sample_agent.bm25 import stems
from gate.agents.sample_agent.database import load_database
from gate.files import bundled

ANALYTICS = bundled.folder() / "analytics"
CARD = (ANALYTICS / "README.md").read_text("utf-8")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (ANALYTICS / "dataset.jsonl").read_text("utf-8").splitlines()
]
NAMES = sorted(
    (name for known in load_database(ANALYTICS / "database").values.values() for name in known),
    key=lambda name: -len(name),
)
NAME = re.compile(r"\b(?:" + "|".join(map(re.escape, NAMES)) + r")s?\b", re.IGNORECASE)
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
DATE = re.compile(
    rf"\b(?:20\d\d-\d\d-\d\d|(?:(?:q[1-4]|h[12]|(?:first|second|third|fourth) (?:quarter|half)"
    rf"|{MONTHS})(?: of)?(?: 20\d\d)?)|20\d\d)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d[\d,.]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
    re.IGNORECASE,
)


def masked(question: str) -> str:
    """As the card has it: names of the database, then dates, then numbers give way to a mark."""
    for pattern in (NAME, DATE, NUMBER):
        question = pattern.sub("#", question)
    return " ".join(question.casefold().split())


def told(heading: str) -> dict[str, str]:
    """The first two columns of the table below a heading of the card."""
    section = CARD.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {row[0].strip().strip("`"): row[1].strip() for row in rows[2:]}


def counted(words: Iterable[str]) -> dict[str, str]:
    return {word: str(n) for word, n in Counter(words).items()}


def test_the_mask_hides_names_dates_and_numbers_and_nothing_else() -> None:
    assert masked("Top 3 regions by MRR in Q2 2026") == "top # regions by mrr in #"
    assert masked("Did Gatehub XL sell in the first half of 2025?") == "did # sell in the #?"
    assert (
        masked("How many P1 tickets did Nettle College open?") == "how many # tickets did # open?"
    )


def test_no_masked_question_comes_more_than_five_times() -> None:
    often = Counter(masked(case["input"]) for case in CASES)
    assert max(often.values()) <= 5
    said = re.search(r"The most frequent masked question occurs (\d+) times?", CARD)
    assert said is not None
    assert int(said[1]) == max(often.values())


def test_no_question_is_nearly_another() -> None:
    """Jaccard similarity of the stems, names and dates included."""
    words = {case["id"]: set(stems(case["input"])) for case in CASES}
    near = [
        (a, b) for (a, x), (b, y) in combinations(words.items(), 2) if len(x & y) > 0.8 * len(x | y)
    ]
    assert near == []


def test_the_questions_are_short_and_long() -> None:
    lengths = [len(case["input"].split()) for case in CASES]
    assert min(lengths) <= 6
    assert max(lengths) >= 24


@pytest.mark.parametrize(
    ("heading", "found"),
    [
        ("Categories", counted(case["category"] for case in CASES)),
        ("Tags", counted(tag for case in CASES for tag in case["tags"])),
        ("Grades", counted(str(g) for case in CASES for g in case["relevance_scores"].values())),
        ("Provenance", counted(case["metadata"]["provenance"]["kind"] for case in CASES)),
    ],
)
def test_the_card_counts_as_the_file_does(heading: str, found: dict[str, str]) -> None:
    assert told(heading) == found


def test_the_card_says_how_many_cases_have_what() -> None:
    without_answer = sum(case["category"] == "abstain" for case in CASES)
    several = sum(len(set(case["relevance_scores"].values())) > 1 for case in CASES)
    assert without_answer >= 20
    assert several >= 60
    assert f"| Cases | {len(CASES)}, of which {without_answer} have no answer |" in CARD
    assert f"{several} cases have two or more different grades" in CARD


def test_who_made_a_case_and_when_stands_beside_it() -> None:
    for case in CASES:
        made = case["metadata"]["provenance"]
        assert made.keys() == {"kind", "by", "date"}
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", made["date"])
        assert ("review" in case["metadata"]) == (made["kind"] == "reviewed")
    assert sum(case["metadata"]["provenance"]["kind"] == "expert" for case in CASES) >= 50
