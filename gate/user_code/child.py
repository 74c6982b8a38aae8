"""A process with user code, seen from inside: takes requests from its standard input, runs them in
threads, sends what came of them. What the user's code prints goes to standard error.

Lane 0 is the main thread, where code is loaded and patterns are searched; every other lane is a
thread with an event loop of its own, made once. The process ends when its input does.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from gate.errors import AgentFailure, GraderFailure, InfraFailure, UsageError
from gate.user_code import frames, roles
from gate.user_code.frames import Frame
from gate.user_code.loading import Workspace, pin, place_of

if TYPE_CHECKING:
    from gate.user_code.awaiting import LoopThread

_END_S = 1.0  # for the user's own clean-up once nothing is asked any more
_DONE_LIMIT = 8_000_000  # bytes of an exception with what was done before it
_SAID_LIMIT = 2_000  # characters of an exception's text
Jobs = SimpleQueue[Frame | None]


def main() -> None:
    """`sys.argv[1]`, as JSON: the folder of gate.yml, the one around, whether the code judges."""
    started = json.loads(sys.argv[1])
    sys.argv = ["gate"]
    sys.dont_write_bytecode = True  # nothing is left in the checkout
    channel = _Channel()
    faulthandler.enable(file=channel.complaints)
    # One that the user's code sends itself would end the main thread; the gate closes the input.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    pin("numpy")
    workspace = Workspace(Path(started["root"]), Path(started["around"]))

    def send_reached(line: str) -> None:
        channel.send(Frame(frames.REACHED, 0, 0, 0.0, line.encode()))

    desk = roles.RequestHandler(workspace, judges=started["judges"], reached=send_reached)
    main_lane = _Lane(desk, channel)
    threading.Thread(
        target=_listen, args=(channel, main_lane, desk), daemon=True, name="gate-requests"
    ).start()
    main_lane.run()


class _Channel:
    """Standard input and output as they were; the user's code gets others in their place."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        self._read = frames.buffer_reads(partial(os.read, self._in))
        self.complaints = os.dup(2)  # the user's code may close its own
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()
        self._forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_to_parent)

    def receive(self) -> Frame | None:
        try:
            return frames.receive_frame(self._read, sys.maxsize)
        except OSError:  # the user's code closed it
            os._exit(1)

    def send(self, frame: Frame) -> None:
        data = memoryview(frames.pack_frame(frame))
        if self._forked:  # a copy of this process has nothing to say
            os._exit(1)
        try:
            with self._lock:
                while data:
                    data = data[os.write(self._out, data) :]
        except OSError:
            os._exit(1)

    def _leave_to_parent(self) -> None:
        self._forked = True
        for number in (self._in, self._out):
            with suppress(OSError):
                os.close(number)


def _listen(channel: _Channel, main_lane: _Lane, desk: roles.RequestHandler) -> None:
    """Hands each request to its lane; answers itself whether anything can run here at all."""
    lanes: dict[int, _Lane] = {0: main_lane}
    while (frame := channel.receive()) is not None:
        if frame.kind == frames.PING:
            channel.send(Frame(frames.PONG, frame.number, 0, 0.0))
        elif frame.kind == frames.END:
            if (left := lanes.pop(frame.lane, None)) is not None:
                left.jobs.put(None)
        else:
            if frame.lane not in lanes:
                lanes[frame.lane] = lane = _Lane(desk, channel)
                threading.Thread(target=lane.run, daemon=True, name="gate-lane").start()
            lanes[frame.lane].jobs.put(frame)
    for lane in lanes.values():
        lane.jobs.put(None)
    time.sleep(_END_S)
    os._exit(0)  # a thread of the user's that never ends


class _Lane:
    """One thread's requests, one after the other."""

    def __init__(self, desk: roles.RequestHandler, channel: _Channel) -> None:
        self._desk, self._channel = desk, channel
        self.jobs: Jobs = SimpleQueue()
        self._loop: LoopThread | None = None

    def run(self) -> None:
        while (frame := self.jobs.get()) is not None:
            self._serve(frame)

    def _serve(self, frame: Frame) -> None:
        loading = frame.kind == frames.LOAD
        if loading and frame.seconds < 1e6:
            faulthandler.dump_traceback_later(
                frame.seconds, exit=True, file=self._channel.complaints
            )
        begun = time.perf_counter()
        took = 0.0
        try:
            result = self._desk.answer(json.loads(frame.body), frame.seconds, self._finish)
            took = time.perf_counter() - begun
            kind, body = frames.RETURNED, roles.encode_json(result)
            if len(body) > frames.MAX_BYTES:
                raise roles.Unusable(f"returned more than {frames.MAX_BYTES / 1e6:g} MB")
        except BaseException as error:  # SystemExit too: it ends nothing here
            took = took or time.perf_counter() - begun
            kind, body = frames.RAISED, _encode_error_safely(error, self._desk.workspace)
        if loading:
            faulthandler.cancel_dump_traceback_later()
        self._channel.send(Frame(kind, frame.number, len(self._desk.workspace.files), took, body))

    def _finish(self, result: object, seconds: float) -> object:
        if not isinstance(result, Awaitable):
            return result
        if self._loop is None:
            self._loop = importlib.import_module("gate.user_code.awaiting").LoopThread()
        return self._loop.finish(result, seconds)


def _encode_error_safely(error: BaseException, workspace: Workspace) -> bytes:
    """An exception may have properties that raise."""
    try:
        return _encode_error(error, workspace)
    except BaseException as odd:
        description = {
            "type": type(error).__name__,
            "message": f"cannot be read: {type(odd).__name__}",
        }
        return json.dumps({**description, "place": _place(error, workspace)}).encode()


def _encode_error(error: BaseException, workspace: Workspace) -> bytes:
    """An exception as JSON: what it is, what it says, where in the user's code it arose."""
    kinds = {AgentFailure: "agent", InfraFailure: "infra", GraderFailure: "grader"}
    kinds |= {UsageError: "usage", roles.Unusable: "unusable"}
    kind = next((word for cls, word in kinds.items() if isinstance(error, cls)), "")
    late = type(error).__module__ == "gate.user_code.awaiting"
    fields = ("retry_after", "code", "begun", "final", "timed_out", "latency_ms", "status")
    description = {name: getattr(error, name, None) for name in fields} if kind else {}
    description |= {
        "kind": "late" if late else kind,
        "type": type(error).__name__,
        "message": _error_message(error),
        "place": _place(error, workspace),
        "timed_out": isinstance(error, TimeoutError) or bool(description.get("timed_out")),
        "os_error": isinstance(error, OSError),
        "http_status": _status(error),
    }
    if done := roles.find_done(error):
        encoded = json.dumps({**description, "done": done}, default=str).encode()
        if len(encoded) <= _DONE_LIMIT:
            return encoded
    return json.dumps(description, default=str).encode()


def _error_message(error: BaseException) -> str:
    try:
        message = str(error)
        return message if len(message) <= _SAID_LIMIT else f"{message[:_SAID_LIMIT]}…"
    except BaseException:
        return ""


def _place(error: BaseException, workspace: Workspace) -> str:
    try:
        return place_of(error, workspace)
    except Exception:
        return ""


def _status(error: BaseException) -> int | None:
    """The status of urllib's HTTPError, which is an OSError."""
    code = getattr(error, "code", None)
    return code if type(code) is int else None
