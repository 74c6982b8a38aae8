"""User code in a process of its own, as the gate uses it: started when it is first needed, asked by
many threads at once, ended when it hangs, started anew when it dies.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from threading import Lock, RLock
from typing import TypeVar

from gate.errors import InfraFailure, UsageError
from gate.records import Json
from gate.system.exclusive import ServerTurns
from gate.system.shortage import shortage
from gate.text.shortening import shorten
from gate.user_code import frames
from gate.user_code.frames import Frame
from gate.user_code.hashes import merge_sources
from gate.user_code.started import Death, PendingCall, Started

T = TypeVar("T")
MOST_DEATHS = 3  # in a row, without a call that came back
_FILES_S = 20.0  # to say which files were loaded
_PONG_S = 1.5  # for a process that can run at all to say so
_LOAD_MORE_S = 5.0  # beyond the time for loading: to start Python, and to say where it hangs
_SAYS_S = 0.05  # beyond a call's time: an async function or a search says itself that it is late
NO_SENSE = "its process sent an invalid description"
_GIVEN_UP = "the call was cancelled: the run is being stopped"


class CallLate(Exception):
    """A call did not come back in its time."""


class CodeDied(Exception):
    """A call ended the process: how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserError:
    """What the process says of an exception. User code may have written it: nothing but texts,
    numbers and signs of the right type is taken over.
    """

    kind: str  # agent, infra, grader, usage: of which of our classes; late; empty: any other
    type: str
    message: str
    place: str  # file:line, empty where it is not known
    code: str | None
    retry_after: float | None
    http_status: int | None
    begun: bool
    final: bool
    timed_out: bool
    os_error: bool
    seconds: float  # that the call took
    done: dict[str, Json] | None  # what it says that was done before, hostile


def _parse_error(frame: Frame) -> UserError:
    try:
        parsed: Json = json.loads(frame.body)
    except (ValueError, RecursionError):
        parsed = None
    data = parsed if isinstance(parsed, dict) else {"type": "an exception that cannot be read"}
    kind, name, place, message = (
        shorten(str(data.get(key) or ""), 300) for key in ("kind", "type", "place", "message")
    )
    again, done = data.get("retry_after"), data.get("done")
    code, status = data.get("code"), data.get("http_status")
    if isinstance(again, bool) or not isinstance(again, (int, float)) or not 0 <= again < 1e9:
        again = None
    return UserError(
        kind=kind,
        type=name,
        place=place,
        message=message,
        code=shorten(code, 100) if isinstance(code, str) else None,
        retry_after=None if again is None else float(again),
        http_status=status if type(status) is int else None,
        seconds=frame.seconds,
        begun=data.get("begun") is True,
        final=data.get("final") is True,
        timed_out=data.get("timed_out") is True,
        os_error=data.get("os_error") is True,
        done=done if isinstance(done, dict) else None,
    )


class CodeRaised(Exception):
    """A call raised an exception."""

    def __init__(self, user_error: UserError) -> None:
        place = f" ({user_error.place})" if user_error.place else ""
        self.said = f"{shorten(user_error.message, 200)}{place}"  # a mark where it was cut
        super().__init__(f"{user_error.type}: {self.said}")
        self.told = user_error


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """How a process with user code is run."""

    role: str  # for messages: "agent", "grader"
    root: Path  # the folder of gate.yml
    judges: bool  # whether the code has a say in the verdict
    env: Mapping[str, str] = field(repr=False)
    threads: int = 16  # calls that nobody waits for any more, before the process is ended
    load_s: float = 240.0  # for one object of the user's to be loaded
    tell: Callable[[str], None] = lambda line: None  # is given what the code prints


