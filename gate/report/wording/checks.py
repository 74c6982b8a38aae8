"""One row for each metric that is judged: its gate and its comparison side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gate.analysis.default_gates import interest
from gate.analysis.outages import OUT
from gate.records import Comparison, GateResult, Report, Wants
from gate.report.wording.rule_changes import who_accepted
from gate.text import figures

UNPROVED = "not proven within limit"
Sign = Literal["bad", "warn", "unsure", "refused", "accepted", "open", "new", "noted", "good"]
ICONS: dict[Sign, str] = {
    "bad": "❌",
    "warn": "⚠️",
    "unsure": "🟡",
    "refused": "🚫",
    "accepted": "☑️",
    "open": "⏸️",
    "new": "🆕",
    "noted": "⚪",
    "good": "✅",
}
_RANK: tuple[Sign, ...] = (
    *("bad", "refused", "unsure", "warn", "accepted", "open", "new", "noted", "good"),
)
NOISY = 0.01  # chance that noise alone breaks a limit, from which on its row says so
LACKING = "answers are missing"  # and could turn the verdict
_UNDECIDED: dict[Wants, str] = {
    "": "too few data",
    "answers": LACKING,
    "trials": "not settled",
    "agent": "not judged",
}
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
class CheckFinding:
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
    findings: tuple[CheckFinding, ...]

    @property
    def limits(self) -> tuple[float, ...]:
        """What its figures are compared with."""
        return self.gate.limits if self.gate else ()

    @property
    def blocking(self) -> bool:
        return any(part is not None and part.level == "block" for part in self._parts)

    @property
    def sign(self) -> Sign:
        return min((f.sign for f in self.findings), key=_RANK.index, default="good")

    @property
    def is_doubted(self) -> bool:
        """Whether the value is beyond a limit that asks for more than that to fail."""
        return self.gate is not None and self.gate.status == "warn"

    @property
    def is_unjudged(self) -> bool:
        """Whether a judge that was out is why there is no value."""
        return any(finding.word.startswith(OUT) for finding in self.findings)

    @property
    def is_unproved(self) -> bool:
        """What fails is a limit that the value keeps, and nothing else."""
        bad = [finding.word for finding in self.findings if finding.sign == "bad"]
        return bool(bad) and set(bad) == {UNPROVED}

    @property
    def icon(self) -> str:
        return ICONS[self.sign]

    @property
    def verdict(self) -> str:
        """Words for every finding, the worst first; what is well is told only when all is."""
        ranked = sorted(self.findings, key=lambda finding: _RANK.index(finding.sign))
        well = self.sign in ("noted", "good")
        verdicts = [f.word for f in ranked if f.word and (well or f.sign != "good")]
        return ", ".join(word for word in dict.fromkeys(verdicts) if word not in _also(verdicts))

    @property
    def baseline(self) -> str:
        return figures.value(self._numbers[0], self.unit, limits=self.limits)

    @property
    def current(self) -> str:
        return figures.value(self._numbers[1], self.unit, limits=self.limits)

    @property
    def change(self) -> str:
        comparison = self.comparison
        if comparison is None or comparison.delta is None:
            return figures.ABSENT
        bounds = figures.interval(
            *(comparison.ci_low, comparison.ci_high, comparison.unit),
            relative=comparison.relative,
            tolerance=comparison.tolerance,
            delta=comparison.delta,
        )
        return f"{change_of(comparison)} {bounds}".rstrip()

    @property
    def limit(self) -> str:
        """`min 0.82 (noise 12 %) · drop ≤ 2 pt`."""
        return " · ".join((*self._limits(), *self._tolerance()))

    @property
    def _parts(self) -> tuple[GateResult | Comparison | None, ...]:
        return self.gate, self.comparison

    @property
    def _numbers(self) -> tuple[float | None, float | None]:
        return _numbers(self.gate, self.comparison)

    @property
    def _judged_value(self) -> str:
        """The value that the limits judge, where it is not the one that is compared."""
        if self.gate is None or self.comparison is None or self.comparison.current is None:
            return ""
        shown = _value(self.gate)
        if shown in (self.current, figures.ABSENT):
            return ""
        lost = self.gate.as_before
        whose = (
            f"with {figures.count(lost, 'lost case')} as in the baseline" if lost else "all cases"
        )
        return f" ({whose}: {shown})"

    def _limits(self) -> Iterable[str]:
        for word in ("min", "max"):
            limit = getattr(self.gate, word, None)
            if limit is not None:
                origin = " by default" if self.gate is not None and self.gate.by_default else ""
                number = figures.limit(limit, self.unit)
                yield f"{word} {number}{origin}{self._judged_value}{self._noise}"

    @property
    def _noise(self) -> str:
        """How often noise alone would break the gate, where that is worth a place; the method says
        what it is.
        """
        chance = noise_of(self.gate) if self.gate is not None else 0.0
        return f" (noise {figures.odds(chance)})" if chance >= NOISY else ""

    def _tolerance(self) -> Iterable[str]:
        comparison = self.comparison
        if comparison is not None and comparison.status not in ("new", "not_comparable"):
            allowed = figures.tolerance_in_words(
                comparison.tolerance, self.unit, relative=comparison.relative
            )
            yield f"{'drop' if comparison.direction == 'higher' else 'rise'} ≤ {allowed}"


def noise_of(gate: GateResult) -> float:
    """Chance that noise alone breaks it; 0 where that is unknown."""
    return (gate.noise_odds.chance if gate.noise_odds is not None else None) or 0.0


def change_of(comparison: Comparison) -> str:
    """`−9.1 pt`; `typical +47 %` of what is not the change of the means beside it."""
    shown = figures.change(
        comparison.delta,
        comparison.unit,
        relative=comparison.relative,
        tolerance=comparison.tolerance,
    )
    return f"typical {shown}" if comparison.typical and shown != figures.ABSENT else shown


def list_messages(report: Report) -> Iterator[str]:
    """What there is to say of each limit, with its suite where there are several; hostile text."""
    several = len(report.suites) > 1
    for gate in report.gates:
        if text := message(gate):
            named = text.removeprefix("FAIL: ")
            fails = text[: len(text) - len(named)]
            yield f"{fails}{gate.suite}: {named}" if several else text


def message(gate: GateResult) -> str:
    """`FAIL: m = 0.88 (minimum: 0.90)`, or why the limit could not be judged; hostile text. The
    stored one has more digits.
    """
    if not gate.reason.startswith("FAIL: ") or gate.value is None:
        return gate.reason
    limits = ", ".join(
        f"{name}imum: {figures.limit(limit, gate.unit)}"
        for name, limit in (("min", gate.min), ("max", gate.max))
        if limit is not None
    )
    rest = "".join(gate.reason.partition("; ")[1:])
    return f"FAIL: {gate.metric} = {_value(gate)} ({limits}){rest}"


def _value(gate: GateResult) -> str:
    return figures.value(gate.value, gate.unit, limits=gate.limits)


def list_checks(report: Report) -> tuple[Check, ...]:
    """Every judged pair of suite and metric: the worst first, regressions before limits, then by
    suite.

    A pair without a number on either side is listed only if it blocks.
    """
    gates = {(gate.suite, gate.metric): gate for gate in report.gates}
    checks = {
        (item.suite, item.metric): item
        for item in report.comparisons
        if item.level == "block" or item.baseline is not None or item.current is not None
    }
    rows = [_check(report, key, gates.get(key), checks.get(key)) for key in {**gates, **checks}]
    order = {name: number for number, name in enumerate(report.suites)}

    def severity(check: Check) -> tuple[int, bool, int, str, int, str]:
        regressed = check.comparison is not None and check.comparison.status == "regression"
        place = order.get(check.suite, 0)
        first = interest(check.metric)
        return _RANK.index(check.sign), not regressed, place, check.suite, first, check.metric

    return tuple(sorted(rows, key=severity))


def list_blocking(report: Report) -> tuple[Check, ...]:
    return tuple(check for check in list_checks(report) if check.blocking)


def keys(rows: Iterable[Check]) -> Iterator[tuple[str, str]]:
    """Suite and metric of each."""
    return ((check.suite, check.metric) for check in rows)


def list_failing(report: Report) -> tuple[Check, ...]:
    return tuple(check for check in list_blocking(report) if check.sign == "bad")


def list_warnings(report: Report) -> tuple[Check, ...]:
    """Metrics that got worse or miss a limit, and may."""
    return tuple(c for c in list_checks(report) if not c.blocking and c.sign == "warn")


def _check(
    report: Report,
    key: tuple[str, str],
    gate: GateResult | None,
    comparison: Comparison | None,
) -> Check:
    unit = comparison.unit if comparison and comparison.unit else gate.unit if gate else ""
    findings = [_comparison_finding(comparison, report)] if comparison else []
    if gate:
        findings += _gate_findings(gate, report)
    return Check(
        suite=key[0],
        metric=key[1],
        unit=unit,
        gate=gate,
        comparison=comparison,
        findings=tuple(findings),
    )


def _numbers(
    gate: GateResult | None, comparison: Comparison | None
) -> tuple[float | None, float | None]:
    """Before and now."""
    was = comparison.baseline if comparison else None
    now = gate.value if gate else None
    if comparison and comparison.current is not None:
        now = comparison.current
    return was, now


def _comparison_finding(comparison: Comparison, report: Report) -> CheckFinding:
    sign, word = _COMPARED[comparison.status]
    finding = CheckFinding(sign=sign, word=word)
    if (
        comparison.status == "no_regression"
        and not comparison.settled
        and comparison.level == "block"
    ):
        finding = CheckFinding(sign="open", word="not settled")
    if comparison.status == "accepted":
        return _accepted_finding(comparison.metric, report)
    if comparison.status == "missing" and comparison.reason.startswith(OUT):
        finding = CheckFinding(sign="bad", word=OUT)
        return finding if comparison.level == "block" else _milder(finding)
    if comparison.status == "inconclusive":
        finding = replace(finding, word=_UNDECIDED[comparison.wants])
    if comparison.status == "missing" and comparison.current is not None:
        finding = replace(finding, word=UNSCORED)
    if comparison.status == "missing" and report.policy.missing_metric != "fail":
        finding = replace(finding, sign="warn")
    return finding if comparison.level == "block" else _milder(finding)


def _gate_findings(gate: GateResult, report: Report) -> list[CheckFinding]:
    finding = _limit(gate, report)
    beyond = bool(_beyond(gate))
    findings = [finding if gate.level == "block" else _milder(finding, beyond=beyond)]
    if gate.target is not None and gate.status != "missing":
        target = figures.limit(gate.target, gate.unit)
        met = "target {}" if gate.target_met else "target {} not yet"
        findings.append(CheckFinding(sign="good", word=met.format(target)))
    return findings


def is_lacking(row: Comparison | GateResult) -> bool:
    """Whether it is undecided because of answers or scores that are missing, not for want of
    more.
    """
    return row.status == "inconclusive" and row.wants == "answers"


def _limit(gate: GateResult, report: Report) -> CheckFinding:
    if gate.status == "missing" and gate.reason.startswith(OUT):
        return CheckFinding(sign="bad", word=OUT)
    if gate.status == "missing":
        fails = report.policy.missing_metric == "fail"
        word = "not measured" if gate.value is None else UNSCORED
        return CheckFinding(sign="bad" if fails else "warn", word=word)
    if gate.status == "inconclusive":
        word = f"limit: {_UNDECIDED[gate.wants]}"
        return CheckFinding(
            sign="unsure", word=f"{_beyond(gate)}, {word}" if _beyond(gate) else word
        )
    if gate.status == "accepted":
        return _accepted_finding(gate.metric, report)
    beyond = _beyond(gate)
    if gate.status == "warn" or (gate.status == "pass" and beyond):  # 0.1 let such a value pass
        return CheckFinding(sign="warn", word=f"{beyond}, not certain")
    if gate.status == "pass":
        limited = gate.min is not None or gate.max is not None
        is_plain = gate.proved or not limited or gate.rule == "point"
        return CheckFinding(sign="good", word="" if is_plain else "limit not proved")
    return CheckFinding(sign="bad", word=beyond or UNPROVED)


def _beyond(gate: GateResult) -> str:
    """The limit on whose wrong side the value is; empty where it keeps them."""
    value = gate.value
    below = gate.min is not None and value is not None and value < gate.min - figures.NOISE
    above = gate.max is not None and value is not None and value > gate.max + figures.NOISE
    return "below min" if below else "above max" if above else ""


def _also(words: Sequence[str]) -> set[str]:
    """What the limit says, where the comparison says the same."""
    return {f"limit: {word}" for word in words}


def _accepted_finding(metric: str, report: Report) -> CheckFinding:
    who = who_accepted(report, metric)
    return CheckFinding(sign="accepted", word=f"accepted by {who}" if who else "accepted")


def _milder(finding: CheckFinding, *, beyond: bool = False) -> CheckFinding:
    """A rule of level warn says so and never shows a blocking sign; its doubts have no weight."""
    if finding.sign in ("good", "new", "accepted"):
        return finding
    shown: Sign = "warn" if finding.sign in ("bad", "warn") or beyond else "noted"
    return CheckFinding(sign=shown, word=f"{finding.word} (warn only)")
