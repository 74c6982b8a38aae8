"""Suites of gate.yml that lean on others: bundled ones, a mode, a judge."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from gate.errors import InvalidInput
from gate.records import Config, Suite
from gate.suites.config.load import defaults, load, select

JUDGE = "judge: {type: openai, base_url: 'http://127.0.0.1:9', model: some-judge}\n"


def config(text: str) -> Config:
    content = text.encode()
    return load(lambda path: content, "gate.yml", env={}, root=Path(), today=date(2026, 11, 22))


def suite(text: str) -> Suite:
    (found,) = config(f"suites:\n  - {text}\n").suites
    return found


def graders(found: Suite) -> dict[str, object]:
    return {spec.name: dict(spec.options) for spec in found.graders}


def test_a_bundled_suite_is_named_and_no_more() -> None:
    found = suite("name: dialogue")
    assert found.dataset.endswith("dialogue/dataset.jsonl")
    assert list(graders(found)) == ["constraints"]
    assert found.request["max_tokens"] == 256


def test_what_an_entry_says_wins_over_the_bundled_suite() -> None:
    found = suite("{name: dialogue, dataset: mine.jsonl, rounds: 1, request: {temperature: 0}}")
    assert (found.dataset, found.rounds) == ("mine.jsonl", 1)
    assert dict(found.request) == {"temperature": 0}
    assert list(graders(found)) == ["constraints"]


def test_a_suite_of_another_name_needs_its_dataset_and_graders() -> None:
    with pytest.raises(InvalidInput) as caught:
        suite("name: dialog")
    told = str(caught.value)
    assert "'dataset' is missing" in told
    assert "'graders' is missing" in told


def test_graders_that_know_both_modes_are_told_which() -> None:
    assert graders(suite("name: dialogue"))["constraints"] == {"mode": "strict"}
    assert graders(suite("{name: dialogue, mode: upstream}"))["constraints"] == {"mode": "upstream"}


def test_a_graders_own_mode_wins_over_the_suites() -> None:
    text = "{name: a, dataset: d, graders: [{constraints: {mode: strict}}], mode: upstream}"
    assert graders(suite(text))["constraints"] == {"mode": "strict"}


def test_a_mode_that_no_grader_knows_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no grader of this suite has an upstream mode"):
        suite("{name: a, dataset: d, graders: [facts], mode: upstream}")


def test_an_optional_judge_is_left_out_with_a_warning_where_there_is_none() -> None:
    found = config("suites: [{name: tool}]\n")
    assert list(graders(found.suites[0])) == ["tool_evidence"]
    assert [told for told in found.warnings if "tool: rubrics are skipped" in told]


def test_an_optional_judge_stays_where_there_is_one() -> None:
    found = config(JUDGE + "suites: [{name: tool}]\n")
    assert list(graders(found.suites[0])) == ["tool_evidence", "judge"]
    assert not [told for told in found.warnings if "not judged" in told]


def test_upstream_mode_judges_no_rubric() -> None:
    found = config(JUDGE + "suites: [{name: tool, mode: upstream}]\n")
    assert list(graders(found.suites[0])) == ["tool_evidence"]


def test_without_suites_there_are_the_four_of_the_benchmark() -> None:
    names = ["baseperf", "dialogue", "hardchat", "tool"]
    assert [one.name for one in defaults().suites] == names
    assert [one.name for one in config("version: 1\n").suites] == names
    assert [one.name for one in select(defaults(), ["all"]).suites] == names


def test_other_bundled_suites_are_found_by_name() -> None:
    assert [one.name for one in select(defaults(), ["trajectories"]).suites] == ["trajectories"]
    assert list(graders(select(defaults(), ["tool"]).suites[0])) == ["tool_evidence"]


@pytest.mark.parametrize(
    "wrong", ["{temperature: 3}", "{max_tokens: 0}", "{seed: 1}", "{stream: 1}"]
)
def test_a_request_holds_what_a_chat_completion_knows(wrong: str) -> None:
    with pytest.raises(InvalidInput, match=r"suites\[0\]\.request"):
        suite(f"{{name: dialogue, request: {wrong}}}")
