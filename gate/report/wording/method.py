"""How the verdict was reached and on what, for the folded parts of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from gate.records import Comparison, Report, Rule, SuiteReport
from gate.report.wording import plain_counts
from gate.report.wording.checks import NOISY, list_blocking, noise_of
from gate.report.wording.sentences import baselines
from gate.text import figures
from gate.text.spans import Line, Span, code, join, link, prose, say

MOST_NAMED = 3  # metrics that a sentence names

_RULES: dict[Rule, str] = {
    "point": "the measured value decides about a limit if more rounds did not",
    "convicted": "a limit fails when the whole interval is beyond it; a value beyond it warns",
    "proven": "a limit is met when the whole interval is within it",
}


def method(report: Report, *, most: int | None = None) -> tuple[Line, ...]:
    """Test, correction, level and what could have been seen, a sentence each; the first `most`."""
    return tuple(islice(_method(report), most))


def provenance(report: Report) -> tuple[tuple[str, Line], ...]:
    """(name, value) of everything that identifies the run; empty values are left out."""
    p = report.provenance
    judged = f"{p.agent} ({p.agent_digest[:12]})" if p.agent_digest else p.agent
    measured_by = "measured by" if report.imported else "Agent Gate"
    rows: list[tuple[str, Line]] = [
        ("session", say("{}", code(report.session_id))),
        ("created", say("{}", report.created_at)),
        ("commit", say("{}", code(p.commit)) if p.commit else ()),
        ("base commit", say("{}", code(p.base_commit)) if p.base_commit else ()),
        ("agent", say("{}", code(judged)) if judged else ()),
        ("asked at once", say("{}", f"up to {p.concurrency} calls") if p.concurrency else ()),
        ("judge", say("{}", code(p.judge)) if p.judge else ()),
        ("verifier", say("{}", code(p.verifier)) if p.verifier else ()),
        ("rules", say("{}", code(p.config_digest[:12])) if p.config_digest else ()),
        ("event", say("{}", f"{p.event} ({p.mode})" if p.event != p.mode else p.event)),
        ("seed", say(str(p.seed)) if not report.imported else ()),
        ("run", say("{}", link(Span(p.run_url), p.run_url)) if p.run_url else ()),
        (measured_by, say("{}", p.tool_version) if p.tool_version else ()),
    ]
    rows += [(f"dataset of {suite.name}", _dataset(suite)) for suite in report.suites.values()]
    rows += _sources(report)
    return tuple(row for row in rows if row[1])


def _sources(report: Report) -> Iterator[tuple[str, Line]]:
    """Where the baselines come from; `report.suites` that share one have one row."""
    groups: dict[tuple[str, str], list[str]] = {}
    for suite in report.suites.values():
        info = suite.baseline
        if info.source != "none" and info.detail:
            groups.setdefault((info.source, info.detail), []).append(suite.name)
    for (source, detail), names in groups.items():
        of = f" of {figures.join_words(names)}" if len(report.suites) > 1 else ""
        yield f"baseline{of}", say("{}: {}", source, code(detail))


def _method(report: Report) -> Iterator[Line]:
    compared = [
        check.comparison
        for check in list_blocking(report)
        if check.comparison and check.comparison.level == "block" and check.comparison.n_paired
    ]
    if compared:
        yield from _test(report, compared)
        yield from _looks(report)
        yield from _baselines(report)
    yield from _noise(report)
    yield from (_detectable_harm(report, found) for found in compared)
    if any(comparison.typical for comparison in report.comparisons):
        yield say(
            'A "typical" change is that of a typical answer (the ratio of the geometric '
            "means), so one stuck answer does not dominate it; the values next to it are "
            "means."
        )
    yield from _limits(report)


def _test(report: Report, compared: Sequence[Comparison]) -> Iterator[Line]:
    """What a chance in the verdict means, and how many verdicts are wrong."""
    tests = dict.fromkeys(comparison.method for comparison in compared if comparison.method)
    yield say(
        "“If nothing had changed”: each case's runs are shuffled between the baseline and this run "
        "to see how often that alone makes a change as large ({}).",
        join("; ", (say("{}", test) for test in tests)) or "no test",
    )
    together = [f"all {len(compared):,} blocking comparisons (Holm)"] if len(compared) > 1 else []
    together += ["all looks"] if any(suite.look for suite in report.suites.values()) else []
    yield say(
        "If nothing changed, the chance that a run blocks is at most {}{}{}.",
        figures.percent(report.alpha),
        ", over " if together else "",
        " and ".join(together),
    )


def _looks(report: Report) -> Iterator[Line]:
    """How often a suite was looked at while it ran, and why it made no more trials."""
    looked = [suite for suite in report.suites.values() if suite.look]
    for suite in looked:
        where = say("{}: looked", suite.name) if len(report.suites) > 1 else say("Looked")
        times = f"{figures.count(suite.look, 'time')} of at most {suite.looks}"
        ended = say("; ended: {}", prose(suite.ended)) if suite.ended else ()
        yield say("{} {}{}.", where, times, ended)
    if looked:
        yield say(
            "An earlier check needs stronger evidence to block, so stopping early does "
            f"not raise that {figures.percent(report.alpha)}; a run passes early only "
            "where a change "
            "for the worse of the size below would have shown "
            f"{figures.often(report.power)}. The intervals allow for an early end."
        )


def _baselines(report: Report) -> Iterator[Line]:
    """Which runs were compared with, and what was left out."""
    groups = baselines(report)
    for info, names in groups.items():
        of = (
            say("Baseline of {}", figures.join_words(names)) if len(groups) > 1 else say("Baseline")
        )
        if info.source == "control":
            yield say(
                "{}: the control agent, asked in the same run and round by round, so a "
                "model or service that drifts affects both sides.",
                of,
            )
        elif info.runs > 1 or info.pooling:
            rounds, runs = figures.count(info.rounds, "round"), figures.count(info.runs, "run")
            text = f"{rounds} of a case, from the newest {runs} that agree with each other"
            yield say("{}: {}.", of, text)
        yield from (say("{}.", prose(text[:1].upper() + text[1:])) for text in info.pooling)


def _detectable_harm(report: Report, comparison: Comparison) -> Line:
    """How many cases were compared, and the smallest harm that would have shown."""
    noun = "drop" if comparison.direction == "higher" else "rise"
    size = figures.ABSENT
    if comparison.mde is not None:
        size = figures.size(abs(comparison.mde), comparison.unit, relative=comparison.relative)
    most = 1.0 if comparison.relative else abs(comparison.baseline or 0.0)
    blind = comparison.mde is None or (noun == "drop" and abs(comparison.mde) > most)
    harm = f"no {noun}" if blind else f"a {noun} of {size} or more"
    p, adjusted = comparison.p_value, comparison.p_adjusted
    chance = f", {figures.p_value(p)}" if p is not None else ""
    if adjusted is not None:
        chance += f" (adjusted: {figures.p_value(adjusted, level=report.alpha)})"
    cut = "" if comparison.settled else "; the run ended before this was settled"
    pairs = figures.count(comparison.n_paired, "paired case")
    text = f": {pairs}{chance}; {harm} would have been caught"
    suite = f"{comparison.suite}: " if len(report.suites) > 1 else ""
    often = figures.often(report.power)
    corrected = _corrected_change(comparison)
    return say("{}{}{} {}{}{}.", suite, code(comparison.metric), text, often, corrected, cut)


def _corrected_change(comparison: Comparison) -> str:
    """A run that ends early has usually seen a change that is too large."""
    shown, measured = (
        figures.change(
            delta, comparison.unit, relative=comparison.relative, tolerance=comparison.tolerance
        )
        for delta in (comparison.unbiased, comparison.delta)
    )
    if comparison.unbiased is None or shown == measured:
        return ""
    return f"; corrected for the early end, the change is {shown}"


def _noise(report: Report) -> Iterator[Line]:
    """What stands beside a limit, once; and of which limits it is not known, and why."""
    limited = [
        (gate.metric, gate.noise_odds) for gate in report.gates if gate.noise_odds is not None
    ]
    rule = "" if all(gate.rule == "point" for gate in report.gates) else ", by the gate's rule"
    if any(noise_of(gate) >= NOISY for gate in report.gates):
        yield say(
            "“noise 12 %” beside a limit: an agent like the baseline's would break it in 12 % of "
            "runs of this size by chance alone{}; if no figure is shown, the share is "
            "below 1 % or unknown.",
            rule,
        )
    elif any(odds.chance is not None for _, odds in limited):
        yield say(
            "An agent like the baseline's would break a limit in fewer than 1 % of runs of this "
            "size by chance alone{}.",
            rule,
        )
    for why in dict.fromkeys(odds.why for _, odds in limited if odds.why):
        of = list(dict.fromkeys(name for name, odds in limited if odds.why == why))
        guess = any(odds.chance is not None for _, odds in limited if odds.why == why)
        names = join(", ", (say("{}", code(name)) for name in of))
        yield say(
            "How often noise alone would break {} {}: {}.",
            say("the limit of {}", names) if len(of) <= MOST_NAMED else f"these {len(of):,} limits",
            "is a first guess" if guess else "is unknown",
            prose(why),
        )


def _limits(report: Report) -> Iterator[Line]:
    rules = dict.fromkeys(gate.rule for gate in report.gates if gate.level == "block")
    if rules:
        yield join("; ", (say("{}: {}", code(rule), _RULES[rule]) for rule in rules))


def _dataset(suite: SuiteReport) -> Line:
    size = f", {plain_counts.size(suite)}"
    chosen = f", {suite.not_selected:,} not selected" if suite.not_selected else ""
    version = f" version {suite.version}" if suite.version else ""
    digest = (code(suite.dataset_digest[:12]),) if suite.dataset_digest else ()
    return join(" ", [(code(suite.dataset),), digest, (Span(version + size + chosen),)])
