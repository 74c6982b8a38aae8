"""Answers recorded earlier instead of an agent: what `--replay FILE` uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.agents.recordings.answers import Recording
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Response
from gate.system.made_once import Once


class _Sharing:
    """A place for what all connections of one run share: who was answered how often."""

    __slots__ = ("_recording",)
    _recording: Once[Recording]


@AGENTS.register("replay")
@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(_Sharing):
    """The answers of `file`, each to its round, with the latencies of then."""

    file: str
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    plays_back: ClassVar[bool] = True

    def __post_init__(self) -> None:
        # Not a field: fields are the keys of gate.yml.
        object.__setattr__(self, "_recording", Once())

    def describe(self) -> str:
        return f"replay of {Path(self.file).name}"

    def check(self, world: World) -> None:
        self.load_recording(world)

    def connect(self, world: World) -> Connection:
        return _Connection(self.load_recording(world))

    def load_recording(self, world: World) -> Recording:
        """The file, read once. Raises UsageError."""
        return self._recording.get(lambda: Recording(world.root / self.file, self.file))


class _Connection:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        """`timeout_s` is of no use: a time-out of then is recorded as what it was."""
        return self.ask_round(case, 0, timeout_s=timeout_s)

    def ask_round(self, case: Case, number: int, *, timeout_s: float) -> Response:
        """The next answer of round `number`; where the round was not recorded, of any."""
        outcome = self._recording.take(case, number).outcome()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        """Nothing stays open between two answers."""
