import pytest

from gate.errors import Place
from gate.protect import drift, loosened, loosened_cases, new_suites, protected
from gate.records import (
    Config,
    GateRule,
    MetricRule,
    PluginSpec,
    Policy,
    Quarantine,
    RegressionRules,
    Suite,
    Tolerance,
)

FACTS = PluginSpec(name="facts")


def config(**keys):
    suite = Suite(name="s", dataset="d.jsonl", graders=(FACTS,))
    return Config(**{"agent": PluginSpec(name="sample"), "suites": (suite,), **keys})


def gate(**keys):
    return GateRule(metric="m.x", place=Place("gate.yml", 31), **keys)


def suite(**keys):
    return Suite(**{"name": "s", "dataset": "d.jsonl", "graders": (FACTS,), **keys})


def test_everything_but_the_agent_and_the_reports_comes_from_the_base():
    head = config(
        agent=PluginSpec(name="openai"),
        control_agent=PluginSpec(name="http"),
        gates=(gate(min=0.1),),
        policy=Policy(error="pass"),
        suites=(suite(rounds=1), suite(name="new")),
    )
    kept = PluginSpec(name="command")
    base = config(gates=(gate(min=0.9),), suites=(suite(rounds=5),), control_agent=kept)
    judged = protected(head, base)
    assert (judged.agent.name, judged.control_agent) == ("openai", kept)
    assert (judged.gates, judged.policy) == (base.gates, base.policy)
    assert [(s.name, s.rounds) for s in judged.suites] == [("s", 5), ("new", 3)]
    assert new_suites(head, base) == {"new"}


LOOSER = [
    ({"gates": (gate(min=0.85),)}, {"gates": (gate(min=0.9),)}, "min 0.9 -> 0.85 in `gate.yml:31`"),
    ({"gates": (gate(max=9),)}, {"gates": (gate(max=5),)}, "max 5 -> 9"),
    ({"gates": (gate(target=1),)}, {"gates": (gate(max=5),)}, "max 5 -> none"),
    ({}, {"gates": (gate(min=0.9),)}, "removes the gate on `m.x`"),
    ({"gates": (gate(min=1, level="warn"),)}, {"gates": (gate(min=1),)}, "block -> warn"),
    (
        {"gates": (gate(min=1, rule="convicted"),)},
        {"gates": (gate(min=1, rule="proven"),)},
        "rule proven -> convicted",
    ),
    ({}, {"regression": RegressionRules(control="fresh")}, "`regression.control` fresh -> stored"),
    ({}, {"control_agent": FACTS}, "changes or removes `control_agent`"),
    ({"control_agent": FACTS}, {"control_agent": PluginSpec(name="x")}, "`control_agent`"),
    ({"suites": ()}, {}, "removes the suite `s`"),
    ({"suites": (suite(graders=()),)}, {}, "removes the grader `facts`"),
    ({"suites": (suite(rounds=1),)}, {}, "rounds 3 -> 1"),
    ({"suites": (suite(retry="any_failure"),)}, {}, "retry infra -> any_failure"),
    ({"suites": (suite(dataset="easy.jsonl"),)}, {}, "another dataset: `easy.jsonl`"),
    ({"suites": (suite(),)}, {"suites": (suite(gates=(gate(min=1),)),)}, "`s: m.x`"),
    ({"regression": RegressionRules(alpha=1e-9)}, {}, "`regression.alpha` 0.01 -> 1e-09"),
    ({"regression": RegressionRules(max_removed=0.5)}, {}, "10% -> 50%"),
    (
        {"regression": RegressionRules(tolerance=Tolerance(value=0.5))},
        {"regression": RegressionRules(tolerance=Tolerance(value=0.02))},
        "`regression.tolerance` -> 0.5",
    ),
    (
        {},
        {"regression": RegressionRules(metrics={"m": MetricRule(metric="m")})},
        "removes `regression.metrics.m`",
    ),
    (
        {"regression": RegressionRules(metrics={"m": MetricRule(metric="m", level="warn")})},
        {"regression": RegressionRules(metrics={"m": MetricRule(metric="m")})},
        "level block -> warn",
    ),
    (
        {
            "regression": RegressionRules(
                metrics={"m": MetricRule(metric="m", tolerance=Tolerance(value=0.2))}
            )
        },
        {
            "regression": RegressionRules(
                metrics={"m": MetricRule(metric="m", tolerance=Tolerance(value=0.1))}
            )
        },
        "tolerance 0.1 -> 0.2",
    ),
    ({"regression": RegressionRules(stop="off")}, {}, "`regression.stop` early -> off"),
    (
        {"regression": RegressionRules(max_rounds=4)},
        {"regression": RegressionRules(max_rounds=9)},
        "`regression.max_rounds` 9 -> 4",
    ),
    (
        {"regression": RegressionRules(max_rounds=5)},
        {},
        "`regression.max_rounds` twice the rounds -> 5",
    ),
    (
        {"policy": Policy(inconclusive="extend")},
        {"policy": Policy(inconclusive="fail")},
        "`policy.inconclusive` fail -> extend",
    ),
    ({"policy": Policy(error="warn")}, {}, "`policy.error` fail -> warn"),
    (
        {"quarantine": (Quarantine(case="c", owner="@a", until="2027-01-01"),)},
        {},
        "puts `c` in quarantine until 2027-01-01",
    ),
    (
        {"quarantine": (Quarantine(case="c", owner="@a", until="2027-01-01"),)},
        {"quarantine": (Quarantine(case="c", owner="@a", until="2026-12-01"),)},
        "2026-12-01 -> 2027-01-01",
    ),
    ({"protect": False}, {}, "sets `protect: false`"),
]


@pytest.mark.parametrize(("head", "base", "said"), LOOSER, ids=[row[2] for row in LOOSER])
def test_what_a_pull_request_loosens_is_named(head, base, said):
    found = loosened(config(**head), config(**base))
    assert len(found) == 1, found
    assert said in found[0]


@pytest.mark.parametrize(("base", "head", "said"), LOOSER, ids=[row[2] for row in LOOSER])
def test_the_same_change_the_other_way_is_no_loosening(base, head, said):
    if any(word in said for word in ("rule proven", "grader", "dataset", "alpha", "control_agent")):
        return  # another grader, dataset or control cannot be told to be stricter
    assert not any(said in line for line in loosened(config(**head), config(**base)))


def test_nothing_changed_nothing_loosened():
    assert loosened(config(), config()) == ()


def test_cases_that_a_pull_request_removes_or_edits():
    base = {f"c{n}": "x" for n in range(8)}
    head = {"c0": "x", "c1": "edited", "new": "x"}
    found = drift(base, head)
    assert found.added == ("new",)
    assert found.edited == ("c1",)
    assert found.removed == ("c2", "c3", "c4", "c5", "c6", "c7")
    assert loosened_cases("s", found) == (
        "removes 6 cases of `s` (`c2`, `c3`, `c4`, `c5`, `c6`, ...)",
        "edits 1 case of `s` (`c1`)",
    )
