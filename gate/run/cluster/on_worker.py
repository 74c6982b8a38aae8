"""What runs in a worker of a cluster. Dask calls these functions by their names; what a run needs
there lives as long as the run, in this process.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import cast

from gate.agents.under_test import check_health, subject
from gate.errors import GateError, InfrastructureError, UsageError
from gate.files.own_source import digest_of_gate
from gate.plugins import Agent, AgentTraits, Grader, World, read_traits
from gate.records import Health, Trial
from gate.run.arms import PairedWorker
from gate.run.cluster.kit import ROOT_VARIABLE, RunKit, digest_file
from gate.run.grade import grade_attempt, make_graders
from gate.run.grading.grade_batch import (
    BatchGrader,
    GradingKit,
    Reply,
    graders_of,
)
from gate.run.trial_worker import Task, TrialWorker, Unmade
from gate.system.executors import Later, Worker
from gate.system.pace import Pace
from gate.system.sealing import nameable
from gate.system.slots import Slots
from gate.text.figures import join_words
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent
from gate.user_code.hashes import Sources
from gate.user_code.processes import PROCESSES

Made = Trial | Unmade | Later[Task]
_OTHER_BUILD = "its Agent Gate has another source code: install the same there, and restart it"
_SHOWN = 3  # files that are named
_IDLE_S = 60.0  # after which a run that says nothing makes room for another


class NoDesk(Exception):
    """This process does not make trials of the run, or does not any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a worker says before it gets any work: why it cannot do it (empty if it can), and
    whether the agent can be asked from there.
    """

    fault: str
    health: Health


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The results of a packet, and what the user's code was loaded from so far. `broken`: why that
    code cannot be run here any more.
    """

    results: Sequence[Made]
    sources: Sources
    broken: str


_DESKS: dict[str, Desk] = {}  # run -> its work in this process


async def admit(kit: RunKit, share: int) -> Admission:
    """Looks whether this process can make trials of the run, and opens a desk for it with `share`
    threads.
    """
    return await asyncio.to_thread(_open_desk, kit, share)


def _open_desk(kit: RunKit, share: int) -> Admission:
    unasked = Health(ok=True, latency_ms=0.0)
    if kit.build != digest_of_gate():
        return Admission(fault=_OTHER_BUILD, health=unasked)
    for run, desk in list(_DESKS.items()):
        if desk.is_idle:  # whoever began it went away without a word
            _close_desk(run)
    if _DESKS and kit.files:
        return Admission(fault="it is busy with another run; wait for that", health=unasked)
    env = {**os.environ, **kit.sent}
    root = Path(env.get(ROOT_VARIABLE) or kit.root)
    fault = _find_lack(kit, env, root)
    if fault:
        return Admission(fault=fault, health=unasked)
    try:
        desk = Desk(kit, env, root, share)
        health = desk.check()
    except UsageError as error:
        return Admission(fault=str(error), health=unasked)
    _DESKS[kit.run] = desk
    return Admission(fault="", health=health)


def _find_lack(kit: RunKit, env: Mapping[str, str], root: Path) -> str:
    """What the process lacks of a run's secrets and files; empty if nothing."""
    unset = [name for name in kit.variables if not env.get(name, "").strip()]
    if unset:
        which = "variables" if unset[1:] else "variable"
        return (
            f"the environment {which} {join_words(unset)} {'are' if unset[1:] else 'is'} not set "
            "there: start the worker with it, or send the value with --send-secrets"
        )
    others = [name for name, digest in kit.files.items() if digest_file(root / name) != digest]
    if others:
        return (
            f"{join_words(others, most=_SHOWN)} differ{'' if others[1:] else 's'} from this "
            f"checkout's, or cannot be read, in {root}: bring the same commit there, or say with "
            f"{ROOT_VARIABLE} where it is"
        )
    return ""


def work(run: str, packet: bytes) -> Done:
    """One attempt at each task of a packet: a sequence of them, pickled, as Dask would look into
    each for what it knows. Raises NoDesk, UsageError, InfrastructureError.
    """
    _leave_room()
    desk = _DESKS.get(run)
    if desk is None:
        raise NoDesk
    try:
        results = desk.work(pickle.loads(packet))  # noqa: S301 - the cluster is its user's
    except UsageError as error:  # the plain class: others do not travel
        raise UsageError(str(error)) from None
    except GateError as error:
        raise InfrastructureError(str(error)) from None
    return Done(results=results, sources=desk.sources(), broken=PROCESSES.give_up_reason())


def grade(kit: bytes, build: str, batch: bytes) -> list[Reply]:
    """Grades a batch of recorded answers. `kit`: a GradingKit and whether it has the secrets;
    `batch`: trials, and place -> case; both pickled. Raises UsageError where this process has
    another source code.
    """
    if build != digest_of_gate():
        raise UsageError(
            f"worker {import_module('distributed').get_worker().address}: {_OTHER_BUILD}"
        )
    known, graders = _prepare_grading(kit)
    trials, cases = pickle.loads(batch)  # noqa: S301 - the cluster is its user's
    return BatchGrader(known, graders, cases.__getitem__).grade(trials)


