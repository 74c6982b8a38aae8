"""What the reader of a report can do now."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import Comparison, GateResult, Report
from gate.report.wording.checks import list_failing
from gate.text.spans import Line, code, join, prose, say

DOT = " · "
BUDGET = "the budget of "  # in a reason: it ended the run
WHOLE = 4_000  # characters of a command: a part of one is of no use


def next_step(report: Report) -> Line:
    """Commands and actions, in order; empty when nothing is to be done."""
    command = reproduce(report)
    again = [say("reproduce with {}", code(command))] if command else []
    return join(DOT, [*again, *list_steps(report)])


def reproduce(report: Report) -> str:
    """The command that asks the worst case again; empty where there is none to ask."""
    if report.outcome in ("pass", "no_baseline"):
        return ""
    nobody_answered = report.outcome == "error" and " --case " not in report.reproduce
    return "" if nobody_answered else report.reproduce


def list_steps(report: Report) -> list[Line]:
    """What the outcome asks for, beside looking at the worst case."""
    return list(_outcome_step(report))


def _outcome_step(report: Report) -> Iterator[Line]:
    bad = list_failing(report) if report.outcome == "fail" else ()
    rows: list[Comparison | GateResult] = [*report.comparisons, *report.gates]
    broken = any(row.status in ("regression", "fail") and row.level == "block" for row in rows)
    if _never_answered(report):
        yield say("find out why the agent gives no answer: {}", code("gate doctor"))
    elif report.outcome == "fail" and broken and report.provenance.mode == "pull_request":
        yield say("if intended, comment {}", code("/gate accept REASON"))
    elif bad and all(check.is_unproved for check in bad):
        more = "add cases or rounds to prove that the limit is met"
        yield say("{}; without {} no proof is required", more, code("rule: proven"))
    elif report.baseline.source == "control" and report.outcome in ("fail", "not_comparable"):
        return  # nothing is stored that could be replaced
    elif any(c.status == "regression" and c.level == "block" for c in report.comparisons):
        command = code("gate baseline accept --reason TEXT")
        yield say("if intended, run {} on the base branch after the merge", command)
    elif report.outcome == "no_baseline" and (todo := _stored_but_unused(report)):
        yield say("runs compare with the committed baseline, so {}", prose(todo))
    elif report.outcome == "no_baseline":
        command = code(report.next_command or "gate baseline save")
        if report.imported and not _on_github(report):
            yield say("create a baseline: import the results of the base branch, then {}", command)
            return
        how = "the workflow that measures it" if _on_github(report) else command
        where = " on the base branch" if report.provenance.commit else ""  # else: no repository
        yield say("create a baseline: run {}{}", how, where)
    elif report.outcome == "not_comparable" and (metrics := _list_edited_metrics(report)):
        command = code(f"/gate accept {' '.join(metrics)} REASON")
        yield say("if intended, comment {}", command)
    elif report.outcome == "not_comparable":
        yield say(
            "start a new baseline with {} on the base branch",
            code("gate baseline accept --reason TEXT"),
        )
    elif report.open_suites:
        return  # the reason says it
    elif report.outcome == "inconclusive":
        yield _more_trials(report)
    elif report.outcome == "error" and report.lost:
        how = "run the jobs of the lost shards again" if _on_github(report) else "run them again"
        yield say("{}, then merge all shards again", how)
    elif report.outcome == "error" and report.imported:
        yield say("measure it again with the tool itself, and import that")
    elif report.outcome == "error":
        if _on_github(report):
            yield say("continue where it stopped: run the job again")
        elif report.next_command:
            yield say("continue where it stopped: {}", code(report.next_command))
        else:
            more = "with the options of this run"
            yield say("continue where it stopped: {} {}", code("gate run --resume"), more)


def _never_answered(report: Report) -> bool:
    """Whether each trial ended with an error of the agent, and nothing was compared."""
    on_laptop = not _on_github(report) and not report.imported
    compared = any(row.n_paired for row in report.comparisons)
    suites = report.suites.values()
    failed = bool(suites) and all(s.trials and s.agent_errors == s.trials for s in suites)
    return on_laptop and failed and not compared and report.outcome in ("fail", "no_baseline")


def _stored_but_unused(report: Report) -> str:
    """What to do with a baseline that is saved, and that the base branch does not have."""
    return next((s.baseline.todo for s in report.suites.values() if s.baseline.todo), "")


def _list_edited_metrics(report: Report) -> list[str]:
    """Metrics of a pull request that nothing can compare because it edits what measures them; empty
    where a suite cannot be compared as a whole. They have to be accepted by name.
    """
    if report.provenance.mode != "pull_request":
        return []
    rows = [c for c in report.comparisons if c.status == "not_comparable" and c.level == "block"]
    suites = [report.suites.get(row.suite) for row in rows]
    if any(
        suite is None or suite.reason.startswith(row.reason)
        for suite, row in zip(suites, rows, strict=True)
    ):
        return []
    return list(dict.fromkeys(row.metric for row in rows))


def _on_github(report: Report) -> bool:
    """There a runner's files are gone, and a job that runs again finds the stored session."""
    return report.provenance.run_url is not None


def _more_trials(report: Report) -> Line:
    """How an inconclusive suite comes to more trials."""
    if report.imported:
        plan = code("gate plan latest")
        return say("run more rounds or add cases; {} shows how many", plan)
    if any(suite.not_run and BUDGET in suite.reason for suite in report.suites.values()):
        again = "run the job again" if _on_github(report) else code("gate run --resume")
        return say("raise the budget, then {}", again)
    open_suites = [suite for suite in report.suites.values() if suite.outcome == "inconclusive"]
    if any(0 < suite.look < suite.looks for suite in open_suites):
        again = "run the job again: it" if _on_github(report) else code("gate run --resume")
        return say("{} adds trials to this session", again)
    rounds = "regression.max_rounds" if any(s.looks for s in open_suites) else "gate run --rounds N"
    return say(
        "run more rounds ({}) or add cases; {} shows how many",
        code(rounds),
        code("gate plan"),
    )
