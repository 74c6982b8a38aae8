"""Documents, words and BM25 of the sample agent."""

import math
from pathlib import Path

import pytest

from gate.agents.sample_agent.bm25 import build_index, stem, stems
from gate.agents.sample_agent.documents import KnowledgePage, load_pages
from gate.errors import UsageError


def page(number: int, text: str, title: str = "x") -> KnowledgePage:
    return KnowledgePage(id=f"kb-{number}", title=title, text=text)


def test_score_is_the_documented_formula() -> None:
    index = build_index((page(1, "apple pear apple"), page(2, "plum pear"), page(3, "plum kiwi")))
    (hit,) = index.search("apple", top_k=5)
    lengths = [5, 4, 4]  # the title "x" counts twice
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * lengths[0] / (sum(lengths) / 3)))
    assert hit.page.id == "kb-1"
    assert hit.score == pytest.approx(expected)


def test_equal_scores_go_by_id_and_no_shared_word_is_no_hit() -> None:
    index = build_index((page(3, "plum"), page(2, "plum"), page(1, "kiwi")))
    assert [hit.page.id for hit in index.search("plum", top_k=5)] == ["kb-2", "kb-3"]
    assert index.search("the of and", top_k=5) == ()


def test_skip_leaves_the_best_out() -> None:
    index = build_index((page(1, "plum plum plum"), page(2, "plum other words here")))
    assert [hit.page.id for hit in index.search("plum", top_k=1, skip=1)] == ["kb-2"]


def test_title_words_count_more_than_words_of_the_text() -> None:
    index = build_index((page(1, "a word on refunds"), page(2, "some words here", "Refunds")))
    assert index.search("refund", top_k=1)[0].page.id == "kb-2"


@pytest.mark.parametrize(
    ("one", "other"),
    [("invoices", "invoice"), ("policies", "policy"), ("refunded", "refund"), ("pricing", "price"),
     ("planned", "plan"), ("classes", "class")],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_numbers_names_and_wide_letters_survive() -> None:
    assert stems("The Ｐ１ tickets of 2,500.5 USD") == ("p1", "ticket", "2,500.5", "usd")


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_an_older_wording_takes_the_place_of_its_successor(tmp_path: Path) -> None:
    head = "---\nid: kb-1\ntitle: Returns\n---\n\n"
    write(tmp_path / "now", "a.md", head + "Within 30 days.")
    write(tmp_path / "then", "a.md", head + "Within 14 days.")
    assert load_pages(tmp_path / "now")[0].text == "Within 30 days."
    assert load_pages(tmp_path / "now", tmp_path / "then")[0].text == "Within 14 days."


@pytest.mark.parametrize(
    "text", ["no head", "---\nid: kb-1\n---\n\nno title", "---\ntitle: x\n---\n"]
)
def test_a_document_without_id_or_title_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path / "docs", "bad.md", text)
    with pytest.raises(UsageError, match=r"bad\.md:1: a document starts with"):
        load_pages(tmp_path / "docs")


def test_a_folder_without_documents_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no documents"):
        load_pages(tmp_path)


def test_sentences_leave_formulas_out() -> None:
    text = "First one. Second\none; still.\n\nCalculation: `a` over `b`, in USD.\n\nAlso called: c."
    assert page(1, text).sentences() == ("First one.", "Second one; still.")
