"""One result of WebArena, wherever it was found, and as a trial; recorded answers are results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.agents.wire.answer import response
from gate.errors import AgentFailure, Place, Problem
from gate.files.json_schema import mismatches
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_amount, as_count, as_list, as_object
from gate.files.plain import JsonLine, json_lines, json_of, plain
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.graders.webarena_rules.evaluation import TaskVerdict, evaluate
from gate.graders.webarena_rules.metrics import NOT_EVALUABLE, SUCCESS, of_site
from gate.graders.webarena_rules.recorded import STATE, read_recorded
from gate.graders.webarena_rules.task import Checks, checks_of, faults_of, with_sites
from gate.importers.trials import shapes
from gate.importers.trials.build import AT_THE_SOURCE, ToolSuite
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import MOST_ROUNDS, Case, CheckedJson, Json, Response, Trial, TrialStatus
from gate.text.shortening import tidy

# Failure codes of an import, beside those of the grader.
FAILED, MISSING, NO_RESULT = "task_failed", "missing", "no_result"
EARLY_STOP, NOT_PARSED, TRUNCATED = "early_stop", "action_not_parsed", "truncated"
_JUDGE = "a judge has to compare the answer with its reference (fuzzy_match)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """`passed`: what the source says; None: nothing. `whole`: the answer and the last address are
    known, so that what the source says can be checked. `codes`: why it failed, if it did.
    """

    task: str
    place: Place
    round: int = 1
    passed: bool | None = None
    whole: bool = True
    status: TrialStatus = "completed"
    codes: tuple[str, ...] = ()
    error: str | None = None
    response: Response | None = None
    latency_ms: float | None = None
    started_at: str = AT_THE_SOURCE
    intent: str = ""  # where no task is named
    sites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSource:
    """Results of one agent. `results` reads them, as often as asked; `expected`: the tasks that the
    run was to try, empty where it does not say.
    """

    files: tuple[Path, ...]
    results: Callable[[], Iterator[TaskResult | Problem]] = field(repr=False)
    suite: str = "webarena"
    version: str = "webarena"
    agent: str = ""
    created_at: str | None = None
    expected: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultVerdict:
    """`passed` None: nothing says. `clash`: what the source says and what its record comes to."""

    passed: bool | None
    codes: tuple[str, ...] = ()
    reason: str = ""
    lacking: str = ""  # what of the record is missing, so that it cannot be judged
    clash: str = ""


def verdict_on(result: TaskResult, task: WebTask | None) -> ResultVerdict:
    """What the source says, else the benchmark's rules. Raises ValueError for a wrong task."""
    if result.status != "completed":
        return ResultVerdict(passed=False, codes=result.codes)
    if result.passed is None:
        found = None if task is None else _evaluate(result, task)
        return (
            ResultVerdict(passed=None) if found is None else _verdict_by_rules(found, result.codes)
        )
    clash = ""
    if task is not None and result.whole:
        clash = _clash(result, task)
    codes = () if result.passed else (*result.codes, *([] if result.codes else [FAILED]))
    return ResultVerdict(passed=result.passed, codes=codes, clash=clash)


def _verdict_by_rules(found: TaskVerdict, codes: tuple[str, ...]) -> ResultVerdict:
    if found.wrong:
        why = "; ".join(found.wrong.values())
        return ResultVerdict(
            passed=False, codes=(*codes, *list(found.wrong)[:40]), reason=why[:2000]
        )
    if found.score is None:
        lacking = [f"not recorded: {', '.join(found.lacking)}"] if found.lacking else [_JUDGE]
        return ResultVerdict(
            passed=False,
            codes=(*codes, "not_evaluable"),
            reason="; ".join(lacking)[:2000],
            lacking=found.lacking[0].partition(" ")[0] if found.lacking else "a judge",
        )
    return ResultVerdict(passed=True)


def _evaluate(result: TaskResult, task: WebTask) -> TaskVerdict:
    response = result.response or Response(answer="")
    return evaluate(task.checks, read_recorded(response.answer, response.state))


def _clash(result: TaskResult, task: WebTask) -> str:
    try:
        verdict = _evaluate(result, task)
    except ValueError:
        return ""  # addresses are not known: nothing to check it by
    if verdict.score is None or bool(verdict.score) is result.passed:
        return ""
    wrong = "; ".join(verdict.wrong.values()) or "every check passes"
    says = "passed" if result.passed else "failed"
    return f"the source says {says}, but the recorded answer and pages say: {tidy(wrong, 200)}"


