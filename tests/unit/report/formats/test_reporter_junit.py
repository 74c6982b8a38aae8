from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from gate.report.formats.junit import JUnit
from tests.support.reports import (
    SCENARIOS,
    change,
    hostile,
    hostile_rows,
    passing,
    regression,
    row,
    rows_of,
)


def parse(report, *rows):
    return ET.fromstring(JUnit().render(report, lambda: iter(rows)).encode())


def first():
    """Nothing is known of the base branch."""
    return SCENARIOS["no_baseline"]()


def newly(report, *ids):
    changes = tuple(change(case_id=one) for one in ids)
    return replace(report, cases=replace(report.cases, newly_failing=changes))


def kinds(report):
    rows = [row("bad", passed=False), row("new", passed=False), row("good")]
    root = parse(report, *rows, row("down", passed=None, status="infra_error", error="refused"))
    inner = {one.attrib["name"]: [e.tag for e in one] for one in root.iter("testcase")}
    assert int(root.attrib["failures"]) == [*inner.values()].count(["failure"])
    skipped = [int(one.attrib["skipped"]) for one in root.iter("testsuite")]
    assert sum(skipped) == [*inner.values()].count(["skipped"])
    assert int(root.attrib["errors"]) == [*inner.values()].count(["error"])
    return inner


@pytest.mark.parametrize("newly_failing", [(), ("new",)])
def test_of_a_suite_that_passes_nothing_is_a_failure(newly_failing):
    found = kinds(newly(passing(), *newly_failing))
    assert found == {"bad": ["skipped"], "new": ["skipped"], "good": [], "down": ["skipped"]}


def test_where_cases_newly_fail_only_these_are_failures():
    report = newly(regression(), "new")
    assert kinds(report) == {
        "bad": ["skipped"],
        "new": ["failure"],
        "good": [],
        "down": ["skipped"],
    }
    told = kinds(replace(report, known_failures="properties"))
    assert told == {"bad": ["properties"], "new": ["failure"], "good": [], "down": ["properties"]}
    every = kinds(replace(report, known_failures="failures"))
    assert every == {"bad": ["failure"], "new": ["failure"], "good": [], "down": ["error"]}


def test_a_suite_that_fails_without_a_newly_failing_case_is_not_green():
    found = kinds(newly(regression()))
    assert found == {"bad": ["failure"], "new": ["failure"], "good": [], "down": ["error"]}


def test_the_reason_is_plain_words():
    report = regression()
    suite = replace(report.suites["analytics"], reason="`agent.success_rate` fell")
    root = parse(replace(report, suites={"analytics": suite}), row("good"))
    kept = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert kept["reason"] == "agent.success_rate fell"


def test_a_known_failure_says_what_it_is():
    root = parse(passing(), row("bad", passed=False))
    (skipped,) = root.iter("skipped")
    assert skipped.attrib["message"].startswith("known failure: 0 of 1 rounds passed: ")
    root = parse(replace(passing(), known_failures="properties"), row("bad", passed=False))
    (known,) = root.iterfind("testsuite/testcase/properties/property")
    assert known.attrib["name"] == "known_failure"
    assert known.attrib["value"].startswith("0 of 1 rounds passed: ")


def test_a_case_is_a_test_case_over_its_rounds():
    suite = parse(passing(), row(round=1), row(round=2), row("b", 1, category=None)).find(
        "testsuite"
    )
    assert suite.attrib["name"] == "analytics"
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "0")
    first, second = suite.findall("testcase")
    assert first.attrib == {
        "classname": "analytics.churn", "name": "churn-by-quarter-01", "time": "1.636"
    }  # fmt: skip
    assert second.attrib["classname"] == "analytics"
    assert list(first) == []


def test_a_failure_names_its_codes_and_reasons():
    suite = parse(first(), row(round=1), row(round=2, passed=False)).find("testsuite")
    failure = suite.find("testcase/failure")
    assert suite.attrib["failures"] == "1"
    assert failure.attrib["message"] == "1 of 2 rounds passed: fact_missing:4.2 %"
    assert failure.attrib["type"] == "fact_missing"
    assert failure.text == "facts: 4.2 % is not in the answer"


def test_nobody_answered_is_an_error_not_a_failure():
    down = row(
        passed=None, status="infra_error", error="connection refused", latency_ms=None, failures=[]
    )
    suite = parse(first(), down).find("testsuite")
    assert (suite.attrib["errors"], suite.attrib["failures"]) == ("1", "0")
    assert suite.find("testcase/error").attrib["message"] == "connection refused"
    assert suite.find("testcase").attrib["time"] == "0.000"


def test_an_agent_error_is_a_failure_with_its_message():
    crashed = row(
        passed=False, status="agent_error", error="HTTP 500", failures=["agent_error"], reasons={}
    )
    assert parse(first(), crashed).find("testsuite/testcase/failure").text == "HTTP 500"


def test_what_no_grader_judged_is_skipped():
    odd = row(passed=None, failures=[], unscored={"judge": "no JSON"})
    suite = parse(passing(), odd).find("testsuite")
    assert suite.attrib["skipped"] == "1"
    assert suite.find("testcase/skipped").attrib["message"] == "judge: no JSON"


def test_a_suite_that_never_ran_is_there_with_its_reason():
    suite = parse(SCENARIOS["error_agent_down"]()).find("testsuite")
    properties = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert properties["outcome"] == "error"
    assert properties["not_run"] == "600"


@pytest.mark.parametrize("name", SCENARIOS)
def test_counts_add_up(name):
    report = SCENARIOS[name]()
    root = parse(report, *rows_of(report)())
    for key in ("tests", "failures", "errors"):
        assert int(root.attrib[key]) == sum(int(s.attrib[key]) for s in root)
    assert int(root.attrib["tests"]) == len(root.findall(".//testcase"))
    assert "skipped" not in root.attrib, "the schema of Jenkins has none there"


def test_hostile_text_is_well_formed_xml():
    root = parse(hostile(), *hostile_rows())
    assert {item.tag for item in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error",
    }  # fmt: skip
    assert "alert(1)" in root.find("testsuite/testcase").attrib["name"]
