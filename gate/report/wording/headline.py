"""The first thing a reader sees: outcome, suites, why, and whether it blocks."""

from __future__ import annotations

import re

from gate.records import Comparison, GateResult, Outcome, Report, SuiteReport
from gate.report.wording import causes
from gate.report.wording.checks import is_lacking, list_blocking, list_failing
from gate.report.wording.plain_counts import SUCCESS
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, prose, say, strong

OUTCOMES: dict[Outcome, tuple[str, str]] = {
    "pass": ("✅", "Pass"),
    "fail": ("❌", "Fail"),
    "inconclusive": ("🟡", "Inconclusive"),
    "no_baseline": ("🆕", "No baseline"),
    "not_comparable": ("🚫", "Not comparable"),
    "error": ("💥", "Error"),
}


def headline(report: Report) -> str:
    """`Fail: analytics got worse`, without icon; hostile where suite names are."""
    return f"{OUTCOMES[report.outcome][1]}: {clause(report)}"


def icon(outcome: Outcome) -> str:
    return OUTCOMES[outcome][0]


def icon_of(report: Report, suite: str = "") -> str:
    """The icon of the run or of one suite; one that passes with a value beyond a limit has no green
    tick.
    """
    outcome = report.suites[suite].outcome if suite else report.outcome
    return "⚠️" if outcome == "pass" and is_doubted(report, suite) else icon(outcome)


def is_doubted(report: Report, suite: str = "") -> bool:
    """Whether a value is beyond a blocking limit whose rule asks for more than that to fail."""
    return any(
        gate.status == "warn" and gate.level == "block" and suite in ("", gate.suite)
        for gate in report.gates
    )


def word(outcome: Outcome) -> str:
    return OUTCOMES[outcome][1]


def because(report: Report, limit: int = 1_000) -> Line:
    """The reason, at most `limit` characters, and, where an outcome leaves it open, whether the
    policy blocks on it.
    """
    reason = shorten(report.reason, limit)
    if not any(reason.startswith(f"{name}: ") for name in report.suites):
        reason = reason[:1].upper() + reason[1:]
    ended = reason if reason.endswith((".", "!", "?")) or not reason else reason + "."
    decision = _decision(report)
    return (*prose(ended), *(say(" ") if decision and reason else ()), *decision)


def decision(report: Report) -> Line:
    """`Deploy: agent.success_rate of analytics rose.` or `Do not deploy: nothing improved.`; empty
    where no release hangs on the run.
    """
    deployment = report.decision
    if deployment is None:
        return ()
    word = "Deploy" if deployment.deploy else "Do not deploy"
    reason = shorten(deployment.reason, 1_000)
    return join(
        "", [say("{}: ", strong(word)), prose(reason if reason.endswith(".") else f"{reason}.")]
    )


def list_kept_limits(report: Report) -> str:
    """How many blocking limits are kept, and how many targets not yet; empty without limits."""
    gates = [gate for gate in report.gates if gate.level == "block" and gate.status == "pass"]
    targets = [gate for gate in gates if gate.target is not None]
    missed = sum(not gate.target_met for gate in targets)
    if not gates:
        return ""
    wish = f", {figures.count(missed, 'target')} not reached yet" if missed else ""
    return f"{figures.count(len(gates), 'blocking limit')} kept{wish}."


def why(suite: SuiteReport) -> Line:
    """One suite's reason."""
    return prose(suite.reason.strip())


def in_short(suite: SuiteReport) -> Line:
    """The first clause of a suite's reason, without its figures."""
    return prose(re.split(r" \(|; ", suite.reason.strip(), maxsplit=1)[0])


