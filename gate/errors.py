"""Every error a user can see, each with the exit code it ends the command with.

Failures of an agent, of the infrastructure and of a grader are *data* while a run goes on: the
three classes at the
end carry them from a plug-in to the runner, which turns them into records. Everything else stops
the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

# How a request fails below what the agent says: the same of nearly all of them is an outage.
Transport = Literal["5xx", "html", "not_http", "cut_off"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands: a file, a line (from 1) and the dotted path of a key in it."""

    file: str
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line is not None else ""
        return f"{self.file}{line}" + (f": {self.key}" if self.key else "")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong with what the user gave, as one sentence that ends with the next step."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class GateError(Exception):
    """Base of everything that ends a command with a message instead of a traceback."""

    exit_code: ClassVar[int] = 70


class UsageError(GateError):
    """A wrong option, config, dataset or baseline file (exit 2)."""

    exit_code = 2


class InvalidInput(UsageError):
    """All problems found in the user's files at once, in file and line order (exit 2)."""

    def __init__(self, problems: list[Problem] | tuple[Problem, ...]) -> None:
        self.problems = tuple(sorted(problems, key=_by_place))
        super().__init__("\n".join(str(p) for p in self.problems))


class InfrastructureError(GateError):
    """Agent, judge, GitHub, store or disk out of reach (exit 6)."""

    exit_code = 6


class Interrupted(GateError):
    """Ctrl-C (130) or SIGTERM (143); the session is saved and can be resumed."""

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]


class AgentFailure(Exception):
    """The agent answered, but wrongly at the protocol level: an error body, a crash, a time-out.
    Scores 0.

    `final`: it refused the request itself (400, 404, 413, ...), and would refuse it again.
    `timed_out`: it did not answer in time, which is told apart where failures are counted; `code`:
    what it is counted as. `latency_ms`: of the request alone, where more than that took time.
    `transport`: set where no answer of the agent could be read at all. `done`: what came with the
    failure, a body or an object, and may tell what the agent did before; it is never an answer.
    """

    def __init__(
        self,
        message: str,
        *,
        final: bool = False,
        timed_out: bool = False,
        code: str | None = None,
        latency_ms: float | None = None,
        transport: Transport | None = None,
        done: object = None,
    ) -> None:
        super().__init__(message)
        self.final = final
        self.timed_out = timed_out
        self.code = code or ("timeout" if timed_out else "agent_error")
        self.latency_ms = latency_ms
        self.transport = transport
        self.done = done


class InfraFailure(Exception):
    """The agent could not be asked: refused, reset, DNS, TLS, 401, 403, 429, 502 to 504,
    520 to 527, 529. Retried, then unscored.

    `retry_after` (seconds) is set when the server said how long to wait; waiting it out is not an
    attempt. `code`: what it is counted as among failures; None: it is not. `begun`: the request was
    sent, and somebody behind what answered may still work on it. `transport` as in AgentFailure.
    `is_refusal`: the provider wants fewer requests, as always with `retry_after`.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        code: str | None = None,
        begun: bool = False,
        transport: Transport | None = None,
        is_refusal: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.is_refusal = is_refusal or retry_after is not None
        self.code = code
        self.begun = begun
        self.transport = transport


class RecordingEnded(InfraFailure):
    """A recording has answers of a case, and all of them were given: there is nobody to ask."""


class GraderFailure(Exception):
    """A grader could not judge an answer: the score is missing, counted and shown, never 0."""


def _by_place(problem: Problem) -> tuple[str, int, str, str]:
    place = problem.place
    return place.file, place.line or 0, place.key, problem.message
