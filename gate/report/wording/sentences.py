"""The sentences under the headline: comparison, warnings, counts, cost."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gate.analysis.catalogue import JUDGE_INJECTION
from gate.analysis.metric_families import collapse
from gate.analysis.severity import by_severity
from gate.records import BaselineInfo, CaseChange, CaseChanges, Foresight, Report, SuiteReport
from gate.report.wording import patterns
from gate.report.wording.case_address import address_case
from gate.report.wording.checks import Check
from gate.stats.session_effect import FEWEST_RUNS
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, Span, code, join, link, prose, say, strong

DOT = " · "
LUCKY_RUNS = 2  # so few blame an unchanged agent several times too often if they were lucky
SOUND_RUNS = FEWEST_RUNS  # from here on the differences between runs are known and allowed for
_TOP_CODES = 3
# Beginnings of metrics that say what success rate, cost and tokens say.
_SUCCESS_AGAIN = (
    *("agent.first_attempt_", "agent.pass@", "agent.pass^", "agent.reliable_"),
    "agent.consistently_",
)
_COST_AGAIN = ("operational.estimated_cost", "operational.std_")


def comparisons(report: Report, *, sources: bool = False) -> tuple[Line, ...]:
    """One line for all suites that share a baseline; with where it was read from (`sources`) where
    nothing else tells it.
    """
    groups: dict[BaselineInfo, list[str]] = {}
    for suite in report.suites.values():
        groups.setdefault(_common_baseline(report, suite, sources=sources), []).append(suite.name)
    groups = groups or {report.baseline: []}
    several = len(groups) > 1
    return tuple(
        join("", [say("{}: ", strong(figures.join_words(names))) if several else (), line])
        for info, names in groups.items()
        for line in [_comparison(report, info, names, sources=sources)]
    )


def foreseen(report: Report) -> tuple[Line, ...]:
    """What a run like this one could catch, were this its baseline; a line for each suite that has
    none.
    """
    return tuple(
        join("", [say("{}: ", strong(suite.name)) if len(report.suites) > 1 else (), line])
        for suite in report.suites.values()
        if suite.foresight is not None
        for line in [_foreseen(suite.foresight, report.power)]
    )


def _foreseen(foresight: Foresight, power: float) -> Line:
    def size(amount: float) -> str:
        return figures.size(amount, foresight.unit, relative=foresight.relative)

    kind = "drop" if foresight.direction == "higher" else "rise"
    guess = say(" (a guess, {})", prose(foresight.guess)) if foresight.guess else ()
    more: Line = ()
    if foresight.wanted is not None and foresight.cases is not None:
        cases = figures.count(foresight.cases, "case")
        more = say(" {} would catch {} ({}).", cases, size(foresight.wanted), code("gate plan"))
    if foresight.least is None:
        return say(
            "The next run, compared with this one, is too small to catch any {} in {} reliably "
            "({}){}.{}",
            kind,
            code(foresight.metric),
            figures.often(power),
            guess,
            more,
        )
    return say(
        "The next run, compared with this one, would catch a {} of {} or more in {} {}{}.{}",
        kind,
        size(foresight.least),
        code(foresight.metric),
        figures.often(power),
        guess,
        more,
    )


def _common_baseline(report: Report, suite: SuiteReport, *, sources: bool) -> BaselineInfo:
    """The baseline without what differs from suite to suite of one run of the base branch."""
    info = suite.baseline
    if len(report.suites) < 2:
        return info
    told = sources or info.source == "none"
    detail = info.detail.replace(f"/{suite.name}.json", "/*.json") if told else ""
    return replace(info, detail=detail, notes=(), pooling=())


def baselines(report: Report) -> dict[BaselineInfo, list[str]]:
    """Each baseline with the suites that were compared with it."""
    groups: dict[BaselineInfo, list[str]] = {}
    for suite in report.suites.values():
        groups.setdefault(suite.baseline, []).append(suite.name)
    return groups or {report.baseline: []}


def cautions(report: Report) -> tuple[Line, ...]:
    """What a reader must know before believing the verdict."""
    lines = [prose(text) for text in (*report.notes, *report.baseline.notes)]
    for suite in report.suites.values():
        lines += [prose(text) for text in suite.baseline.notes]
        lines += _incomplete(suite, named=len(report.suites) > 1)
    lines += filter(None, [_lucky_baseline(report)])
    if _cost_is_missed(report) and not _tells_tokens(report):
        lines.append(say("Cost unknown: the agent reports neither tokens nor cost."))
    elif _cost_is_missed(report):
        models = join(", ", (say("{}", code(name)) for name in report.cost.unknown_models[:5]))
        trials = figures.count(report.cost.unknown_trials, "answer")
        why = (
            "The cost of {} is not known (no price for the model, or no usable cost or tokens): {}."
        )
        lines.append(say(why, trials, models))
    lines += filter(None, [_tell_no_opinion(report)])
    return tuple(dict.fromkeys(lines))


def _tell_no_opinion(report: Report) -> Line:
    """Which cases no grader judges, and what to do; empty where there is none."""
    cases = report.cases.no_opinion
    if not cases or report.imported:
        return ()
    names = _some([say("{}", code(shorten(case.case_id, 48))) for case in cases], 3)
    if len(cases) == 1:
        return say(
            "No grader has an opinion on the answers to {}: write into the case a key that a "
            "grader of its suite reads, or remove the case.",
            names,
        )
    return say(
        "No grader has an opinion on the answers to {} ({}): write into each case a key that a "
        "grader of its suite reads, or remove the cases.",
        figures.count(len(cases), "case"),
        names,
    )


def _lucky_baseline(report: Report) -> Line:
    """That few runs of the base branch may have been lucky ones; empty where they were not compared
    with, or are enough. What was measured elsewhere has no further runs.
    """
    compared = {c.suite for c in report.comparisons if c.delta is not None}
    infos = [suite.baseline for name, suite in report.suites.items() if name in compared]
    few = [info for info in infos if needs_runs(info)]
    if report.imported or not few:
        return ()
    runs = min(info.runs for info in few)
    told = ("one run: if it was lucky", "two runs: if they were lucky")[runs - 1]
    return say(
        "The baseline is {}, an unchanged agent is blocked more often; {} more runs make it sound.",
        told,
        str(SOUND_RUNS - runs),
    )


def needs_runs(info: BaselineInfo) -> bool:
    """Whether the baseline is of so few runs of the base branch that their luck tells."""
    return info.source in ("repo", "artifact", "file") and 0 < info.runs <= LUCKY_RUNS


def _cost_is_missed(report: Report) -> bool:
    """Not where a tool that was imported tells neither cost nor model: nothing is to be done."""
    unknown = report.cost.unknown_models
    is_known = report.cost.usd is not None or unknown != ("unnamed",)
    return bool(unknown) and (is_known or not report.imported)


def _tells_tokens(report: Report) -> bool:
    """Whether a price would help: a model, a cost or tokens are known."""
    tokens = (suite.metrics.get("operational.avg_tokens") for suite in report.suites.values())
    known = report.cost.usd is not None or report.cost.unknown_models != ("unnamed",)
    return known or any(one and one.value is not None for one in tokens)


def case_counts(report: Report) -> Line:
    """`14 cases newly fail, 2 newly pass, 5 flaky.` and what they mostly failed by."""
    cases = report.cases
    failing = figures.count(len(cases.newly_failing), "case")
    verb = "newly fails" if len(cases.newly_failing) == 1 else "newly fail"
    rest = _list_other_changes(cases)
    if not cases.newly_failing:
        if not any(c.n_paired for c in report.comparisons):  # nothing was compared
            return say("Cases: {}.", ", ".join(rest)) if rest else ()
        return say("{}.", ", ".join(["No case newly fails", *rest]))
    line = say("{}{}.", strong(f"{failing} {verb}"), "".join(f", {part}" for part in rest))
    if report.causes:  # which say more
        return line
    return (*line, *(patterns.mostly(cases.newly_failing) or _mostly(cases.newly_failing)))


def other_changes(report: Report) -> Line:
    """`2 newly pass, 5 flaky.`: what cases did beside newly failing; empty where they did not."""
    rest = _list_other_changes(report.cases)
    return say("{}.", ", ".join(rest)) if rest else ()


def _list_other_changes(cases: CaseChanges) -> list[str]:
    others = (
        ("newly passes" if len(cases.newly_passing) == 1 else "newly pass", cases.newly_passing),
        ("flaky", cases.flaky),
        ("added", cases.added),
        ("removed", cases.removed),
        ("changed", cases.changed),
        ("errored", cases.errored),
        ("on which no grader has an opinion", cases.no_opinion),
        ("quarantined", cases.quarantined),
    )
    return [f"{len(changes):,} {name}" for name, changes in others if changes]


def case_lists(
    cases: CaseChanges, *, skip: int = 0
) -> tuple[tuple[str, tuple[CaseChange, ...]], ...]:
    """Title and cases of each list, in the order in which they are read; `skip`: newly failing ones
    that are shown elsewhere.
    """
    return (
        ("Newly failing", by_severity(cases.newly_failing)[skip:]),
        ("Newly passing", cases.newly_passing),
        ("Flaky", cases.flaky),
        ("Errored", cases.errored),
        ("No grader has an opinion", cases.no_opinion),
        ("Quarantined", cases.quarantined),
        ("Added", cases.added),
        ("Removed", cases.removed),
        ("Changed", cases.changed),
    )


def rounds(change: CaseChange) -> str:
    """`3/3 → 0/3`."""
    was = _share(change.baseline_passed, change.baseline_rounds)
    return f"{was} → {_share(change.current_passed, change.current_rounds)}"


def warn_only(rows: Sequence[Check], *, most: int = 5, fell: bool = False) -> Line:
    """Metrics that got worse, miss a limit or are gone, and may; empty when there are none. `fell`:
    that success fell is told already, and not said again by other metrics.
    """
    unjudged = [check for check in rows if check.is_unjudged]
    gone = [c for c in rows if c.comparison is not None and c.comparison.status == "missing"]
    unscored = [c for c in gone if c.comparison is not None and c.comparison.current is not None]
    worse = sorted((c for c in rows if c not in (*gone, *unjudged)), key=_news)
    worse = [c for c in worse if not (fell and c.metric.startswith(_SUCCESS_AGAIN))]
    families = collapse(worse, lambda check: (check.suite, check.metric), _excess)
    gone = [check for check in gone if check not in (*unscored, *unjudged)]
    listed = (
        ("Also worse, not blocking: {}.", [_with_family(*family) for family in families]),
        ("Judge unreachable: {}.", [say("{}", code(check.metric)) for check in unjudged]),
        ("No longer measured: {}.", [say("{}", code(check.metric)) for check in gone]),
        ("Too many unscored: {}.", [say("{}", code(check.metric)) for check in unscored]),
    )
    return join(" ", (say(text, _some(items, most)) for text, items in listed if items))


def _news(check: Check) -> tuple[bool, float]:
    """The largest first; last what says again that success fell or costs rose."""
    said = check.metric.startswith((*_SUCCESS_AGAIN, *_COST_AGAIN))
    return said, -_excess(check)


def _some(items: Sequence[Line], most: int) -> Line:
    more = [say(f"and {len(items) - most} more")] if len(items) > most else []
    return join(", ", [*items[:most], *more])


def run_link(report: Report) -> Line:
    url = report.provenance.run_url
    shown = link(Span("run and full report"), url)
    return (shown,) if shown.url else ()


def report_links(report: Report) -> Line:
    """To the hosted report and the run, or to the run that has the report as an artifact."""
    page = page_link(report)
    if not page.url:
        return run_link(report)
    run = link(Span("run"), report.provenance.run_url)
    return join(DOT, [(shown,) for shown in (page, run) if shown.url])


def page_link(report: Report) -> Span:
    """`report`, as a link where report.html is hosted."""
    return link(Span("report"), report.page_url)


def case_url(report: Report, suite: str, case_id: str) -> str:
    """The case in the hosted report.html; empty where none is hosted."""
    page = report.page_url.partition("#")[0]
    return page + address_case(suite, case_id) if page else ""


def commit_link(report: Report, commit: str | None) -> Span:
    """The short SHA, linked where the run's address tells where the repository is."""
    return link(code((commit or "unknown")[:7]), commit_url(report, commit))


