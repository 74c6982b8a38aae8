"""`inspect`: logs of Inspect (inspect-ai), `.eval` or `.json`, or a folder of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, TypeGuard

from gate.errors import Place, Problem, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_list, as_object, as_objects, as_strings, is_number
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.inspect import samples
from gate.importers.formats.inspect.logs import TOOL, Log, is_log, log_files, open_log
from gate.importers.trials.build import name_judge, provenance_of
from gate.importers.trials.names import suite_name
from gate.importers.trials.stated import Figure, compare_stated
from gate.plugins import IMPORTERS
from gate.records import LARGEST, CheckedJson, Json, Provenance
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count
from gate.text.shortening import tidy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One log that counts, with what a first reading found in it."""

    log: Log
    content: Content
    rules: samples.SampleRules


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
            trials=lambda: (
                samples.trial(sample, task.rules, place)
                for task in tasks.values()
                for place, sample in task.log.samples()
            ),
            notes=(*notes, *_notes(tasks, others)),
        )

    def _checked(self, logs: Sequence[Log]) -> dict[str, _Task]:
        """The tasks by suite. Raises InvalidInput with everything that is wrong."""
        findings, tasks = Findings(), dict[str, _Task]()
        for log in logs:
            name = suite_name(log.task.rpartition("/")[2] or log.task, "task")
            place = Place(log.path.as_posix())
            if name in tasks:
                findings.add(place, f"another task has the suite name {name} too - import it alone")
            content = check_log(log, findings)
            decides = content.decides(self.scorer)
            if self.scorer is not None and decides is None and not findings:
                known = ", ".join(name[:80] for name in list(content.seen)[:20])
                onward = f"choose one of {known}" if known else "remove --option scorer"
                findings.add(place, f"has no scorer '{self.scorer[:80]}' - {onward}")
            rules = samples.SampleRules(
                suite=name,
                model=tidy(str(log.spec["model"]), 200),
                decides=decides,
                threshold=self.threshold,
                mixed=frozenset(n for n, one in content.seen.items() if one.measured and one.mixed),
            )
            tasks[name] = _Task(log=log, content=content, rules=rules)
        findings.refuse()
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
                f"{path}: has {len(runs)} runs of the task {tidy(task, 80)}, the newest in "
                f"{newest.path.name}; give one log, or use the newest with --option logs=newest"
            )
        if len(found) > 1:
            notes.append(
                f"{tidy(task, 80)}: {len(found)} logs; the newest is used: "
                f"{tidy(newest.path.name, 120)}"
            )
        chosen.append(newest)
    return chosen, notes


def _provenance(logs: Sequence[Log]) -> Provenance:
    models = dict.fromkeys(tidy(str(log.spec["model"]), 200) for log in logs)
    versions = sorted({log.version for log in logs if log.version})
    return provenance_of(" ".join(("inspect-ai", *versions[-1:])), ", ".join(list(models)[:5]))