class CodeProcess:
    """Every method may be called from any thread."""

    def __init__(self, manner: ProcessOptions) -> None:
        self.manner = manner
        self._starting = RLock()
        self._counting = Lock()
        self._turns = ServerTurns()
        self._lanes = itertools.count(1)
        self._running: Started | None = None
        self._loads: list[tuple[str, bytes]] = []  # name and request, in the order of their numbers
        self._known: dict[bytes, Json] = {}  # request -> what it returned
        self._files: dict[str, dict[str, str]] = {}
        self._noted = 0  # how many files had been loaded when they were last asked for
        self._deaths = 0
        self._closed = False
        self.main_lane = Lane(self, 0)
        self.given_up = ""  # why it is not started any more

    def begin(self) -> None:
        """Starts it while the gate does something else; what goes wrong is told by `load`."""
        with self._starting, suppress(InfraFailure):
            if self._running is None and not self._closed:
                self._running = self._start_child()

    def load(self, name: str, request: Sequence[Json], kind: type[T]) -> T:
        """What loading an object of the user's returned, of type `kind`; it is loaded once, and
        again in a process that takes the place of a dead one. `name`: as gate.yml has it, for
        messages.

        Raises UsageError with file and line.
        """
        body = json.dumps(request).encode()
        with self._starting:
            if body not in self._known:
                self._known[body] = self._load_object(self._ready(), name, body)
                self._loads.append((name, body))
            loaded = self._known[body]
        if type(loaded) is not kind:
            raise UsageError(f"'{name}': {NO_SENSE}")
        return loaded

    def new_lane(self) -> Lane:
        return Lane(self, next(self._lanes))

    def call(self, lane: Lane, request: Sequence[Json], seconds: float) -> Frame:
        """The reply to one call. Raises CallLate, CodeRaised, CodeDied where this call ends the
        process, InfraFailure where it is closed or given up.

        After a death all calls that were under way are made again, one at a time: one that dies
        alone was it. They are no tries.
        """
        body = json.dumps(request, default=str).encode()
        with self._turns.take_turn(exclusive=False, given_up=self._is_over):
            reply = self._exchange(lane, body, seconds)
        while isinstance(reply, Death):
            suspect = reply.by_itself
            with self._turns.take_turn(exclusive=suspect, given_up=self._is_over):
                reply = self._exchange(lane, body, seconds)
            if suspect and isinstance(reply, Death) and reply.by_itself:
                raise CallLate if reply.held else CodeDied(reply.how)
        return reply

    def files(self) -> dict[str, dict[str, str]]:
        """Object as gate.yml names it -> file -> sha256, of all files of the checkout that it was
        loaded from so far; CHANGED of one that was another when a process took a dead one's place.
        """
        with self._starting:
            if self._running is not None and self._running.alive:
                self._note_files(self._running)
            return self._files

    @property
    def last_sources(self) -> dict[str, dict[str, str]]:
        """The files as they were asked for last."""
        return self._files

    def _note_files(self, running: Started) -> None:
        """While it lives: what a process was loaded from must be known when it is gone."""
        pending = running.ask(frames.CALL, 0, _FILES_S, b'["files"]')
        with suppress(Empty, ValueError, RecursionError, AttributeError, TypeError):
            reply = pending.replies.get(timeout=_FILES_S)
            if not isinstance(reply, Frame):
                return
            self._files = merge_sources(self._files, json.loads(reply.body))
            self._noted = reply.lane

    def close(self) -> None:
        """Ends the process and everything that it started; calls under way raise InfraFailure."""
        self._closed = True
        if self._running is not None:
            self._running.end()
        self._turns.wake()

    def forget(self, lane: Lane) -> None:
        """The thread of that lane ends once it is free."""
        if self._running is not None and self._running.alive:
            self._running.tell_lane(frames.END, 0, lane.number, 0.0, b"")

    def _is_over(self) -> bool:
        return self._closed or bool(self.given_up)

    def _exchange(self, lane: Lane, body: bytes, seconds: float) -> Frame | Death:
        with self._starting:
            running = self._usable()
        pending = running.ask(frames.CALL, lane.number, seconds, body)
        lane.wait_for(pending)
        try:
            reply = pending.replies.get(timeout=seconds + _SAYS_S)
        except Empty:
            reply = self._late(running, pending)
        if reply is None or self._closed:
            raise InfraFailure(_GIVEN_UP)
        if isinstance(reply, Death):
            return reply
        self._deaths = 0
        if self.manner.judges and reply.lane != self._noted:
            self._note_files(running)
        if reply.kind == frames.RAISED:
            user_error = _parse_error(reply)
            raise CallLate if user_error.kind == "late" else CodeRaised(user_error)
        return reply

    def _late(self, running: Started, pending: PendingCall) -> Death:
        """Raises CallLate, unless nothing at all can run in the process: then that is ended."""
        if running.answers(_PONG_S):
            if running.leave(pending.number) >= self.manner.threads:
                running.kill(Death(how="was stopped: all its threads hang", by_itself=False))
            raise CallLate
        alone = running.is_alone(pending.number)
        running.kill(Death(how="was stopped: a call blocks the interpreter", held=True))
        if alone:
            raise CallLate
        death = pending.replies.get()
        return death if isinstance(death, Death) else Death(how="was ended", held=True)

    def _usable(self) -> Started:
        """As `_ready`, for a call: what goes wrong is nobody's answer."""
        if self._closed:
            raise InfraFailure(_GIVEN_UP)
        if self.given_up:
            raise InfraFailure(self.given_up)
        try:
            return self._ready()
        except UsageError as error:
            self.given_up = f"the {self.manner.role}'s code could be loaded only once: {error}"
            raise InfraFailure(self.given_up) from error

    def _ready(self) -> Started:
        """The running process, or a new one in which everything was loaded again. Holds the lock.

        Raises UsageError where it could not be, InfraFailure where no process can be started.
        """
        if self._running is None or not self._running.alive:
            self._running = running = self._start_child()
            for name, body in self._loads:
                self._load_object(running, name, body)
            if self._loads and self.manner.judges:
                self._note_files(running)
        return self._running

    def _start_child(self) -> Started:
        manner = self.manner
        try:
            return Started(
                manner.root,
                judges=manner.judges,
                env=manner.env,
                tell=manner.tell,
                died=self._note_death,
            )
        except (OSError, RuntimeError, MemoryError) as error:
            if (short := shortage(error)) is not None:
                raise short from error
            message = f"the {manner.role}'s code cannot be started: {error}"
            raise InfraFailure(message) from error

    def _note_death(self, running: Started, death: Death) -> None:
        with self._counting:
            if not death.by_itself or death.held or self._closed:
                return
            self._deaths += 1
            if self._deaths >= MOST_DEATHS:
                self.given_up = (
                    f"the {self.manner.role}'s process died {MOST_DEATHS} times without an answer "
                    f"in between; the last time it {death.how}"
                )

    def _load_object(self, running: Started, name: str, body: bytes) -> Json:
        seconds = self.manner.load_s
        pending = running.ask(frames.LOAD, 0, seconds, body)
        try:
            reply = pending.replies.get(timeout=seconds + _LOAD_MORE_S)
        except Empty:
            running.kill(Death(how="was ended while it was loading", by_itself=False))
            reply = pending.replies.get()
        if not isinstance(reply, Frame):
            self._deaths = 0
            reply = reply or Death(how="was ended")
            raise UsageError(self._why_not_loaded(running, reply, name, body))
        if reply.kind == frames.RAISED:
            raise UsageError(_unloadable(name, _parse_error(reply)))
        try:
            loaded: Json = json.loads(reply.body)
            return loaded
        except (ValueError, RecursionError):
            return None

    def _why_not_loaded(self, running: Started, death: Death, name: str, body: bytes) -> str:
        place = running.hangs_at()
        if running.was_late() or not death.by_itself:
            at = f" - it hangs at {place}" if place else ""
            return f"'{name}': did not load within {self.manner.load_s:g} s{at}"
        place = place or self._last_line(body)
        at = f"{place}: " if place else ""
        last_words = shorten(running.last_words(), 200)
        more = f": {last_words}" if last_words and not last_words.startswith("File ") else ""
        return f"'{name}': {at}its process {death.how} while it was loading{more}"

    def _last_line(self, body: bytes) -> str:
        """Loads it once more, line by line, to see where it ends its process."""
        manner = self.manner
        again = Started(
            manner.root,
            judges=manner.judges,
            env=manner.env,
            tell=lambda line: None,
            died=lambda started, death: None,
        )
        again.ask(frames.LOAD, 0, 1e6, b'["trace"]')
        pending = again.ask(frames.LOAD, 0, manner.load_s, body)
        with suppress(Empty):
            pending.replies.get(timeout=manner.load_s + _LOAD_MORE_S)
        again.end()
        return again.reached


