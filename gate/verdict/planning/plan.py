"""From gate.yml's rules and stored rounds to what a run could see, and what it would take to see
more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gate.agents.pricing import cost_usd
from gate.analysis.estimates import estimates, family_of
from gate.analysis.noise import CallNoise, assume_noise, measure_noise, share_never_changing
from gate.analysis.noise_odds import (
    RunSize,
    assume_odds,
    estimate_odds,
    measuring_share,
    safer_limit,
)
from gate.analysis.table import Table
from gate.errors import UsageError
from gate.plugins import Array
from gate.records import (
    BaselineInfo,
    Config,
    Foresight,
    GateRule,
    MetricSpec,
    Price,
    Suite,
    Tolerance,
    Usage,
    Verdict,
)
from gate.records.planning import RISKY, Action, Kind, LimitOutlook, Plan, SuiteOutlook
from gate.stats.planning import mean_share_of_all
from gate.suites.config.levels import ALWAYS, level_of, tolerance_of
from gate.verdict.levels import applicable_gates
from gate.verdict.planning.detectable import Forecast, PlanShape, first_known, metric_outlook
from gate.verdict.suite_data import Setting, SuiteData

if TYPE_CHECKING:  # reading stored suites takes more than planning those that just ran
    from gate.store.measurements import StoredSuite

COST = "operational.estimated_cost_per_query"
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
_LOOKED_AT = 500  # trials that show whether the price is still the same
_SAME = 0.01  # relative: nearer costs are of one price
ASSUMED = 0.8  # of a share that nobody has measured
WORTH = 0.85  # an action that leaves more of the detectable change than this is not worth the name
CLOSE = 1.1  # more rounds are less work than more cases: taken where they come this close
FINE = 1.5  # times the tolerance: a suite that sees this sees nearly all that could ever block


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSuite:
    """One suite as it would run, and the stored rounds that it would be compared with."""

    name: str
    cases: int
    rounds: int
    specs: Mapping[str, MetricSpec]
    table: Table | None  # the baseline, cut to the cases that would be paired
    baseline: BaselineInfo
    gates: tuple[GateRule, ...] = ()  # its own, as in gate.yml
    graders: Mapping[str, str] | None = None  # column -> hash of its grader now; None: as stored
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    batch: int = 1  # calls under way at once: no look comes after fewer
    notes: tuple[str, ...] = ()
    price: Price | None = None  # of the agent's model today
    other_model: bool = False  # the stored trials are another model's
    priced_by: Table | None = None  # whose trials say what one costs; None: the baseline's
    judge_usd: float | None = None  # of a trial; None: nobody judges, or it is unknown

    @property
    def usd_per_call(self) -> float | None:
        """Of the agent and, as far as known, of those who judge; None is unknown."""
        table = self.table if self.priced_by is None else self.priced_by
        usd = price_per_call(table, self.price, other_model=self.other_model)
        return None if usd is None else usd + (self.judge_usd or 0.0)


def suite_from_baseline(
    name: str, stored: StoredSuite, rules: Suite | None, config: Config, rounds: int
) -> PlannedSuite:
    """A suite that would run again as it is stored; `rules`: its entry in gate.yml. Raises
    UsageError for one without a case.
    """
    table = stored.table.without(config.quarantined)
    # A run that ended early has not asked them all.
    cases = len(table.cases) + max(0, stored.meta.cases - len(stored.table.cases))
    if not cases:
        raise UsageError(f"gate plan SESSION: suite '{name}' has no cases; give another session")
    return PlannedSuite(
        name=name,
        cases=cases,
        rounds=rounds,
        specs=stored.meta.specs,
        table=table if table.cases else None,
        baseline=stored.info,
        gates=rules.gates if rules else (),
    )


def suite_as_baseline(data: SuiteData, config: Config) -> PlannedSuite:
    """A suite that would run again as it just ran."""
    return PlannedSuite(
        name=data.name,
        cases=max(data.chosen, len(data.current.cases)),
        rounds=max(1, data.meta.rounds),
        specs=data.current.specs,
        table=data.current.without(config.quarantined),
        baseline=BaselineInfo(source="session"),
        gates=data.gates,
    )


def limit_outlooks(
    subjects: Sequence[PlannedSuite], config: Config
) -> Iterator[tuple[str, LimitOutlook]]:
    """Each suite's name with one of its limits, and how often noise alone would miss that: as in
    `plan`, without what it takes to see more.
    """
    suites = [_SuiteForecast(subject=subject, config=config) for subject in subjects]
    sharing = _sharing(suites)
    for suite in suites:
        for outlook in suite.limits(sharing):
            yield suite.subject.name, outlook


def foresee_first_runs(
    measured: Sequence[SuiteData], verdict: Verdict, config: Config, setting: Setting
) -> dict[str, Foresight]:
    """Suite -> what a run like this one could catch, of those that were compared with nothing."""
    looks = setting.provenance.event != "import"  # another tool's rounds are made beforehand
    rules = config if looks else replace(config, regression=replace(config.regression, stop="off"))
    subjects = [suite_as_baseline(one, rules) for one in measured if one.current.cases]
    first = {name for name, (outcome, _) in verdict.suites.items() if outcome == "no_baseline"}
    return {name: told for name, told in foresee(subjects, rules).items() if name in first}


def foresee(subjects: Sequence[PlannedSuite], config: Config) -> dict[str, Foresight]:
    """Suite -> the least that a run like it would catch, with it as the baseline, of its first
    blocking metric that anything is known of.
    """
    suites = [_SuiteForecast(subject=subject, config=config) for subject in subjects]
    tests = _count_tests(suites)
    found = ((suite.subject.name, suite.foresee(tests)) for suite in suites)
    return {name: foresight for name, foresight in found if foresight is not None}


def _count_tests(suites: Sequence[_SuiteForecast]) -> int:
    """Among how many metrics alpha is shared."""
    return max(1, sum(len(suite.blocking) for suite in suites))


def _sharing(suites: Sequence[_SuiteForecast]) -> int:
    """Among how many limits alpha is shared."""
    return max(1, sum(len(suite.blocking_limits) for suite in suites))


def plan(subjects: Sequence[PlannedSuite], config: Config, notes: Sequence[str] = ()) -> Plan:
    """What each suite could see by the rules of `config`."""
    rules = config.regression
    suites = [_SuiteForecast(subject=subject, config=config) for subject in subjects]
    tests = _count_tests(suites)
    sharing = _sharing(suites)
    return Plan(
        alpha=rules.alpha,
        power=rules.power,
        tests=tests,
        suites=tuple(suite.outlook(tests, sharing) for suite in suites),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteForecast:
    subject: PlannedSuite
    config: Config

    @property
    def gates(self) -> tuple[GateRule, ...]:
        suite = self.subject
        empty = Table(
            suite=suite.name, cases=(), digests=(), rounds=0, columns={}, specs=suite.specs
        )
        data = SuiteData(name=suite.name, current=empty, gates=suite.gates)
        return applicable_gates(data, self.config.gates)

    @property
    def blocking(self) -> list[MetricSpec]:
        """Success first; of a measured suite, those that the baseline has a value of."""
        gates, rules = self.gates, self.config.regression
        specs = [s for s in self.subject.specs.values() if level_of(s, gates, rules) == "block"]
        table = self.subject.table
        if table is not None:
            specs = [s for s in specs if _has_value(table, s)]
        return sorted(specs, key=lambda spec: (spec.name != ALWAYS, spec.name))

    @property
    def blocking_limits(self) -> list[GateRule]:
        """The limits that block, of metrics that the suite can measure."""
        specs = self.subject.specs
        return [g for g in self.gates if g.has_limit and g.level == "block" and g.metric in specs]

    @property
    def max_rounds(self) -> int:
        """Up to which looks may go on; the planned ones where nobody looks."""
        rules, planned = self.config.regression, self.subject.rounds
        if rules.stop == "off":
            return planned
        return max(rules.max_rounds or 2 * planned, planned)

    def limits(self, sharing: int) -> Iterator[LimitOutlook]:
        """How often noise alone would miss each limit; `sharing`: among how many alpha is."""
        suite = self.subject
        for gate in self.blocking_limits:
            spec = suite.specs[gate.metric]
            size = RunSize(
                cases=suite.cases,
                rounds=suite.rounds,
                max_rounds=self.max_rounds,
                level=self.config.regression.alpha / sharing,
            )
            outlook = LimitOutlook(
                metric=gate.metric,
                unit=spec.unit,
                min=gate.min,
                max=gate.max,
                rule=gate.effective_rule,
                odds=assume_odds(gate, spec, size),
            )
            if suite.table is not None:
                values, drift = suite.table.values(spec), suite.drift.get(spec.name, 0.0)
                size = replace(size, cases=suite.cases * measuring_share(values))
                outlook = replace(
                    outlook, odds=estimate_odds(gate, spec, values, size, drift=drift)
                )
                if outlook.risky:
                    safer = safer_limit(gate, spec, values, size, drift=drift, odds=RISKY)
                    outlook = replace(outlook, safer=safer)
            yield outlook

    def outlook(self, tests: int, sharing: int) -> SuiteOutlook:
        subject = self.subject
        forecasts = [self._forecast(spec) for spec in self.blocking]
        shape = self._shape(forecasts, tests)
        first = first_known(forecasts)
        actions = tuple(_actions(first, shape, self.config)) if first else ()
        together, apart = _shares(forecasts, shape)
        return SuiteOutlook(
            suite=subject.name,
            cases=subject.cases,
            unstored=subject.cases - len(subject.table.cases) if subject.table else 0,
            rounds=shape.rounds,
            max_rounds=shape.max_rounds,
            looks=shape.looks,
            fresh=shape.fresh,
            baseline=subject.baseline,
            rounds_b=shape.rounds_b,
            keep_rounds=_kept_rounds(self.config, shape),
            assumed=subject.table is None,
            planned=shape.once.bill(),
            at_most=shape.bill(),
            unchanged=shape.bill(together),
            unchanged_apart=shape.bill(apart),
            usd_per_call=shape.price,
            never_changing=_never_changing(subject.table),
            numbered=any(gate.level == "block" and gate.has_limit for gate in self.gates),
            metrics=tuple(metric_outlook(forecast, shape) for forecast in forecasts),
            actions=actions,
            limits=tuple(self.limits(sharing)),
            best=_best(first, shape, actions, measured=subject.table is not None),
            notes=subject.notes,
        )

    def foresee(self, tests: int) -> Foresight | None:
        first = first_known(map(self._forecast, self.blocking))
        if first is None:
            return None
        shape = self._shape([first], tests)
        least = first.least(shape)
        wanted = first.larger_than_tolerated(least)
        if least is None and wanted is None:
            return None
        return Foresight(
            metric=first.spec.name,
            unit=first.spec.unit,
            direction=first.spec.direction,
            relative=first.noise.relative,
            least=least,
            wanted=wanted,
            cases=None if wanted is None else first.cases_for(wanted, shape),
            guess=first.noise.guess,
        )

    def _shape(self, forecasts: Sequence[Forecast], tests: int) -> PlanShape:
        subject, rules = self.subject, self.config.regression
        return PlanShape(
            cases=subject.cases,
            rounds=subject.rounds,
            max_rounds=self.max_rounds,
            rounds_b=forecasts[0].noise.rounds if forecasts else float(subject.rounds),
            tests=tests,
            alpha=rules.alpha,
            power=rules.power,
            early=rules.stop != "off",
            both=rules.stop == "both",
            fresh=rules.control == "fresh",
            batch=subject.batch,
            price=subject.usd_per_call,
        )

    def _forecast(self, spec: MetricSpec) -> Forecast:
        allowed = tolerance_of(spec, self.config.regression)
        noise = self._noise(spec, allowed)
        scale = abs(noise.value) if allowed.relative and not noise.relative else 1.0
        return Forecast(
            spec=spec,
            noise=noise,
            tolerance=allowed.value * scale,
            share=noise.cases / self.subject.cases if noise.cases else 1.0,
            drift=self.subject.drift.get(spec.name, 0.0),
        )

    def _noise(self, spec: MetricSpec, allowed: Tolerance) -> CallNoise:
        suite = self.subject
        if suite.table is None:
            value = _gate_target(spec, self.gates)
            return assume_noise(spec, value, allowed, cases=suite.cases, rounds=suite.rounds)
        noise = measure_noise(spec, suite.table.values(spec), allowed)
        graders = suite.table.graders if suite.graders is None else suite.graders
        if tuple(graders.get(name) for name in spec.columns) == suite.table.grader_hashes(spec):
            return noise
        why = "its grader differs from the baseline's: run the base branch again"
        return replace(noise, unknown=why)


def _gate_target(spec: MetricSpec, gates: Sequence[GateRule]) -> float:
    """What a gate asks for, where nothing is measured."""
    gate = next((gate for gate in gates if gate.metric == spec.name), None)
    if gate is not None:
        for limit in (gate.target, gate.min, gate.max):
            if limit is not None:
                return limit
    return ASSUMED if spec.direction == "higher" else 1.0 - ASSUMED


def _has_value(table: Table, spec: MetricSpec) -> bool:
    return not math.isnan(family_of(spec).reduce(table.values(spec)))


def _never_changing(table: Table | None) -> float | None:
    share = math.nan if table is None else share_never_changing(table.column("success"))
    return None if math.isnan(share) else share


def _shares(forecasts: Sequence[Forecast], shape: PlanShape) -> tuple[float, float]:
    """Mean shares of the calls when nothing changed: all metrics ending as one, and each apart."""
    endings = [forecast.ends(shape, 0.0) for forecast in forecasts if not forecast.noise.unknown]
    if not endings:
        return 1.0, 1.0
    return max(ending.mean_share for ending in endings), mean_share_of_all(endings)


# ------------------------------------------------------------------------------------- what to do


def _kept_rounds(config: Config, shape: PlanShape) -> int:
    """Rounds of a case that the baseline of such a suite keeps at most."""
    return config.baseline.rounds_to_keep(cases=shape.cases, rounds=shape.rounds)


def _actions(first: Forecast, shape: PlanShape, config: Config) -> Iterator[Action]:
    """Those that cost nothing on a pull request first, then those that are the least work."""
    stored = _kept_rounds(config, shape)
    if stored <= shape.rounds_b:
        stored = 4 * shape.rounds  # docs/statistics.md: four times as many rounds on main
    if not shape.fresh and stored > shape.rounds_b:
        yield _action("baseline", stored, first, replace(shape, rounds_b=float(stored)))
    if shape.tests > 1:
        yield _action("metrics", 1, first, replace(shape, tests=1))
    more = replace(shape, rounds=2 * shape.rounds, max_rounds=2 * shape.max_rounds)
    yield _action("rounds", more.rounds, first, more)
    larger = replace(shape, cases=2 * shape.cases)
    yield _action("cases", larger.cases, first, larger)


def _action(kind: Kind, value: int, first: Forecast, shape: PlanShape) -> Action:
    return Action(kind=kind, value=value, mde=first.least(shape), calls=shape.bill())


def _best(
    first: Forecast | None, shape: PlanShape, actions: Sequence[Action], *, measured: bool
) -> Action | None:
    """None where the suite sees what there is to see, or nothing can be told."""
    if first is None:
        return None
    now = _or_endless(first.least(shape))
    by_kind = {action.kind: action for action in actions}
    stored = by_kind.get("baseline")
    if stored is not None and (not measured or (first.noise.guess and stored.mde is not None)):
        return stored
    if now <= max(FINE * first.tolerance, next(first.changes(), 0.0)):
        return None
    for kind in ("baseline", "metrics"):
        action = by_kind.get(kind)
        if action is not None and _or_endless(action.mde) <= WORTH * now:
            return action
    rounds, cases = by_kind["rounds"], by_kind["cases"]
    if rounds.mde is not None and rounds.mde <= CLOSE * _or_endless(cases.mde):
        return rounds
    return cases


def _or_endless(size: float | None) -> float:
    return math.inf if size is None else size


# --------------------------------------------------------- what one trial costs, by stored trials


def price_per_call(
    table: Table | None, price: Price | None = None, *, other_model: bool = False
) -> float | None:
    """Mean cost of a trial in USD with all its tries, as stored; that of the table's mean tokens at
    the `price` where no cost is stored, where gate.yml has the price and the stored ones rest on
    another, or where they are an `other_model`'s. None is unknown.
    """
    if table is None:
        return None
    stored = None if other_model else _stored(table)
    if price is None or (stored is not None and _rests_on(table, price)):
        return stored
    today = cost_usd(_mean_usage(table), "", {"": price})
    return stored if today is None else today


def _stored(table: Table) -> float | None:
    spec = table.specs.get(COST)
    return estimates(table, {COST: spec})[COST].value if spec else None


def _rests_on(table: Table, price: Price) -> bool:
    """Whether most of the stored costs are those of the price, or nobody can tell. One that a
    provider's list says has not changed: the agent itself reports what an answer costs.
    """
    if price.source:
        return True
    ratios = [then / now if now else math.inf * then for then, now in _both_costs(table, price)]
    return not ratios or abs(float(np.median(ratios)) - 1.0) <= _SAME


def _both_costs(table: Table, price: Price) -> Iterator[tuple[float, float]]:
    """Of the first trials with tokens: what is stored, and what it would be; without free ones."""
    costs = table.column("cost_usd").ravel()
    tokens = [table.column(name).ravel() for name in _TOKENS]
    known = np.flatnonzero(~np.isnan(costs) & ~np.isnan(tokens[0]) & ~np.isnan(tokens[2]))
    for at in known[:_LOOKED_AT]:
        usage = Usage(**{n: _whole(column[at]) for n, column in zip(_TOKENS, tokens, strict=True)})
        now, then = cost_usd(usage, "", {"": price}), float(costs[at])
        if now is not None and (now or then):
            yield then, now


def _mean_usage(table: Table) -> Usage:
    return Usage(**{name: _mean(table.column(name)) for name in _TOKENS})


def _mean(values: Array) -> int | None:
    known = values[~np.isnan(values)]
    return _whole(known.mean()) if known.size else None


def _whole(number: float) -> int | None:
    return None if math.isnan(number) else round(float(number))