def commit_url(report: Report, commit: str | None) -> str | None:
    """Its page, where the run's address tells where the repository is; a baseline file may hold
    anything as a commit.
    """
    repository, has_run, _ = (report.provenance.run_url or "").partition("/actions/runs/")
    known = has_run and commit and re.fullmatch("[0-9a-fA-F]{7,64}", commit)
    return f"{repository}/commit/{commit}" if known else None


def _excess(check: Check) -> float:
    """How many times its tolerance a metric changed; a missed limit alone comes first."""
    comparison = check.comparison
    if comparison is None or comparison.delta is None or not comparison.tolerance:
        return math.inf
    return abs(comparison.delta) / comparison.tolerance


def _with_family(lead: Check, others: Sequence[Check]) -> Line:
    """`recall@5 −37.0 pt (and 9 like it)`."""
    return (*_milder(lead), *(say(" (and {} like it)", f"{len(others):,}") if others else ()))


def _milder(check: Check) -> Line:
    change = check.change.split(" (")[0]
    change = check.current if change == figures.ABSENT else change  # of a limit alone
    words = check.verdict.replace(" (warn only)", "").removeprefix("regression").lstrip(", ")
    return say("{} {}{}", code(check.metric), change, f" ({words})" if words else "")


def _comparison(report: Report, info: BaselineInfo, names: Sequence[str], *, sources: bool) -> Line:
    if info.source == "none" or not (info.commit or info.rounds):
        where = f" ({info.detail})" if info.detail else ""
        return say("Not compared: there is no baseline of {}{}.", figures.join_words(names), where)
    what = "control" if info.source == "control" else "baseline"
    facts = [say("{} the {}{}", _head(report, names), what, _origin(report, info, sources=sources))]
    facts += [say(text) for text in _pairing(report, names)]
    if info.fingerprint_diff:
        differences = join("; ", (prose(text, 160) for text in info.fingerprint_diff[:8]))
        facts.append(say("differs in {}", differences))
    else:
        facts.append(say("same agent, judge and settings"))
    return join(DOT, facts)


