"""`thudm-agentbench`: what the eight environments of AgentBench measured of one agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from gate.errors import Place
from gate.files.json_values import as_object
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.files.timestamps import after, iso
from gate.importers.formats.thudm import records
from gate.importers.trials.build import ToolSuite, add_earlier, name_judge, provenance_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.names import snake_case, suite_name
from gate.importers.trials.published_scores import thudm_agentbench
from gate.plugins import IMPORTERS
from gate.records import Attempt, MetricSpec, Response, Trial
from gate.records.imported import Imported, ImportedSuite


@IMPORTERS.register("thudm-agentbench")
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBench:
    """A suite for each environment, a trial a sample; and the suite `agentbench`, a case each of
    them. `agent` and `split` choose where a folder has several.
    """

    agent: str | None = None
    split: str | None = None

    reads: ClassVar[str] = "a folder of outputs, of one agent, or of one task with runs.jsonl"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if not found.is_folder:
            return False
        own = found.path.resolve().name
        if records.environment_of(own) and found.names & {*records.FILES}:
            return True
        pairs = [name.split("/") for name in found.names if "/" in name]
        tasks = [inner for _, inner in pairs if records.environment_of(inner) and "." not in inner]
        return any(
            records.environment_of(task) and file in records.FILES for task, file in pairs
        ) or ("config.yaml" in found.names and bool(tasks))

    def read(self, path: Path) -> Imported:
        picked = records.choose_tasks(path, self.agent, self.split)
        measured = _measure_tasks(picked)
        values = {one.task.environment.code: one for one in measured if one.main is not None}
        moment = max((one.at for one in measured if one.at is not None), default=None)
        names = _names(picked.tasks)
        return Imported(
            files=tuple(file for task in picked.tasks for file in task.files),
            created_at=None if moment is None else iso(after(moment / 1000.0)) or None,
            provenance=provenance_of(TOOL, picked.agent),
            suites={
                **({SUITE: _benchmark_suite(values)} if values else {}),
                **{names[one.task.name]: _suite(one) for one in measured if one.samples},
            },
            trials=lambda: _trials(measured, values, names),
            notes=(*picked.notes, *_notes(measured, values)),
        )


@dataclass(slots=True)
class _MeasuredTask:
    """One task as far as it is kept: `broken` are samples without a result."""

    task: records.TaskFolder
    main: float | None = None
    samples: int = 0
    at: float | None = None
    unfinished: list[str] = field(default_factory=list)


def _names(tasks: tuple[records.TaskFolder, ...]) -> Mapping[str, str]:
    """Task -> suite; names that come to the same get their environment's."""
    clean = {task.name: suite_name(task.name, task.environment.code) for task in tasks}
    taken = [*clean.values(), SUITE]
    return {
        task.name: clean[task.name] if taken.count(clean[task.name]) == 1 else task.environment.code
        for task in tasks
    }


def _measure_tasks(picked: records.ChosenTasks) -> list[_MeasuredTask]:
    """Raises InvalidInput with everything that is wrong with any of the tasks."""
    findings = Findings()
    measured = [_measure_task(task, findings) for task in picked.tasks]
    if not findings and not any(one.samples or one.main is not None for one in measured):
        findings.add(
            Place(measured[0].task.folder.as_posix()), "has no sample - run the task first"
        )
    findings.refuse()
    return measured


def _measure_task(task: records.TaskFolder, findings: Findings) -> _MeasuredTask:
    own, tally = _MeasuredTask(task), records.SampleTally()
    lines: dict[str, int | None] = {}
    file = task.file(records.RUNS)
    for run in records.read_finished(file, findings) if file else ():
        if run.index in lines:
            message = f"sample '{run.index[:80]}' is also in line {lines[run.index]} - keep one"
            findings.add(run.place, message)
            continue
        lines[run.index] = run.place.line
        own.at = max(own.at or 0.0, run.at or 0.0) or None
        try:
            tally.add(run, records.worth(task.environment, run.result))
        except ValueError as error:
            told = f"{error}, which the environment {task.environment.code} needs - check that "
            told += "the folder has the name of its environment"
            findings.add(run.place, told)
    errors = records.by_index(task.file(records.ERRORS), findings)
    own.unfinished = [index for index in errors if index not in lines]
    own.samples = len(lines) + len(own.unfinished)
    own.main = _main(task, tally if file else None, findings)
    return own


def _main(
    task: records.TaskFolder, tally: records.SampleTally | None, findings: Findings
) -> float | None:
    file = task.file(records.SUMMARY)
    if file is None:
        return None
    data, place = json_of(file), Place(file.as_posix())
    if not isinstance(data, dict):
        findings.add(place, "not an object - use the original file")
        return None
    findings.take(*records.contradictions(task.environment, as_object(data), tally, place))
    try:
        return records.main_metric(task.environment, as_object(data))
    except ValueError as error:
        findings.add(place, f"{error} - use the original file")
        return None


def _suite(one: _MeasuredTask) -> ImportedSuite:
    judge = f"{TOOL}: {one.task.environment.name}"
    return ImportedSuite(
        cases=one.samples,
        dataset=f"{one.task.name}: {one.task.environment.name} of AgentBench",
        metrics=(_MAIN_SPEC,) if one.task.environment.code in records.SCORED else (),
        graders=name_judge(judge, MAIN),
    )


def _benchmark_suite(values: Mapping[str, _MeasuredTask]) -> ImportedSuite:
    complete = len(values) == len(records.ENVIRONMENTS)
    specs = (_MAIN_SPEC, _OVERALL_SPEC) if complete else (_MAIN_SPEC,)
    return ImportedSuite(
        cases=len(values),
        dataset="environments of AgentBench",
        metrics=specs,
        graders=dict.fromkeys((MAIN, OVERALL), TOOL),
        quoted=thudm_agentbench(len(values), len(records.ENVIRONMENTS)),
    )


