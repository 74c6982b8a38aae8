"""What a pull request may not move: its own goalposts. Rules and cases come from the base branch
(docs/semantics.md 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gate.records import Config, GateRule, Policy, Suite

_STRICTNESS = {"pass": 0, "warn": 1, "extend": 1, "fail": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDrift:
    """How a pull request's dataset differs from the base's: case ids, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def protected(head: Config, base: Config) -> Config:
    """The base's rules around the head's agent; suites that only the head has are kept (they do
    not gate).
    """
    known = {suite.name for suite in base.suites}
    added = tuple(suite for suite in head.suites if suite.name not in known)
    return replace(base, agent=head.agent, suites=base.suites + added, file=head.file)


def new_suites(head: Config, base: Config) -> frozenset[str]:
    return frozenset(s.name for s in head.suites) - {s.name for s in base.suites}


def drift(base: Mapping[str, str], head: Mapping[str, str]) -> CaseDrift:
    """`base`, `head`: case id -> content hash."""
    return CaseDrift(
        added=tuple(sorted(head.keys() - base.keys())),
        removed=tuple(sorted(base.keys() - head.keys())),
        edited=tuple(sorted(i for i in base.keys() & head.keys() if base[i] != head[i])),
    )


def loosened(head: Config, base: Config) -> tuple[str, ...]:
    """Each rule that the head makes easier to pass than the base has it, one sentence each."""
    return tuple(_all(head, base))


def loosened_cases(suite: str, found: CaseDrift) -> tuple[str, ...]:
    """Cases that the head removes or edits; they were run as the base has them."""
    lines = []
    for word, ids in (("removes", found.removed), ("edits", found.edited)):
        if ids:
            some = ", ".join(f"`{i}`" for i in ids[:5]) + (", ..." if len(ids) > 5 else "")
            plural = "case" if len(ids) == 1 else "cases"
            lines.append(f"{word} {len(ids)} {plural} of `{suite}` ({some})")
    return tuple(lines)


def _all(head: Config, base: Config) -> Iterator[str]:
    yield from _gates("", head.gates, base.gates)
    suites = {suite.name: suite for suite in head.suites}
    for suite in base.suites:
        if suite.name not in suites:
            yield f"removes the suite `{suite.name}`"
        else:
            yield from _suite(suites[suite.name], suite)
    yield from _regression(head, base)
    yield from _policy(head.policy, base.policy)
    yield from _quarantine(head, base)
    yield from _control(head, base)
    if base.protect and not head.protect:
        yield "sets `protect: false`"


def _gates(where: str, head: tuple[GateRule, ...], base: tuple[GateRule, ...]) -> Iterator[str]:
    now = {gate.metric: gate for gate in head}
    for gate in base:
        name = f"`{where}{gate.metric}`"
        own = now.get(gate.metric)
        if own is None:
            yield f"removes the gate on {name}"
            continue
        at = f" in `{own.place.file}:{own.place.line}`" if own.place.line else ""
        if gate.min is not None and (own.min is None or own.min < gate.min):
            yield f"{name} min {_number(gate.min)} -> {_number(own.min)}{at}"
        if gate.max is not None and (own.max is None or own.max > gate.max):
            yield f"{name} max {_number(gate.max)} -> {_number(own.max)}{at}"
        if gate.level == "block" and own.level == "warn":
            yield f"{name} level block -> warn{at}"
        if own.rule != gate.rule and own.rule == "convicted":
            yield f"{name} rule {gate.rule or 'default'} -> convicted{at}"


def _suite(head: Suite, base: Suite) -> Iterator[str]:
    yield from _gates(f"{base.name}: ", head.gates, base.gates)
    kept = [(spec.name, dict(spec.options)) for spec in head.graders]
    for spec in base.graders:
        if (spec.name, dict(spec.options)) not in kept:
            yield f"changes or removes the grader `{spec.name}` of `{base.name}`"
    if head.rounds < base.rounds:
        yield f"`{base.name}` rounds {base.rounds} -> {head.rounds}"
    if head.retry != base.retry and head.retry == "any_failure":
        yield f"`{base.name}` retry infra -> any_failure"
    if head.dataset != base.dataset:
        yield f"`{base.name}` takes another dataset: `{head.dataset}`"


def _regression(head: Config, base: Config) -> Iterator[str]:
    now, before = head.regression, base.regression
    if now.alpha < before.alpha:
        yield f"`regression.alpha` {before.alpha:g} -> {now.alpha:g}"
    if now.max_removed > before.max_removed:
        yield f"`regression.max_removed` {before.max_removed:.0%} -> {now.max_removed:.0%}"
    if now.stop == "off" != before.stop:
        yield "`regression.stop` early -> off (fewer rounds at most)"
    most = before.max_rounds or 2 * max((suite.rounds for suite in base.suites), default=1)
    if now.max_rounds is not None and now.max_rounds < most:
        was = before.max_rounds or "twice the rounds"
        yield f"`regression.max_rounds` {was} -> {now.max_rounds}"
    wider = now.tolerance and (not before.tolerance or now.tolerance.value > before.tolerance.value)
    if now.tolerance and wider:
        yield f"`regression.tolerance` -> {now.tolerance.value:g}"
    for name, rule in before.metrics.items():
        own = now.metrics.get(name)
        if own is None:
            yield f"removes `regression.metrics.{name}`"
        elif rule.level != "warn" and own.level == "warn":
            yield f"`regression.metrics.{name}` level block -> warn"
        elif own.tolerance and rule.tolerance and own.tolerance.value > rule.tolerance.value:
            yield (
                f"`regression.metrics.{name}` tolerance "
                f"{rule.tolerance.value:g} -> {own.tolerance.value:g}"
            )


def _control(head: Config, base: Config) -> Iterator[str]:
    if (head.regression.control, base.regression.control) == ("stored", "fresh"):
        yield "`regression.control` fresh -> stored"
    now, before = head.control_agent, base.control_agent
    if before is not None and (
        now is None or (now.name, now.options) != (before.name, before.options)
    ):
        yield "changes or removes `control_agent`"


def _policy(head: Policy, base: Policy) -> Iterator[str]:
    for name in ("inconclusive", "no_baseline", "not_comparable", "error", "missing_metric"):
        now, before = getattr(head, name), getattr(base, name)
        if _STRICTNESS[now] < _STRICTNESS[before]:
            yield f"`policy.{name}` {before} -> {now}"


def _quarantine(head: Config, base: Config) -> Iterator[str]:
    before = {entry.case: entry.until for entry in base.quarantine}
    for entry in head.quarantine:
        if entry.case not in before:
            yield f"puts `{entry.case}` in quarantine until {entry.until}"
        elif entry.until > before[entry.case]:
            yield f"quarantine of `{entry.case}` until {before[entry.case]} -> {entry.until}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"
