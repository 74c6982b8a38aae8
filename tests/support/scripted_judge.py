"""A judge whose every answer is written by the test, and time that stands still."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from gate.agents.judges.cache import Cache
from gate.agents.judges.judge_panel import Panel
from gate.agents.judges.models import Model, SpendingLimit, WorkerPool
from gate.agents.judges.vote import ModelOptions, Patience
from gate.plugins import World
from gate.records import Case, Price, Question, Response, Usage
from gate.system.clock import Clock

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["score"],
}
QUESTION = Question(
    role="judge", name="answer", instructions="Judge it.", material="the answer", schema=SCHEMA
)
CASE = Case(id="c-1", input="?", keys={})
GOOD = '{"score": 4}'
MODEL = "judge-1"
A_DOLLAR = {MODEL: Price(input=1e6, output=0.0)}  # for each input token

Script = Callable[[Case, int], "str | Response | Exception"]


def answer(text: str, *, tokens: int | None = 1, **more: Any) -> Response:
    usage = Usage(input_tokens=tokens, output_tokens=None if tokens is None else 0)
    return Response(answer=text, model=MODEL, usage=usage, **more)


@dataclass
class Scripted:
    """`script(case, nth)` is what the nth request (from 0) gets; its exceptions are raised."""

    script: Script
    timeout_s: float = 60.0
    concurrency: int = 8
    requests_per_minute: float | None = None
    asked: list[Case] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # that each request was given
    lock: threading.Lock = field(default_factory=threading.Lock)

    def describe(self) -> str:
        return "scripted"

    def check(self, world: World) -> None:
        pass

    def connect(self, world: World) -> _Connection:
        return _Connection(self)


class _Connection:
    def __init__(self, agent: Scripted) -> None:
        self._agent = agent

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        with self._agent.lock:
            nth = len(self._agent.asked)
            self._agent.asked.append(case)
            self._agent.seconds.append(timeout_s)
        found = self._agent.script(case, nth)
        if isinstance(found, Exception):
            raise found
        return answer(found) if isinstance(found, str) else found

    def close(self) -> None:
        pass


@dataclass
class Still:
    """Time that passes only when somebody waits."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    @property
    def patience(self) -> Patience:
        return Patience(
            clock=Clock(seconds=lambda: self.now, jitter=lambda: 0.0), pause=self._pause
        )

    def _pause(self, stopped: Event, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def model(
    agent: Scripted,
    *,
    section: Any = "judge",
    votes: int = 1,
    each: bool = False,
    usd: float | None = None,
    prices: dict[str, Price] = A_DOLLAR,
    cache: Path | None = None,
    key: str | None = "k",
    patience: Patience | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    one_text: bool = False,
) -> Model:
    world = World(env={}, root=Path(), cancelled=cancelled, section=section)
    budget = SpendingLimit(section, usd)
    manner = ModelOptions(
        section=section, timeout_s=agent.timeout_s, model=MODEL, prices=prices, one_text=one_text
    )
    return Model(
        section=section,
        agent=agent,
        world=world,
        desk=WorkerPool(agent, world, manner, budget, patience or Still().patience),
        budget=budget,
        cache=Cache(cache, "cache.jsonl", section, key) if cache else None,
        votes=votes,
        each=each,
        identity={"type": "scripted"},
    )


def panel(agent: Scripted, **options: Any) -> Panel:
    return Panel([model(agent, **options)])
