"""The bundled trajectories suite is sound: its values are computed, and its ways can be gone."""

import json
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gate.agents.sample_agent.analyst import ask
from gate.agents.sample_agent.database import Value, open_image, query
from gate.agents.sample_agent.faults import PlantedFaults
from gate.agents.sample_agent.knowledge import load_bundled, load_messages
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.tools import Toolbox
from gate.errors import Place
from gate.files import bundled
from gate.files import yaml as yamlfile
from gate.records import Case, Response, ToolCall
from gate.run.grade import make_graders
from gate.suites.config.load import load_bundled_suites
from tests.support.paths import ROOT
from tests.support.sample_service import OFFERED_TOOLS

FOLDER = bundled.folder() / "trajectories"
CARD = (FOLDER / "README.md").read_text("utf-8")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "dataset.jsonl").read_text("utf-8").splitlines()
]
KNOWLEDGE = load_bundled(bundled.folder())
CUSTOMERS = KNOWLEDGE.database.values["customer_name"]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def suite() -> Any:
    return next(one for one in load_bundled_suites() if one.name == "trajectories")


GRADERS = make_graders(suite().graders, Path())


def test_the_gate_of_this_repository_judges_as_the_bundled_suites_do() -> None:
    file = ROOT / "gate.yml"
    written = yamlfile.parse(file.read_bytes(), str(file)).data["suites"]
    bundles = [bundled.folder() / one["name"] / "suite.yml" for one in written]
    shipped = [yamlfile.parse(one.read_bytes(), str(one)).data for one in bundles]
    assert [one["graders"] for one in written] == [one["graders"] for one in shipped]


def rows_of(sql: str) -> list[dict[str, Value]]:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        return query(connection, sql, max_rows=50)


def words(text: str) -> str:
    return " ".join(text.split())


def quotes_of(case: dict[str, Any]) -> list[tuple[str, str]]:
    """(document or message, words) of each quote that the case rests on."""
    return [
        (page, quote)
        for page, quotes in case["metadata"]["evidence"].items()
        for quote in ([quotes] if isinstance(quotes, str) else quotes)
    ]


def test_size_ids_and_categories() -> None:
    assert len(CASES) >= 40
    assert len({case["id"] for case in CASES}) == len({case["input"] for case in CASES})
    assert set(Counter(case["category"] for case in CASES)) == {
        *("lookup", "compute", "compare", "multi_hop"),
        *("recovery", "no_tool_needed", "safety_trap", "format"),
    }
    assert {key for case in CASES for key in case} - set(CASES[0]) <= {"check_allow"}, (
        "the same keys"
    )


def test_most_cases_need_several_steps() -> None:
    several = [case for case in CASES if (case["optimal_steps"] or 0) > 1]
    assert len(several) > len(CASES) / 2


def test_messages_come_from_customers_or_from_within() -> None:
    messages = load_messages(FOLDER / "messages")
    assert {one.sender for one in messages} <= {*CUSTOMERS, "Finance Office"}
    assert all(one.sent_on <= KNOWLEDGE.database.today for one in messages)


@each_case
def test_the_tools_are_those_of_the_agent(case: dict[str, Any]) -> None:
    assert case["tools"] == OFFERED_TOOLS


@each_case
def test_every_fact_is_computed_or_quoted(case: dict[str, Any]) -> None:
    cells = [
        value for sql in case["metadata"]["sql"] for row in rows_of(sql) for value in row.values()
    ]
    facts = case["expected_facts"]
    assert facts
    assert len(cells) <= len(facts)
    for cell, fact in zip(cells, facts, strict=False):
        value = fact["value"]
        assert cell == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9))
    for page, quote in quotes_of(case):
        found = KNOWLEDGE.page(page)
        assert found is not None
        assert quote in words(found.text)


@each_case
def test_the_reference_way_can_be_gone_and_leads_to_the_facts(case: dict[str, Any]) -> None:
    reference = case["reference_trajectory"] or []
    assert len(reference) == (case["optimal_steps"] or 0)
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        box = Toolbox(
            knowledge=KNOWLEDGE,
            connection=connection,
            options=SampleOptions(),
            faults=PlantedFaults(),
        )
        for call in reference:
            box.call(call["name"], call["args"])
    missing = case["id"] == "recovery-006"  # asks for a message that does not exist
    assert [step.error for step in box.steps if step.error] == [] or missing
    seen = json.dumps([step.result for step in box.steps])
    for sql in case["metadata"]["sql"]:
        assert all(cell_seen(cell, seen) for row in rows_of(sql) for cell in row.values())
    assert passed("tool_calls", case, Response(answer="", steps=tuple(box.steps))) is not False


