"""One operating-system process with user code: its pipes, its death, what it complained of."""

from __future__ import annotations

import itertools
import json
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO

from gate.system.process_group import OWN_GROUP, kill_group
from gate.user_code import frames
from gate.user_code.frames import Frame

_KEPT = 16_384  # characters of standard error, the last ones
_LINE = 2_000  # characters of a printed line
_END_S = 2.0  # for a process whose input has ended
_MOST_TOGETHER = 64  # requests that are sent at once
_STUCK_S = 10  # for a process to read a request
_TRACED = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
# The paths first: where modules are found must not depend on the folder that the process runs in.
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from gate.user_code.child import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """The process is gone. `by_itself`: a call that was under way may have ended it; `held`: it was
    ended because a call kept everything else in it from running.
    """

    how: str
    by_itself: bool = True
    held: bool = False


Reply = Frame | Death


class Started:
    """Started when it is made; requests may be sent by any thread. Raises OSError."""

    def __init__(
        self,
        root: Path,
        *,
        judges: bool,
        env: Mapping[str, str],
        tell: Callable[[str], None],
        died: Callable[[Started, Death], None],
    ) -> None:
        self._root, self._tell, self._died = root.resolve(), tell, died
        self._numbers = itertools.count(1)
        self._lock = Lock()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()  # None: nothing comes any more
        self._waiting: dict[int, SimpleQueue[Reply | None]] = {}
        self._left: set[int] = set()  # late calls that run on
        self._death: Death | None = None
        self._why: Death | None = None  # of an end that the gate brought about
        self._said = ""
        self.reached = ""  # the last line that was told while code was loaded line by line
        # A checkout without git, as in a container job, is known by the runner's word for it.
        around = env.get("GITHUB_WORKSPACE") or str(Path.cwd())
        started = json.dumps({"root": str(self._root), "around": around, "judges": judges})
        path = [one for one in sys.path if one and Path(one) != Path.cwd()]
        home = str(Path(__file__).parents[2])
        if home not in path:
            path.insert(0, home)
        safe = "-I" if sys.flags.isolated else "-P"
        words = [sys.executable, safe, "-c", _BOOT, started, json.dumps(path)]
        self._process, self._send, self._read, self._close = _open_channel(words, env)
        Thread(target=self._listen, daemon=True, name="gate-user-code").start()
        self._writer = Thread(target=self._write, daemon=True, name="gate-user-code-asked")
        self._writer.start()
        self._drain = Thread(target=self._take_complaints, daemon=True, name="gate-user-code-said")
        self._drain.start()

    @property
    def alive(self) -> bool:
        return self._death is None and self._why is None

    def ask(self, kind: int, lane: int, seconds: float, body: bytes) -> PendingCall:
        """Sends a request; its reply, or the Death, comes to what is returned."""
        number = next(self._numbers) & 0xFFFFFFFF
        replies: SimpleQueue[Reply | None] = SimpleQueue()
        with self._lock:
            if self._death is not None:
                replies.put(self._death)
                return PendingCall(number, replies)
            self._waiting[number] = replies
        self.tell_lane(kind, number, lane, seconds, body)
        return PendingCall(number, replies)

    def tell_lane(self, kind: int, number: int, lane: int, seconds: float, body: bytes) -> None:
        self._outbox.put(frames.pack_frame(Frame(kind, number, lane, seconds, body)))

    def answers(self, seconds: float) -> bool:
        """Whether anything can run in it at all."""
        ping = self.ask(frames.PING, 0, 0.0, b"")
        try:
            return isinstance(ping.replies.get(timeout=seconds), Frame)
        except Empty:
            with self._lock:
                self._waiting.pop(ping.number, None)
            return False

    def is_alone(self, number: int) -> bool:
        """Whether no other request is under way."""
        with self._lock:
            return self._waiting.keys() <= {number}

    def leave(self, number: int) -> int:
        """Nobody waits for that reply any more; how many such calls run on."""
        with self._lock:
            if number in self._waiting:
                self._left.add(number)
            return len(self._left)

    def kill(self, why: Death) -> None:
        """All that are waited for come to this death."""
        self._why = self._why or why
        kill_group(self._process)

    def end(self) -> None:
        """Lets it clean up for a moment; then it is killed, and all that it started."""
        self._why = self._why or Death(how="was ended with the run", by_itself=False)
        self.finish_input()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        kill_group(self._process)

    def finish_input(self) -> None:
        """No request will come any more."""
        self._outbox.put(None)

    def _write(self) -> None:
        """Sends what is asked, all that waits at once: whoever asks is never held up by a process
        that does not read.
        """
        try:
            while (data := self._outbox.get()) is not None:
                pieces = [data]
                with suppress(Empty):
                    while len(pieces) < _MOST_TOGETHER and pieces[-1]:
                        pieces.append(self._outbox.get_nowait() or b"")
                self._send(b"".join(pieces))
                if not pieces[-1]:
                    break
            self._send(b"")
        except (OSError, ValueError):  # it is dead, or has not read for so long that it is stuck
            kill_group(self._process)

    def hangs_at(self) -> str:
        """`file:line` of the user's code in the last stack that was printed as the process ended;
        empty where there is none.
        """
        self._drain.join(1.0)
        for file, line in _TRACED.findall(self._said):
            if Path(file).is_relative_to(self._root) and "site-packages" not in file:
                return f"{Path(file).relative_to(self._root).as_posix()}:{line}"
        return ""

    def last_words(self) -> str:
        """The last line of standard error that is not empty."""
        self._drain.join(1.0)
        return next((line for line in reversed(self._said.splitlines()) if line.strip()), "")

    def was_late(self) -> bool:
        """Whether it ended itself when the time for loading was over."""
        self._drain.join(1.0)
        return "Timeout (" in self._said

    def _listen(self) -> None:
        try:
            while (frame := frames.receive_frame(self._read, frames.MAX_BYTES)) is not None:
                if frame.kind == frames.REACHED:
                    self.reached = frame.body.decode("utf-8", "replace")
                    continue
                with self._lock:
                    self._left.discard(frame.number)
                    replies = self._waiting.pop(frame.number, None)
                if replies is not None:
                    replies.put(frame)
        except (OSError, ValueError):
            kill_group(self._process)
        self._end_all()

    def _end_all(self) -> None:
        try:
            status = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:  # it closed its output and lives on
            kill_group(self._process)
            status = self._process.wait()
        kill_group(self._process)
        self._outbox.put(None)
        self._writer.join(_END_S)
        self._close()
        death = self._why or Death(how=_how(status))
        self._died(self, death)
        with self._lock:
            self._death = death
            waiting, self._waiting = list(self._waiting.values()), {}
        for replies in waiting:
            replies.put(death)

    def _take_complaints(self) -> None:
        pipe = self._process.stderr
        if pipe is None:
            return
        with suppress(OSError, ValueError), pipe:
            rest = False
            while line := pipe.readline(_LINE):
                text = line.decode("utf-8", "replace")
                self._said = (self._said + text)[-_KEPT:]
                cut = len(line) == _LINE and not text.endswith("\n")
                if not rest:  # in pieces nobody would see the secret that is in two of them
                    self._tell(text.rstrip("\n") + ("…" if cut else ""))
                rest = cut


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A request under way."""

    number: int
    replies: SimpleQueue[Reply | None]  # None: whoever waits is to give up


def _how(status: int) -> str:
    if status < 0:
        return f"was killed by {_signal_name(-status)}"
    return f"ended with exit status {status}"


# How one sends (nothing: the end), reads so many bytes, and closes.
_Ways = tuple[Callable[[bytes], None], Callable[[int], bytes], Callable[[], None]]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


if sys.platform == "win32":

    def _open_channel(
        words: list[str], env: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes], *_Ways]:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            words,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **OWN_GROUP,
        )
        entry: IO[bytes] = process.stdin  # type: ignore[assignment]
        stdout: IO[bytes] = process.stdout  # type: ignore[assignment]

        def send(data: bytes) -> None:
            if data:
                entry.write(data)
                entry.flush()
            else:
                entry.close()

        def close() -> None:
            entry.close()
            stdout.close()

        return process, send, stdout.read, close

else:

    def _open_channel(
        words: list[str], env: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes], *_Ways]:
        """A socket, as pipes can be opened by others through /proc."""
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _STUCK_S, 0))
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                words,
                env=dict(env),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                **OWN_GROUP,
            )

        def send(data: bytes) -> None:
            if data:
                ours.sendall(data)
            else:
                ours.shutdown(socket.SHUT_WR)

        return process, send, frames.buffer_reads(ours.recv), ours.close
