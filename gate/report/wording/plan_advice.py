"""The sentences of a plan that say what cannot be done, what is saved, and what to do next."""

from __future__ import annotations

from gate.records.planning import Action, LimitOutlook, MetricOutlook, SuiteOutlook, Target
from gate.text import figures
from gate.text.figures import ABSENT
from gate.text.spans import Line, code, join, say


def size(metric: MetricOutlook, amount: float | None) -> str:
    """`2 pt`, `10 %`, `0.1`."""
    if amount is None:
        return ABSENT
    return figures.size(amount, metric.unit, relative=metric.relative)


def words(metric: MetricOutlook, amount: float | None) -> str:
    """A change for the worse: `drop of 2 pt`, `rise of 10 %`."""
    if amount is None:
        return "none"
    return f"{'drop' if metric.direction == 'higher' else 'rise'} of {size(metric, amount)}"


def rounds_of(suite: SuiteOutlook) -> str:
    """Stored rounds of a case: `3`, `2.5` where cases have unlike numbers."""
    equal = suite.rounds_b == int(suite.rounds_b)
    return f"{int(suite.rounds_b):,}" if equal else figures.value(suite.rounds_b, "")


def within_tolerance(metric: MetricOutlook, change: float) -> bool:
    return change <= metric.tolerance * (1 + 1e-9)


def _tolerance(metric: MetricOutlook) -> str:
    return figures.tolerance_in_words(metric.tolerance, metric.unit, relative=metric.relative)


def impossible(metric: MetricOutlook, suite: SuiteOutlook) -> Line:
    """A sentence on the smallest planned change that is not caught; empty when all are."""
    missed = next((target for target in metric.targets if not target.seen), None)
    if missed is None:
        return ()
    least = "no change can be caught"
    if metric.mde is not None:
        least = f"{size(metric, metric.mde)} is the smallest change that can be caught"
    cannot = say(
        "{} cannot protect {}: {}.",
        figures.count(suite.cases, "case"),
        say("{} of {}", size(metric, missed.change), code(metric.metric)),
        least,
    )
    return join(" ", (cannot, _enough(missed, metric, suite)))


def _enough(missed: Target, metric: MetricOutlook, suite: SuiteOutlook) -> Line:
    ways = []
    if missed.cases is not None and missed.cases > suite.cases:
        ways.append(figures.count(missed.cases, "case"))
    if missed.max_rounds is not None and missed.max_rounds > suite.max_rounds:
        ways.append(f"up to {figures.count(missed.max_rounds, 'round')}")
    if missed.cases is None:
        return say("No number of cases or rounds would, as runs differ from day to day.")
    allowed, rule = _tolerance(metric), code("regression.tolerance")
    if not ways:
        return say("A difference within {} ({}) is never reported as a change.", rule, allowed)
    rounds = "" if missed.max_rounds is not None else " (more rounds alone would not be enough)"
    tolerated = within_tolerance(metric, missed.change)
    lower = say(", if {} were below {}", rule, allowed) if tolerated else ()
    return say("{} would{}{}.", " or ".join(ways), rounds, lower)


def saving(metric: MetricOutlook, suite: SuiteOutlook) -> Line:
    """What looking early saves, beside the test of one look and the theoretical floor."""
    target = metric.targets[len(metric.targets) // 2]
    calls, once = target.unchanged.calls, target.fixed.calls
    if calls is None or once is None or suite.looks == 1:
        return ()
    return say(
        "For a {}: {} calls when fixed, {} when it may end early and nothing changed; no "
        "test with these error rates needs fewer than {} (Wald's bound).",
        words(metric, target.change),
        f"{once:,}",
        f"{calls:,}",
        f"{target.floor_unchanged:,}",
    )


def advice(suite: SuiteOutlook) -> Line:
    """The best next action with its figure."""
    metric = next((one for one in suite.metrics if one.sd is not None), None)
    action = suite.best
    if metric is None or suite.assumed:
        return say(
            "measure the base branch: {}, then {} there{}.",
            code("gate run"),
            code("gate baseline save"),
            ", twice" if suite.rounds == 1 else "",
        )
    if action is None:
        return say("nothing: the smallest change that is caught is already close to the tolerance.")
    if action.mde is None:
        return say("{}.", _do(action, suite))
    was = "nothing" if metric.mde is None else size(metric, metric.mde)
    then = size(metric, action.mde)
    return say("{}: {} is caught instead of {}.", _do(action, suite), then, was)


def _do(action: Action, suite: SuiteOutlook) -> Line:
    if action.kind == "baseline":
        rule = say(" ({})", code(f"baseline.keep_rounds: {action.value}"))
        return say(
            "let the base branch collect {} rounds{} instead of {}; this adds no cost to "
            "pull requests",
            f"{action.value}",
            rule if action.value > suite.keep_rounds else (),
            rounds_of(suite),
        )
    if action.kind == "metrics":
        return say("let fewer metrics block; with only success")
    return say(
        "{} instead of {}, at most {} calls a run",
        figures.count(action.value, action.kind.removesuffix("s")),
        f"{suite.cases if action.kind == 'cases' else suite.rounds:,}",
        f"{action.calls.calls or 0:,}",
    )


# ------------------------------------------------------------------------------------------ limits


def limit_of(outlook: LimitOutlook) -> tuple[str, str, str]:
    """Metric, limits and how often noise alone misses them; a guess has a star."""
    bounds = (("min", outlook.min), ("max", outlook.max))
    limits = [f"{name} {figures.limit(at, outlook.unit)}" for name, at in bounds if at is not None]
    often = "unknown" if outlook.odds.chance is None else figures.odds(outlook.odds.chance)
    guess = " *" if outlook.odds.why and outlook.odds.chance is not None else ""
    return outlook.metric, " · ".join(limits), often + guess


def risk(outlook: LimitOutlook) -> Line:
    """That noise alone often misses a limit, and the ways out; empty where it does not."""
    if not outlook.risky or outlook.odds.chance is None:
        return ()
    safer = ""
    if outlook.safer is not None:
        name = "min" if outlook.max is None else "max"
        safer = f"set {name} {figures.limit(outlook.safer, outlook.unit)} (broken in 5 % of runs), "
    rule = "" if outlook.rule == "convicted" else ", or rule: convicted"
    return say(
        "Warning: {} {} would be broken by chance in {} of runs: {}add cases or rounds{}.",
        code(outlook.metric),
        limit_of(outlook)[1],
        figures.odds(outlook.odds.chance),
        safer,
        rule,
    )
