"""Calls of user code, with what goes wrong in them as failures of the agent or of the grader."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import cast

from gate.errors import AgentFailure, GraderFailure, InfraFailure
from gate.records import Json
from gate.user_code.frames import Frame
from gate.user_code.process import CallLate, CodeDied, CodeProcess, CodeRaised, Lane


def call(lane: Lane, request: Sequence[Json], seconds: float, who: str) -> Frame:
    """The reply. `who`: in messages, as "agent". Raises AgentFailure, InfraFailure."""
    try:
        return lane.call(request, seconds)
    except CallLate:
        message = f"the {who} did not return within {seconds:g} s"
        raise AgentFailure(message, timed_out=True) from None
    except CodeDied as death:
        message = f"the {who}'s process {death} during the call"
        raise AgentFailure(message, final=True) from death
    except CodeRaised as raised:
        raise failure_of(raised, who) from raised


def failure_of(raised: CodeRaised, who: str) -> AgentFailure | InfraFailure:
    """AgentFailure and InfraFailure cross as such; any other exception is the agent's."""
    user_error = raised.told
    if user_error.kind == "unusable":
        return AgentFailure(f"the {who} {raised.said}")
    if user_error.kind == "infra":
        again, code = user_error.retry_after, user_error.code
        return InfraFailure(raised.said, retry_after=again, code=code, begun=user_error.begun)
    if user_error.kind == "agent":
        final, late = user_error.final, user_error.timed_out
        code, done = user_error.code, user_error.done
        return AgentFailure(raised.said, final=final, timed_out=late, code=code, done=done)
    return AgentFailure(str(raised), timed_out=user_error.timed_out, done=user_error.done)


class TooLong(Exception):
    """A search for a pattern did not end in its time."""


def ask_main(process: CodeProcess, request: Sequence[Json], seconds: float) -> Json:
    """What the main thread of the process answers, where searches can be ended. Raises TooLong,
    GraderFailure.
    """
    try:
        answer: Json = json.loads(process.call(process.main_lane, request, seconds).body)
        return answer
    except CallLate:
        raise TooLong from None
    except CodeRaised as raised:
        if raised.told.timed_out:
            raise TooLong from None
        raise GraderFailure(str(raised)) from None
    except CodeDied as death:
        raise GraderFailure(f"the process that searches patterns {death}") from None
    except InfraFailure as failure:
        raise GraderFailure(str(failure)) from None


def call_judging_function(
    process: CodeProcess, request: Sequence[Json], seconds: float, who: str
) -> Json:
    """What a grader, or another function that judges, answers. `who`: in messages, as "grader".
    Raises GraderFailure.
    """
    try:
        answer: Json = json.loads(_lane(process).call(request, seconds).body)
        return answer
    except CallLate:
        raise GraderFailure(f"the {who} did not return within {seconds:g} s") from None
    except CodeDied as death:
        raise GraderFailure(f"the {who}'s process {death} while it judged") from None
    except CodeRaised as raised:
        if raised.told.kind == "unusable":
            raise GraderFailure(f"the {who} {raised.said}") from None
        is_grader_failure = raised.told.kind == "grader"
        raise GraderFailure(raised.said if is_grader_failure else str(raised)) from None
    except InfraFailure as failure:
        raise GraderFailure(str(failure)) from None
    except (ValueError, RecursionError) as error:
        raise GraderFailure(f"the {who} did not return JSON: {error}") from None


_LANES = threading.local()


def _lane(process: CodeProcess) -> Lane:
    """This thread's lane in the process: graders are called by whichever thread has the answer."""
    if getattr(_LANES, "process", None) is not process:
        _LANES.process, _LANES.lane = process, process.new_lane()
    return cast("Lane", _LANES.lane)