def clause(report: Report) -> str:
    """What happened in a few words; hostile text."""
    concerned = [s.name for s in report.suites.values() if s.outcome == report.outcome]
    suites = figures.join_words(concerned or report.suites) or "nothing"
    if report.outcome == "pass":
        if any(check.sign == "accepted" for check in list_blocking(report)):
            return f"{suites} got worse, and that was accepted"
        doubt = ", but a limit is uncertain" if is_doubted(report) else _blind(report)
        return f"no regression in {suites}{doubt}"
    if report.outcome == "fail":
        bad = list_failing(report)
        if newly := _newly_failing(report):
            return "; ".join(filter(None, (newly, causes.in_short(report))))
        if any(check.comparison and check.comparison.status == "regression" for check in bad):
            return f"{suites} got worse"
        if not bad and any(one.floor and not one.floor.mild for one in report.suites.values()):
            return f"nothing passed in {suites}"
        if not bad and any(
            s.anchor and s.anchor.decides and s.anchor.fallen for s in report.suites.values()
        ):
            return f"main has got worse in {suites}"
        unproved = bad and all(check.is_unproved for check in bad)
        return (
            f"{suites} not proven to be within the limits"
            if unproved
            else f"{suites} outside the limits"
        )
    rows: list[Comparison | GateResult] = [*report.comparisons, *report.gates]
    open_rows = [row for row in rows if row.level == "block"]
    unsure = f"not enough data to judge {suites}"
    if any(row.status == "suspected" for row in open_rows):
        unsure = f"{suites} may have got worse"
    elif any(map(is_lacking, open_rows)):
        unsure = f"too many answers are missing to judge {suites}"
    elif any(row.wants == "trials" for row in open_rows):
        unsure = f"the run ended too early to judge {suites}"
    return {
        "inconclusive": unsure,
        "no_baseline": f"nothing to compare {suites} with yet",
        "not_comparable": f"{suites} cannot be compared with the baseline",
        "error": f"{suites} could not be judged",
    }[report.outcome]


def tells_newly_failing(report: Report) -> bool:
    """Whether it says how many cases newly fail, of all suites."""
    told = sum(_count_newly_failing(report).values()) if report.outcome == "fail" else 0
    return 0 < told == len(report.cases.newly_failing)


def _count_newly_failing(report: Report) -> dict[str, int]:
    """Of each suite whose success rate fails the run."""
    return {
        check.suite: sum(change.suite == check.suite for change in report.cases.newly_failing)
        for check in list_failing(report)
        if check.metric == SUCCESS and check.sign == "bad"
    }


def _newly_failing(report: Report) -> str:
    """`33 of 120 cases newly fail in analytics`, where success fails the run; else empty."""
    suites = _count_newly_failing(report)
    number = sum(suites.values())
    if not number:
        return ""
    counts = [report.suites[name].counts for name in suites]
    asked = sum(count.asked for count in counts if count)
    of = f" of {asked:,}" if all(counts) else ""
    noun = "case" if (asked or number) == 1 else "cases"
    verb = "newly fails" if number == 1 else "newly fail"
    return f"{number:,}{of} {noun} {verb} in {figures.join_words(suites)}"


BLIND = 0.2  # of a share: a pass that could see no smaller drop than this says so above all


def _blind(report: Report) -> str:
    """`, but only a drop of 60 points or more could be seen`: of the success rate that saw least;
    empty where smaller ones could.
    """
    rates = [
        row
        for row in report.comparisons
        if row.metric == SUCCESS and row.level == "block" and row.p_value is not None
    ]
    unseen = [row for row in rates if row.mde is None or row.mde >= BLIND]
    if not unseen:
        return ""
    if any(row.mde is None or row.mde > (row.baseline or 0.0) for row in unseen):
        return ", but no drop could have been noticed"
    least = max(row.mde for row in unseen if row.mde is not None)
    size = figures.size(least, "share", relative=False).removesuffix(" pt")
    return f", but only a drop of {size} points or more would have been noticed"


def _decision(report: Report) -> Line:
    if report.outcome in ("pass", "fail"):
        return ()
    policy = getattr(report.policy, report.outcome)
    rule = code(f"{report.outcome}: {policy}")
    if policy == "fail":
        return say("The policy blocks ({}).", rule)
    if report.outcome == "error" and report.exit_code == 6:
        return say("The agent did answer, so no policy can allow this.")
    if report.passed:
        return say("The policy allows this ({}).", rule)
    return say("The policy allows this ({}), but something else blocks the run.", rule)
