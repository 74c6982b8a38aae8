"""A result folder of WebArena's own runner: what it rendered, logged and was asked to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_values import as_count, as_object, as_strings
from gate.files.plain import files_below, json_of
from gate.files.problems import Findings
from gate.files.timestamps import iso
from gate.graders.webarena_rules.recorded import FINAL_URL
from gate.importers.formats.webarena.rendered import RenderedPage, read_page
from gate.importers.formats.webarena.results import EARLY_STOP, NOT_PARSED, TaskResult, mark_crashed
from gate.importers.formats.webarena.run_logs import LoggedTask, log_files, read_logs
from gate.records import Json, Response
from gate.text.escaping import one_line

_RENDER, _CONFIG, _DUMP = "render_", "config.json", "json_dump.json"
_MOST_TASKS = 100_000
_BEGINS = {"Early stop: ": EARLY_STOP, "ERROR: ": NOT_PARSED}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """`told`: task -> whether it passed, of json_dump.json, where that is there."""

    path: Path
    renders: Mapping[str, Path]
    logs: tuple[Path, ...]
    beside: tuple[Path, ...]
    tries: Mapping[str, LoggedTask] = field(repr=False)
    told: Mapping[str, bool] | None
    expected: frozenset[str]
    suite: str = "webarena"
    version: str = "webarena"
    agent: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.renders.values(), *self.logs, *self.beside)

    def results(self) -> Iterator[TaskResult | Problem]:
        for task in sorted({*self.renders, *self.tries}, key=int):
            try:
                yield self._result(task)
            except InvalidInput as error:
                yield from error.problems

    def created_at(self) -> str | None:
        times = [one.started for one in self.tries.values() if one.started]
        return iso(min(times, default=None)) or None

    def _result(self, task: str) -> TaskResult:
        path, end = self.renders.get(task), self.tries.get(task)
        seen = read_page(path, task) if path else None
        place = Place(path.as_posix()) if path else end.place if end else Place("")
        started = iso(end.started if end else None)
        passed = self._passed(task, end)
        answer = (seen.answer if seen else None) or ""
        common = TaskResult(
            task=task,
            place=place,
            whole=seen is not None and seen.answer is not None,
            passed=passed,
            codes=tuple(code for word, code in _BEGINS.items() if answer.startswith(word)),
            response=_response(seen),
            latency_ms=end.latency_ms if end else None,
            started_at=started,
            intent=seen.intent if seen else "",
            sites=seen.sites if seen else (),
        )
        judged = passed is not None or not (self.tries or self.told is not None)
        return common if judged else mark_crashed(common, end.error if end else "")

    def _passed(self, task: str, end: LoggedTask | None) -> bool | None:
        if end is not None and end.end in ("passed", "failed"):
            return end.end == "passed"
        if end is not None and end.end == "crashed":
            return None
        return self.told.get(task) if self.told is not None else None


def run_folder(path: Path) -> RunFolder:
    """Raises InvalidInput for what contradicts itself, UsageError for what is no such folder."""
    found = Findings()
    flat = files_below(path, deep=False)
    inner = path / "log_files"
    beneath = files_below(inner, deep=False) if inner.is_dir() and not inner.is_symlink() else ()
    renders = {task: file for file in flat if (task := _task_of(file))}
    named = {file.name: file for file in flat}
    logs = log_files((*flat, *beneath))
    tries = read_logs(logs, found)
    config, told = _config(named), _read_dump(named, found)
    for task, end in tries.items():
        says = (told or {}).get(task)
        if (
            says is not None
            and end.end in ("passed", "failed")
            and says is not (end.end == "passed")
        ):
            found.add(end.place, f"{end.end}, but {_DUMP} says otherwise of task {task}")
    found.refuse()
    return RunFolder(
        path=path,
        renders=dict(sorted(renders.items(), key=lambda item: int(item[0]))),
        logs=logs,
        beside=tuple(named[name] for name in (_CONFIG, _DUMP) if name in named),
        tries=tries,
        told=told,
        expected=_expected_tasks(config, {*renders, *tries}),
        agent=_agent(config),
    )


def _task_of(file: Path) -> str:
    digits = file.stem.removeprefix(_RENDER)
    fits = file.suffix == ".html" and file.name.startswith(_RENDER)
    return str(int(digits)) if fits and digits.isdecimal() and len(digits) < 10 else ""


def _config(named: Mapping[str, Path]) -> Mapping[str, Json]:
    return as_object(json_of(named[_CONFIG]) if _CONFIG in named else {})


def _expected_tasks(config: Mapping[str, Json], seen: set[str]) -> frozenset[str]:
    """The tasks that the run was to try, and what else was."""
    start, end = (as_count(config.get(f"test_{name}_idx")) for name in ("start", "end"))
    if start is None or end is None or not 0 <= end - start <= _MOST_TASKS:
        return frozenset()
    return frozenset({*map(str, range(start, end)), *seen})


def _agent(config: Mapping[str, Json]) -> str:
    words = (config.get(name) for name in ("provider", "model"))
    return one_line(" ".join(as_strings([*words])), 200)


def _read_dump(named: Mapping[str, Path], found: Findings) -> dict[str, bool] | None:
    if _DUMP not in named:
        return None
    data, place = json_of(named[_DUMP]), Place(named[_DUMP].as_posix())
    told: dict[str, bool] = {}
    if not isinstance(data, dict):
        found.add(place, "no object of example_<id>")
        return told
    for name, entry in data.items():
        digits = name.removeprefix("example_")
        success = as_object(entry).get("success")
        if digits.isdecimal() and len(digits) < 10 and isinstance(success, bool):
            told[str(int(digits))] = success
        else:
            found.add(Place(place.file, key=name[:80]), "no example_<id> with `success`")
    return told


def _response(seen: RenderedPage | None) -> Response | None:
    if seen is None:
        return None
    state: dict[str, Json] = {FINAL_URL: seen.final_url} if seen.final_url else {}
    return Response(
        answer=seen.answer or "", steps=seen.steps, omitted_steps=seen.omitted, state=state
    )
