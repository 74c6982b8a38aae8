"""One result of WebArena, wherever it was found, and as a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gate.errors import Place
from gate.graders.webarena_rules.evaluation import TaskVerdict, evaluate
from gate.graders.webarena_rules.metrics import NOT_EVALUABLE, SUCCESS, of_site
from gate.graders.webarena_rules.recorded import read_recorded
from gate.importers.formats.webarena.tasks import TOOL, WebTask
from gate.importers.trials.build import AT_THE_SOURCE, case_of, trial_of
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Case, Response, Trial, TrialStatus
from gate.text.escaping import one_line

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
class ResultVerdict:
    """`passed` None: nothing says. `clash`: what the source says and what its record comes to."""

    passed: bool | None
    codes: tuple[str, ...] = ()
    reason: str = ""
    lacking: str = ""  # what of the record is missing, so that it cannot be judged
    clash: str = ""


def verdict_on(result: TaskResult, task: WebTask | None) -> ResultVerdict:
    """What the source says of a result; else what the benchmark's rules make of the record. Raises
    ValueError where the task stands in the way of that.
    """
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
        found = _evaluate(result, task)
    except ValueError:
        return ""  # addresses are not known: nothing to check it by
    if found.score is None or bool(found.score) is result.passed:
        return ""
    told = "; ".join(found.wrong.values()) or "every part of it holds"
    says = "passed" if result.passed else "failed"
    return f"the source says {says}, and by what it recorded: {one_line(told, 200)}"


def trial(
    suite: str,
    result: TaskResult,
    task: WebTask | None,
    verdict: ResultVerdict,
    sites: Iterable[str],
) -> Trial:
    """`sites`: those of the whole suite, which each have a column."""
    case = task.case(suite) if task is not None else _case(suite, result)
    own = task.sites if task is not None else result.sites
    done = float(bool(verdict.passed))
    values: Mapping[str, float | None] = {
        SUCCESS: done,
        NOT_EVALUABLE: float(bool(verdict.lacking)),
        **{of_site(site): done if site in own else None for site in sites},
    }
    return trial_of(
        TOOL,
        suite,
        case,
        round=result.round,
        status=result.status,
        passed=verdict.passed,
        failures=() if verdict.passed else verdict.codes,
        values=values,
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
        error=one_line(said, 500) or "the source has no result of this task",
        response=None,
    )


def missing_result(task: str, place: Place) -> TaskResult:
    return TaskResult(
        task=task,
        place=place,
        status="agent_error",
        codes=(MISSING,),
        error="the source has no result of this task",
        whole=False,
    )


def _case(suite: str, result: TaskResult) -> Case:
    category = "+".join(result.sites) or None
    return case_of(TOOL, suite, result.task, input=result.intent, category=category)


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
