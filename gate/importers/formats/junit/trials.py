"""A result of a test as a trial."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, repeat

from gate.importers.formats.junit.cases import JUnitCase
from gate.importers.formats.junit.runs import TestRun
from gate.importers.trials.build import case_of, trial_of
from gate.importers.trials.names import metric_name, snake_case
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Attempt, Case, Trial, TrialStatus

TOOL = "junit"
_MOST_RETRIES = 100
_NAMED = r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Failure|Timeout))\b"
_EXCEPTION = re.compile(rf"\s*(?:failed on \w+ with \")?{_NAMED}")  # as pytest tells of fixtures
_LAST_LINE = re.compile(rf":\d+: {_NAMED}\s*\Z")  # of what pytest tells of a test
_UNTOLD = "failed; what it said is not kept"


def trial(run: TestRun, suite: str, *, categories: bool) -> Trial:
    """The last result counts; the ones before it failed. Where it is nobody's, such as a teardown's
    without a connection, the one before it.
    """
    first = run.results[0]
    category = (first.group or None) if categories else None
    case = case_of(TOOL, suite, run.case_id, category=category, place=first.place)
    made = [_without_answer(_trial(one, case, suite, run.round)) for one in run.results]
    if len(made) == 1 and not first.retries:
        return made[0]
    attempts = list(
        chain.from_iterable(
            (*repeat(_UNKEPT, min(one.retries, _MOST_RETRIES)), trial.attempt)
            for one, trial in zip(run.results, made, strict=True)
        )
    )
    numbered = tuple(replace(one, n=n) for n, one in enumerate(attempts, 1))
    answered = [n for n, one in enumerate(numbered) if one.status != "infra_error"]
    return replace(
        made[-1], attempts=numbered, judged=answered[-1] if answered else len(numbered) - 1
    )


_UNKEPT = Attempt(n=1, status="agent_error", latency_ms=None, passed=False, error=_UNTOLD)


def _without_answer(trial: Trial) -> Trial:
    """The file does not say what was answered, which is another thing than nothing."""
    return replace(trial, attempts=(replace(trial.attempt, response=None),))


def _trial(result: JUnitCase, case: Case, suite: str, round_: int) -> Trial:
    status = _status(result)
    told = "\n".join(filter(None, (result.message, result.text)))
    return trial_of(
        TOOL,
        suite,
        case,
        round=round_,
        status=status,
        passed=None if status == "infra_error" else result.outcome == "passed",
        failures=() if result.outcome == "passed" or status == "infra_error" else (_code(result),),
        values={metric_name(TOOL, name): value for name, value in result.properties.items()},
        reason=told if status == "completed" else "",
        latency_ms=None if result.seconds is None else result.seconds * 1000,
        error=None if status == "completed" else told or result.kind or "no message",
    )


def _status(result: JUnitCase) -> TrialStatus:
    """An `error` is the agent's, unless it tells that nobody answered."""
    if result.outcome != "error":
        return "completed"
    nobody = result.kind == "infra_error" or is_nobodys(f"{result.kind} {result.message}")
    return "infra_error" if nobody else "agent_error"


def _code(result: JUnitCase) -> str:
    """The type, or the exception that the message begins with: `assertion_error`."""
    named = _EXCEPTION.match(result.kind or result.message) or _LAST_LINE.search(result.text)
    if named:
        return snake_case(named[1])
    if result.kind:
        return snake_case(result.kind.rpartition(".")[2])
    return "failed" if result.outcome == "failed" else "agent_error"
