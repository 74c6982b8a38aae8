"""Compares the numbers of the regression rules, and the sections of gate.yml that are not about one
metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields

from gate.agents.pricing import price_of, with_list_prices
from gate.records import Config, PluginSpec, Price, RegressionRules
from gate.suites.protection.loosening.limits import at, number
from gate.system.sealing import OF_THE_JOB

_STRICTNESS = {"pass": 0, "warn": 1, "extend": 1, "fail": 2, "not_worse": 0, "improved": 1}
_LOGGING, _BY_LOGS = "openagent", ("tool_evidence",)  # the agent with logs, graders that use them
_LOGS = ("logs", "same_machine", "key")
_INSTEAD = {  # of an agent that is asked
    "replay": "recorded answers are judged, and no agent is called",
    "sample": "the bundled sample agent is judged",
    "none": "no agent is called",
}
_CODE, _RUNS = ("python", "command"), "it runs code of this change"
_SHOWN_OF_JUDGE = ("model", "require_different_judge", "votes", "min_agreement")


def settings(head: Config, base: Config) -> Iterator[str]:
    yield from _regression(head.regression, base.regression)
    yield from _most_rounds(head, base)
    yield from _control(head, base)
    yield from _compare_agents("agent", head.agent, base.agent)
    yield from _compare_agents("retriever", head.retriever, base.retriever)
    yield from _evidence(head, base)
    yield from _policy(head, base)
    yield from _quarantine(head, base)
    yield from _model("judge", head.judge, base.judge)
    yield from _verifier(head, base)
    yield from _prices(head, base)
    yield from _budget(head, base)
    yield from _baseline(head, base)
    for name in ("html", "junit", "sarif"):
        if getattr(base.report, name) and not getattr(head.report, name):
            yield f"`report.{name}` on -> off"
    if base.protect and not head.protect:
        yield "sets `protect: false`"


def _regression(now: RegressionRules, before: RegressionRules) -> Iterator[str]:
    place = at(now.place)
    for name in ("alpha", "power"):
        was, now_value = getattr(before, name), getattr(now, name)
        if now_value < was:
            yield f"`regression.{name}` {was:g} -> {now_value:g}{place}"
    if now.max_removed > before.max_removed:
        yield f"`regression.max_removed` {before.max_removed:.0%} -> {now.max_removed:.0%}{place}"
    if now.stop == "off" != before.stop:
        yield f"`regression.stop` {before.stop} -> off (fewer rounds at most){place}"


def _most_rounds(head: Config, base: Config) -> Iterator[str]:
    """The cap of an early stop; one that is left out is twice a suite's rounds."""
    now, before = head.regression, base.regression
    if now.stop == "off" or before.stop == "off":
        return
    fewer = [
        (now.max_rounds or 2 * suite.rounds) < (before.max_rounds or 2 * suite.rounds)
        for suite in base.suites
    ]
    if any(fewer):
        was, now_rounds = (rules.max_rounds or "twice the rounds" for rules in (before, now))
        yield f"`regression.max_rounds` {was} -> {now_rounds}{at(now.place)}"


def _control(head: Config, base: Config) -> Iterator[str]:
    """Any change: what is compared with is another thing then."""
    control, before_asked = head.regression.control, base.regression.control
    if control != before_asked:
        yield f"`regression.control` {before_asked} -> {control}{at(head.regression.place)}"
    now, before = head.control_agent, base.control_agent
    if now is None and before is not None:
        yield "removes `control_agent`"
    elif now is not None and (before is None or not _same(now, before)):
        yield f"{'changes' if before else 'adds'} `control_agent`{at(now.place)}"


def _compare_agents(
    section: str, now: PluginSpec | None, before: PluginSpec | None
) -> Iterator[str]:
    """Who answers is the head's own; told is what a reviewer takes for an agent and is none, and
    that code of the change runs where an address was asked.
    """
    if now is None or before is None:
        return
    if now.name == before.name == "replay" and not _same(now, before):
        yield f"`{section}` reads recorded answers from another file{at(now.place)}"
    if given := sorted(_tokens(now) - _tokens(before)):
        named = ", ".join(f"`{name}`" for name in given)
        yield f"gives the `{section}` a token of the workflow, {named}{at(now.place)}"
    if now.name == before.name:
        return
    if now.name in _INSTEAD:
        yield f"`{section}` type {before.name} -> {now.name}: {_INSTEAD[now.name]}{at(now.place)}"
    elif now.name in _CODE and before.name not in _CODE:
        yield f"`{section}` type {before.name} -> {now.name}: {_RUNS}{at(now.place)}"


def _evidence(head: Config, base: Config) -> Iterator[str]:
    """Which logs bear out tool calls: the agent is the head's own, what it is judged by is not."""
    now, before = head.agent, base.agent
    judged = any(spec.name in _BY_LOGS for suite in base.suites for spec in suite.graders)
    if not judged or now is None or before is None or before.name != _LOGGING:
        return
    place = at(now.place)
    if now.name != before.name:
        yield f"`agent` type {before.name} -> {now.name}, whose server logs are not read{place}"
        return
    changed = [key for key in _LOGS if now.options.get(key) != before.options.get(key)]
    if changed:
        named = ", ".join(f"`agent.{key}`" for key in changed)
        yield f"changes {named}, which verifies tool calls{place}"


