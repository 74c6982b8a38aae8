"""docs/config.md: its file loads, and it names every key there is."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InvalidInput
from gate.files import yaml as yamlfile
from gate.plugins import AGENTS
from gate.records import Config, PluginSpec
from gate.suites.config.json_schema import JUDGE_KEYS, plugin_schema, schema
from gate.suites.config.load import load
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "config.md").read_text(encoding="utf-8")
BLOCK = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]


def loaded(text: str) -> Config:
    return load(
        lambda path: text.encode(), "gate.yml", env={}, root=Path(), today=date(2026, 11, 21)
    )


def test_the_file_loads_without_a_warning() -> None:
    assert loaded(BLOCK).warnings == ()


def test_judge_and_verifier_load_too_once_a_grader_asks_them() -> None:
    text = re.sub(r"(?m)^# (?=judge:|verifier:|  )", "", BLOCK).replace("- facts", "- judge")
    found = loaded(text)
    assert [told for told in found.warnings if "no grader uses the judge" not in told] == []
    assert found.judge is not None
    assert found.verifier is not None
    own = {"type", *JUDGE_KEYS, *plugin_schema(AGENTS, "openai")["properties"]}
    assert own == {"type", *found.judge.options}


def test_every_key_of_the_schema_is_named() -> None:
    missing = [key for key in _keys(schema()) if not re.search(rf"\b{re.escape(key)}\b", PAGE)]
    assert missing == []


def test_where_it_says_default_it_is_the_default() -> None:
    """What the block writes for these sections is what a file without them has."""
    written = loaded(BLOCK)
    plain = Config(agent=PluginSpec(name="openai"), suites=())
    assert written.policy == plain.policy
    assert written.baseline == plain.baseline
    assert written.report == plain.report
    assert written.protect == plain.protect
    assert (written.regression.alpha, written.regression.power) == (0.01, 0.8)
    assert written.regression.max_removed == plain.regression.max_removed
    assert (written.suites[0].rounds, written.suites[0].max_attempts) == (3, 2)


def test_the_errors_that_the_page_shows_are_worded_so() -> None:
    shown = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()
    with pytest.raises(InvalidInput) as caught:
        loaded(
            "suites:\n  - {name: a, dataset: d, graders: [facts, retrieval], gradres: []}\n"
            "gates:\n  retrieval.recal@5: {min: 0.8}\n  correctness.fact_accuracy: {min: 1.2}\n"
        )
    told = [str(problem).partition(": ")[2] for problem in caught.value.problems]
    assert told == [line.partition(": ")[2] for line in shown]


def test_yaml_of_the_page_has_no_duplicate_keys() -> None:
    assert yamlfile.parse(BLOCK.encode(), "docs/config.md").data["version"] == 1


def _keys(part: Any) -> set[str]:
    """Names of the keys of gate.yml itself; those of agents and graders have their own pages."""
    if isinstance(part, list):
        return {key for item in part for key in _keys(item)}
    if not isinstance(part, dict):
        return set()
    own = set(part.get("properties", {})) if isinstance(part.get("properties"), dict) else set()
    skipped = {"agent", "control_agent", "retriever", "grader"} if "amount" in part else set()
    if "judge" in part and "amount" in part:
        skipped |= {"judge", "verifier"}
    return own.union(*(_keys(item) for key, item in part.items() if key not in skipped))
