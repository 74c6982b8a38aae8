"""One row a way to move the goalposts; the same change the other way must not be told."""

import pytest

from gate.errors import Place
from gate.records import (
    BaselineRules,
    Budget,
    Config,
    GateRule,
    MetricRule,
    MetricSpec,
    PluginSpec,
    Policy,
    Price,
    Quarantine,
    RegressionRules,
    ReportOptions,
    Suite,
    Tolerance,
)
from gate.suites.protection.loosening.cases import find_case_drift, list_loosened_cases
from gate.suites.protection.loosening.loosened import list_loosened_rules

SUCCESS, SHARE, MARK, SPEED = "agent.success_rate", "m.share", "m.mark", "m.speed"
SPECS = {
    spec.name: spec
    for spec in (
        MetricSpec(name=SUCCESS, column="success", unit="share"),
        MetricSpec(name=SHARE, column="m.share", unit="share"),
        MetricSpec(name=MARK, column="m.mark", low=1.0, high=5.0),
        MetricSpec(name=SPEED, column="m.speed", high=None, direction="lower", unit="steps"),
    )
}
FACTS = PluginSpec(name="facts")
PLACE = Place("gate.yml", 31)


def suite(**keys):
    return Suite(**{"name": "s", "dataset": "d.jsonl", "graders": (FACTS,), **keys})


def gate(metric=SHARE, **keys):
    return GateRule(metric=metric, place=PLACE, **keys)


def rules(tolerance=None, **keys):
    return {"regression": RegressionRules(tolerance=tolerance, place=Place("gate.yml", 9), **keys)}


def metric(name=SHARE, **keys):
    rule = MetricRule(metric=name, place=PLACE, **keys)
    return rules(metrics={name: rule})


def gated(**keys):
    """A gate makes SHARE block; its tolerance is what differs."""
    return {"gates": (gate(min=0.1),), **keys}


def share(value):
    return Tolerance(value=value)


def percent(value):
    return Tolerance(value=value / 100, relative=True)


def quarantine(**keys):
    entry = {"case": "c", "owner": "@a", "until": "2026-12-01", "place": PLACE, **keys}
    return {"quarantine": (Quarantine(**entry),)}


def judge(**options):
    return {"judge": PluginSpec(name="openai", options=options, place=PLACE)}


def verifier(**options):
    return {"verifier": PluginSpec(name="openai", options=options, place=PLACE)}


def logged(agent="openagent", **options):
    """An agent that judges by the logs of its server."""
    verified = suite(graders=(PluginSpec(name="tool_evidence"),))
    return {"agent": PluginSpec(name=agent, options=options), "suites": (verified,)}


RECORDED = "recorded answers are judged, and no agent is called"
SAMPLE = "the bundled sample agent is judged"
CODE = "it runs code of this change"


def asked(name, place=Place("gate.yml"), **options):
    return {"agent": PluginSpec(name=name, options=options, place=place)}


def found(name):
    return {"retriever": PluginSpec(name=name, options={})}


def replayed(file):
    return asked("replay", file=file)


def priced(model="m", **price):
    return {"pricing": {model: Price(**{"input": 3.0, "output": 9.0, **price})}}


def told(head, base, suites=("s",)):
    made = []
    for keys in (head, base):
        full = {"agent": PluginSpec(name="sample"), "suites": (suite(),), **keys}
        made.append(Config(**full))
    return list_loosened_rules(*made, dict.fromkeys(suites, SPECS))