def _tokens(spec: PluginSpec) -> set[str]:
    """The job's own variables that the plug-in is given by name."""
    named = (*(spec.options.get("env") or ()), spec.options.get("api_key_env"))
    return {str(name) for name in named if name and OF_THE_JOB.fullmatch(str(name))}


def _same(now: PluginSpec, before: PluginSpec) -> bool:
    return (now.name, now.options) == (before.name, before.options)


def _policy(head: Config, base: Config) -> Iterator[str]:
    """A policy that is left out is `fail` at a release, but for what is deployed."""
    for field in fields(base.policy):
        name = field.name
        now, before = getattr(head.policy, name), getattr(base.policy, name)
        if _STRICTNESS[now] < _STRICTNESS[before]:
            yield f"`policy.{name}` {before} -> {now}"
        elif name == "deploy":
            continue
        elif name in head.policy_set and name not in base.policy_set and now != "fail":
            yield f"`policy.{name}` fail -> {now} at releases"


def _quarantine(head: Config, base: Config) -> Iterator[str]:
    base_entries = {entry.case: entry for entry in base.quarantine}
    for entry in head.quarantine:
        before, place = base_entries.get(entry.case), at(entry.place)
        if before is None:
            yield f"puts `{entry.case}` in quarantine until {entry.until}{place}"
            continue
        if entry.until > before.until:
            yield f"quarantine of `{entry.case}` until {before.until} -> {entry.until}{place}"
        if entry.owner != before.owner:
            change = f"`{before.owner}` -> `{entry.owner}`"
            yield f"quarantine of `{entry.case}` owner {change}{place}"


def _verifier(head: Config, base: Config) -> Iterator[str]:
    """Without one the judge verifies: then one of its own takes the judge's place."""
    yield from _model("verifier", head.verifier, base.verifier)
    if base.verifier is None and base.judge is not None and head.verifier is not None:
        yield f"adds the `verifier` that replaces the judge{at(head.verifier.place)}"
    added = head.verifier or head.judge
    graders = {spec.name for suite in base.suites for spec in suite.graders}
    if base.verifier is None and base.judge is None and added and "hallucination" in graders:
        yield f"adds a model that may confirm unsupported numbers{at(added.place)}"


def _model(section: str, now: PluginSpec | None, before: PluginSpec | None) -> Iterator[str]:
    """Values are told of what is no secret; of other options only that they differ."""
    if before is None:
        return
    if now is None:
        yield f"removes the `{section}`"
        return
    place, was, now_options = at(now.place), before.options, now.options
    if now.name != before.name:
        yield f"`{section}` type {before.name} -> {now.name}{place}"
    if now_options.get("model") != was.get("model"):
        yield f"`{section}` model `{was.get('model')}` -> `{now_options.get('model')}`{place}"
    if was.get("require_different_judge") and not now_options.get("require_different_judge"):
        yield f"`{section}` require_different_judge true -> false{place}"
    if now_options.get("votes", 1) < was.get("votes", 1):
        yield f"`{section}` votes {was['votes']} -> {now_options.get('votes', 1)}{place}"
    least, now_agreement = was.get("min_agreement"), now_options.get("min_agreement")
    if now_agreement is not None and (
        least is None or now_agreement > least
    ):  # a judge below it does not gate
        change = f"{'none' if least is None else f'{least:g}'} -> {now_agreement:g}"
        yield f"`{section}` min_agreement {change}{place}"
    others = sorted(
        key
        for key in {*now_options, *was} - {*_SHOWN_OF_JUDGE}
        if now_options.get(key) != was.get(key)
    )
    if others:
        yield f"changes {', '.join(f'`{key}`' for key in others)} of the `{section}`{place}"


def _prices(head: Config, base: Config) -> Iterator[str]:
    """Lower prices make limits on cost easier; a dated snapshot has the price of its model."""
    base_prices, head_prices = with_list_prices(base.pricing), with_list_prices(head.pricing)
    for model in sorted({*head.pricing, *base.pricing}):
        before, now = price_of(model, base_prices), price_of(model, head_prices)
        if before is None:
            continue
        if now is None:
            yield f"removes the price of `{model}`"
            continue
        lower = [
            f"{name} {was:g} -> {own:g}"
            for name, was, own in zip(
                ("input", "output", "cached input", "reasoning"),
                _usd(before),
                _usd(now),
                strict=True,
            )
            if own < was
        ]
        if lower:
            yield f"price of `{model}` {', '.join(lower)}"


def _usd(price: Price) -> tuple[float, float, float, float]:
    cached = price.input if price.cached_input is None else price.cached_input
    thought = price.output if price.reasoning is None else price.reasoning
    return price.input, price.output, cached, thought


def _budget(head: Config, base: Config) -> Iterator[str]:
    """What ends a run before it can be judged."""
    for field in fields(base.budget):
        now, before = (getattr(config.budget, field.name) for config in (head, base))
        if (math.inf if now is None else now) < (math.inf if before is None else before):
            yield f"`budget.{field.name}` {number(before)} -> {number(now)}"


def _baseline(head: Config, base: Config) -> Iterator[str]:
    """Any change: what is compared with is another thing then."""
    for field in fields(base.baseline):
        now, before = (getattr(config.baseline, field.name) for config in (head, base))
        if now != before:
            yield f"`baseline.{field.name}` {_word(before)} -> {_word(now)}"


def _word(value: str | float | None) -> str:
    if value is None or value == "":
        return "none"
    return f"{value:g}" if isinstance(value, (int, float)) else f"`{value}`"
