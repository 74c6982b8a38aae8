"""The sample agent computes its answers: other data, another answer."""

import csv
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from gate.agents.sample_agent.analyst import ask, tokens
from gate.agents.sample_agent.database import open_image
from gate.agents.sample_agent.knowledge import load_knowledge
from gate.agents.sample_agent.options import SampleOptions
from gate.files import bundled
from gate.records import Response

ANALYTICS = bundled.folder() / "analytics"
REVENUE = "What was net revenue in EMEA in Q2 2026?"
RETURNS = "Within how many days of delivery may customers return unused hardware?"
BACKLOG = "How large is the collections backlog, given the collections hand-over limit?"


def answer(
    question: str, folder: Path = ANALYTICS, options: SampleOptions | None = None
) -> Response:
    options = options or SampleOptions()
    knowledge = load_knowledge(folder, stale=options.stale)
    with closing(open_image(knowledge.database.image)) as connection:
        return ask(question, nth=1, knowledge=knowledge, options=options, connection=connection)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ANALYTICS, tmp_path / "analytics"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} should hold {old!r} once"
    path.write_text(text.replace(old, new), encoding="utf-8")


def emea_orders(folder: Path) -> list[dict[str, str]]:
    with (folder / "database" / "customers.csv").open(encoding="utf-8", newline="") as file:
        emea = {row["customer_id"] for row in csv.DictReader(file) if row["region"] == "EMEA"}
    with (folder / "database" / "orders.csv").open(encoding="utf-8", newline="") as file:
        return [
            row
            for row in csv.DictReader(file)
            if row["customer_id"] in emea
            and row["order_status"] == "completed"
            and "2026-04-01" <= row["ordered_on"] <= "2026-06-30"
        ]


def test_a_figure_is_the_sum_of_its_rows(folder: Path) -> None:
    total = sum(float(row["amount_usd"]) for row in emea_orders(folder))
    assert f"{total:,.2f} USD" in answer(REVENUE, folder).answer


def test_changing_a_row_changes_the_answer(folder: Path) -> None:
    row = emea_orders(folder)[0]
    before = answer(REVENUE, folder)
    line = ",".join(row.values())
    dearer = ",".join({**row, "amount_usd": str(float(row["amount_usd"]) + 1000)}.values())
    edit(folder / "database" / "orders.csv", line, dearer)
    after = answer(REVENUE, folder)
    total = sum(float(r["amount_usd"]) for r in emea_orders(folder))
    assert f"{total:,.2f} USD" in after.answer
    assert before.answer != after.answer


def test_changing_a_sentence_changes_the_answer(folder: Path) -> None:
    assert "30 days" in answer(RETURNS, folder).answer
    edit(folder / "documents" / "kb-025.md", "within 30 days", "within 45 days")
    assert "45 days" in answer(RETURNS, folder).answer


def test_changing_a_definition_changes_the_figure(folder: Path) -> None:
    edit(folder / "documents" / "kb-001.md", "= 'completed'", "<> 'cancelled'")
    sql = answer(REVENUE, folder).steps[-1].arguments["sql"]  # type: ignore[index]
    assert "order_status <> 'cancelled'" in sql
    assert answer(REVENUE, folder).answer != answer(REVENUE).answer


def test_the_limit_of_a_policy_goes_into_the_query(folder: Path) -> None:
    before = answer(BACKLOG, folder)
    assert "> 40.0" in before.steps[-1].arguments["sql"]  # type: ignore[index]
    assert "The collections hand-over is 40 days. [kb-015] [kb-027]" in before.answer
    edit(folder / "documents" / "kb-027.md", "more than 40", "more than 90")
    after = answer(BACKLOG, folder)
    assert "> 90.0" in after.steps[-1].arguments["sql"]  # type: ignore[index]
    assert before.answer != after.answer


def test_without_the_policy_among_the_retrieved_it_says_what_is_missing() -> None:
    found = answer(BACKLOG, options=SampleOptions(top_k=1))
    assert (
        "collections hand-over, which I did not find" in found.answer or "[kb-027]" in found.answer
    )
    assert "USD" not in found.answer


def test_without_the_definition_there_is_no_figure() -> None:
    question = "Compare MRR in EMEA and APAC at the end of June 2026."
    assert "22,706.00 USD" in answer(question).answer
    assert "USD" not in answer(question, options=SampleOptions(top_k=1)).answer