# base, head, what is said of head against base
ROWS = [
    (
        {"gates": (gate(min=0.9),)},
        {"gates": (gate(min=0.85),)},
        "`m.share` min 0.90 -> 0.85 in `gate.yml:31`",
    ),
    (
        {"gates": (gate(max=5),)},
        {"gates": (gate(max=9),)},
        "`m.share` max 5.00 -> 9.00 in `gate.yml:31`",
    ),
    (
        {"gates": (gate(max=5),)},
        {"gates": (gate(target=1),)},
        "`m.share` max 5.00 -> none in `gate.yml:31`",
    ),
    ({"gates": (gate(min=0.9),)}, {}, "removes the gate on `m.share`"),
    ({"gates": (gate("other.x", min=0.9),)}, {}, "removes the gate on `other.x`"),
    (
        {"gates": (gate(min=1),)},
        {"gates": (gate(min=1, level="warn"),)},
        "`m.share` level block -> warn in `gate.yml:31`",
    ),
    (
        {"gates": (gate(min=1, rule="proven"),)},
        {"gates": (gate(min=1, rule="point"),)},
        "`m.share` rule proven -> point in `gate.yml:31`",
    ),
    (
        {"gates": (gate(min=1),)},
        {"gates": (gate(min=1, rule="convicted"),)},
        "`m.share` rule default -> convicted in `gate.yml:31`",
    ),
    ({"suites": (suite(gates=(gate(min=1),)),)}, {}, "removes the gate on `m.share`"),
    (
        {},
        {"gates": (gate(SUCCESS, min=0.1, level="warn"),)},
        "`agent.success_rate` level block -> warn in `gate.yml:31`",
    ),
    (metric(), {}, "removes `m.share` from `regression.metrics`"),
    (metric(), metric(level="warn"), "`m.share` level block -> warn in `gate.yml:31`"),
    (
        metric(tolerance=share(0.1)),
        metric(tolerance=share(0.2)),
        "tolerance of `m.share` 0.1 -> 0.2 in `gate.yml:31`",
    ),
    (
        metric(tolerance=share(0.01)),
        metric(),
        "tolerance of `m.share` 0.01 -> 0.02 in `gate.yml:31`",
    ),
    (
        metric(),
        metric(tolerance=share(0.03)),
        "tolerance of `m.share` 0.02 -> 0.03 in `gate.yml:31`",
    ),
    (
        metric(MARK),
        metric(MARK, tolerance=share(0.5)),
        "tolerance of `m.mark` 0.1 -> 0.5 in `gate.yml:31`",
    ),
    (
        metric(SPEED),
        metric(SPEED, tolerance=percent(6)),
        "tolerance of `m.speed` 5% -> 6% in `gate.yml:31`",
    ),
    (rules(), rules(share(0.05)), "tolerance of `agent.success_rate` 0.02 -> 0.05 in `gate.yml:9`"),
    (
        gated(),
        gated(**rules(share(0.05))),
        "tolerance of `agent.success_rate`, `m.share` 0.02 -> 0.05 in `gate.yml:9`",
    ),
    (rules(), rules(alpha=1e-9), "`regression.alpha` 0.01 -> 1e-09 in `gate.yml:9`"),
    (rules(), rules(power=0.5), "`regression.power` 0.8 -> 0.5 in `gate.yml:9`"),
    (rules(), rules(max_removed=0.5), "`regression.max_removed` 10% -> 50% in `gate.yml:9`"),
    (
        rules(),
        rules(stop="off"),
        "`regression.stop` early -> off (fewer rounds at most) in `gate.yml:9`",
    ),
    (rules(max_rounds=9), rules(max_rounds=4), "`regression.max_rounds` 9 -> 4 in `gate.yml:9`"),
    (rules(), rules(max_rounds=5), "`regression.max_rounds` twice the rounds -> 5 in `gate.yml:9`"),
    (rules(max_rounds=9), rules(), "`regression.max_rounds` 9 -> twice the rounds in `gate.yml:9`"),
    (asked("openai"), asked("replay"), f"`agent` type openai -> replay: {RECORDED}"),
    (asked("openai"), asked("sample"), f"`agent` type openai -> sample: {SAMPLE}"),
    (asked("http"), asked("none"), "`agent` type http -> none: no agent is called"),
    (
        asked("openai"),
        asked("command", place=PLACE),
        f"`agent` type openai -> command: {CODE} in `gate.yml:31`",
    ),
    (asked("openagent"), asked("python"), f"`agent` type openagent -> python: {CODE}"),
    (
        asked("command", env=["A"]),
        asked("command", env=["GITHUB_TOKEN", "A"]),
        "gives the `agent` a token of the workflow, `GITHUB_TOKEN`",
    ),
    (
        asked("openai"),
        asked("openai", api_key_env="GH_TOKEN", place=PLACE),
        "gives the `agent` a token of the workflow, `GH_TOKEN` in `gate.yml:31`",
    ),
    (found("http"), found("python"), f"`retriever` type http -> python: {CODE}"),
    ({}, {"suites": ()}, "removes the suite `s`"),
    ({}, {"suites": (suite(graders=()),)}, "removes the grader `facts` of `s`"),
    (
        {"suites": (suite(graders=(FACTS, FACTS)),)},
        {},
        "changes the options of the grader `facts` of `s`",
    ),
    ({}, {"suites": (suite(rounds=1, place=PLACE),)}, "`s` rounds 3 -> 1 in `gate.yml:31`"),
    ({}, {"suites": (suite(mode="upstream"),)}, "`s` mode strict -> upstream"),
    (
        logged(),
        logged("openai"),
        "`agent` type openagent -> openai, whose server logs are not read",
    ),
    ({}, {"suites": (suite(retry="any_failure"),)}, "`s` retry infra -> any_failure"),
    ({}, {"suites": (suite(max_attempts=9),)}, "`s` max_attempts 2 -> 9"),
    ({}, {"suites": (suite(floor=False),)}, "`s` floor true -> false"),
    ({}, {"suites": (suite(sample={"push": 9}),)}, "`s` sample of `push` all -> 9"),
    (
        {"suites": (suite(sample={"push": 9}),)},
        {"suites": (suite(sample={"push": 8}),)},
        "`s` sample of `push` 9 -> 8",
    ),
    (
        {"policy": Policy(inconclusive="fail")},
        {"policy": Policy(inconclusive="extend")},
        "`policy.inconclusive` fail -> extend",
    ),
    ({}, {"policy": Policy(error="warn")}, "`policy.error` fail -> warn"),
    ({}, {"policy_set": ("inconclusive",)}, "`policy.inconclusive` fail -> warn at releases"),
    ({}, {"policy": Policy(deploy="not_worse")}, "`policy.deploy` improved -> not_worse"),
    ({}, quarantine(), "puts `c` in quarantine until 2026-12-01 in `gate.yml:31`"),
    (
        quarantine(),
        quarantine(until="2027-01-01"),
        "quarantine of `c` until 2026-12-01 -> 2027-01-01 in `gate.yml:31`",
    ),
    (judge(), {}, "removes the `judge`"),
    (judge(votes=3), judge(), "`judge` votes 3 -> 1 in `gate.yml:31`"),
    (judge(votes=3), judge(votes=2), "`judge` votes 3 -> 2 in `gate.yml:31`"),
    (
        judge(min_agreement=0.5),
        judge(min_agreement=0.8),
        "`judge` min_agreement 0.5 -> 0.8 in `gate.yml:31`",
    ),
    (judge(), judge(min_agreement=0.0), "`judge` min_agreement none -> 0 in `gate.yml:31`"),
    (
        judge(require_different_judge=True),
        judge(),
        "`judge` require_different_judge true -> false in `gate.yml:31`",
    ),
    (verifier(), {}, "removes the `verifier`"),
    (
        verifier(require_different_judge=True),
        verifier(),
        "`verifier` require_different_judge true -> false in `gate.yml:31`",
    ),
    (priced(), {}, "removes the price of `m`"),
    (priced(), priced(input=1.0), "price of `m` input 3 -> 1, cached input 3 -> 1"),
    (priced(), priced(cached_input=0.5), "price of `m` cached input 3 -> 0.5"),
    (priced(), priced(reasoning=2.0), "price of `m` reasoning 9 -> 2"),
    ({"budget": Budget(usd=5.0)}, {"budget": Budget(usd=0.01)}, "`budget.usd` 5 -> 0.01"),
    ({}, {"budget": Budget(calls=10)}, "`budget.calls` none -> 10"),
    ({}, {"report": ReportOptions(html=False)}, "`report.html` on -> off"),
    ({}, {"protect": False}, "sets `protect: false`"),
]
IDS = [row[2] for row in ROWS]


