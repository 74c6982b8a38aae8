"""What was retrieved earlier, read from a run file: no search is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.agents.recordings.retrieval_run import RetrievalRun, parse_retrieval_run
from gate.errors import UsageError
from gate.files.plain_file import read_bytes
from gate.plugins import RETRIEVERS, Connection, World
from gate.records import Case, Response
from gate.system.made_once import Once


class _Sharing:
    """A place for the file, which is read once a run; a dataclass field would be an option."""

    __slots__ = ("_run",)
    _run: Once[RetrievalRun]


@RETRIEVERS.register("recorded")
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRetriever(_Sharing):
    """The documents of `file`: a TREC run, `{query: {document: score}}`, or a list of
    `{id, retrieved}`. A case that it does not have counts as nothing retrieved.
    """

    file: str
    timeout_s: float = 60.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "_run", Once())

    def describe(self) -> str:
        return f"recorded in {Path(self.file).name}"

    def check(self, world: World) -> None:
        """Raises UsageError, InvalidInput."""
        self._load_run(world)

    def connect(self, world: World) -> Connection:
        return _Connection(self._load_run(world))

    def _load_run(self, world: World) -> RetrievalRun:
        return self._run.get(lambda: self._read_run(world))

    def _read_run(self, world: World) -> RetrievalRun:
        path, setting = world.root / self.file, f"{world.section}.file: {self.file}"
        try:
            data = read_bytes(path)
        except OSError as error:
            message = f"{setting}: {error.strerror or error}"
            raise UsageError(f"{message} - set it to the path of the run file") from error
        return parse_retrieval_run(data, self.file)


class _Connection:
    def __init__(self, run: RetrievalRun) -> None:
        self._run = run

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        return Response(answer="", retrieved=self._run.documents_for(case))

    def close(self) -> None:
        """Nothing stays open between two questions."""
