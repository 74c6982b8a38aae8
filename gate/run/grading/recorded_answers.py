"""Files of recorded answers where a run has its agent (`gate grade`): nobody is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.json_values import as_object
from gate.files.record_lines import check_records, read_begin
from gate.files.session_file import read_json
from gate.plugins import Agent, Connection, World
from gate.records import Budget, Json, PluginSpec, Price
from gate.run.grading.collect import Grading, Helpers, collect
from gate.run.grading.read_trials import AnswerFile
from gate.run.pipeline import Collected, Effects
from gate.run.prepare import SuitePlan
from gate.store.session import SessionWriter
from gate.text.redaction import Redactor
from gate.verdict.course import Course

FILES = "answers.json"  # of the session: how the files begin that it grades
_BEGIN = 1 << 20  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """The agent of such a run (see GivenAgent and Agent), and what makes its trials. `processes`:
    how many grade, unless `helpers` do; `secrets`: what no output may show.
    """

    files: tuple[AnswerFile, ...]
    processes: int
    secrets: set[str] = field(repr=False)
    helpers: Helpers | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None

    plays_back: ClassVar[bool] = True

    @property
    def spec(self) -> PluginSpec:
        names = ", ".join(Path(file.name).name for file in self.files)
        return PluginSpec(name="replay", options={"file": names})

    def made(self, spec: PluginSpec) -> Agent:
        return self

    def describe(self) -> str:
        return f"recorded answers of {self.spec.options['file']}"

    def check(self, world: World) -> None:
        """Raises UsageError for a file that cannot be read."""
        for file in self.files:
            check_records(file.path, file.name)

    def connect(self, world: World) -> Connection:
        raise NotImplementedError("recorded answers are graded, and not asked for")

    def measure(
        self,
        plans: Sequence[SuitePlan],
        agent: Agent | None,
        effects: Effects,
        *,
        budget: Budget,
        prices: Mapping[str, Price],
        control: Agent | None,
        course: Course,
        undecided: Callable[[Collected], object],
    ) -> Collected:
        """Grades the answers whose trials are not in the session yet, in place of `measure` of
        gate/run/pipeline.py. Grading costs no budget, and it is looked at once, at its end. Raises
        UsageError, InvalidInput, InfrastructureError, Interrupted.
        """
        self._check_same(effects.session)
        redactor = Redactor(self.secrets)
        grading = Grading(
            files=self.files,
            processes=self.processes,
            prices=prices,
            redactor=redactor,
            helpers=self.helpers,
        )
        return collect(grading, plans, effects)

    def _check_same(self, session: SessionWriter) -> None:
        """Raises UsageError where the session began with other files. A file may have grown."""
        path = session.folder / FILES
        before: Json = read_json(path) if path.exists() else []
        stored = before if isinstance(before, list) else []
        if len(stored) > len(self.files):
            raise UsageError(
                f"{session.folder}: it began with {len(stored)} files; continue with all of them"
            )
        begins = []
        for number, file in enumerate(self.files):
            known = as_object(stored[number]) if number < len(stored) else {}
            size = known.get("bytes", _BEGIN)
            begin = read_begin(file.path, file.name, size if isinstance(size, int) else _BEGIN)
            digest = hashlib.sha256(begin).hexdigest()
            if known.get("sha256", digest) != digest:
                raise UsageError(
                    f"{file.name}: it begins with other answers than when the session "
                    f"{session.folder.name} was begun; start a new one, without --resume"
                )
            begins.append({"file": file.name, "bytes": len(begin), "sha256": digest})
        session.write(FILES, json.dumps(begins, indent=2) + "\n")
