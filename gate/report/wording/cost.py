"""What a run cost, and how that compares with the baseline: money, tokens, time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.records import Comparison, Cost, ListedPrice, Report
from gate.text import figures
from gate.text.spans import Line, code, join, prose, say

DOT = " · "


def spending(report: Report) -> Line:
    """`$0.84 of the $5.00 budget (2.2 % less than the baseline) · 600 calls · 58 s`; how many calls
    were planned is said in the reason. An import has results, and no calls or time of its own.
    """
    if report.imported:
        parts = [_cost(report)] if report.cost.usd is not None else []
        results = figures.count(sum(suite.trials for suite in report.suites.values()), "result")
        line = say(DOT.join((*parts, *_means(report), f"{results} imported")))
        return join(DOT, (line, *list_prices(report.cost.listed)))
    facts = [_cost(report), *_judge(report), *_means(report)]
    facts.append(figures.count(report.calls.made, "call"))
    line = say(DOT.join((*facts, figures.duration(report.duration_s))))
    return join(DOT, (line, *list_prices(report.cost.listed)))


def list_prices(listed: Sequence[ListedPrice]) -> Iterator[Line]:
    """`gpt-5 at the list price of 2026-08-05 (platform.example/pricing)`, each list once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for price in listed:
        groups.setdefault((price.read_on, price.source), []).append(price.model)
    for (day, source), models in groups.items():
        names = join(", ", [say("{}", code(model)) for model in models])
        plural = "s" if len(models) > 1 else ""
        yield say("{} at the list price{} of {} ({})", names, plural, day, prose(source))


def _cost(report: Report) -> str:
    cost = report.cost
    if cost.budget_usd is not None and cost.judge_calls:
        return _both(cost)
    of = f" of the {figures.money(cost.budget_usd)} budget" if cost.budget_usd is not None else ""
    if cost.usd is None:
        return f"cost unknown{of}"
    shown = figures.money(cost.usd) + of
    if cost.control_usd is not None:
        return f"{shown} ({figures.money(cost.control_usd)} of it for the control)"
    more = _compare(cost.usd, cost.baseline_usd, "USD")
    link = "as" if more.endswith("as much") else "than"
    return f"{shown} ({more} {link} the baseline)" if more else shown


def _both(cost: Cost) -> str:
    """A budget is for agent and judge together: `$0.96 of the $5.00 budget`; the agent's part needs
    no words beside the judge's.
    """
    amounts = [part for part in (cost.usd, cost.judge_usd) if part is not None]
    shown = figures.money(sum(amounts)) if amounts else "cost unknown"
    unknown = " as far as known" if 0 < len(amounts) < 2 else ""
    return f"{shown}{unknown} of the {figures.money(cost.budget_usd)} budget"


def _judge(report: Report) -> Iterator[str]:
    """`$0.12 for 255 calls of the judge`; nothing where none was asked."""
    cost = report.cost
    if cost.judge_calls:
        calls = f"{figures.count(cost.judge_calls, 'call')} of the judge"
        unknown = "" if not cost.judge_unknown else ", some of unknown cost"
        shown = "cost unknown" if cost.judge_usd is None else figures.money(cost.judge_usd)
        of = " of it" if cost.judge_usd is not None and cost.budget_usd is not None else ""
        yield f"{shown}{of} for {calls}{unknown if cost.judge_usd is not None else ''}"


def _means(report: Report) -> Iterator[str]:
    for metric, unit, words in (
        ("agent.cost_per_task", "USD", "{} a task"),
        ("agent.trajectory_efficiency", "", "{} times the optimal steps"),
        ("operational.avg_tokens", "", "{} tokens an answer"),
        ("operational.mean_latency_ms", "ms", "{} an answer"),
    ):
        now, before = _mean(report, metric)
        if now:  # nothing to tell of an agent without tools, or that costs nothing
            more = _compare(now, before, unit)
            yield words.format(figures.value(now, unit)) + (f" ({more})" if more else "")


def _mean(report: Report, metric: str) -> tuple[float | None, float | None]:
    """Over all answers of the run, now and in the baseline; None where a suite has no number."""
    comparisons = {c.suite: c for c in report.comparisons if c.metric == metric}
    rows = [
        (suite.name, now.value, now.n)
        for suite in report.suites.values()
        if (now := suite.metrics.get(metric)) is not None and now.value is not None and now.n
    ]
    trials = sum(n for _, _, n in rows)
    if not trials or len(rows) < len(report.suites):
        return None, None
    value = sum(value * n for _, value, n in rows) / trials
    before = [(_before(now, comparisons.get(name)), n) for name, now, n in rows]
    measured = [(was, n) for was, n in before if was is not None]
    if len(measured) < len(rows):
        return value, None
    return value, sum(was * n for was, n in measured) / trials


def _before(now: float, comparison: Comparison | None) -> float | None:
    """What it was, if all cases changed as those that both runs have: the means are compared that
    are shown, not a typical answer's change.
    """
    if comparison is None or comparison.baseline is None or not comparison.current:
        return None if comparison is None else comparison.baseline
    return now * comparison.baseline / comparison.current


def _compare(now: float, before: float | None, unit: str) -> str:
    """`2.2 % less`, `256 times as much`; empty where there is nothing to compare with, or no
    difference that the figures show.
    """
    if not before or figures.value(now, unit) == figures.value(before, unit):
        return ""
    shown = figures.change(now / before - 1.0, unit, relative=True)
    if shown.endswith(" x"):
        return f"{shown.removesuffix(' x')} times as much"
    return f"{shown[1:]} {'more' if now > before else 'less'}"
