"""summary.json in short: flat counts, and each metric by its name."""

import json
from dataclasses import replace

from gate.report.write_all import summary
from tests.support.reports import (
    FACTS,
    SUCCESS,
    comparison,
    gate,
    passing,
    regression,
    several_suites,
)


def written(report):
    return json.loads(summary(report))


def test_every_number_is_that_of_the_long_way():
    found = written(regression())
    for one in found["comparisons"]:
        short = found["metrics"][one["metric"]]
        assert (short["baseline"], short["now"]) == (one["baseline"], one["current"])
        assert (short["low"], short["high"]) == (one["ci_low"], one["ci_high"])
        assert (short["change"], short["relative"]) == (one["delta"], one["relative"])
    (suite,) = found["suites"].values()
    counts = found["counts"]
    assert found["metrics"].keys() >= suite["metrics"].keys()
    assert [counts[key] for key in ("suites", "cases", "trials")] == [
        *(1, suite["cases"], suite["trials"])
    ]
    assert counts["newly_failing"] == len(found["cases"]["newly_failing"]) > 0
    assert counts["regressions"] == sum(c["status"] == "regression" for c in found["comparisons"])


def test_a_metric_of_several_suites_is_named_with_its_suite():
    found = written(several_suites())
    names = [name for name in found["metrics"] if name.endswith(SUCCESS)]
    assert SUCCESS not in names
    assert sorted(names) == sorted(f"{suite}/{SUCCESS}" for suite in found["suites"])


def test_a_limit_that_is_not_met_is_the_status():
    report = replace(
        passing(),
        comparisons=(comparison(), comparison(FACTS)),
        gates=(gate(FACTS, status="fail", value=0.5), gate("agent.new", status="pass", value=0.9)),
    )
    metrics = written(report)["metrics"]
    assert metrics[SUCCESS]["status"] == comparison().status
    assert metrics[FACTS]["status"] == "fail"
    assert metrics["agent.new"] == {
        "baseline": None, "now": 0.9, "change": None, "low": None, "high": None,
        "status": "pass", "relative": False,
    }  # fmt: skip
    assert written(report)["counts"]["failed_gates"] == 1
