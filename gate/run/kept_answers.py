"""Keeps answers in the session's log before they are judged. If the run is interrupted while it
judges, the resumed run judges them and does not ask the agent again.
"""

from __future__ import annotations

from functools import cache

from gate.files.json_schema_quick import Check, compile_check
from gate.plugins import Grader
from gate.records import Response
from gate.records.codec import from_json, schema_of, to_lean_json
from gate.run.trial_worker import AnswerStore, Task
from gate.store.event_log import EventLog


def open_kept_answers(log: EventLog) -> AnswerStore:
    """Keeps answers of suites whose graders run outside this process. Graders in this process are
    so fast that it would be pointless.
    """

    def keep(task: Task, response: Response, latency: float) -> None:
        if any(map(is_outside, task.graders.values())):
            log.append_answer(
                _key(task), {"latency_ms": latency, "response": to_lean_json(response)}
            )

    def find(task: Task) -> tuple[Response, float] | None:
        stored = log.answer(_key(task))
        if stored is None or not _check()(stored.get("response")):
            return None
        latency = stored.get("latency_ms")
        if not isinstance(latency, (int, float)):
            return None
        return from_json(Response, stored["response"]), float(latency)

    return AnswerStore(keep=keep, find=find)


@cache
def _check() -> Check:
    return compile_check(schema_of(Response))


def is_outside(grader: Grader) -> bool:
    """Whether it asks a model, or runs in a process of the user's code."""
    return hasattr(grader, "questions") or getattr(grader, "outside", False) is True


def _key(task: Task) -> tuple[str, str, int]:
    return task.suite.name, task.case.id, task.round
