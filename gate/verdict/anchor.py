"""Main itself against its anchor: what a report says of it, and whether it fails this run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gate.analysis.anchor import MainLevel, Watched, why_no_anchor
from gate.analysis.estimates import finite
from gate.records import Config, GateRule, MetricSpec, RegressionRules
from gate.records.baseline import AnchorLevel, AnchorReport, BaselineRun, FirstSeen
from gate.store.baseline.anchor import MainRuns, judge_main, measure_anchor
from gate.store.baseline.file import StoredAnchor
from gate.suites.config.levels import level_of, tolerance_of
from gate.verdict.suite_data import Setting, SuiteData


def list_watched(
    specs: Mapping[str, MetricSpec], gates: Sequence[GateRule], rules: RegressionRules
) -> tuple[Watched, ...]:
    """The metrics that block, as a comparison with the baseline has them; success first."""
    return tuple(
        Watched(spec=spec, tolerance=tolerance_of(spec, rules))
        for spec in sorted(specs.values(), key=lambda spec: (spec.column != "success", spec.name))
        if level_of(spec, gates, rules) == "block"
    )


def report_anchors(
    suites: Sequence[SuiteData], config: Config, setting: Setting
) -> dict[str, AnchorReport]:
    """By suite; nothing of one whose baseline has no anchor. A run of main, or a release, counts as
    main's newest run, and a fall fails it; any other is told what main's last run knew.
    """
    reports = {one.name: _report(one, config.gates, config.regression, setting) for one in suites}
    return {name: report for name, report in reports.items() if report}


def _report(
    data: SuiteData, gates: Sequence[GateRule], rules: RegressionRules, setting: Setting
) -> AnchorReport | None:
    anchor, stored = data.compared.anchor, data.compared.stored
    if anchor is None or stored is None:
        return None
    decides = setting.is_deployed
    watched = list_watched(data.current.specs, (*data.gates, *gates), rules)
    main = MainRuns(table=stored, runs=data.compared.history)
    newest = stored
    if decides and not (data.unreachable or data.outage):
        newest = data.current.without(data.quarantined)
        main = main.with_run(newest, _as_run(setting))
    missing = why_no_anchor(anchor.table, newest)
    levels = {}
    if not missing:
        single = setting.mode == "release"
        levels = judge_main(anchor, main, watched, single=single)
    header = anchor.header
    return AnchorReport(
        kind=header.kind,
        name=header.name,
        commit=header.commit,
        created_at=header.created_at,
        runs=len(header.runs),
        rounds=sum(anchor.sizes),
        levels=tuple(_levels(anchor, watched, levels, setting if decides else None, data)),
        decides=decides,
        missing=missing,
    )


def _as_run(setting: Setting) -> BaselineRun:
    return BaselineRun(
        session_id=setting.session_id,
        commit=setting.provenance.commit,
        created_at=setting.created_at,
    )


def _levels(
    anchor: StoredAnchor,
    watched: Sequence[Watched],
    levels: Mapping[str, MainLevel],
    own: Setting | None,
    data: SuiteData,
) -> Iterator[AnchorLevel]:
    """One for each metric that the anchor has values of. `own`: of a run that counts itself."""
    measured = measure_anchor(anchor)
    for one in watched:
        spec, level = one.spec, levels.get(one.spec.name)
        if level is not None and not math.isfinite(level.evidence.baseline):
            level = None  # of the cases that both have nothing was measured
        if spec.name not in measured:
            continue
        seen = _first_seen(anchor.header.falls.get(spec.name), level, own, data)
        evidence = level.evidence if level else None
        low, high = level.bounds if level else (np.nan, np.nan)
        yield AnchorLevel(
            metric=spec.name,
            unit=spec.unit,
            direction=spec.direction,
            anchor=evidence.baseline if evidence else measured[spec.name],
            now=finite(evidence.current) if evidence else None,
            change=finite(evidence.delta) if evidence else None,
            low=finite(low),
            high=finite(high),
            relative=evidence.relative if evidence else False,
            typical=evidence.method.endswith("of logarithms") if evidence else False,
            runs=level.runs if level else 0,
            p_value=evidence.p_worse if evidence else None,
            seen=seen,
        )


def _first_seen(
    known: FirstSeen | None, level: MainLevel | None, own: Setting | None, data: SuiteData
) -> FirstSeen | None:
    """When the fall was seen; None where there is none, or no more. A metric whose change somebody
    accepted since the last run has none either: the next saved run moves its anchor.
    """
    if level is not None and level.spec.name in data.accepted:
        return None
    if own is None or level is None:
        return known
    if known is not None:
        return None if level.back else known
    if not level.fallen:
        return None
    history = data.compared.history
    return FirstSeen(
        at=own.created_at,
        session_id=own.session_id,
        commit=own.provenance.commit,
        before=history[-1].commit if history else None,
    )