def trial(
    suite: ToolSuite,
    result: TaskResult,
    task: WebTask | None,
    verdict: ResultVerdict,
    sites: Iterable[str],
) -> Trial:
    """`sites`: those of the whole suite, which each have a column."""
    own = task.sites if task is not None else result.sites
    done = float(bool(verdict.passed))
    plain_case = suite.case(result.task, input=result.intent, category="+".join(own) or None)
    return suite.trial(
        plain_case if task is None else task.case(suite),
        round=result.round,
        status=result.status,
        passed=verdict.passed,
        failures=() if verdict.passed else verdict.codes,
        values={
            SUCCESS: done,
            NOT_EVALUABLE: float(bool(verdict.lacking)),
            **{of_site(site): done if site in own else None for site in sites},
        },
        reason=verdict.reason,
        response=result.response,
        latency_ms=result.latency_ms,
        error=result.error,
        started_at=result.started_at,
    )


def mark_crashed(result: TaskResult, said: str) -> TaskResult:
    """One without a verdict. Its error tells whose fault that was; without one nobody knows."""
    infra = not said or is_nobodys(said)
    code = NO_RESULT if not said else "infra_error" if infra else "agent_error"
    return replace(
        result,
        passed=None,
        whole=False,
        status="infra_error" if infra else "agent_error",
        codes=(code,),
        error=tidy(said, 500) or "the source has no result for this task",
        response=None,
    )


def missing_result(task: str, place: Place) -> TaskResult:
    return TaskResult(
        task=task,
        place=place,
        status="agent_error",
        codes=(MISSING,),
        error="the source has no result for this task",
        whole=False,
    )


@dataclass(slots=True, kw_only=True)
class Counts:
    """How many results of each kind one suite has."""

    results: int = 0
    done: int = 0
    crashed: int = 0  # upstream's own average leaves them out
    lacking: Counter[str] = field(default_factory=Counter)  # what -> results not evaluable
    told: int = 0  # whose verdict is the source's
    rounds: dict[str, int] = field(default_factory=dict)  # task -> its highest round
    sites: set[str] = field(default_factory=set)

    @property
    def not_evaluable(self) -> int:
        return self.lacking.total()

    def add(self, result: TaskResult, verdict: ResultVerdict, task: WebTask | None) -> None:
        self.results += 1
        self.done += verdict.passed is True
        self.crashed += result.status != "completed"
        if verdict.lacking:
            self.lacking[verdict.lacking] += 1
        self.told += result.passed is not None
        self.rounds[result.task] = max(result.round, self.rounds.get(result.task, 0))
        self.sites.update(task.sites if task is not None else result.sites)


_ANSWER = (
    *("answer", "steps", "tool_calls", "usage", "cost_usd", "cost", "model"),
    *("finish_reason", "turns"),
)
_FORM = shapes.object_of(
    answer=shapes.TEXT,
    error=shapes.TEXT,
    success=shapes.FLAG,
    state={**shapes.OBJECT, "properties": dict(STATE)},
    **dict[str, CheckedJson](STATE),
)


def recorded_answers(path: Path) -> ResultSource:
    """A file of them. Raises InvalidInput for what is no JSON."""

    def read() -> Iterator[TaskResult | Problem]:
        for item in items(path):
            yield item if isinstance(item, Problem) else _result(item.data, item.place)

    times = [result.started_at for result in read() if isinstance(result, TaskResult)]
    created_at = min(filter(None, times), default=None)
    return ResultSource(
        files=(path,), results=read, version="webarena, recorded", created_at=created_at
    )


def _result(data: CheckedJson, place: Place) -> TaskResult | Problem:
    if wrong := _fault(data):
        return Problem(place, wrong)
    state = {**(data.get("state") or {}), **{k: data[k] for k in STATE if data.get(k) is not None}}
    plain_answer = {key: data[key] for key in _ANSWER if data.get(key) is not None}
    try:
        said = response({"answer": "", **plain_answer})
    except AgentFailure as failure:
        return Problem(place, str(failure))
    result = TaskResult(
        task=id_of(data),
        place=place,
        round=as_count(data.get("round")) or 1,
        passed=data.get("success"),
        response=replace(said, state=state),
        latency_ms=as_amount(data.get("latency_ms")),
        started_at=iso(moment_of(data.get("started_at"))),
    )
    return mark_crashed(result, data["error"]) if data.get("error") else result


