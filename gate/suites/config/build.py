"""Makes records from gate.yml's data, each with its line in the file; the data fit the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gate.agents.under_test import NOBODY
from gate.errors import Place
from gate.files.yaml import Path
from gate.records import (
    BaselineRules,
    Budget,
    CheckedJson,
    Config,
    GateRule,
    Json,
    MetricRule,
    PluginSpec,
    Policy,
    Price,
    Quarantine,
    RegressionRules,
    ReportOptions,
    SameAgent,
    Suite,
    Tolerance,
)
from gate.records.codec import from_json
from gate.suites.config.json_schema import AGENT_KEYS

RUN_RECORD = "run_record"  # the grader that says what a suite written as code says itself
Where = Callable[[Path], Place]


def config(
    data: Mapping[str, CheckedJson], where: Where, *, agent: PluginSpec, file: str
) -> Config:
    """The Config from checked data. `agent` is used if gate.yml has none; an item of `suites` that
    is None is left out.
    """
    simple: dict[str, Any] = {
        "policy": from_json(Policy, data.get("policy") or {}),
        "baseline": from_json(BaselineRules, data.get("baseline") or {}),
        "budget": from_json(Budget, data.get("budget") or {}),
        "report": from_json(ReportOptions, data.get("report") or {}),
    }
    gates = "gates" if "gates" in data else "QUALITY_GATES"
    return Config(
        agent=_agent(data, where, agent),
        same_agent=_same_agent(data.get("agent") or {}),
        judge=_optional(data, "judge", where),
        verifier=_optional(data, "verifier", where),
        control_agent=_optional(data, "control_agent", where),
        retriever=_optional(data, "retriever", where),
        suites=suites(data.get("suites") or [], where),
        gates=_gates(data.get(gates) or {}, (gates,), where),
        regression=_regression(data, where),
        pricing={name: from_json(Price, p) for name, p in (data.get("pricing") or {}).items()},
        quarantine=_quarantine(data.get("quarantine") or [], where),
        protect=data.get("protect", True),
        policy_set=tuple(sorted(data.get("policy") or {})),
        file=file,
        **simple,
    )


def plugin(data: Mapping[str, CheckedJson], place: Place) -> PluginSpec:
    """The PluginSpec of `{type: name, further keys}`."""
    options = {key: value for key, value in data.items() if key != "type"}
    return PluginSpec(name=data["type"], options=options, place=place)


def _agent(data: Mapping[str, CheckedJson], where: Where, otherwise: PluginSpec) -> PluginSpec:
    """A retriever without an agent is measured alone."""
    if "agent" not in data and "retriever" in data:
        return PluginSpec(name=NOBODY, place=where(("retriever",)))
    agent = _optional(data, "agent", where) if "type" in data.get("agent", {}) else None
    if agent is None:
        return otherwise
    options = {key: value for key, value in agent.options.items() if key not in AGENT_KEYS}
    return replace(agent, options=options)


def _same_agent(agent: Mapping[str, Json]) -> SameAgent:
    return from_json(SameAgent, {key: agent[key] for key in AGENT_KEYS if key in agent})


def _optional(data: Mapping[str, CheckedJson], key: str, where: Where) -> PluginSpec | None:
    return plugin(data[key], where((key,))) if key in data else None


def suites(data: list[CheckedJson], where: Where) -> tuple[Suite, ...]:
    return tuple(
        _suite(item, ("suites", index), where)
        for index, item in enumerate(data)
        if item is not None
    )


def spell_out_graders(graders: list[Json]) -> list[Json]:
    """`name` and `{name: null}` as `{name: {}}`; anything else as it is."""
    return [_spell_out_grader(item) for item in graders]


def _spell_out_grader(item: Json) -> Json:
    if isinstance(item, str):
        return {item: {}}
    if isinstance(item, dict):
        return {name: {} if options is None else options for name, options in item.items()}
    return item


def _suite(data: Mapping[str, CheckedJson], path: Path, where: Where) -> Suite:
    plain = {key: data[key] for key in data if key not in ("graders", "gates")}
    if "version" in plain:
        plain["version"] = str(plain["version"])
    graders = [
        PluginSpec(name=name, options=options, place=where((*path, "graders", index)))
        for index, item in enumerate(data.get("graders") or [])
        for name, options in item.items()
    ]
    if "suite" in plain and not any(spec.name == RUN_RECORD for spec in graders):
        graders.insert(0, PluginSpec(name=RUN_RECORD, place=where((*path, "suite"))))
    return Suite(
        **{"dataset": "", **plain},
        graders=tuple(graders),
        gates=_gates(data.get("gates") or {}, (*path, "gates"), where),
        place=where(path),
    )


def _gates(data: Mapping[str, CheckedJson], path: Path, where: Where) -> tuple[GateRule, ...]:
    return tuple(
        replace(from_json(GateRule, {"metric": name, **rule}), place=where((*path, name)))
        for name, rule in data.items()
    )


def _regression(data: Mapping[str, CheckedJson], where: Where) -> RegressionRules:
    written = dict(data.get("regression") or {})
    if written.get("stop") is False:
        written["stop"] = "off"
    if "regression_threshold" in data:
        written["tolerance"] = data["regression_threshold"]
    if "tolerance" in written:
        written["tolerance"] = tolerance(written["tolerance"])
    if "max_removed" in written:
        written["max_removed"] = tolerance(written["max_removed"]).value
    written["metrics"] = {
        name: _metric_rule(name, rule, where(("regression", "metrics", name)))
        for name, rule in (written.get("metrics") or {}).items()
    }
    written_keys = [
        key for key in ("regression", "regression_threshold") if data.get(key) is not None
    ]
    place = (
        where((written_keys[0],)) if written_keys else replace(where(()), line=None)
    )  # no line of its own
    return RegressionRules(**written, place=place)


def _metric_rule(name: str, data: Mapping[str, CheckedJson], place: Place) -> MetricRule:
    allowed = tolerance(data["tolerance"]) if "tolerance" in data else None
    return MetricRule(metric=name, tolerance=allowed, level=data.get("level"), place=place)


def tolerance(value: float | str) -> Tolerance:
    """The Tolerance of a written value: 0.02 is absolute, "5%" relative."""
    if isinstance(value, str):
        return Tolerance(value=float(value.rstrip("% ")) / 100, relative=True)
    return Tolerance(value=float(value))


def _quarantine(data: list[CheckedJson], where: Where) -> tuple[Quarantine, ...]:
    return tuple(
        Quarantine(**item, place=where(("quarantine", index))) for index, item in enumerate(data)
    )