def _head(report: Report, names: Sequence[str]) -> Line:
    """`Head 4f1c9d2 against`; what was not compared says so."""
    if not any(c.delta is not None for c in report.comparisons if c.suite in names):
        return say("Not compared with")
    commit = report.provenance.commit
    if not commit:
        return say("Compared with")
    return say("Head {} against", commit_link(report, commit))


def _origin(report: Report, info: BaselineInfo, *, sources: bool) -> Line:
    """` at a81e03c (12 rounds of 4 runs, the newest 2 days old)`."""
    at = say(" at {}", commit_link(report, info.commit)) if info.commit else ()
    runs = f" of {figures.count(info.runs, 'run')}" if info.runs > 1 else ""
    newest = "the newest " if info.runs > 1 else ""  # a file may be written long after
    age = "" if info.age_days is None else figures.age(info.age_days).removesuffix(" ago")
    facts = (
        *((info.source, info.detail) if sources else ()),
        "asked in the same run" if info.source == "control" else "",
        figures.count(info.rounds, "round") + runs if info.rounds else "",
        f"{newest}{age} old" if age else "",
    )
    told = ", ".join(filter(None, facts))
    return join("", [at, (Span(f" ({told})"),) if told else ()])


def _pairing(report: Report, names: Sequence[str]) -> Iterator[str]:
    mine = [c for c in report.comparisons if c.suite in names or not names]
    paired = {name: max((c.n_paired for c in mine if c.suite == name), default=0) for name in names}
    cases = report.cases
    pairs = sum(paired.values())
    suites = [suite for name, suite in report.suites.items() if name in names]
    all_cases = sum(suite.cases for suite in suites)
    asked = sum(suite.counts.asked if suite.counts else 0 for suite in suites)
    told = f"{figures.count(pairs, 'case')} paired" if pairs else "no case paired"
    if pairs and any(suite.look and suite.trials < suite.cases for suite in suites):
        told = f"{asked or pairs:,} of {figures.count(all_cases, 'case')} asked"
        told += f", {pairs:,} paired" if asked > pairs else ""
    changed = (
        ("added", cases.added),
        ("removed", cases.removed),
        ("changed", cases.changed),
    )
    counts = [(sum(c.suite in names for c in some), word) for word, some in changed]
    yield ", ".join([told, *(f"{number:,} {word}" for number, word in counts if number)])


