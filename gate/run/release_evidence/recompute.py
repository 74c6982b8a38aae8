"""The verdict once more, from the trials, baselines and rules that a release's evidence holds.

No agent is asked and no grader is loaded: what the folder names is text, never code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gate.analysis.outages import was_answered
from gate.analysis.pooling import pool
from gate.errors import UsageError
from gate.records import BaselineInfo, Config, Estimate, GateRule, Report, SuiteReport
from gate.records.release_evidence import BASELINES, RulesInEffect
from gate.store.baseline.file import newest, parse
from gate.store.baseline.find import Compared
from gate.store.measurements import Stored, StoredSuite, load
from gate.suites.cases.dataset import Summary
from gate.verdict.conclude import conclude
from gate.verdict.measured import Measured, Setting

SAME = 1e-6  # relative: the last digits of a float differ from one processor to another
_OF_THE_PAST = datetime(1970, 1, 1, tzinfo=UTC)  # ages are not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the folder holds, each part read and checked for form."""

    folder: Path
    stated: Report
    rules: RulesInEffect
    datasets: Mapping[str, Summary]  # by suite; one whose copy needs a user's grader is left out


def decided_again(held: Held) -> Report:
    """Raises UsageError when the folder lacks what the decision needs."""
    trials = load(held.folder, _OF_THE_PAST)
    control = trials.session.control() if trials.session else None
    beside = load(control.folder, _OF_THE_PAST) if control else None
    stated, made = held.stated, trials.provenance
    setting = Setting(
        session_id=stated.session_id,
        created_at=stated.created_at,
        duration_s=stated.duration_s,
        mode=made.mode,
        provenance=made,
        elsewhere=frozenset(held.rules.elsewhere),
        answered=trials.session is not None and was_answered(trials.session.meta.health),
    )
    held = _by_the_rules_of_then(held, made.tool_version)
    measured = [_measured(held, name, suite, beside) for name, suite in trials.suites.items()]
    return conclude(measured, held.rules.config, setting, trials.rows_of)


def _by_the_rules_of_then(held: Held, version: str) -> Held:
    """Until 0.1 a release wanted every limit proved that gate.yml gave no rule."""
    if not version.startswith("0.1."):
        return held
    config = held.rules.config
    config = replace(
        config,
        gates=_proven(config.gates),
        suites=tuple(replace(one, gates=_proven(one.gates)) for one in config.suites),
    )
    return replace(held, rules=replace(held.rules, config=config))


def _proven(gates: Iterable[GateRule]) -> tuple[GateRule, ...]:
    return tuple(replace(gate, rule=gate.rule or "proven") for gate in gates)


def _measured(held: Held, name: str, suite: StoredSuite, beside: Stored | None) -> Measured:
    config, told = held.rules.config, held.stated.suites.get(name)
    if told is None:
        raise UsageError(f"summary.json says nothing about the suite '{name}'")
    asked = frozenset(suite.table.cases)
    spared = bool(suite.meta.looks) and not suite.not_run
    partial = bool(suite.meta.not_selected) or spared
    control = beside.suites.get(name) if beside else None
    return Measured(
        name=name,
        meta=suite.meta,
        table=suite.table,
        tally=suite.tally,
        baseline=_answered(control) if control else _stored(held, name, told, config),
        control=control.tally if control else None,
        gates=next((one.gates for one in config.suites if one.name == name), ()),
        floor=next((one.floor for one in config.suites if one.name == name), True),
        unreachable=told.reason if told.outcome == "error" and not suite.tally.trials else "",
        not_run=max(0, suite.not_run),
        not_asked=_cases(held, name, suite) - asked if partial else frozenset(),
        ended=suite.ended,
        advisory=held.rules.advisory.get(name, {}),
    )


def _cases(held: Held, name: str, suite: StoredSuite) -> frozenset[str]:
    dataset = held.datasets.get(name)
    return frozenset(dataset.digests if dataset else suite.table.cases)


def _answered(control: StoredSuite) -> Compared:
    if not control.table.cases:
        return Compared(table=None, info=BaselineInfo(source="none"))
    return Compared(table=control.table, info=BaselineInfo(source="control"))


def _stored(held: Held, name: str, told: SuiteReport, config: Config) -> Compared:
    """The baseline as the run pooled it; where it came from is as `told`."""
    path = held.folder / BASELINES / f"{name}.json"
    if not path.is_file():
        if told.baseline.source != "none":
            raise UsageError(
                f"{path.name}: summary.json was compared with it, but the file is missing"
            )
        return Compared(table=None, info=told.baseline)
    stored = newest(parse(path.read_bytes(), path.name), config.baseline.keep_rounds)
    if stored.suite != name:
        raise UsageError(f"{BASELINES}/{path.name} is of the suite '{stored.suite[:80]}'")
    pooled = pool(stored.table, stored.runs)
    info = replace(told.baseline, rounds=pooled.rounds, runs=len(pooled.runs))
    return Compared(table=pooled.table, info=info, drift=pooled.drift)


def differences(stated: Report, again: Report) -> Iterator[str]:
    """Where summary.json says something else than its trials do, one sentence each."""
    if (stated.outcome, stated.exit_code) != (again.outcome, again.exit_code):
        yield (
            f"summary.json says {stated.outcome} (exit code {stated.exit_code}), its trials say "
            f"{again.outcome} (exit code {again.exit_code})"
        )
    if _deploys(stated) != _deploys(again):
        yield f"summary.json says deploy: {_deploys(stated)}, its trials say {_deploys(again)}"
    for name, suite in again.suites.items():
        yield from _of_suite(name, stated.suites[name], suite)
    yield from _unequal("comparison", _comparisons(stated), _comparisons(again))
    yield from _unequal("gate", _gates(stated), _gates(again))
    for kind in ("newly_failing", "removed", "changed"):
        was, now = (
            {(c.suite, c.case_id) for c in getattr(one.cases, kind)} for one in (stated, again)
        )
        if was != now:
            yield f"summary.json lists other {kind.replace('_', ' ')} cases than its trials show"


def _of_suite(name: str, stated: SuiteReport, again: SuiteReport) -> Iterator[str]:
    for what in ("outcome", "trials", "cases", "violations"):
        was, now = getattr(stated, what), getattr(again, what)
        if was != now:
            yield f"{name}: {what} is stated as {was}, its trials say {now}"
    yield from _unequal(f"{name}:", _values(stated.metrics), _values(again.metrics))
    yield from _unequal(f"{name}: cases that fail by", _modes(stated), _modes(again))


def _deploys(report: Report) -> str:
    return "yes" if report.decision is not None and report.decision.deploy else "no"


def _modes(suite: SuiteReport) -> dict[str, tuple[str, float | None]]:
    return {one.mode: ("", one.cases) for one in suite.modes}


def _values(metrics: Mapping[str, Estimate]) -> dict[str, tuple[str, float | None]]:
    return {name: ("", found.value) for name, found in metrics.items()}


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
        if was is None or now is None or was[0] != now[0] or not _same(was[1], now[1]):
            yield f"{what} {name} is stated as {_shown(was)}, its trials say {_shown(now)}"


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-9)


def _shown(found: tuple[str, float | None] | None) -> str:
    if found is None:
        return "nothing"
    number = "unmeasured" if found[1] is None else f"{found[1]:.6g}"
    return f"{found[0]} ({number})" if found[0] else number
