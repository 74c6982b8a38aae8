"""`inspect`: logs of Inspect (inspect-ai), `.eval` or `.json`, or a folder of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from gate.errors import Place, UsageError
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.inspect.checks import Content, check_log
from gate.importers.formats.inspect.logs import TOOL, Log, is_log, log_files, open_log
from gate.importers.formats.inspect.samples import SampleRules, trial
from gate.importers.formats.inspect.scores import column
from gate.importers.trials.build import name_judge
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One log that counts, with what a first reading found in it."""

    log: Log
    content: Content
    rules: SampleRules


@IMPORTERS.register("inspect")
@dataclass(frozen=True, slots=True, kw_only=True)
class InspectLogs:
    """A suite a task, a round an epoch. `scorer`: the score that says pass (the first one of
    correct and incorrect), from `threshold` on. `logs`: newest takes the newest of several logs of
    a task.
    """

    scorer: str | None = None
    threshold: float = 1.0
    logs: Literal["only", "newest"] = "only"

    reads: ClassVar[str] = "a log of Inspect (.eval, .json) or a folder of logs"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if any(name.endswith(".eval") for name in found.names):
            return True
        return is_log(found.inside or found)

    def read(self, path: Path) -> Imported:
        files, others = log_files(path)
        logs, notes = _choose_logs([open_log(file) for file in files], self.logs, path)
        tasks = self._checked(logs)
        return Imported(
            files=tuple(task.log.path for task in tasks.values()),
            created_at=max(log.created for log in logs).isoformat(),
            provenance=_provenance(logs),
            suites={name: _suite(task) for name, task in tasks.items()},
            trials=lambda: _trials(tasks),
            notes=(*notes, *_notes(tasks), *_note_left_out(others)),
        )

    def _checked(self, logs: Sequence[Log]) -> dict[str, _Task]:
        """By suite. Raises InvalidInput with everything that is wrong."""
        found, tasks = Findings(), dict[str, _Task]()
        for log in logs:
            name = suite_name(log.task.rpartition("/")[2] or log.task, "task")
            place = Place(log.path.as_posix())
            if name in tasks:
                found.add(place, f"the suite {name} is that of another task, too; import it alone")
            content = check_log(log, found)
            decides = content.decides(self.scorer)
            if self.scorer is not None and decides is None and not found:
                known = ", ".join(name[:80] for name in list(content.seen)[:20])
                what = f"no scorer '{self.scorer[:80]}' in it; name one of {known or 'none'}"
                found.add(place, what)
            rules = SampleRules(
                suite=name,
                model=one_line(str(log.spec["model"]), 200),
                decides=decides,
                threshold=self.threshold,
                mixed=frozenset(n for n, one in content.seen.items() if one.measured and one.mixed),
            )
            tasks[name] = _Task(log=log, content=content, rules=rules)
        found.refuse()
        return tasks


def _choose_logs(
    logs: Sequence[Log], which: Literal["only", "newest"], path: Path
) -> tuple[list[Log], list[str]]:
    """One a task: of a log and its retries the newest. Raises UsageError for several runs."""
    by_task: dict[str, list[Log]] = {}
    for log in logs:
        by_task.setdefault(log.task, []).append(log)
    chosen, notes = list[Log](), list[str]()
    for task, found in sorted(by_task.items()):
        newest = max(found, key=lambda log: (log.created, log.path))
        runs = {log.spec.get("task_id") or log.path.name for log in found}
        if len(runs) > 1 and which == "only":
            raise UsageError(
                f"{path}: {len(runs)} runs of the task {one_line(task, 80)}, the newest in "
                f"{newest.path.name}; name one log, or take the newest: --option logs=newest"
            )
        if len(found) > 1:
            notes.append(
                f"{one_line(task, 80)}: {len(found)} logs, of which the newest is read, "
                f"{one_line(newest.path.name, 120)}"
            )
        chosen.append(newest)
    return chosen, notes


def _provenance(logs: Sequence[Log]) -> Provenance:
    models = dict.fromkeys(one_line(str(log.spec["model"]), 200) for log in logs)
    versions = sorted({log.version for log in logs if log.version})
    return Provenance(
        agent=", ".join(list(models)[:5]),
        tool_version=" ".join(("inspect-ai", *versions[-1:])),
        event="import",
    )


def _suite(task: _Task) -> ImportedSuite:
    log, content = task.log, task.content
    rounds = max(content.rounds, log.epochs if log.epochs <= 10_000 else 1)
    planned = log.results.get("total_samples") or _count_listed(log) * rounds
    measured = {name: seen for name, seen in content.seen.items() if seen.measured}
    specs = {column(name): seen.spec(name) for name, seen in measured.items()}
    decides = task.rules.decides
    told = _judge(log, decides, measured[decides].scorer) if decides in measured else ""
    deciding = name_judge(f"{told} from {task.rules.threshold:g}") if told else {}
    dataset = (log.spec.get("dataset") or {}).get("name")
    version = log.spec.get("task_version")
    return ImportedSuite(
        rounds=rounds,
        cases=max(len(content.ids), -(-planned // rounds)),
        dataset=one_line(str(dataset or log.task), 200),
        version=None if version is None else one_line(str(version), 80),
        metrics=tuple(specs.values()),
        graders={
            **{column(n): _judge(log, n, one.scorer) for n, one in measured.items()},
            **deciding,
        },
    )


def _judge(log: Log, name: str, scorer: str) -> str:
    """The score with its scorer's options: a model that grades is one of them."""
    listed = log.spec.get("scorers") or ()
    found = (one for one in listed if isinstance(one, dict) and one.get("name") == scorer)
    options = next((one["options"] for one in found if one.get("options")), None)
    told = f" {json.dumps(options, sort_keys=True, default=str)}" if options else ""
    return one_line(f"{TOOL} {name}{told}", 300)


def _count_listed(log: Log) -> int:
    ids = (log.spec.get("dataset") or {}).get("sample_ids")
    return len(ids) if isinstance(ids, list) else 0


def _notes(tasks: Mapping[str, _Task]) -> Iterator[str]:
    for name, task in tasks.items():
        log, content = task.log, task.content
        if log.status != "success":
            error = (log.head.get("error") or {}).get("message")
            why = f": {one_line(str(error), 200)}" if error else ""
            yield f"{name}: the log is not whole, its status is {log.status}{why}"
        if task.rules.decides:
            since = f" from {task.rules.threshold:g} on" if task.rules.threshold != 1.0 else ""
            yield f"{name}: passed is what the score {one_line(task.rules.decides, 80)} says{since}"
        else:
            yield (
                f"{name}: no score says correct or incorrect, so nothing passed or failed; name "
                "one with --option scorer=NAME --option threshold=NUMBER"
            )
        if content.limits:
            yield f"{name}: {content.limits} samples ran into a limit"
        if log.head.get("invalidated") is True:
            yield f"{name}: samples of it were invalidated by hand"
        if log.rewritten:
            yield f"{name}: {log.rewritten} members were written again; the last ones count"


def _note_left_out(others: int) -> Iterator[str]:
    if others:
        yield f"{others} JSON files of the folder are no logs, and are left out"


def _trials(tasks: Mapping[str, _Task]) -> Iterator[Trial]:
    for task in tasks.values():
        for place, sample in task.log.samples():
            yield trial(sample, task.rules, place)
