"""`webarena`: recorded answers, result folders of its runner, episodes of BrowserGym, its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal

from gate.errors import Place, UsageError
from gate.files.plain import JsonLine, plain
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.graders.webarena_rules.metrics import SUCCESS, specs
from gate.graders.webarena_rules.task import SITES
from gate.importers.formats.webarena import results
from gate.importers.formats.webarena.episodes import NAME, SUMMARY, episodes
from gate.importers.formats.webarena.run_folder import run_folder
from gate.importers.trials.build import ToolSuite, import_cases, name_judge, provenance_of
from gate.importers.trials.published_scores import WEBARENA
from gate.plugins import IMPORTERS
from gate.records import Json, Trial
from gate.records.imported import Imported, ImportedSuite

_RENDERED = re.compile(r"render_\d{1,9}\.html")
_MOST_SITES = 20  # that get a metric of their own
Tasks = Mapping[str, results.WebTask] | None  # by id; None: no file of tasks is given


@IMPORTERS.register("webarena")
@dataclass(frozen=True, slots=True, kw_only=True)
class WebArenaResults:
    """`tasks`: the file of task configurations, by which recorded answers are judged; `sites`:
    site -> address, where it has placeholders; `agent`: its name, or which one of several;
    `missing`: whether tasks without a result count as failed.
    """

    tasks: str = ""
    sites: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    missing: Literal["fail", "skip"] = "fail"

    reads: ClassVar[str] = "recorded answers, a result folder, BrowserGym episodes, or the tasks"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if not found.is_folder:
            return results.is_task(found.item) or results.is_record(found.item)
        episode = {name.rpartition("/")[0] or found.path.name for name in found.names}
        ran = any(name.endswith(SUMMARY) for name in found.names)
        return any(map(_RENDERED.fullmatch, found.names)) or (
            ran and any(map(NAME.fullmatch, episode))
        )

    def read(self, path: Path) -> Imported:
        if unknown := [site for site in self.sites if site not in SITES]:
            raise UsageError(f"--option sites: {unknown[0][:60]} is not one of {', '.join(SITES)}")
        if not path.is_dir() and not self.tasks and results.is_task(_first(path)):
            alone = ToolSuite(results.TOOL, results.TOOL)
            cases = [task.case(alone) for task in results.tasks_in(path, self.sites).values()]
            return import_cases((path,), lambda: iter(cases), tool="webarena", agent="nobody")
        source = self._source(path)
        tasks = results.tasks_in(Path(self.tasks), self.sites) if self.tasks else None
        counts, absent = self._checked(source, tasks, Place(path.as_posix()))
        named = tuple(sorted(counts.sites)[:_MOST_SITES])
        return Imported(
            files=(*source.files, *([Path(self.tasks)] if self.tasks else [])),
            created_at=source.created_at,
            provenance=provenance_of(source.version, self.agent or source.agent or "webarena"),
            suites={source.suite: _suite(source, tasks, counts, len(absent), named)},
            trials=lambda: _trials(source, tasks, absent, named),
            notes=tuple(_notes(counts, len(absent), self.missing == "skip" and tasks is not None)),
        )

    def _source(self, path: Path) -> results.ResultSource:
        if not path.is_dir():
            return results.recorded_answers(plain(path))
        if path.is_symlink():
            raise UsageError(f"{path}: symbolic links are not followed; give the real folder")
        rendered = any(_RENDERED.fullmatch(entry.name) for entry in path.iterdir())
        if rendered and any((one / SUMMARY).is_file() for one in path.iterdir()):
            raise UsageError(
                f"{path}: has results of two tools ({SUMMARY} and render_*.html); give "
                "the folder of one"
            )
        return run_folder(path) if rendered else episodes(path, self.agent)

    def _checked(
        self, source: results.ResultSource, tasks: Tasks, place: Place
    ) -> tuple[results.Counts, tuple[results.TaskResult, ...]]:
        """What it holds, and the results that are missing. Raises InvalidInput."""
        findings, counts = Findings(), results.Counts()
        seen: set[tuple[str, int]] = set()
        for one in findings.keep_good(source.results()):
            if (one.task, one.round) in seen:
                findings.add(one.place, f"task {one.task} has round {one.round} twice - keep one")
            seen.add((one.task, one.round))
            task = (tasks or {}).get(one.task)
            if tasks is not None and task is None:
                findings.add(one.place, f"task {one.task} is not in {self.tasks}")
                continue
            counts.add(one, _verdict(one, task, findings), task)
        if not findings and not counts.results:
            findings.add(place, "has no result")
        findings.refuse()
        # of the tasks that the run was asked for, or else that are named
        wanted = (source.expected or frozenset(tasks or ())) if self.missing == "fail" else set()
        lacking = {one for one in wanted if tasks is None or one in tasks} - counts.rounds.keys()
        absent = (results.missing_result(task, place) for task in sorted(lacking, key=int))
        return counts, tuple(absent)


def _verdict(
    task_result: results.TaskResult, task: results.WebTask | None, findings: Findings
) -> results.ResultVerdict:
    try:
        verdict = results.verdict_on(task_result, task)
    except ValueError as error:
        if not any(str(error) in told.message for told in findings.problems):  # once for each site
            message = f"{error}: " + """--option 'sites={"NAME": "ADDRESS"}'"""
            findings.add(task_result.place, f"task {task_result.task}: {message}")
        return results.ResultVerdict(passed=None)
    if verdict.clash:
        findings.add(
            task_result.place,
            f"task {task_result.task}: {verdict.clash} - use the original file",
        )
    if verdict.passed is None:
        message = "nothing says whether it was done - give the tasks with --option tasks=FILE"
        findings.add(task_result.place, f"task {task_result.task}: {message}")
        if task is None:
            findings.refuse()  # the others lack it as well
    return verdict


def _trials(
    source: results.ResultSource,
    tasks: Tasks,
    absent: tuple[results.TaskResult, ...],
    sites: tuple[str, ...],
) -> Iterator[Trial]:
    suite = ToolSuite(results.TOOL, source.suite)
    for one in refuse_problems(chain(source.results(), absent)):
        task = (tasks or {}).get(one.task)
        yield results.trial(suite, one, task, results.verdict_on(one, task), sites)


def _suite(
    source: results.ResultSource,
    tasks: Tasks,
    counts: results.Counts,
    absent: int,
    sites: tuple[str, ...],
) -> ImportedSuite:
    metrics = specs(sites)
    judged = counts.told == counts.results
    by = "webarena: as the benchmark judged" if judged else "webarena: by what was recorded"
    whole = source.suite == "webarena"
    return ImportedSuite(
        rounds=max(counts.rounds.values()),
        cases=len(counts.rounds) + absent,
        dataset=f"{len(tasks)} tasks of WebArena" if tasks else "tasks of WebArena",
        metrics=metrics,
        graders=name_judge(by, *(spec.column for spec in metrics)),
        quoted=WEBARENA if whole else (),
    )


def _notes(counts: results.Counts, absent: int, skipped: bool) -> Iterator[str]:
    total, crashed = counts.results + absent, counts.crashed
    if crashed or absent:
        judged = counts.results - crashed
        theirs = f"{counts.done / judged:.4f} ({counts.done} of {judged})" if judged else "none"
        yield (
            f"{SUCCESS} is {counts.done} of {total}: results without a verdict ({crashed}) and "
            f"tasks without a result ({absent}) count as failed; the benchmark's own average "
            f"leaves them out: {theirs}"
        )
    if skipped:
        yield "tasks without a result are left out (missing=skip)"
    if counts.not_evaluable:
        parts = ", ".join(f"{n} without {what}" for what, n in sorted(counts.lacking.items()))
        yield (
            f"{counts.not_evaluable} of {counts.results} results could not be judged by what was "
            f"recorded and count as failed (not_evaluable): {parts}"
        )


def _first(path: Path) -> Json:
    first = next(results.items(path), None)
    return first.data if isinstance(first, JsonLine) else None
