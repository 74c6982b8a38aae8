"""docs/graders.md and docs/metrics.md say what the code does."""

import re
from pathlib import Path

import pytest
import yaml

from gate.plugins import GRADERS
from gate.records import (
    Case,
    Document,
    LoggedCall,
    OwnVerdict,
    Reply,
    Response,
    ServerLogs,
    ToolCall,
)
from gate.records.codec import from_json, schema_of
from gate.run.grade import make_graders
from tests.support.grader_examples import EXAMPLES, TEXT, all_metrics, generic, spec
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
METRICS_TEXT = (DOCS / "metrics.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")


def response(written):
    retrieved, steps = written.get("retrieved"), written.get("steps")
    verdict = written.get("own_verdict")
    logged = [LoggedCall(name=name, log="console") for name in written.get("logged", ())]
    return Response(
        answer=written["answer"],
        retrieved=None if retrieved is None else tuple(Document(id=one) for one in retrieved),
        steps=None if steps is None else tuple(ToolCall(**one) for one in steps),
        server_logs=ServerLogs(calls=tuple(logged)) if "logged" in written else None,
        own_verdict=from_json(OwnVerdict, verdict) if verdict else None,
        state=written.get("state", {}),
    )


def section(name):
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert found, f"docs/graders.md has no section '{name}'"
    return found[1]


def judged(grader, case, example):
    """By the replies of a model where the example has some."""
    answer = response(example["response"])
    if "replies" not in example:
        return grader.grade(case, answer)
    votes = [tuple(Reply(data=vote) for vote in given) for given in example["replies"]]
    assert len(grader.questions(case, answer)) == len(votes)
    return grader.read(case, answer, votes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: spec(e["grader"]).name)
def test_examples_run(example):
    ((_, grader),) = make_graders([spec(example["grader"])], Path()).items()
    case = Case(id="a", input="?", keys={"input": "?", **example["case"]})
    score = judged(grader, case, example)
    assert score.values == pytest.approx(example["score"], abs=5e-7)
    assert score.passed is example["passed"]
    assert list(score.failures) == example.get("failures", [])


@pytest.mark.parametrize("name", list(GRADERS))
def test_each_grader_has_its_options_metrics_and_an_example(name):
    text = section(name)
    example = [one for one in EXAMPLES if spec(one["grader"]).name == name]
    assert example, f"docs/graders.md has no example of '{name}'"
    for option in schema_of(GRADERS.get_class(name))["properties"]:
        assert f"`{option}`" in text, f"'{name}': option '{option}' is not in docs/graders.md"
    ((_, grader),) = make_graders([spec(example[0]["grader"])], Path()).items()
    for metric in grader.metrics():
        assert f"`{generic(metric.name)}`" in text


def rows():
    for line in filter(lambda line: line.startswith("|"), METRICS_TEXT.splitlines()):
        cells = [cell.strip(" |") for cell in line.split(" | ")]
        for name in re.findall(r"`([a-z_]+\.[a-z0-9_@^]+)`", cells[0]):
            yield name, cells


def test_no_metric_is_documented_that_is_not_there_and_each_is_in_the_reference():
    defined = dict(rows())
    assert set(defined) <= set(all_metrics())
    assert len(defined) > 50
    assert [name for name in all_metrics() if f"\n| `{name}` | " not in REFERENCE] == []


@pytest.mark.parametrize("dimension", re.split(r"^## ", METRICS_TEXT, flags=re.MULTILINE)[1:])
def test_each_dimension_says_where_its_definitions_come_from(dimension):
    assert "\nSources: " in dimension


def test_the_graders_of_the_shortest_ways_load():
    text = (DOCS / "how-to.md").read_text(encoding="utf-8")
    shown = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    lists = [one["graders"] for one in shown if "graders" in one]
    assert len(lists) >= 2
    for graders in lists:
        assert len(make_graders([spec(one) for one in graders], Path())) == len(graders)
