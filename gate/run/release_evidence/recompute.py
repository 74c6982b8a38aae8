"""Computes the verdict again, from the trials, baselines and rules of a release's evidence. It asks
no agent and loads no grader: names in the folder are text, never code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gate.analysis.metric_names import current_name, current_names
from gate.analysis.outages import was_answered
from gate.analysis.pooling import pool
from gate.errors import UsageError
from gate.records import BaselineInfo, Config, Estimate, GateRule, Report, SuiteReport
from gate.records.release_evidence import BASELINES, RulesInEffect
from gate.store.baseline.file import newest, parse
from gate.store.baseline.find import Compared, compare_with
from gate.store.measurements import Stored, StoredSuite, load
from gate.suites.cases.dataset import Summary
from gate.suites.config.current_names import use_current_names
from gate.suites.config.lint import ConfigFindings
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting, SuiteData

SAME = 1e-6  # relative: the last digits of a float differ from one processor to another
_OF_THE_PAST = datetime(1970, 1, 1, tzinfo=UTC)  # ages are not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceContent:
    """The parts of the folder, each read and checked for form."""

    folder: Path
    stated: Report
    rules: RulesInEffect
    datasets: Mapping[str, Summary]  # by suite; one whose copy needs a user's grader is left out


def decide_again(held: EvidenceContent) -> Report:
    """The report, computed again. Raises UsageError if the folder lacks a part that it needs."""
    trials = load(held.folder, _OF_THE_PAST)
    control = trials.session.control() if trials.session else None
    beside = load(control.folder, _OF_THE_PAST) if control else None
    stated, provenance = held.stated, trials.provenance
    setting = Setting(
        session_id=stated.session_id,
        created_at=stated.created_at,
        duration_s=stated.duration_s,
        mode=provenance.mode,
        provenance=provenance,
        elsewhere=frozenset(held.rules.elsewhere),
        answered=trials.session is not None and was_answered(trials.session.meta.health),
    )
    held = _use_current_names(_apply_old_rules(held, provenance.tool_version), trials)
    measured = [_measure(held, name, suite, beside) for name, suite in trials.suites.items()]
    return conclude(measured, held.rules.config, setting, trials.rows_of)


def _apply_old_rules(held: EvidenceContent, version: str) -> EvidenceContent:
    """Until 0.1 a release wanted every limit proved that gate.yml gave no rule."""
    if not version.startswith("0.1."):
        return held
    config = held.rules.config
    config = replace(
        config,
        gates=_keep_proven(config.gates),
        suites=tuple(replace(suite, gates=_keep_proven(suite.gates)) for suite in config.suites),
    )
    return replace(held, rules=replace(held.rules, config=config))


def _use_current_names(held: EvidenceContent, trials: Stored) -> EvidenceContent:
    """Rules that an older version wrote, by the names that metrics have now."""
    measured = {name: suite.meta.specs for name, suite in trials.suites.items()}
    config = use_current_names(held.rules.config, measured, ConfigFindings())
    advisory = {
        name: {current_name(metric, measured.get(name, ())): why for metric, why in whys.items()}
        for name, whys in held.rules.advisory.items()
    }
    elsewhere = tuple(name for one in held.rules.elsewhere for name in current_names(one, ()))
    rules = replace(held.rules, config=config, advisory=advisory, elsewhere=elsewhere)
    return replace(held, rules=rules)


def _keep_proven(gates: Iterable[GateRule]) -> tuple[GateRule, ...]:
    return tuple(replace(gate, rule=gate.rule or "proven") for gate in gates)


def _measure(
    held: EvidenceContent, name: str, suite: StoredSuite, beside: Stored | None
) -> SuiteData:
    config, suite_report = held.rules.config, held.stated.suites.get(name)
    if suite_report is None:
        raise UsageError(f"summary.json says nothing about the suite '{name}'")
    case_ids = frozenset(suite.table.cases)
    spared = bool(suite.meta.looks) and not suite.not_run
    partial = bool(suite.meta.not_selected) or spared
    not_asked = _cases(held, name, suite) - case_ids
    control, rules = beside.suites.get(name) if beside else None, config.find_suite(name)
    return SuiteData(
        name=name,
        meta=suite.meta,
        current=suite.table,
        tally=suite.tally,
        compared=_compare_with_control(control)
        if control
        else _read_baseline(held, name, suite_report, config),
        control=control.tally if control else None,
        gates=rules.gates if rules else (),
        floor=rules.floor if rules else True,
        unreachable=suite_report.reason
        if suite_report.outcome == "error" and not suite.tally.trials
        else "",
        not_run=max(0, suite.not_run),
        stopped_by=suite.ended if suite.not_run > 0 else "",
        unasked_cases=not_asked if suite.not_run > 0 else frozenset(),
        not_asked=not_asked if partial else frozenset(),
        ended=suite.ended,
        advisory=held.rules.advisory.get(name, {}),
    )


def _cases(held: EvidenceContent, name: str, suite: StoredSuite) -> frozenset[str]:
    dataset = held.datasets.get(name)
    return frozenset(dataset.digests if dataset else suite.table.cases)


def _compare_with_control(control: StoredSuite) -> Compared:
    if not control.table.cases:
        return Compared()
    return Compared(table=control.table, info=BaselineInfo(source="control"))


def _read_baseline(
    held: EvidenceContent, name: str, suite_report: SuiteReport, config: Config
) -> Compared:
    """The baseline as the run pooled it; where it came from is as `told`."""
    path = held.folder / BASELINES / f"{name}.json"
    if not path.is_file():
        if suite_report.baseline.source != "none":
            raise UsageError(
                f"{path.name}: summary.json was compared with it, but the file is missing"
            )
        return Compared(info=suite_report.baseline)
    stored = newest(parse(path.read_bytes(), path.name), config.baseline.keep_rounds)
    if stored.suite != name:
        raise UsageError(f"{BASELINES}/{path.name} is of the suite '{stored.suite[:80]}'")
    pooled = pool(stored.table, stored.runs, stored.changed_at)
    info = replace(suite_report.baseline, rounds=pooled.rounds, runs=len(pooled.runs))
    return compare_with(stored, pooled, info)


def differences(stated: Report, again: Report) -> Iterator[str]:
    """One sentence for each difference between summary.json and the report that its trials give."""
    if (stated.outcome, stated.exit_code) != (again.outcome, again.exit_code):
        yield (
            f"summary.json says {stated.outcome} (exit code {stated.exit_code}), its trials say "
            f"{again.outcome} (exit code {again.exit_code})"
        )
    if _deploys(stated) != _deploys(again):
        yield f"summary.json says deploy: {_deploys(stated)}, its trials say {_deploys(again)}"
    for name, suite in again.suites.items():
        yield from _suite_differences(name, stated.suites[name], suite)
    yield from _unequal("comparison", _comparisons(stated), _comparisons(again))
    yield from _unequal("gate", _gates(stated), _gates(again))
    for kind in ("newly_failing", "removed", "changed"):
        was, now = (
            {(c.suite, c.case_id) for c in getattr(report.cases, kind)}
            for report in (stated, again)
        )
        if was != now:
            yield f"summary.json lists other {kind.replace('_', ' ')} cases than its trials show"


def _suite_differences(name: str, stated: SuiteReport, again: SuiteReport) -> Iterator[str]:
    for what in ("outcome", "trials", "cases", "violations"):
        was, now = getattr(stated, what), getattr(again, what)
        if was != now:
            yield f"{name}: {what} is stated as {was}, its trials say {now}"
    yield from _unequal(f"{name}:", _values(stated.metrics), _values(again.metrics))
    yield from _unequal(f"{name}: cases that fail by", _modes(stated), _modes(again))
    yield from _unequal(f"{name}: the anchor of", _anchor_levels(stated), _anchor_levels(again))


def _anchor_levels(suite: SuiteReport) -> dict[str, tuple[str, float | None]]:
    levels = suite.anchor.levels if suite.anchor else ()
    return {level.metric: ("fallen" if level.seen else "kept", level.change) for level in levels}


def _deploys(report: Report) -> str:
    return "yes" if report.decision is not None and report.decision.deploy else "no"


def _modes(suite: SuiteReport) -> dict[str, tuple[str, float | None]]:
    return {mode.mode: ("", mode.cases) for mode in suite.modes}


def _values(metrics: Mapping[str, Estimate]) -> dict[str, tuple[str, float | None]]:
    return {name: ("", estimate.value) for name, estimate in metrics.items()}


def _comparisons(report: Report) -> dict[str, tuple[str, float | None]]:
    return {f"{c.suite}: {c.metric}": (c.status, c.delta) for c in report.comparisons}


def _gates(report: Report) -> dict[str, tuple[str, float | None]]:
    return {f"{g.suite}: {g.metric}": (g.status, g.value) for g in report.gates}


def _unequal(
    what: str,
    stated: Mapping[str, tuple[str, float | None]],
    again: Mapping[str, tuple[str, float | None]],
) -> Iterator[str]:
    for name in sorted(stated.keys() | again.keys()):
        was, now = stated.get(name), again.get(name)
        if was is None or now is None or was[0] != now[0] or not _are_close(was[1], now[1]):
            said, recomputed = _format_value(was), _format_value(now)
            yield f"{what} {name} is stated as {said}, its trials say {recomputed}"


def _are_close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=SAME, abs_tol=1e-9)


def _format_value(value: tuple[str, float | None] | None) -> str:
    if value is None:
        return "nothing"
    number = "unmeasured" if value[1] is None else f"{value[1]:.6g}"
    return f"{value[0]} ({number})" if value[0] else number
