"""One try of a trial, without its number and times: what a failure comes to, and what an answer
that was not judged comes to.
"""

from __future__ import annotations

from dataclasses import replace

from gate.agents.judges.totals import STOPPED
from gate.agents.wire.before_failing import find_done
from gate.errors import AgentFailure, InfraFailure
from gate.records import Attempt

_NOBODY = Attempt(n=0, status="infra_error", latency_ms=None)


def attempt_of_failure(failure: InfraFailure | AgentFailure) -> Attempt:
    """An agent error has failed, with what the agent did before it; an infrastructure error is
    unscored.
    """
    attempt = replace(_NOBODY, error=str(failure), transport=failure.transport)
    if isinstance(failure, InfraFailure):
        return replace(attempt, failures=(failure.code,) if failure.code else ())
    return replace(
        attempt,
        status="agent_error",
        response=find_done(failure),
        passed=False,
        failures=(failure.code,),
    )


def unless_stopped(graded: Attempt) -> Attempt:
    """The graded attempt. One whose judge was stopped is unscored for no fault of its own: nobody
    has answered, so that a resumed run makes the trial again.
    """
    if not graded.judging.stopped:
        return graded
    error = f"the answer was not judged: {STOPPED}"
    return replace(_NOBODY, error=error, judging=graded.judging)
