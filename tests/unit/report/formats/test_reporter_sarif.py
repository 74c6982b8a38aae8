"""gate.sarif against the schema of SARIF 2.1.0, and what GitHub's code scanning asks beyond it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import jsonschema
import pytest

from gate.errors import Place
from gate.records import CaseChanges, Report
from gate.report.formats.sarif import Sarif
from gate.report.wording.checks import list_blocking
from tests.support.paths import DATA
from tests.support.reports import (
    FACTS,
    SCENARIOS,
    change,
    gate,
    hostile,
    many_failing,
    passing,
    regression,
    rows_of,
)

SCHEMA = DATA / "sarif_2_1_0.json"


@cache
def schema() -> Any:
    return json.loads(SCHEMA.read_bytes())


def rendered(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Sarif().render(report, rows_of(report)))
    jsonschema.validate(found, schema())
    return found


def results(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered(report)["runs"][0]["results"]
    return found


def test_the_schema_refuses_what_is_no_sarif() -> None:
    broken = rendered(regression())
    broken["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema())


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_fits_the_schema_and_code_scanning(name: str) -> None:
    run = rendered(SCENARIOS[name]())["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert not uri.startswith("/")
        assert ":" not in uri
        assert result["partialFingerprints"]["agentGate/v1"]


def test_a_blocking_regression_is_an_error_of_its_metric() -> None:
    first = results(regression())[0]
    assert (first["ruleId"], first["level"]) == ("retrieval.recall@5", "error")
    assert first["message"]["text"].startswith("analytics: retrieval.recall@5: regression: 0.84")


def test_a_broken_limit_stands_at_its_line_and_a_case_at_its_own() -> None:
    limit = gate(FACTS, status="fail", value=0.5, place=Place("sub/gate.yml", 7))
    failing = change(failures=("facts:wrong",), place=Place("sub/d 1.jsonl", 12))
    report = replace(regression(), gates=(limit,), comparisons=())
    report = replace(report, cases=replace(report.cases, newly_failing=(failing,)))
    found = {result["ruleId"]: result["locations"][0] for result in results(report)}
    assert found[FACTS]["physicalLocation"] == {
        "artifactLocation": {"uri": "sub/gate.yml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7},
    }
    case = found["newly-failing/facts"]["physicalLocation"]
    assert case["artifactLocation"]["uri"] == "sub/d%201.jsonl"
    assert case["region"] == {"startLine": 12}


def test_a_finding_keeps_its_fingerprint_when_numbers_and_lines_move() -> None:
    def marks(line: int, passed: int) -> set[str]:
        failing = change(place=Place("d.jsonl", line), current_passed=passed)
        report = passing(cases=replace(passing().cases, newly_failing=(failing,)))
        return {result["partialFingerprints"]["agentGate/v1"] for result in results(report)}

    assert marks(3, 0) == marks(99, 1)
    every = [r["partialFingerprints"]["agentGate/v1"] for r in results(many_failing(50))]
    assert len(set(every)) == len(every) > 50


def test_a_pass_has_no_blocking_result() -> None:
    assert [result["ruleId"] for result in results(passing())] == ["newly-failing/fact_missing"]
    without = replace(passing(), cases=CaseChanges())
    assert results(without) == []


def test_what_only_warns_is_no_result_and_a_loosened_rule_is_told_beside() -> None:
    report = replace(regression(), loosened=("`alpha` 0.01 -> 0.1",))
    run = rendered(report)["runs"][0]
    ids = {result["ruleId"] for result in run["results"]}
    blocking = {check.metric for check in list_blocking(report) if check.sign == "bad"}
    assert {one for one in ids if not one.startswith("newly-failing/")} == blocking
    told = [one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert told[-1] == "alpha 0.01 → 0.1"


def test_a_run_without_a_verdict_is_no_successful_invocation() -> None:
    (invocation,) = rendered(SCENARIOS["error_agent_down"]())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_no_more_results_than_code_scanning_shows() -> None:
    assert len(results(many_failing(2_000))) == 1_000


def test_hostile_text_is_only_text() -> None:
    text = Sarif().render(hostile(), lambda: iter(()))
    assert "\x1b" not in text
    assert "\u200b" not in text
    rendered(hostile())
