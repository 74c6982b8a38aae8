from gate.records import Config, GateRule, PluginSpec, Policy, ReportOptions, Suite
from gate.suites.protection.base_branch import drift, list_loosened_cases, new_suites, protect_rules

FACTS = PluginSpec(name="facts")


def suite(**keys):
    return Suite(**{"name": "s", "dataset": "d.jsonl", "graders": (FACTS,), **keys})


def config(**keys):
    return Config(**{"agent": PluginSpec(name="sample"), "suites": (suite(),), **keys})


def test_everything_but_the_agent_and_its_retriever_comes_from_the_base():
    head = config(
        agent=PluginSpec(name="openai"),
        retriever=PluginSpec(name="recorded"),
        control_agent=PluginSpec(name="http"),
        gates=(GateRule(metric="m.x", min=0.1),),
        policy=Policy(error="pass"),
        suites=(suite(rounds=1), suite(name="new")),
        report=ReportOptions(html=False),
    )
    kept = PluginSpec(name="command")
    strict = (GateRule(metric="m.x", min=0.9),)
    theirs = PluginSpec(name="python")
    base = config(gates=strict, suites=(suite(rounds=5),), control_agent=kept, retriever=theirs)
    judged = protect_rules(head, base)
    assert (judged.agent.name, judged.control_agent) == ("openai", kept)
    assert judged.retriever == PluginSpec(name="recorded")
    assert (judged.gates, judged.policy, judged.report) == (base.gates, base.policy, base.report)
    assert [(s.name, s.rounds) for s in judged.suites] == [("s", 5), ("new", 3)]
    assert new_suites(head, base) == {"new"}


def test_cases_that_a_pull_request_removes_or_edits():
    base = {f"c{n}": "x" for n in range(8)}
    head = {"c0": "x", "c1": "edited", "new": "x"}
    found = drift(base, head)
    assert found.added == ("new",)
    assert found.edited == ("c1",)
    assert found.removed == ("c2", "c3", "c4", "c5", "c6", "c7")
    assert list_loosened_cases("s", found, {"c1": "d.jsonl:2"}) == (
        "removes 6 cases of `s`: `c2`, `c3`, `c4`, `c5`, `c6` and 1 more",
        "edits 1 case of `s`: `c1` in `d.jsonl:2`",
    )