class Lane:
    """One thread of the process, as one thread of the gate uses it."""

    def __init__(self, process: CodeProcess, number: int) -> None:
        self.process, self.number = process, number
        self._asked: PendingCall | None = None
        self._closed = False

    def call(self, request: Sequence[Json], seconds: float) -> Frame:
        """As CodeProcess.call; after a late call the next one has a thread of its own."""
        if self._closed:
            raise InfraFailure(_GIVEN_UP)
        try:
            return self.process.call(self, request, seconds)
        except CallLate:
            self.process.forget(self)
            self.number = self.process.new_lane().number
            raise

    def wait_for(self, pending: PendingCall) -> None:
        self._asked = pending
        if self._closed:
            pending.replies.put(None)

    def close(self) -> None:
        """A call under way raises InfraFailure; may be called from another thread."""
        self._closed = True
        if self._asked is not None:
            self._asked.replies.put(None)
        self.process.forget(self)


def _unloadable(name: str, user_error: UserError) -> str:
    """Why an object of the user's cannot be used, with the place."""
    place = f"{user_error.place}: " if user_error.place else ""
    if user_error.kind == "usage":
        return (
            user_error.message
            if name in user_error.message
            else f"'{name}': {place}{user_error.message}"
        )
    hint = ""
    if user_error.type == "ModuleNotFoundError":
        is_file = name.split(":")[0].endswith(".py")
        beside = ", or name it as module:attribute to import files next to it" if is_file else ""
        hint = f" - install it{beside}"
    return f"'{name}': {place}does not load: {user_error.type}: {user_error.message}{hint}"