def _suite(task: _Task) -> ImportedSuite:
    log, content = task.log, task.content
    rounds = max(content.rounds, log.epochs if log.epochs <= 10_000 else 1)
    dataset = log.spec.get("dataset") or {}
    listed = len(as_list(dataset.get("sample_ids")))
    planned = log.results.get("total_samples") or listed * rounds
    measured = {name: seen for name, seen in content.seen.items() if seen.measured}
    specs = {samples.column(name): seen.spec(name) for name, seen in measured.items()}
    decides = task.rules.decides
    judge = _judge(log, decides, measured[decides].scorer) if decides in measured else ""
    deciding = name_judge(f"{judge} from {task.rules.threshold:g}") if judge else {}
    version = log.spec.get("task_version")
    return ImportedSuite(
        rounds=rounds,
        cases=max(len(content.ids), -(-planned // rounds)),
        dataset=tidy(str(dataset.get("name") or log.task), 200),
        version=None if version is None else tidy(str(version), 80),
        metrics=tuple(specs.values()),
        graders={
            **{samples.column(n): _judge(log, n, one.scorer) for n, one in measured.items()},
            **deciding,
        },
    )


def _judge(log: Log, name: str, scorer: str) -> str:
    """The score with its scorer's options: a model that grades is one of them."""
    listed = log.spec.get("scorers") or ()
    scorers = (item for item in listed if isinstance(item, dict) and item.get("name") == scorer)
    options = next((one["options"] for one in scorers if one.get("options")), None)
    shown = f" {json.dumps(options, sort_keys=True, default=str)}" if options else ""
    return tidy(f"{TOOL} {name}{shown}", 300)


def _notes(tasks: Mapping[str, _Task], others: int) -> Iterator[str]:
    for name, task in tasks.items():
        log, content = task.log, task.content
        if log.status != "success":
            error = (log.head.get("error") or {}).get("message")
            why = f": {tidy(str(error), 200)}" if error else ""
            yield f"{name}: the log is incomplete, its status is {log.status}{why}"
        if task.rules.decides:
            at_least = f": {task.rules.threshold:g} or more" if task.rules.threshold != 1.0 else ""
            scorer = tidy(task.rules.decides, 80)
            yield f"{name}: the score {scorer} decides what passed{at_least}"
        else:
            yield (
                f"{name}: no score says correct or incorrect, so nothing passed or "
                "failed; choose one with --option scorer=NAME --option threshold=NUMBER"
            )
        if content.limits:
            yield (
                f"{name}: Inspect stopped {count(content.limits, 'sample')} at a limit (such as "
                "messages, tokens or time), counted with the scores that there are"
            )
        if log.head.get("invalidated") is True:
            yield f"{name}: some samples are marked as invalid in Inspect; they count here"
        if log.rewritten:
            yield f"{name}: {log.rewritten} entries were written again; the last ones count"
    if others:
        yield f"{others} JSON files of the folder are not logs and are left out"


_OWN = ("accuracy", "mean")  # metrics of Inspect that are the mean of a score
_REDUCED = (None, "mean")
_KEPT = ("input", "target", "messages", "output", "scores", "attachments")  # of a sample
MOST_SAMPLES = 1_000_000


@dataclass(slots=True, kw_only=True)
class Content:
    """What a log holds. `order`: its scorers as the log names them, first first."""

    order: list[str]
    seen: dict[str, samples.ScoreValues] = field(default_factory=dict)
    ids: dict[str, Place] = field(default_factory=dict)
    rounds: int = 1
    samples: int = 0
    limits: int = 0

    def decides(self, wanted: str | None) -> str | None:
        """The score that says pass; `wanted` is a name as the log has it, or as our metrics do."""
        if wanted is None:
            return samples.decider(self.seen, self.order)
        names = (
            n
            for n in self.seen
            if wanted in (n, samples.column(n), samples.column(n).partition(".")[2])
        )
        return next(names, None)


def check_log(log: Log, findings: Findings) -> Content:
    """Everything that is wrong is added to `findings`."""
    content = Content(order=_order(log))
    seen: dict[tuple[str, int], Place] = {}
    kinds: dict[str, type] = {}
    with findings.taking():
        for place, sample in log.samples():
            if not _is_sound(sample, place, findings):
                continue
            key = (samples.id_of(sample), sample["epoch"])
            if key in seen:
                findings.add(place, f"sample '{key[0][:80]}' has epoch {key[1]} twice - keep one")
            elif kinds.setdefault(key[0], type(sample["id"])) is not type(sample["id"]):
                findings.add(place, f"id {key[0][:80]} is both a number and a string - rename one")
            seen[key] = place
            _take(content, sample, place, findings)
            if content.samples > MOST_SAMPLES:
                findings.add(place, f"more than {MOST_SAMPLES:,} samples - import it in parts")
                break
    if not seen and not findings:
        what = "has no samples: it was written with --no-log-samples, or ended before the first one"
        onward = "run the evaluation again without that option"
        findings.add(Place(log.path.as_posix()), f"{what} - {onward}")
    for name, column_ in (columns := {name: samples.column(name) for name in content.seen}).items():
        if list(columns.values()).count(column_) > 1:
            what = f"score '{name[:80]}' gets the same metric name as another score - rename one"
            findings.add(Place(log.path.as_posix()), what)
    if not findings:
        findings.take(*_contradictions(log, content))
    return content


def _order(log: Log) -> list[str]:
    """Scorers as results list them; a log that was not ended has those of its task."""
    listed = log.results.get("scores") or log.spec.get("scorers") or []
    names = [scorer.get("scorer") or scorer.get("name") for scorer in as_objects(listed)]
    return list(dict.fromkeys(as_strings(names)))


def _is_sound(sample: Json, place: Place, findings: Findings) -> TypeGuard[CheckedJson]:
    wrong = samples.CHECK.list_problems(sample, place)
    findings.take(*wrong)
    if not wrong and is_too_deep([as_object(sample).get(key) for key in _KEPT]):
        findings.add(place, "nested too deeply")
        return False
    return not wrong


def _take(
    content: Content, sample: Mapping[str, CheckedJson], place: Place, findings: Findings
) -> None:
    content.samples += 1
    content.rounds = max(content.rounds, sample["epoch"])
    content.ids.setdefault(samples.id_of(sample), place)
    content.limits += sample.get("limit") is not None
    for one in samples.iterate_scores(samples.scores_of(sample)):
        if samples.is_beyond(one.value):
            message = f"score '{one.name[:80]}' is over {LARGEST:g}"
            findings.add(place, f"{message} - correct its scorer and run `inspect score`")
            continue
        place_of = content.seen.get(one.name)
        if place_of is None:
            if len(content.seen) >= samples.MOST_SCORES:
                continue
            place_of = content.seen[one.name] = samples.ScoreValues(scorer=one.scorer)
        place_of.add(samples.id_of(sample), one.value)


def _contradictions(log: Log, content: Content) -> Iterator[Problem]:
    results, place = log.results, Place(log.path.as_posix(), key="results")
    total = "logged_samples" if results.get("logged_samples") else "total_samples"
    if log.status == "success" and results.get(total) and results.get("early_stopping") is None:
        figure = Figure(total, (content.samples,), f"the log has {content.samples} samples")
        yield from compare_stated(results, [figure], place)
    for score in results.get("scores") or ():
        yield from _compare_score(score, log, content)


def _compare_score(score: Mapping[str, Json], log: Log, content: Content) -> Iterator[Problem]:
    name, scorer, metrics = score.get("name"), score.get("scorer"), score.get("metrics")
    own = content.seen.get(str(name) if name == scorer else f"{scorer}.{name}")
    if own is None or not own.measured or score.get("reducer") not in _REDUCED:
        return
    kept = {key: as_object(as_object(metrics).get(key)) for key in _OWN if _is_inspects(log, key)}
    stated = {key: metric.get("value") for key, metric in kept.items() if not metric.get("params")}
    figures = (
        Figure(key, own.means, f"the samples give {own.means[0]:.6g}", near=1e-9, rel=1e-9)
        for key, value in stated.items()
        if is_number(value) and value == value  # NaN: nothing was scored
    )
    place = Place(log.path.as_posix(), key=f"results.scores.{name}"[:300])
    yield from compare_stated(stated, figures, place)


def _is_inspects(log: Log, metric: str) -> bool:
    """A user's metric may have the same name; only Inspect's own begin so in the task."""
    names = set(_names(log.spec.get("scorers"))) | set(_names(log.spec.get("metrics")))
    return f"inspect_ai/{metric}" in names and metric not in names


def _names(data: Json) -> Iterator[str]:
    """The names of metrics, which stand in lists and objects of lists."""
    for one in data.values() if isinstance(data, dict) else as_list(data):
        if isinstance(one, list):
            yield from _names(one)
        elif isinstance(one, dict) and "metrics" in one:
            yield from _names(one["metrics"])
        elif isinstance(one, dict) and isinstance(one.get("name"), str):
            yield one["name"]
        elif isinstance(one, dict):
            yield from _names(one)
