"""One row for each metric that is judged: its gate and its comparison side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gate.analysis.default_gates import interest
from gate.analysis.outages import OUT
from gate.records import Comparison, GateResult, Report
from gate.report.wording.rule_changes import accepted_by
from gate.text import figures

UNPROVED = "not proved within limit"
Sign = Literal["bad", "warn", "unsure", "refused", "accepted", "open", "new", "good"]
ICONS: dict[Sign, str] = {
    "bad": "❌",
    "warn": "⚠️",
    "unsure": "🟡",
    "refused": "🚫",
    "accepted": "☑️",
    "open": "⏸️",
    "new": "🆕",
    "good": "✅",
}
_RANK: tuple[Sign, ...] = ("bad", "refused", "unsure", "warn", "accepted", "open", "new", "good")
UNSCORED = "too many unscored"  # missing, though there is a value of the rest
_COMPARED: dict[str, tuple[Sign, str]] = {
    "regression": ("bad", "regression"),
    "missing": ("bad", "not measured any more"),
    "not_comparable": ("refused", "not comparable"),
    "suspected": ("unsure", "suspected"),
    "inconclusive": ("unsure", "too few data"),
    "new": ("new", "new"),
    "accepted": ("accepted", "accepted"),
    "improvement": ("good", "improved"),
    "within_tolerance": ("good", "worse, within tolerance"),
    "no_regression": ("good", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one rule says about a metric."""

    sign: Sign
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A metric of a suite with everything that judges it."""

    suite: str
    metric: str
    unit: str
    gate: GateResult | None
    comparison: Comparison | None
    findings: tuple[Finding, ...]

    @property
    def digits(self) -> int:
        """Decimals of a share, the same for all numbers of the row."""
        return _digits(self.gate, self.comparison, self.unit)

    @property
    def blocking(self) -> bool:
        return any(part is not None and part.level == "block" for part in self._parts)

    @property
    def sign(self) -> Sign:
        return min((f.sign for f in self.findings), key=_RANK.index, default="good")

    @property
    def unproved(self) -> bool:
        """What fails is a limit that the value keeps, and nothing else."""
        bad = [found.word for found in self.findings if found.sign == "bad"]
        return bool(bad) and set(bad) == {UNPROVED}

    @property
    def icon(self) -> str:
        return ICONS[self.sign]

    @property
    def verdict(self) -> str:
        """Words for every finding, the worst first; what is well is told only when all is."""
        ranked = sorted(self.findings, key=lambda finding: _RANK.index(finding.sign))
        told = [f.word for f in ranked if f.word and (self.sign == "good" or f.sign != "good")]
        return ", ".join(word for word in dict.fromkeys(told) if word not in _also(told))

    @property
    def baseline(self) -> str:
        return figures.value(self._numbers[0], self.unit, digits=self.digits)

    @property
    def current(self) -> str:
        return figures.value(self._numbers[1], self.unit, digits=self.digits)

    @property
    def change(self) -> str:
        found = self.comparison
        if found is None or found.delta is None:
            return figures.ABSENT
        delta = figures.change(found.delta, self.unit, relative=found.relative)
        bounds = figures.interval(found.ci_low, found.ci_high, self.unit, relative=found.relative)
        return f"{delta} {bounds}".rstrip()

    @property
    def limit(self) -> str:
        """`min 0.82 · drop ≤ 2 pt`."""
        return " · ".join((*self._limits(), *self._tolerance()))

    @property
    def _parts(self) -> tuple[GateResult | Comparison | None, ...]:
        return self.gate, self.comparison

    @property
    def _numbers(self) -> tuple[float | None, float | None]:
        return _numbers(self.gate, self.comparison)

    def _limits(self) -> Iterable[str]:
        for word in ("min", "max"):
            limit = getattr(self.gate, word, None)
            if limit is not None:
                told = " by default" if self.gate is not None and self.gate.by_default else ""
                yield f"{word} {figures.limit(limit, self.unit, digits=self.digits)}{told}"

    def _tolerance(self) -> Iterable[str]:
        found = self.comparison
        if found is not None and found.status not in ("new", "not_comparable"):
            allowed = figures.size(found.tolerance, self.unit, relative=found.relative)
            yield f"{'drop' if found.direction == 'higher' else 'rise'} ≤ {allowed}"


def checks(report: Report) -> tuple[Check, ...]:
    """Every judged (suite, metric): the worst first, regressions before limits, then by suite. What
    has no number on either side is no row unless it blocks.
    """
    gates = {(gate.suite, gate.metric): gate for gate in report.gates}
    found = {
        (item.suite, item.metric): item
        for item in report.comparisons
        if item.level == "block" or item.baseline is not None or item.current is not None
    }
    rows = [_check(report, key, gates.get(key), found.get(key)) for key in {**gates, **found}]
    order = {name: number for number, name in enumerate(report.suites)}

    def severity(check: Check) -> tuple[int, bool, int, str, int, str]:
        regressed = check.comparison is not None and check.comparison.status == "regression"
        place = order.get(check.suite, 0)
        first = interest(check.metric)
        return _RANK.index(check.sign), not regressed, place, check.suite, first, check.metric

    return tuple(sorted(rows, key=severity))


def blocking(report: Report) -> tuple[Check, ...]:
    return tuple(check for check in checks(report) if check.blocking)


def failing(report: Report) -> tuple[Check, ...]:
    return tuple(check for check in blocking(report) if check.sign == "bad")


def warned(report: Report) -> tuple[Check, ...]:
    """Metrics that got worse or miss a limit, and may."""
    return tuple(c for c in checks(report) if not c.blocking and c.sign == "warn")


def _check(
    report: Report,
    key: tuple[str, str],
    gate: GateResult | None,
    comparison: Comparison | None,
) -> Check:
    unit = comparison.unit if comparison and comparison.unit else gate.unit if gate else ""
    findings = [_compared(comparison, report)] if comparison else []
    if gate:
        findings += _gated(gate, report, _digits(gate, comparison, unit))
    return Check(
        suite=key[0],
        metric=key[1],
        unit=unit,
        gate=gate,
        comparison=comparison,
        findings=tuple(findings),
    )


def _digits(gate: GateResult | None, comparison: Comparison | None, unit: str) -> int:
    limits = (gate.min, gate.max, gate.target) if gate else ()
    return figures.digits_of((*_numbers(gate, comparison), *limits), unit)


def _numbers(
    gate: GateResult | None, comparison: Comparison | None
) -> tuple[float | None, float | None]:
    """Before and now."""
    was = comparison.baseline if comparison else None
    now = gate.value if gate else None
    if comparison and comparison.current is not None:
        now = comparison.current
    return was, now


def _compared(found: Comparison, report: Report) -> Finding:
    sign, word = _COMPARED[found.status]
    finding = Finding(sign=sign, word=word)
    if found.status == "no_regression" and not found.settled and found.level == "block":
        finding = Finding(sign="open", word="not settled")
    if found.status == "accepted":
        return _accepted(found.metric, report)
    if found.status == "missing" and found.reason.startswith(OUT):
        finding = Finding(sign="bad", word=OUT)
        return finding if found.level == "block" else _milder(finding)
    if found.status == "missing" and found.current is not None:
        finding = replace(finding, word=UNSCORED)
    if found.status == "missing" and report.policy.missing_metric != "fail":
        finding = replace(finding, sign="warn")
    return finding if found.level == "block" else _milder(finding)


def _gated(gate: GateResult, report: Report, digits: int) -> list[Finding]:
    finding = _limit(gate, report)
    findings = [finding if gate.level == "block" else _milder(finding)]
    if gate.target is not None and gate.status != "missing":
        target = figures.value(gate.target, gate.unit, digits=digits)
        met = "target {}" if gate.target_met else "target {} not yet"
        findings.append(Finding(sign="good", word=met.format(target)))
    return findings


def _limit(gate: GateResult, report: Report) -> Finding:
    if gate.status == "missing" and gate.reason.startswith(OUT):
        return Finding(sign="bad", word=OUT)
    if gate.status == "missing":
        fails = report.policy.missing_metric == "fail"
        word = "not measured" if gate.value is None else UNSCORED
        return Finding(sign="bad" if fails else "warn", word=word)
    if gate.status == "inconclusive":
        return Finding(sign="unsure", word="limit: too few data")
    if gate.status == "accepted":
        return _accepted(gate.metric, report)
    if gate.status == "pass":
        limited = gate.min is not None or gate.max is not None
        word = f"{_beyond(gate)}, not certain" if _beyond(gate) else "limit not proved"
        return Finding(sign="good", word="" if gate.proved or not limited else word)
    return Finding(sign="bad", word=_beyond(gate) or UNPROVED)


def _beyond(gate: GateResult) -> str:
    """The limit on whose wrong side the value is; empty where it keeps them."""
    below = gate.min is not None and gate.value is not None and gate.value < gate.min
    above = gate.max is not None and gate.value is not None and gate.value > gate.max
    return "below min" if below else "above max" if above else ""


def _also(words: Sequence[str]) -> set[str]:
    """What the limit says, where the comparison says the same."""
    return {f"limit: {word}" for word in words}


def _accepted(metric: str, report: Report) -> Finding:
    who = accepted_by(report, metric)
    return Finding(sign="accepted", word=f"accepted by {who}" if who else "accepted")


def _milder(finding: Finding) -> Finding:
    """A rule of level warn says so and never shows a blocking sign."""
    if finding.sign in ("good", "new", "accepted"):
        return finding
    shown: Sign = "warn" if finding.sign == "bad" else "good"
    return Finding(sign=shown, word=f"{finding.word} (warn only)")