def _notes(measured: list[_MeasuredTask], values: Mapping[str, _MeasuredTask]) -> Iterator[str]:
    if len(values) < len(records.ENVIRONMENTS):
        missing = ", ".join(code for code in sorted(records.ENVIRONMENTS) if code not in values)
        yield (
            f"{SUITE}: partial ({len(values)}/{len(records.ENVIRONMENTS)}), no main metric of "
            f"{missing}; the overall score needs all eight"
        )
    for measure in measured:
        task = measure.task.name[:80]
        if measure.main is None:
            why = "no overall.json, so the task is not finished"
            if measure.task.file(records.SUMMARY):
                why = "its overall.json has no main metric"
            yield f"{task}: {why}"
        if measure.unfinished:
            counts = f"{len(measure.unfinished)} of {measure.samples} samples"
            yield f"{task}: {counts} have no result, only errors in {records.ERRORS}"


def _trials(
    measured: list[_MeasuredTask], values: Mapping[str, _MeasuredTask], names: Mapping[str, str]
) -> Iterator[Trial]:
    complete = len(values) == len(records.ENVIRONMENTS)
    for one in values.values():
        if one.main is not None:
            yield environment_trial(one.task.environment, one.task.name, one.main, whole=complete)
    findings = Findings()
    for one in measured:
        suite, file = ToolSuite(TOOL, names[one.task.name]), one.task.file(records.RUNS)
        errors = records.by_index(one.task.file(records.ERRORS), findings)
        for run in records.read_finished(file, findings) if file else ():
            result = records.worth(one.task.environment, run.result)
            yield sample_trial(suite, run, result, errors.get(run.index, ()))
        yield from (unfinished_trial(suite, errors[index]) for index in one.unfinished)
    findings.refuse()  # it was in order a moment ago


TOOL = "thudm-agentbench"  # what measured, and what judged
SUITE = "agentbench"
MAIN = "thudm_agentbench.main"
OVERALL = "thudm_agentbench.overall"
# The environment broke, or the run was stopped: not the agent's failure. The benchmark's own
# metric counts them as 0 all the same.
_UNASKED = ("task error", "cancelled", "running")
_MODES = {  # failure modes of ours, as codes
    "agent validation failed": ("format",),
    "agent invalid action": ("format",),
    "agent context limit": ("inefficient",),
    "task limit reached": ("inefficient",),
}


_MAIN_SPEC = MetricSpec(
    name=MAIN,
    column=MAIN,
    unit="share",
    description="main metric of an environment: accuracy, F1, score, progress, success or reward",
)
_OVERALL_SPEC = MetricSpec(
    name=OVERALL,
    column=OVERALL,
    unit="points",
    high=None,
    description="main metric in percent / weight, averaged over the eight environments",
)


def sample_trial(
    suite: ToolSuite,
    run: records.FinishedSample,
    worth: records.Worth,
    before: Sequence[records.BrokenSample],
) -> Trial:
    done = run.status not in _UNASKED
    passed = worth.passed if run.status == "completed" or worth.passed is not None else None
    modes = _MODES.get(run.status, ())
    codes = () if run.status == "completed" else (snake_case(run.status), *modes)
    made = suite.trial(
        suite.case(run.index, place=run.place),
        status="completed" if done else "infra_error",
        passed=passed,
        failures=() if passed else codes or (("wrong_result",) if passed is False else ()),
        values={MAIN: worth.value},
        reason="" if run.status == "completed" else f"ended with: {run.status}",
        response=_response(run) if done else None,
        error=None if done else run.status,
    )
    return add_earlier(made, map(_attempt, before))


def unfinished_trial(suite: ToolSuite, tries: Sequence[records.BrokenSample]) -> Trial:
    """A sample without a result: the last try counts that was the agent's failure, or the last."""
    last = next((attempt for attempt in reversed(tries) if not attempt.infra), tries[-1])
    tried = _attempt(last)
    made = suite.trial(
        suite.case(last.index, place=last.place),
        status=tried.status,
        passed=tried.passed,
        failures=tried.failures,
        values={MAIN: None if last.infra else 0.0},
        error=tried.error,
    )
    return add_earlier(made, map(_attempt, tries[: list(tries).index(last)]))


def _attempt(tried: records.BrokenSample) -> Attempt:
    code = "".join(sign for sign in tried.code.lower() if sign.isalnum() or sign == "_")
    return Attempt(
        n=1,
        status="infra_error" if tried.infra else "agent_error",
        latency_ms=None,
        passed=None if tried.infra else False,
        failures=(code[:60] or "error",),
        error=": ".join(filter(None, (tried.code[:60], tried.info))),
    )


def _response(run: records.FinishedSample) -> Response:
    """The history has the examples that the environment showed, too: they count as turns."""
    messages = [
        {**as_object(item), "role": "assistant"} if as_object(item).get("role") == "agent" else item
        for item in run.history
    ]
    return conversation(messages, shows_calls=False)


def environment_trial(
    environment: records.Environment, task: str, value: float, *, whole: bool
) -> Trial:
    """`whole`: all eight are there, so that the overall score can be told."""
    suite = ToolSuite(TOOL, SUITE)
    case = suite.case(environment.code, input=environment.name)
    overall = {OVERALL: 100.0 * value / environment.weight} if whole else {}
    said = Response(answer=f"{'.'.join(environment.main)} of {task}: {value:.6g}")
    return suite.trial(case, values={MAIN: value, **overall}, response=said)
