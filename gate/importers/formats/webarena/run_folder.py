"""A result folder of WebArena's own runner: what it rendered, logged and was asked to do."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_values import as_count, as_object, as_strings
from gate.files.plain import MOST_LINE, files_below, json_of, plain
from gate.files.problems import Findings, refuse_file
from gate.files.timestamps import iso, moment_of
from gate.graders.webarena_rules.recorded import FINAL_URL
from gate.graders.webarena_rules.task import SITES
from gate.importers.formats.webarena import results
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import Json, Response, ToolCall
from gate.text.shortening import tidy

_RENDER, _CONFIG, _DUMP = "render_", "config.json", "json_dump.json"
_MOST_TASKS = 100_000
_BEGINS = {"Early stop: ": results.EARLY_STOP, "ERROR: ": results.NOT_PARSED}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """By task: its page, how its last try ended, and, of json_dump.json, whether it passed."""

    renders: Mapping[str, Path]
    tries: Mapping[str, LoggedTask]
    told: Mapping[str, bool] | None  # None: there is no json_dump.json

    def read(self) -> Iterator[results.TaskResult | Problem]:
        for task in sorted({*self.renders, *self.tries}, key=int):
            try:
                yield self._result(task)
            except InvalidInput as error:
                yield from error.problems

    def _result(self, task: str) -> results.TaskResult:
        path, end = self.renders.get(task), self.tries.get(task)
        seen = read_page(path, task) if path else None
        passed = self._passed(task, end)
        answer = (seen.answer if seen else None) or ""
        common = results.TaskResult(
            task=task,
            place=Place(path.as_posix()) if path else end.place if end else Place(""),
            whole=seen is not None and seen.answer is not None,
            passed=passed,
            codes=tuple(code for word, code in _BEGINS.items() if answer.startswith(word)),
            response=_response(seen),
            latency_ms=end.latency_ms if end else None,
            started_at=iso(end.started if end else None),
            intent=seen.intent if seen else "",
            sites=seen.sites if seen else (),
        )
        judged = passed is not None or not (self.tries or self.told is not None)
        return common if judged else results.mark_crashed(common, end.error if end else "")

    def _passed(self, task: str, end: LoggedTask | None) -> bool | None:
        if end is not None and end.end in ("passed", "failed"):
            return end.end == "passed"
        if end is not None and end.end == "crashed":
            return None
        return self.told.get(task) if self.told is not None else None


def run_folder(path: Path) -> results.ResultSource:
    """Raises InvalidInput for what contradicts itself, UsageError for what is no such folder."""
    findings = Findings()
    flat = files_below(path, deep=False)
    inner = path / "log_files"
    beneath = files_below(inner, deep=False) if inner.is_dir() and not inner.is_symlink() else ()
    renders = {task: file for file in flat if (task := _task_of(file))}
    named = {file.name: file for file in flat}
    logs = log_files((*flat, *beneath))
    tries = read_logs(logs, findings)
    config = as_object(json_of(named[_CONFIG]) if _CONFIG in named else {})
    told = _read_dump(named, findings)
    model = [config.get(name) for name in ("provider", "model")]
    for task, end in tries.items():
        says = (told or {}).get(task)
        if end.end in ("passed", "failed") and says is (end.end == "failed"):
            other = "passed" if says else "failed"
            message = f"task {task} {end.end}, but {_DUMP} says that it {other}"
            findings.add(end.place, f"{message} - use both original files")
    findings.refuse()
    pages = [renders[task] for task in sorted(renders, key=int)]
    beside = [named[name] for name in (_CONFIG, _DUMP) if name in named]
    started = min((end.started for end in tries.values() if end.started), default=None)
    return results.ResultSource(
        files=(*pages, *logs, *beside),
        results=RunRecords(renders=renders, tries=tries, told=told).read,
        created_at=iso(started) or None,
        expected=_expected_tasks(config, {*renders, *tries}),
        agent=tidy(" ".join(as_strings(model)), 200),
    )


def _task_of(file: Path) -> str:
    digits = file.stem.removeprefix(_RENDER)
    fits = file.suffix == ".html" and file.name.startswith(_RENDER)
    return str(int(digits)) if fits and digits.isdecimal() and len(digits) < 10 else ""


def _expected_tasks(config: Mapping[str, Json], seen: set[str]) -> frozenset[str]:
    """The tasks that the run was to try, and what else was."""
    start, end = (as_count(config.get(f"test_{name}_idx")) for name in ("start", "end"))
    if start is None or end is None or not 0 <= end - start <= _MOST_TASKS:
        return frozenset()
    return frozenset({*map(str, range(start, end)), *seen})


def _read_dump(named: Mapping[str, Path], findings: Findings) -> dict[str, bool] | None:
    if _DUMP not in named:
        return None
    data, place = json_of(named[_DUMP]), Place(named[_DUMP].as_posix())
    passed: dict[str, bool] = {}
    if not isinstance(data, dict):
        findings.add(place, "must be a JSON object of example_<id> entries - use the original file")
        return passed
    for name, entry in data.items():
        digits = name.removeprefix("example_")
        success = as_object(entry).get("success")
        if digits.isdecimal() and len(digits) < 10 and isinstance(success, bool):
            passed[str(int(digits))] = success
        else:
            message = "must be named example_<id> and have `success` - use the original file"
            findings.add(Place(place.file, key=name[:80]), message)
    return passed


def _response(seen: RenderedPage | None) -> Response | None:
    if seen is None:
        return None
    state: dict[str, Json] = {FINAL_URL: seen.final_url} if seen.final_url else {}
    return Response(
        answer=seen.answer or "", steps=seen.steps, omitted_steps=seen.omitted, state=state
    )


# -------------------------------------------------------------------------------------------- pages
# render_<id>.html. Nothing in these files is escaped, a page's text least of all. Only what the
# runner writes last, the final step, is taken from the end; a text that imitates it can change what
# is shown of a run, never how it was judged.


_MOST = 128 << 20  # bytes of a file, with its screenshots
_STEP = "<h2>New Page</h2>"
_URL = "<h3 class='url'><a href="
_PARSED = "<div class='parsed_action'"
_PREDICTED = "<div class='predict_action'>"
_MOST_STEPS, _SHOWN = 1_000, 2_000  # steps kept, characters of one


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """`answer` None: the run ended without a stop action. `steps` without that action."""

    intent: str
    sites: tuple[str, ...]
    answer: str | None
    final_url: str | None
    steps: tuple[ToolCall, ...]
    omitted: int


def read_page(path: Path, task: str) -> RenderedPage:
    """Raises InvalidInput for what the runner did not write, or of another task."""
    if plain(path).stat().st_size > _MOST:
        refuse_file(path, f"larger than {_MOST >> 20} MB - not a page of WebArena's runner")
    text = path.read_bytes().decode("utf-8", "replace")
    head, *pieces = text.split(_STEP)
    config = _read_config(head)
    if config.get("task_id") != task:
        refuse_file(
            path, f"its name says task {task}, its first lines do not - use the original file"
        )
    actions = [_action(piece) for piece in pieces]
    answer = _stop(actions[-1]) if actions else None
    done = actions if answer is None else actions[:-1]
    return RenderedPage(
        intent=tidy(config.get("intent", ""), _SHOWN),
        sites=tuple(site for site in SITES if f"'{site}'" in config.get("sites", "")),
        answer=answer,
        final_url=_url(pieces[-1]) if pieces else None,
        steps=tuple(_call(action) for action in done[:_MOST_STEPS]),
        omitted=max(0, len(done) - _MOST_STEPS),
    )


def _read_config(head: str) -> dict[str, str]:
    """The lines `key: value` at the beginning of a page; of a repeated key the first."""
    config: dict[str, str] = {}
    block = head.partition("<body>")[2].partition("<pre>")[2].partition("</pre>")[0]
    for line in block.splitlines():
        key, colon, value = line.partition(": ")
        if colon:
            config.setdefault(key, value)
    return config


def _url(piece: str) -> str | None:
    begins = piece.find(_URL)
    address = piece[begins + len(_URL) :].partition(">")[0] if begins >= 0 else ""
    return address.strip() or None


def _action(piece: str) -> str:
    """An action, as `click [12] where ...`; the code of a run by Playwright's own calls."""
    begins = piece.rfind(_PARSED)
    if begins >= 0:
        inner = piece[begins:].partition("<pre>")[2]
        return inner[: max(0, inner.rfind("</pre>"))]
    inner = piece[piece.rfind(_PREDICTED) :].removeprefix(_PREDICTED)
    return inner[: max(0, inner.rfind("</div>"))]


