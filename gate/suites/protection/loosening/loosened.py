"""Everything that a pull request makes easier for itself to pass."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping

from gate.records import Config, MetricSpec, PluginSpec, Suite
from gate.records.codec import to_json
from gate.suites.protection.loosening.limits import at, limits
from gate.suites.protection.loosening.settings import settings


def suites(head: Config, base: Config) -> Iterator[str]:
    head_suites = {suite.name: suite for suite in head.suites}
    for suite in base.suites:
        now = head_suites.get(suite.name)
        if now is None:
            yield f"removes the suite `{suite.name}`"
        else:
            yield from _suite(now, suite)


def _suite(now: Suite, before: Suite) -> Iterator[str]:
    name, place = f"`{before.name}`", at(now.place)
    yield from _graders(now, before)
    if (now.dataset, now.suite) != (before.dataset, before.suite):
        yield f"{name} uses another dataset: `{now.suite or now.dataset}`{place}"
    if (before.mode, now.mode) == ("strict", "upstream"):
        yield f"{name} mode strict -> upstream{place}"
    changed_keys = sorted(
        key
        for key in {*now.request, *before.request}
        if now.request.get(key) != before.request.get(key)
    )
    if changed_keys:
        keys = ", ".join(f"`{key}`" for key in changed_keys)
        yield f"{name} changes {keys} of its `request`{place}"
    if now.rounds < before.rounds:
        yield f"{name} rounds {before.rounds} -> {now.rounds}{place}"
    if (before.retry, now.retry) == ("infra", "any_failure"):
        yield f"{name} retry infra -> any_failure{place}"
    if before.floor and not now.floor:
        yield f"{name} floor true -> false{place}"
    if now.max_attempts > before.max_attempts:
        yield f"{name} max_attempts {before.max_attempts} -> {now.max_attempts}{place}"
    for event in sorted({*now.sample, *before.sample}):
        was, size = before.sample.get(event, "all"), now.sample.get(event, "all")
        if _cases(size) < _cases(was):
            yield f"{name} sample of `{event}` {was} -> {size}{place}"


def _cases(size: int | str) -> float:
    return size if isinstance(size, int) else math.inf


def _graders(now: Suite, before: Suite) -> Iterator[str]:
    """A grader with other options may be stricter; that cannot be told from outside."""
    kept = Counter(_key(spec) for spec in now.graders)
    names = {spec.name: spec for spec in now.graders}
    for spec in before.graders:
        if kept[_key(spec)] > 0:
            kept[_key(spec)] -= 1
        elif spec.name in names:
            where = at(names[spec.name].place)
            yield f"changes the options of the grader `{spec.name}` of `{before.name}`{where}"
        else:
            yield f"removes the grader `{spec.name}` of `{before.name}`"


def _key(spec: PluginSpec) -> str:
    return json.dumps([spec.name, to_json(spec.options)], sort_keys=True)


def list_loosened_rules(
    head: Config, base: Config, measured: Mapping[str, Mapping[str, MetricSpec]]
) -> tuple[str, ...]:
    """A sentence for each rule that is easier to pass in the head than in the base. `measured`:
    suite of the base -> metric -> its MetricSpec, for defaults and scales.
    """
    sentences = (*limits(head, base, measured), *suites(head, base), *settings(head, base))
    return tuple(dict.fromkeys(sentences))
