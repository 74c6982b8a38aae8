"""How the verdict was reached and on what, for the folded parts of a report."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import Comparison, Report, Rule, SuiteReport
from gate.wording import figures
from gate.wording.checks import blocking
from gate.wording.headline import chance
from gate.wording.spans import Line, Span, code, join, link, say

_RULES: dict[Rule, str] = {
    "point": "the value itself decides about a limit",
    "convicted": "a limit is broken when the whole interval is beyond it",
    "proven": "a limit is kept when the whole interval is within it",
}


def method(report: Report) -> tuple[Line, ...]:
    """Test, correction, level and what could have been seen, one sentence each."""
    return tuple(_method(report))


def provenance(report: Report) -> tuple[tuple[str, Line], ...]:
    """(name, value) of everything that identifies the run; empty values are left out."""
    p = report.provenance
    judged = f"{p.agent} ({p.agent_digest[:12]})" if p.agent_digest else p.agent
    rows: list[tuple[str, Line]] = [
        ("session", say("{}", code(report.session_id))),
        ("created", say("{}", report.created_at)),
        ("commit", say("{}", code(p.commit)) if p.commit else ()),
        ("base commit", say("{}", code(p.base_commit)) if p.base_commit else ()),
        ("agent", say("{}", code(judged)) if judged else ()),
        ("judge", say("{}", code(p.judge)) if p.judge else ()),
        ("rules", say("{}", code(p.config_digest[:12])) if p.config_digest else ()),
        ("event", say("{}", f"{p.event} ({p.mode})" if p.event != p.mode else p.event)),
        ("seed", say(str(p.seed))),
        ("run", say("{}", link(Span(p.run_url), p.run_url)) if p.run_url else ()),
        ("Agent Gate", say("{}", p.tool_version) if p.tool_version else ()),
    ]
    rows += [(f"dataset of {suite.name}", _dataset(suite)) for suite in report.suites.values()]
    return tuple(row for row in rows if row[1])


def _method(report: Report) -> Iterator[Line]:
    compared = [
        check
        for check in blocking(report)
        if check.comparison and check.comparison.level == "block" and check.comparison.n_paired
    ]
    if compared:
        tests = dict.fromkeys(c.comparison.method for c in compared if c.comparison)
        yield say("Test: {}.", join("; ", (say("{}", test) for test in tests if test)) or "none")
        level = figures.percent(report.alpha)
        yield say(
            f"If nothing changed, a run blocks with a chance of at most {level}, all "
            f"{figures.count(len(compared), 'blocking comparison')} together (Holm)."
        )
    yield from (_seen(report, check.comparison) for check in compared if check.comparison)
    yield from _limits(report)


def _seen(report: Report, found: Comparison) -> Line:
    """How many cases were compared, and the smallest harm that would have shown."""
    noun = "drop" if found.direction == "higher" else "rise"
    size = figures.ABSENT
    if found.mde is not None:
        size = figures.size(abs(found.mde), found.unit, relative=found.relative)
    whole = 1.0 if found.relative else abs(found.baseline or 0.0)
    blind = found.mde is None or (noun == "drop" and abs(found.mde) > whole)
    harm = f"no {noun}" if blind else f"a {noun} of {size} or more"
    sure = f", adjusted p = {found.p_adjusted:.2g}" if found.p_adjusted is not None else ""
    text = f": {figures.count(found.n_paired, 'paired case')}{sure}; {harm}"
    return say("{}{} would have been caught {}.", code(found.metric), text, chance(report))


def _limits(report: Report) -> Iterator[Line]:
    rules = dict.fromkeys(gate.rule for gate in report.gates if gate.level == "block")
    if rules:
        yield join("; ", (say("{}: {}", code(rule), _RULES[rule]) for rule in rules))


def _dataset(suite: SuiteReport) -> Line:
    size = f", {figures.count(suite.cases, 'case')} x {figures.count(suite.rounds, 'round')}"
    chosen = f", {suite.not_selected:,} not selected" if suite.not_selected else ""
    version = f" version {suite.version}" if suite.version else ""
    digest = (code(suite.dataset_digest[:12]),) if suite.dataset_digest else ()
    return join(" ", [(code(suite.dataset),), digest, (Span(version + size + chosen),)])