def _stop(action: str) -> str | None:
    for begins, ends in (("stop [", "]"), ("page.stop(", ")")):
        if action.startswith(begins) and action.endswith(ends):
            inner = action[len(begins) : -len(ends)]
            return inner if begins == "stop [" else inner.strip("\"'")
    return None


def _call(action: str) -> ToolCall:
    name, _, rest = action.partition(" ")
    given = {"text": html.unescape(rest[:_SHOWN])} if rest else {}
    return ToolCall(name=tidy(name, 100) or "none", arguments=given)


# --------------------------------------------------------------------------------------------- logs


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:[,.](\d{1,6}))? - ")
_TASK = re.compile(r"(\d{1,9})\.json\s*$")
_ROUNDED = 1e-9
_WORDS: dict[str, Literal["passed", "failed", "crashed"]] = {
    "[Result] (PASS)": "passed",
    "[Result] (FAIL)": "failed",
    "[Unhandled Error]": "crashed",
    "[OpenAI Error]": "crashed",
}
_MESSAGE = 500  # characters of an error


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedTask:
    """How one try of a task ended; None: the log breaks off."""

    task: str
    end: Literal["passed", "failed", "crashed"] | None
    place: Place
    error: str = ""
    started: datetime | None = None
    ended: datetime | None = None

    @property
    def latency_ms(self) -> float | None:
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return (self.ended - self.started).total_seconds() * 1000.0


