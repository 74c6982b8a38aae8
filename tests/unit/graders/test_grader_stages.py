import json
import os
from pathlib import Path

import pytest

from gate.files.bundled import folder
from gate.graders.openagent_rules import counts
from gate.graders.stages import COVERAGE, FOLLOWED, FORM, Stages
from gate.records import Case, Response
from gate.suites.cases.keys import key_rules

REAL = os.environ.get("GATE_REAL_DATA")
RULES = {"count_rules": {"sources": {"min": 2}, "themes": {"min": 1}}}


def score(answer, keys=RULES, prompt="?", **options):
    case = Case(id="a", input=prompt, keys={"input": prompt, **keys})
    return Stages(**options).grade(case, Response(answer=answer))


def test_each_metric_has_its_share():
    answer = '{"collect": {"sources": ["a"], "themes": ["b"]}, "normalize": {}, "summarize": 1}'
    found = score(answer)
    assert found.values == {FORM: 1.0, COVERAGE: pytest.approx(2 / 3), FOLLOWED: 0.5}
    assert found.failures == ("empty_stage:normalize", "count_not_met:sources")
    assert "sources: 1 with content, expected at least 2" in found.reason


def test_no_object_is_worst_in_everything():
    found = score("I could not do it.")
    assert found.values == {FORM: 0.0, COVERAGE: 0.0, FOLLOWED: 0.0}
    assert found.failures == ("response_not_json_object",)
    assert "'I could not do it.'" in found.reason


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        ({"min": 0}, True),
        ({"min": 1, "max": 1}, True),
        ({"min": -1}, False),
        ({"min": 1.5}, False),
        ({"mn": 1}, False),
        ({}, False),
    ],
)
def test_a_count_rule_has_limits_that_are_known(rule, right):
    found = key_rules({"stages": Stages()}).faults({"count_rules": {"sources": rule}})
    assert (not list(found)) is right


def test_upstream_mode_reads_no_rules():
    found = score('{"collect": {}, "normalize": {}, "summarize": {}}', mode="upstream")
    assert found.passed is True
    assert found.values == {FORM: 1.0, COVERAGE: 1.0, FOLLOWED: None}


def test_the_prompt_of_messages_is_the_last_of_the_user():
    prompt = [{"role": "user", "content": "HARD REQUIREMENTS\n- sources >= 1"}]
    answer = '{"collect": [1], "normalize": [1], "summarize": [1]}'
    assert score(answer, {}, prompt).failures == ("count_not_met:sources",)
    odd = [{"role": "user", "content": "HARD REQUIREMENTS\n- 3 of the best"}]
    assert len(list(Stages().case_faults({"input": odd}))) == 1
    assert list(Stages(mode="upstream").case_faults({"input": odd})) == []


def test_without_any_demand_on_stages_there_is_no_coverage():
    nothing = {"stage_requirements": dict.fromkeys(("collect", "normalize", "summarize"), False)}
    assert score("{}", nothing).values == {FORM: 1.0, COVERAGE: None, FOLLOWED: None}


def tasks(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def bounds(rules):
    return [(rule.low, rule.high) for rule in rules]


@pytest.mark.parametrize(
    "task", tasks(folder() / "hardchat" / "tasks.jsonl"), ids=lambda t: t["id"]
)
def test_the_bundled_prompts_say_what_their_rules_say(task):
    assert bounds(counts.count_rules_of({}, task["prompt"])) == bounds(
        counts.count_rules_of(task, "")
    )
    assert list(Stages().case_faults({**task, "input": task["prompt"]})) == []


@pytest.mark.data
@pytest.mark.skipif(REAL is None, reason="GATE_REAL_DATA is not set")
def test_the_rules_of_the_upstream_prompts_are_all_read():
    found = []
    for task in tasks(Path(REAL) / "openagent" / "datasets" / "hardchat" / "tasks.jsonl"):
        assert list(Stages().case_faults({**task, "input": task["prompt"]})) == []
        found += [rule.field for rule in counts.count_rules_of(task, task["prompt"])]
    assert len(found) == 18
    assert "collect.key_points" in found
