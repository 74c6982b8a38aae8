"""Agents of one connection that answer from a queue, and the plan of a suite for them."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InfraFailure
from gate.graders.exact_match import ExactMatch
from gate.plugins import World
from gate.records import Attempt, Case, Comparison, Price, Response, Suite, Usage
from gate.run.prepare import SuitePlan
from gate.run.suite_metrics import specs_of

PRICES = {"m": Price(input=1.0, output=2.0)}
WORLD = World(env={}, root=Path())


@dataclass(frozen=True)
class Said:
    suites: frozenset[str] = frozenset()
    why: str = ""
    over: bool = False
    rows: tuple[Comparison, ...] = ()


class QueuedAgent:
    """An agent with one connection: case id -> its answers, one after another."""

    timeout_s = 5.0
    concurrency = 1
    requests_per_minute = None

    def __init__(self, **answers):
        self.answers = {case: deque(given) for case, given in answers.items()}
        self.asked = []

    def connect(self, world):
        return self

    def check(self, world):
        raise InfraFailure("nobody is there: start it")

    def ask(self, case, *, timeout_s):
        self.asked.append(case.id)
        answer = self.answers[case.id].popleft()
        if isinstance(answer, Exception):
            raise answer
        used = Usage(input_tokens=1_000_000, output_tokens=500_000)
        return Response(answer=answer, model="m", usage=used)

    def close(self):
        pass


class YesAgent(QueuedAgent):
    """Answers everything, and remembers each round of each case."""

    def ask(self, case, *, timeout_s):
        self.asked.append(case.id)
        return Response(answer="yes", model="m")


def suite_plan(*ids, rounds=1, name="s", looks=None):
    cases = [
        Case(id=i, input=f"q {i}", keys={"id": i, "expected_answer": "yes"}, digest=i) for i in ids
    ]
    graders = {"exact_match": ExactMatch()}
    return SuitePlan(
        suite=Suite(name=name, dataset="d", graders=(), rounds=rounds, max_attempts=1),
        graders=graders,
        dataset_digest="dd",
        digests={case.id: case.digest for case in cases},
        chosen=frozenset(ids),
        not_selected=0,
        specs=specs_of(graders, rounds),
        grader_digests={},
        read=lambda ids: iter(cases),
        looks=looks,
    )


class ScriptedAgent:
    """An agent whose connection gives the scripted answers one after another."""

    timeout_s = 10.0
    concurrency = 1
    requests_per_minute = None

    def __init__(self, *answers):
        self.answers = deque(answers)
        self.timeouts = []

    def connect(self, world):
        return self

    def ask(self, case, *, timeout_s):
        self.timeouts.append(timeout_s)
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Response) else Response(answer=answer)

    def close(self):
        pass


def passes_on_ok(case, response, graders):
    return Attempt(
        n=0, status="completed", latency_ms=None, response=response, passed=response.answer == "ok"
    )