@pytest.mark.parametrize(("base", "head", "said"), ROWS, ids=IDS)
def test_what_a_pull_request_makes_easier_is_one_sentence(base, head, said):
    assert told(head, base) == (said,)


@pytest.mark.parametrize(("head", "base", "said"), ROWS, ids=IDS)
def test_the_same_change_the_other_way_is_not_told(head, base, said):
    assert told(head, base) == ()


# Stricter or not: that cannot be told, so either way is.
EITHER_WAY = [
    (rules(control="fresh"), rules(), "`regression.control` "),
    ({"control_agent": FACTS}, {}, "s `control_agent`"),
    ({"control_agent": FACTS}, {"control_agent": PluginSpec(name="x")}, "changes `control_agent`"),
    (replayed("a.jsonl"), replayed("b.jsonl"), "reads recorded answers from another file"),
    ({}, {"suites": (suite(dataset="other.jsonl"),)}, "`s` uses another dataset: `"),
    (judge(model="a"), judge(model="b"), "`judge` model `"),
    (judge(), {"judge": PluginSpec(name="http")}, "`judge` type "),
    (judge(prompt="a"), judge(prompt="b"), "changes `prompt` of the `judge`"),
    (verifier(model="a"), verifier(model="b"), "`verifier` model `"),
    (verifier(budget_usd=1), verifier(budget_usd=2), "changes `budget_usd` of the `verifier`"),
    (judge(), {**judge(), **verifier()}, "s the `verifier`"),
    (quarantine(), quarantine(owner="@b"), "quarantine of `c` owner `@"),
    (metric(), metric(tolerance=percent(5)), "tolerance of `m.share` "),
    (metric(SPEED, tolerance=share(3)), metric(SPEED, tolerance=percent(1)), "tolerance of"),
    ({}, {"suites": (suite(request={"top_p": 0.1}),)}, "`s` changes `top_p` of its `request`"),
    (logged(), logged(logs={"console": "own.log"}), "changes `agent.logs`, which"),
    (logged(logs=None), logged(logs={}), "changes `agent.logs`, which"),
    (
        logged(),
        logged(same_machine=False, key="store"),
        "changes `agent.same_machine`, `agent.key`",
    ),
    *(
        ({}, {"baseline": BaselineRules(**{name: value})}, f"`baseline.{name}` ")
        for name, value in {
            "source": "none",
            "path": "elsewhere",
            "artifact": "mine",
            "branch": "easy",
            "workflow": "mine.yml",
            "keep_rounds": 3,
            "max_age_days": 1.0,
        }.items()
    ),
]