def _fault(data: Json) -> str:
    if not isinstance(data, dict) or is_too_deep(data):
        return "must be an object with task_id and answer"
    if not id_of(data):
        return f"task_id: '{tidy(str(data.get('task_id')), 40)}' is not a whole number"
    if wrong := mismatches(_FORM, data):
        return f"{'.'.join(map(str, wrong[0].path))}: {wrong[0].message}"
    if data.get("answer") is None and not data.get("error"):
        return (
            "has neither an answer nor an error; write the answer '' for an agent that said nothing"
        )
    number = data.get("round")
    if number is not None and not 0 < (as_count(number) or 0) <= MOST_ROUNDS:
        return f"round: must be a whole number from 1 to {MOST_ROUNDS}"
    if data.get("success") and data.get("error"):
        return "has both a success and an error - keep one"
    if data.get("started_at") is not None and not moment_of(data["started_at"]):
        return "started_at: not a date and time such as 2026-05-12T14:30:52Z"
    return ""


def is_record(data: Json) -> bool:
    """Whether it is plainly one of these, and of no other benchmark."""
    record = as_object(data)
    signs = STATE.keys() & {*record, *as_object(record.get("state"))}
    return {"task_id", "answer"} <= record.keys() and bool(signs)


# -------------------------------------------------------------------------------------------- tasks


TOOL = "webarena"
_MOST_DIGITS = 9  # of a task's id


@dataclass(frozen=True, slots=True, kw_only=True)
class WebTask:
    """`config` with the addresses of the sites in place of their names."""

    id: str
    config: Mapping[str, CheckedJson]
    checks: Checks

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(self.config["sites"])

    def case(self, suite: ToolSuite) -> Case:
        return suite.case(
            self.id,
            input=self.config["intent"],
            keys=self.config,
            category="+".join(self.sites),
            tags=self.checks.parts,
        )


def tasks_in(path: Path, sites: Mapping[str, str]) -> dict[str, WebTask]:
    """Tasks by id, in their order. Raises InvalidInput with all that is wrong with them."""
    findings, tasks = Findings(), dict[str, WebTask]()
    for item in findings.keep_good(items(path)):
        faults = list(_faults(item.data))
        if not faults and (known := id_of(item.data)) in tasks:
            faults.append(f"task_id: {known} appears twice - keep one")
        for fault in faults:
            findings.add(item.place, fault)
        if not faults:
            config: CheckedJson = with_sites(item.data, sites)
            task = WebTask(id=id_of(config), config=config, checks=checks_of(config["eval"]))
            tasks[task.id] = task
    if not findings and not tasks:
        findings.add(Place(path.as_posix()), "has no task")
    findings.refuse()
    return tasks


def items(path: Path) -> Iterator[JsonLine | Problem]:
    """The items of a JSON list, else the lines, each with its place. Raises InvalidInput."""
    with plain(path).open("rb") as file:
        begins = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    name = path.as_posix()
    if begins[:1] == b"[":
        for n, item in enumerate(as_list(json_of(path))):
            yield JsonLine(Place(name, key=f"[{n}]"), item)
    elif begins in (b"{\n", b"{\r"):  # one object over several lines
        yield JsonLine(Place(name), json_of(path))
    else:
        yield from json_lines(path)


def id_of(data: Json) -> str:
    """`task_id` as text; empty where it is none: a whole number from 0 on, or its digits."""
    value = as_object(data).get("task_id")
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return ""
    if isinstance(value, int):
        return str(value) if 0 <= value < 10**_MOST_DIGITS else ""
    plain_digits = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    return str(int(value)) if plain_digits else ""


def is_task(data: Json) -> bool:
    return isinstance(data, dict) and {"task_id", "intent", "eval"} <= data.keys()


def _faults(data: Json) -> Iterator[str]:
    if not isinstance(data, dict) or is_too_deep(data):
        yield "must be an object with task_id, sites, intent and eval"
        return
    if not id_of(data):
        yield f"task_id: '{tidy(str(data.get('task_id')), 40)}' is not a whole number"
    if not isinstance(data.get("intent"), str) or not data["intent"].strip():
        yield "intent: not a text"
    sites = data.get("sites")
    if not (isinstance(sites, list) and 0 < len(sites) < 20 and all(map(_is_name, sites))):
        yield "sites: not a list of names"
    yield from faults_of(data.get("eval"))


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40 and value.replace("_", "").isalnum()