def cell_seen(cell: Value, seen: str) -> bool:
    """Among the results: as a text, or as a number rounded to two places."""
    if isinstance(cell, str):
        return cell in seen
    return any(round(float(one), 2) == round(float(cell or 0), 2) for one in numbers(seen))


def numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+(?:\.\d+)?", text)


def graded(case: dict[str, Any]) -> Case:
    return Case(id=case["id"], input=case["input"], keys=case, place=Place("dataset.jsonl"))


def passed(grader: str, case: dict[str, Any], response: Response) -> bool | None:
    return GRADERS[grader].grade(graded(case), response).passed


def answers() -> dict[str, Response]:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        return {
            case["id"]: ask(
                case["input"],
                nth=1,
                knowledge=KNOWLEDGE,
                options=SampleOptions(),
                connection=connection,
            )
            for case in CASES
        }


ANSWERS = answers()
FOUND = {
    case["id"]: [one.grade(graded(case), ANSWERS[case["id"]]) for one in GRADERS.values()]
    for case in CASES
}
OK = {key: all(score.passed is not False for score in scores) for key, scores in FOUND.items()}


def test_the_agent_passes_most_cases_and_fails_some_of_each_kind_of_work() -> None:
    assert 0.6 <= sum(OK.values()) / len(OK) <= 0.9
    failing = {case["category"] for case in CASES if not OK[case["id"]]}
    assert failing == {case["category"] for case in CASES}


def test_it_can_judge_every_case() -> None:
    assert [score.unscored for scores in FOUND.values() for score in scores if score.unscored] == []


def test_it_mends_calls_that_fail() -> None:
    failed = [s for case in CASES for s in ANSWERS[case["id"]].steps or () if s.error]
    assert {step.name for step in failed} >= {
        *("calculate", "run_sql", "describe_table", "read_document"),
    }
    mended = [case for case in CASES if OK[case["id"]] and broke(ANSWERS[case["id"]].steps)]
    assert len(mended) >= 4


def broke(steps: tuple[ToolCall, ...] | None) -> bool:
    return any(step.error for step in steps or ())


def test_it_falls_for_some_planted_instructions_and_not_for_all() -> None:
    planted = [case for case in CASES if case["canary"]]
    said = [case for case in planted if case["canary"] in ANSWERS[case["id"]].answer]
    assert 0 < len(said) < len(planted)
    for case in planted:
        assert any(case["canary"] in one.page.text for one in KNOWLEDGE.messages)


def told(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the card."""
    section = CARD.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row] for row in rows[2:]]


def test_the_card_counts_as_the_file_and_the_agent_do() -> None:
    for category, cases, passing, steps, *_ in told("Categories"):
        own = [case for case in CASES if case["category"] == category]
        made = [len(ANSWERS[case["id"]].steps or ()) for case in own]
        assert int(cases) == len(own)
        assert int(passing) == sum(OK[case["id"]] for case in own)
        assert steps == (f"{min(made)} to {max(made)}" if min(made) < max(made) else str(min(made)))
    assert len(told("Categories")) == 8
    assert f"| Cases | {len(CASES)}," in CARD


def test_the_card_knows_what_the_agent_makes_of_it() -> None:
    violations = sum(len(score.violations or ()) for scores in FOUND.values() for score in scores)
    efficiency = [
        len(ANSWERS[case["id"]].steps or ()) / case["optimal_steps"]
        for case in CASES
        if OK[case["id"]] and case["optimal_steps"]
    ]
    assert f"passes {sum(OK.values())} of {len(OK)}" in CARD
    assert f"{violations} violations" in CARD
    assert f"{sum(efficiency) / len(efficiency):.2f} times" in CARD
    steps = Counter(len(answer.steps or ()) for answer in ANSWERS.values())
    assert {int(row[0]): int(row[1]) for row in told("Steps")} == dict(steps)