@lru_cache(2)
def _prepare_grading(kit: bytes) -> tuple[GradingKit, list[dict[str, Grader]]]:
    """With the secrets that are known here, where none were sent."""
    known, knows_secrets = pickle.loads(kit)  # noqa: S301 - the cluster is its user's
    if not knows_secrets:
        known = replace(known, redactor=Redactor(secrets_sent(os.environ, ())))
    return known, graders_of(known)


async def end(run: str) -> None:
    """Ends what is under way for the run; its packets return what is finished."""
    await asyncio.to_thread(_close_desk, run)


def _close_desk(run: str) -> None:
    """The last one that goes ends the processes with the user's code, which may be changed."""
    desk = _DESKS.pop(run, None)
    if desk is not None:
        desk.close()
    if not _DESKS:
        PROCESSES.end()


def _leave_room() -> None:
    """How much is done at once is for the desk to say, and not for the threads that Dask counts."""
    import_module("distributed").secede()


class Desk:
    """Makes the trials of one run with the threads of this process; packets come from any."""

    def __init__(self, kit: RunKit, env: Mapping[str, str], root: Path, share: int) -> None:
        """Raises UsageError."""
        self._root, self._share = root, share
        self._env = nameable(env)
        PROCESSES.begin(env, lambda line: None)
        PROCESSES.allow(kit.seconds)
        self._graders: dict[str, dict[str, Grader]] = {
            suite.name: make_graders(suite.graders, root) for suite in kit.suites
        }
        self._agents = [subject(one.agent, one.retriever, root) for one in kit.agents]
        options = [spec.options for one in kit.agents for spec in one.specs()]
        self._redactor = Redactor(secrets_sent(env, options))
        agents = self._agents
        adaptive = all(read_traits(AgentTraits, agent).adaptive for agent in agents)
        patience_s = min(agent.timeout_s for agent in agents)
        self._slots = Slots(Pace(share, adaptive=adaptive, patience_s=patience_s))
        self._closed = threading.Event()
        self._in: SimpleQueue[tuple[Task, SimpleQueue[Made | Exception | None]] | None] = (
            SimpleQueue()
        )
        self._lock = threading.Lock()
        self._threads = self._packets = 0
        self._used = time.monotonic()
        self._workers: list[Worker[Task, Trial | Unmade]] = []

    @property
    def is_idle(self) -> bool:
        """Whether nothing has come for a long time."""
        return not self._packets and time.monotonic() - self._used > _IDLE_S

    @property
    def world(self) -> World:
        return World(env=self._env, root=self._root, cancelled=self._closed.is_set)

    def check(self) -> Health:
        """Of the first agent that cannot be asked from here, else of the candidate. Raises
        UsageError.
        """
        found = [check_health(agent, self.world) for agent in self._agents]
        return next((health for health in found if not health.ok), found[0])

    def sources(self) -> Sources:
        return PROCESSES.last_sources(self._root)

    def work(self, tasks: Sequence[Task]) -> list[Made]:
        """What became of each task; less once the desk is closed. Raises what a worker raised."""
        out: SimpleQueue[Made | Exception | None] = SimpleQueue()
        with self._lock:
            if self._closed.is_set():
                return []
            for task in tasks:
                self._in.put((task, out))
            more = min(len(tasks), self._share - self._threads)
            self._threads += more
            self._packets += 1
        for _ in range(more):
            threading.Thread(target=self._loop, daemon=True, name="gate-worker").start()
        try:
            made = [out.get() for _ in tasks]
        finally:
            with self._lock:
                self._packets -= 1
                self._used = time.monotonic()
        for one in made:
            if isinstance(one, Exception):
                raise one
        return [_without_graders(one) for one in made if one is not None]

    def close(self) -> None:
        with self._lock:
            self._closed.set()
            with suppress(Empty):
                while waiting := self._in.get_nowait():
                    waiting[1].put(None)
            for _ in range(self._threads):
                self._in.put(None)
        for worker in list(self._workers):
            worker.close()

    def _loop(self) -> None:
        worker: Worker[Task, Trial | Unmade] | None = None
        while (waiting := self._in.get()) is not None:
            task, out = waiting
            try:
                if worker is None:
                    worker = self._connect()
                    self._workers.append(worker)
                out.put(worker.work(replace(task, graders=self._graders[task.suite.name])))
            except Exception as error:
                out.put(error)

    def _connect(self) -> Worker[Task, Trial | Unmade]:
        made = [self._asking(agent, nth) for nth, agent in enumerate(self._agents)]
        return PairedWorker(made[0], made[1]) if made[1:] else made[0]

    def _asking(self, agent: Agent, nth: int) -> TrialWorker:
        slot = self._slots.slot("control" if nth else "")
        return TrialWorker(
            agent,
            replace(self.world, hear=slot.hear),
            grade_attempt,
            scrub=self._redactor.scrub,
            slot=slot,
        )


def _without_graders(made: Made | Exception) -> Made:
    """Fit to travel: graders stay in their process."""
    if isinstance(made, Later):
        return replace(made, task=replace(made.task, graders={}))
    return cast("Made", made)
