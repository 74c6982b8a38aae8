"""Which folders of an AgentBench output hold a task of an agent, and which of them count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gate.errors import UsageError
from gate.files.plain import files_below
from gate.importers.formats.thudm.environments import Environment, environment_of
from gate.text.escaping import one_line

RUNS, ERRORS, SUMMARY = "runs.jsonl", "error.jsonl", "overall.json"
FILES = (RUNS, ERRORS, SUMMARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFolder:
    """One environment that one agent went through."""

    agent: str
    name: str
    folder: Path
    files: tuple[Path, ...]
    environment: Environment

    def file(self, name: str) -> Path | None:
        return next((path for path in self.files if path.name == name), None)

    @property
    def newness(self) -> tuple[bool, int, str]:
        """Finished before unfinished, then by the file's time, as the benchmark chooses."""
        done = self.file(SUMMARY)
        return done is not None, (done or self.files[-1]).stat().st_mtime_ns, str(self.folder)


@dataclass(frozen=True, slots=True)
class ChosenTasks:
    agent: str
    tasks: tuple[TaskFolder, ...]
    notes: tuple[str, ...]


def choose_tasks(path: Path, agent: str | None, split: str | None) -> ChosenTasks:
    """Raises UsageError where nothing is there, or where it is not clear what is meant."""
    found, others = _tasks(path)
    if not found:
        raise UsageError(
            f"{path}: no task of AgentBench in it; name a folder of outputs, that of an agent, or "
            f"that of a task, with {', '.join(FILES)}"
        )
    agents = sorted({task.agent for task in found})
    if agent is None and len(agents) > 1:
        shown = ", ".join(one_line(name, 60) for name in agents[:20])
        raise UsageError(f"{path}: several agents; write --option agent=NAME, with one of {shown}")
    if agent is not None and agent not in agents:
        shown = ", ".join(one_line(name, 60) for name in agents[:20])
        raise UsageError(f"--option agent={agent[:80]}: no such agent; there is {shown}")
    own = [task for task in found if task.agent == (agent or agents[0])]
    newest, notes = _newest(own)
    _check_alone(
        newest := [t for t in newest if not split or t.name.lower().endswith(split.lower())], path
    )
    if not newest:
        raise UsageError(f"--option split={split}: the name of no task ends so")
    left = (f"{one_line(name, 80)}: none of the eight environments, left out" for name in others)
    return ChosenTasks(agent or agents[0], tuple(newest), (*notes, *left))


def _tasks(path: Path) -> tuple[list[TaskFolder], list[str]]:
    """Those of the eight environments, and the names of other tasks."""
    folders: dict[Path, list[Path]] = {}
    for file in files_below(path):
        if file.name in FILES:
            folders.setdefault(file.parent, []).append(file)
    found, others = [], []
    for folder, files in folders.items():
        whole = folder.resolve()  # PATH may be `.`
        environment = environment_of(whole.name)
        if environment is None:
            others.append(whole.name)
            continue
        found.append(
            TaskFolder(
                agent=whole.parent.name,
                name=whole.name,
                folder=folder,
                files=tuple(sorted(files)),
                environment=environment,
            )
        )
    return found, sorted(set(others))


def _newest(tasks: Iterable[TaskFolder]) -> tuple[list[TaskFolder], list[str]]:
    """The newest task of each name, and notes on those that were left."""
    by_name: dict[str, list[TaskFolder]] = {}
    for task in tasks:
        by_name.setdefault(task.name, []).append(task)
    found = {name: max(some, key=lambda task: task.newness) for name, some in by_name.items()}
    notes = [
        f"{one_line(name, 80)}: there {len(some)} times; the newest counts, "
        f"{one_line(str(found[name].folder), 120)}"
        for name, some in sorted(by_name.items())
        if len(some) > 1
    ]
    return [found[name] for name in sorted(found)], notes


def _check_alone(tasks: Iterable[TaskFolder], path: Path) -> None:
    by_code: dict[str, list[str]] = {}
    for task in tasks:
        by_code.setdefault(task.environment.code, []).append(task.name)
    for code, names in by_code.items():
        if len(names) > 1:
            raise UsageError(
                f"{path}: several tasks of the environment {code} ({', '.join(names)[:200]}); "
                "write --option split=TEXT, with which the name of the right one ends"
            )