@pytest.mark.parametrize(("one", "other", "said"), EITHER_WAY, ids=[row[2] for row in EITHER_WAY])
def test_what_may_be_easier_or_not_is_told_either_way(one, other, said):
    for head, base in ((one, other), (other, one)):
        (sentence,) = told(head, base)
        assert said in sentence


def test_where_no_tool_call_is_verified_the_agents_logs_do_not_matter():
    suites = {"suites": (suite(),)}
    assert told({**logged(logs={"audit": "x"}), **suites}, {**logged(), **suites}) == ()


@pytest.mark.parametrize("added", [judge(), verifier(), {**judge(), **verifier()}])
def test_the_first_model_to_confirm_numbers_is_told_where_they_are_measured(added):
    base = {"suites": (suite(graders=(PluginSpec(name="hallucination"),)),)}
    said = "adds a model that may confirm unsupported numbers in `gate.yml:31`"
    assert told({**base, **added}, base) == (said,)
    assert told(added, {}) == ()


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (metric(), metric(tolerance=share(0.01))),
        (metric(), metric(tolerance=percent(2))),
        (asked("openai"), asked("anthropic")),
        (asked("python", callable="a:b"), asked("command", command=["c"])),
        (asked("openai", model="a"), asked("openai", model="b")),
        (metric(MARK), metric(MARK, tolerance=share(0.1))),
        (metric(MARK), metric(MARK, tolerance=percent(2))),
        (rules(), rules(percent(1))),
        (rules(), metric(SPEED, tolerance=percent(90))),
        ({"gates": (gate(min=0.9),)}, {"suites": (suite(gates=(gate(min=0.9),)),)}),
        ({"suites": (suite(sample={"push": 9}),)}, {"suites": (suite(sample={"push": "all"}),)}),
        (priced(), priced("m-2026-01-31")),
        ({}, {}),
    ],
)
def test_what_allows_no_more_than_before_is_not_told(base, head):
    assert [line for line in told(head, base) if "price" not in line] == []


