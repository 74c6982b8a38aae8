"""docs/migrate-openagent.md: its file loads, and every name in its tables is one of ours."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest

from gate.analysis.catalogue import trial_metrics
from gate.commands.options.all import parse
from gate.records import Provenance, SuiteReport, Usage
from gate.store.session import Meta
from gate.store.trial_row_schema import DetailsRow
from gate.suites.config.load import load
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "migrate-openagent.md").read_text(encoding="utf-8")


def table(before: str) -> dict[str, str]:
    """The rows of the table whose first heading begins so."""
    body = PAGE.partition(f"| {before}")[2].partition("\n\n")[0].splitlines()[2:]
    return dict(re.fullmatch(r"\| (.*?) \| (.*) \|", line).groups() for line in body)


def named(cells: list[str]) -> set[str]:
    return {name.partition("[")[0].partition(".")[0] for cell in cells for name in spans(cell)}


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def fields_of(*records: type) -> set[str]:
    return {field.name for record in records for field in fields(record)}


def test_the_file_loads_and_judges_as_the_old_tool_did() -> None:
    text = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0].encode()
    found = load(lambda path: text, "gate.yml", env={}, root=Path(), today=date(2026, 11, 22))
    assert [suite.name for suite in found.suites] == ["baseperf", "dialogue", "hardchat", "tool"]
    assert {suite.mode for suite in found.suites} == {"upstream"}


def test_what_a_row_is_called_now_is_in_a_row() -> None:
    rows = table("`details.jsonl`, before")
    same = [before for before, now in rows.items() if now == "the same"]
    assert named([*rows.values(), *same]) <= fields_of(DetailsRow)
    parts = [name for cell in rows.values() for name in spans(cell) if name.startswith("usage.")]
    assert {name.partition(".")[2] for name in parts} <= fields_of(Usage)


def test_what_a_figure_is_called_now_is_in_the_summary() -> None:
    rows = table("`summary.json`, before")
    same = [before for before, now in rows.items() if now.startswith("the same")]
    metrics = {spec.name.partition(".")[2] for spec in trial_metrics(3, frozenset())}
    plain = named([*rows.values(), *same]) - {"n"}
    assert plain <= fields_of(SuiteReport) | metrics
    quoted = re.findall(r'metrics\["(.*?)"\]', "".join(rows.values()))
    assert set(quoted) <= {spec.name for spec in trial_metrics(3, frozenset())}


def test_what_stands_in_meta_json_stands_there() -> None:
    rows = table("`meta.json`, before")
    known = fields_of(Meta, Provenance)
    assert named(list(rows.values())) <= known
    assert {"session_id", "health"} <= known


@pytest.mark.parametrize("line", re.findall(r"(?m)^gate (run .*?)(?: +#.*)?$", PAGE))
def test_its_commands_are_commands(line: str) -> None:
    assert parse(line.split()).command == "run"


def test_every_option_of_its_table_is_one() -> None:
    options = [name for cell in table("option") for name in spans(cell)]
    given = vars(parse(["run"]))
    assert options
    assert {name.removeprefix("--").replace("-", "_") for name in options} <= given.keys()