def _incomplete(suite: SuiteReport, *, named: bool) -> Iterator[Line]:
    where = say(" in {}", suite.name) if named else ()
    unanswered = "without an answer (infrastructure error), not counted"
    facts = (
        (suite.infra_errors, unanswered, suite.error_reasons.get("infra_error", "")),
        (
            suite.agent_errors,
            "ended in an agent error, scored 0",
            suite.error_reasons.get("agent_error", ""),
        ),
        (suite.not_run, "not made", ""),
    )
    for number, what, why in facts:
        if number:
            yield _with_why(say("{}{} {}", figures.count(number, "trial"), where, what), why)
    for grader, number in suite.graders_unscored.items():
        answers = figures.count(number, "answer")
        left = say("{}{} not scored by {}", answers, where, code(grader))
        yield _with_why(left, suite.unscored_reasons.get(grader, ""))
    yield from _injection_caution(suite, where)


def _injection_caution(suite: SuiteReport, where: Line) -> Iterator[Line]:
    """That answers try to instruct their judge, which is told whatever gates there are."""
    rate = suite.metrics.get(JUDGE_INJECTION.name)
    if rate is not None and rate.value:
        share = figures.portion(rate.value)
        sentence = "of the judged answers{} try to give the judge instructions and get no points"
        yield say("{} " + sentence + " ({}).", share, where, code(JUDGE_INJECTION.name))


def _with_why(fact: Line, why: str) -> Line:
    """`why` is what an agent, a server or a grader said: hostile text."""
    return join("", [fact, join("", [say(": "), prose(why, 300)]) if why else say(".")])


def _mostly(failing: Sequence[CaseChange]) -> Line:
    kinds = Counter(
        kind for c in failing for kind in {code.split(":", 1)[0] for code in c.failures}
    )
    top = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:_TOP_CODES]
    if not top:
        return ()
    coded = sum(bool(c.failures) for c in failing)  # a case may fail by several
    codes = join(", ", (say("{} ({})", code(k), f"{n:,}") for k, n in top))
    if coded < len(failing):
        return say(" Causes of the {} examined: {}.", f"{coded:,}", codes)
    return say(" Causes: {}.", codes)


def _share(passed: int | None, total: int | None) -> str:
    return figures.ABSENT if passed is None or not total else f"{passed}/{total}"