def test_a_cheaper_snapshot_of_a_priced_model_is_told():
    both = {"pricing": {**priced()["pricing"], **priced("m-2026-01-31", output=1.0)["pricing"]}}
    assert told(both, priced()) == ("price of `m-2026-01-31` output 9 -> 1, reasoning 9 -> 1",)


def test_a_price_below_the_providers_list_is_told():
    assert told(priced("gpt-4o", input=2.5, output=10.0), {}) == ()
    assert told(priced("gpt-4o", input=2.0, output=10.0), {}) == (
        "price of `gpt-4o` input 2.5 -> 2",
    )
    assert told({}, priced("gpt-4o", input=2.0, output=9.0, cached_input=0.5)) == ()


def test_suites_are_named_where_not_all_of_them_are_concerned():
    two = {"suites": (suite(gates=(gate(min=0.9),)), suite(name="t", gates=(gate(min=0.9),)))}
    one = {"suites": (suite(gates=(gate(min=0.5),)), suite(name="t", gates=(gate(min=0.9),)))}
    assert told(one, two, ("s", "t")) == ("`m.share` of `s` min 0.90 -> 0.50 in `gate.yml:31`",)
    both = {"suites": (suite(), suite(name="t")), "gates": (gate(min=0.5),)}
    assert told(both, two, ("s", "t")) == ("`m.share` min 0.90 -> 0.50 in `gate.yml:31`",)


def test_what_a_judge_is_asked_with_stays_unsaid():
    sentences = told(judge(headers={"x": "new secret"}), judge(headers={"x": "secret"}))
    assert sentences == ("changes `headers` of the `judge` in `gate.yml:31`",)


def test_many_metrics_are_counted():
    names = [f"m.x{n}" for n in range(9)]
    specs = {name: MetricSpec(name=name, column=name, unit="share") for name in names}
    gates = tuple(gate(name, min=0.1) for name in names)
    wide = Config(agent=FACTS, suites=(suite(),), gates=gates, **rules(share(0.5)))
    narrow = Config(agent=FACTS, suites=(suite(),), gates=gates)
    (sentence,) = list_loosened_rules(wide, narrow, {"s": specs})
    assert sentence == (
        "tolerance of `m.x0`, `m.x1`, `m.x2`, `m.x3`, `m.x4` and 4 more 0.02 -> 0.5 in `gate.yml:9`"
    )


def test_cases_that_a_pull_request_removes_or_edits():
    base = {f"c{n}": "x" for n in range(8)}
    head = {"c0": "x", "c1": "edited", "new": "x"}
    found = find_case_drift(base, head)
    assert found.added == ("new",)
    assert found.edited == ("c1",)
    assert found.removed == ("c2", "c3", "c4", "c5", "c6", "c7")
    assert list_loosened_cases("s", found, {"c1": "d.jsonl:2"}) == (
        "removes 6 cases of `s`: `c2`, `c3`, `c4`, `c5`, `c6` and 1 more",
        "edits 1 case of `s`: `c1` in `d.jsonl:2`",
    )