def log_files(names: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files of a folder that are logs; a merged one only where there are no others."""
    own = tuple(path for path in names if path.suffix == ".log")
    merged = {path.name: path for path in names}
    for name in ("merged_log.txt", "tmp_merged_log.txt"):
        if not own and name in merged:
            own = (merged[name],)
    return own


def read_logs(files: tuple[Path, ...], findings: Findings) -> dict[str, LoggedTask]:
    """The last try of each task that says how it ended, in the order of the logs."""
    tries: dict[str, LoggedTask] = {}
    for path in files:
        for one in _read_file(path, findings):
            if one.end is not None or one.task not in tries:
                tries.pop(one.task, None)
                tries[one.task] = one
    return tries


@dataclass(slots=True)
class _Reading:
    """One log, line by line."""

    path: Path
    task: str = ""
    started: datetime | None = None
    at: Place = field(default_factory=lambda: Place(""))
    scores: list[float] = field(default_factory=list)

    def open_try(self) -> Iterator[LoggedTask]:
        if self.task:
            yield LoggedTask(task=self.task, end=None, place=self.at, started=self.started)
        self.task = ""


def _read_file(path: Path, findings: Findings) -> Iterator[LoggedTask]:
    reading = _Reading(path)
    for number, line in enumerate(_lines(path), 1):
        place = Place(path.as_posix(), number)
        if "[Config file]" in line:
            yield from reading.open_try()
            named = _TASK.search(line)
            reading.task = str(int(named[1])) if named else ""
            reading.started, reading.at = _moment(line), place
        elif word := next((word for word in _WORDS if word in line), None):
            yield from _end_task(reading, word, line, place, findings)
        elif "Average score:" in line:
            _average(reading, line, place, findings)
    yield from reading.open_try()


def _end_task(
    reading: _Reading, word: str, line: str, place: Place, findings: Findings
) -> Iterator[LoggedTask]:
    end = _WORDS[word]
    named = _TASK.search(line) if end != "crashed" else None
    task = str(int(named[1])) if named else reading.task
    if not task:
        return
    if reading.task and task != reading.task:
        findings.add(
            place,
            f"has the result of task {task} within task {reading.task} - the log was cut off; "
            "use the original file",
        )
    if end != "crashed":
        reading.scores.append(float(end == "passed"))
    yield LoggedTask(
        task=task,
        end=end,
        place=place,
        error=line[line.find(word) :].strip()[:_MESSAGE] if end == "crashed" else "",
        started=reading.started,
        ended=_moment(line),
    )
    reading.task = ""


def _average(reading: _Reading, line: str, place: Place, findings: Findings) -> None:
    """What the runner says that its scores came to is what the log has."""
    try:
        stated = float(line.rpartition(":")[2])
    except ValueError:
        findings.add(place, "the average score is not a number")
        return
    scores, reading.scores = reading.scores, []
    own = sum(scores) / len(scores) if scores else 0.0
    counts = f"{int(sum(scores))} of the {len(scores)} results before it passed ({own:.4f})"
    figure = Figure("Average score", (own,), counts, near=_ROUNDED)
    findings.take(*compare_stated({figure.key: stated}, [figure], place))


def _lines(path: Path) -> Iterator[str]:
    with plain(path).open("rb") as file:
        while line := file.readline(MOST_LINE):
            yield line.decode("utf-8", "replace")


def _moment(line: str) -> datetime | None:
    stamp = _STAMP.match(line)
    return moment_of(f"{stamp[1]}.{(stamp[2] or '').ljust(6, '0')}") if stamp else None