def test_every_answer_cites_what_was_retrieved() -> None:
    for question in (REVENUE, RETURNS, BACKLOG, "What does gross margin mean?"):
        found = answer(question)
        cited = found.answer.rpartition("[")[2].rstrip("].")
        assert cited in {document.id for document in found.retrieved or ()}


def test_the_trace_says_what_was_done() -> None:
    found = answer(REVENUE)
    steps = found.steps or ()
    assert [step.name for step in steps] == ["search_documents", "describe_table", "run_sql"]
    assert steps[0].arguments == {"query": REVENUE, "top_k": 5}
    assert steps[2].result[0]["matching"] > 0
    assert [step.id for step in steps] == ["call-1", "call-2", "call-3"]
    assert found.retrieved is not None
    assert len(found.retrieved) == 5
    assert str(steps[2].result[0]["value"]) in (found.context or "")


def test_tokens_are_a_fourth_of_the_characters_rounded_up() -> None:
    assert [tokens(""), tokens("a"), tokens("abcd"), tokens("abcde")] == [0, 1, 1, 2]
    found = answer(REVENUE)
    assert found.usage.input_tokens == 180 + tokens(REVENUE) + tokens(found.context or "")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the chief executive of Fernhill?", "I do not know"),
        ("What was net revenue in 2019?", "no matching rows"),
        ("How many P1 tickets by plan were opened?", "cannot be split by plan"),
        ("Show MRR by month in 2025", "has no date by which it could be split"),
        (
            "How high will MRR be at the end of 2027?",
            "I do not know Monthly recurring revenue in 2",
        ),
        (
            "How many orders were cancelled in 2025?",
            "has no date by which a period could be chosen",
        ),
        ("What was net revenue from Solarnode in 2025?", "I do not know Solarnode"),
        ("How many tickets did Falcon Works open?", "I do not know Falcon"),
        ("Which tables does the database have?", "orders, invoices, tickets"),
        ("", "I do not know"),
    ],
)
def test_what_it_cannot_answer_it_says(question: str, expected: str) -> None:
    assert expected in answer(question).answer


def test_equal_questions_have_equal_answers() -> None:
    assert answer(REVENUE) == answer(REVENUE)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Net revenue of EMEA and APAC together in 2025", "for EMEA and APAC in 2025"),
        ("Net revenue by quarter in 2025", "2025 Q1 27,495.45 USD; 2025 Q2"),
        ("Did net revenue fall from Q2 2026 to Q1 2026?", "The change is -118,860.55 USD"),
        ("Compare net revenue in Q1 2026 with Q2 2026", "The higher figure is the one in Q2 2026"),
        ("Compare MRR in APAC and EMEA", "the one for EMEA, by 11,321.00 USD (99.44 percent)"),
        ("What share of net revenue in 2019 came from EMEA?", "no matching rows"),
        ("Which region had the lowest units sold in 2025?", "(lowest first, in 2025): LATAM"),
        ("Compare units sold in EMEA, APAC and LATAM in 2025", "LATAM"),
        ("What was net revenue from January to March 2026?", "in January 2026 to March 2026"),
    ],
)
def test_forms_of_data_questions(question: str, expected: str) -> None:
    assert expected in answer(question).answer


def test_two_questions_in_one_are_answered_from_their_own_pages() -> None:
    found = answer("How long is the warranty on gateways, and what does express delivery cost?")
    first, second = found.answer.split(" [kb-035] ")
    assert "24 months" in first
    assert second == "Express delivery costs 90 USD and takes one working day. [kb-036]"


def test_a_part_that_nobody_knows_is_told_beside_the_other() -> None:
    found = answer("How long is the warranty on gateways, and who sponsors the football club?")
    assert "24 months. [kb-035] I do not know" in found.answer


def test_a_price_is_quoted_and_not_summed_up() -> None:
    assert "7 USD a month" in answer("What does an extra seat cost on the Ultimate plan?").answer


def test_a_figure_stands_beside_its_unit_in_the_context() -> None:
    context = answer("What was the gross margin on Heatvane in 2025?").context or ""
    assert '"unit": "percent", "value": 43.09' in context
