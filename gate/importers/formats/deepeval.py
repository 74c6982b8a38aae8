"""A test run of deepeval 4: its cases and their metrics, checked, and each case as a trial.

Read are `test_run_*.json` and `.latest_run_full.json` (keys in camelCase), `evaluate(...)`'s result
as `model_dump` has it, and a list of its test results (snake_case).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path

from gate.agents.traces.values import as_text, first
from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_stream import PYTHON
from gate.files.json_values import (
    as_amount,
    as_boolean,
    as_list,
    as_number,
    as_object,
    as_objects,
    as_string,
    as_strings,
    line_or_none,
)
from gate.files.plain import json_of, plain
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.importers.trials.build import case_of, trial_of, usage_of
from gate.importers.trials.names import (
    CaseIdentity,
    CaseIds,
    mark,
    metric_name,
    number_repeat,
    snake_case,
)
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import (
    MOST_ROUNDS,
    Case,
    CheckedJson,
    Json,
    Response,
    Score,
    ToolCall,
    Trial,
    TrialStatus,
)
from gate.text.escaping import one_line

TOOL = "deepeval"
_NAMED = re.compile(r"test_run_(\d{8}_\d{6})")  # local time, of which it does not write the zone
_LATEST = ".latest_run_full.json"
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")

_LISTS = (
    *("testCases", "conversationalTestCases", "test_results"),
    *("test_cases", "conversational_test_cases"),
)

_TEXT: Json = {"type": ["string", "null"]}
_TEXTS: Json = {"type": ["array", "null"]}
_VERDICT: Json = {"type": ["boolean", "null"]}
_METRIC: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "success": _VERDICT,
        "score": {"type": ["number", "null"]},
        "threshold": {"type": ["number", "null"]},
        "error": _TEXT,
        "flaky": _VERDICT,
    },
    "required": ["name"],
}
CASE: dict[str, Json] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "success": _VERDICT,
        "metrics_data": {"type": ["array", "null"], "items": _METRIC},
        "turns": {"type": ["array", "null"], "items": {"type": "object"}},
        "tools_called": _TEXTS,
        "tags": _TEXTS,
        "metadata": {"type": ["object", "null"]},
        "trace": {"type": ["object", "null"]},
        "expectations_data": {"type": ["object", "null"]},
    },
}
_CHECK = SchemaCheck(CASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """`score` is None where there is none, or none that is a number."""

    name: str
    score: float | None = None
    success: bool | None = None
    threshold: float | None = None
    error: str | None = None
    flaky: bool = False
    model: str = ""
    reason: str = ""
    cost: float = 0.0

    @property
    def broke(self) -> bool:
        """Whether the metric could not judge; deepeval writes that as a failure."""
        return self.error is not None or self.score is None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEvalCase:
    """`data`: with the keys of its own level in snake_case. `inner`: metrics of the spans."""

    place: Place
    data: Mapping[str, CheckedJson] = field(repr=False)
    metrics: tuple[Metric, ...]
    inner: tuple[Metric, ...] = ()

    def text(self, key: str) -> str:
        """The text under a key, also of parts with pictures among them."""
        value = self.data.get(key)
        if isinstance(value, list):
            return "\n".join(as_strings(value))
        return as_string(value)

    @property
    def trace(self) -> Mapping[str, Json]:
        return as_object(self.data.get("trace"))

    @property
    def conversational(self) -> bool:
        return isinstance(self.data.get("turns"), list)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEvalRun:
    path: Path
    head: Mapping[str, Json]
    cases: tuple[DeepEvalCase, ...] = field(repr=False)


def file_of(path: Path) -> Path:
    """The file of the one run that the path is or has. Raises UsageError."""
    if path.name.lower().endswith((".db", ".sqlite")):
        raise UsageError(f"{path}: SQLite is not supported; run with DEEPEVAL_RESULTS_FOLDER set")
    if not path.is_dir():
        return plain(path)
    runs = sorted(path.glob("test_run_*.json")) or sorted(path.glob(_LATEST))
    if len(runs) != 1:
        there = f"{len(runs)} test runs" if runs else "no test_run_*.json"
        raise UsageError(f"{path}: has {there}; give the file of one run")
    return plain(runs[0])


def run_in(path: Path) -> DeepEvalRun:
    """Raises InvalidInput with everything that is wrong with its cases, UsageError for a link."""
    data = json_of(path, decoder=PYTHON)
    head = as_object(data)
    head = as_object(head.get("testRunData")) or head
    findings = Findings()
    written = list(_iterate_cases(data if isinstance(data, list) else head, path))
    cases = tuple(_cases(written, findings))
    if not written:
        findings.add(Place(path.as_posix()), "has no test case - run the evaluation again")
    findings.refuse()
    return DeepEvalRun(path=path, head=_snake(head), cases=cases)


def find_start(run: DeepEvalRun) -> str | None:
    """When its first trace began; else what the file's name says."""
    traces = (case.trace.get("startTime") or case.trace.get("start_time") for case in run.cases)
    times = sorted(one for one in traces if isinstance(one, str))[:1]
    named = _NAMED.match(run.path.name)
    times += [named[1].replace("_", "T")] if named else []
    return next(filter(None, (iso(moment_of(one)) for one in times)), None)


def _iterate_cases(data: Json, path: Path) -> Iterator[tuple[Place, Json]]:
    if isinstance(data, list):
        lists = {"": data}
    else:
        given = as_object(data)
        lists = {key: listed for key in _LISTS if isinstance(listed := given.get(key), list)}
    if not lists:
        message = "not a deepeval test run: it has no `testCases`"
        raise InvalidInput([Problem(Place(path.as_posix()), message)])
    for key, listed in lists.items():
        for n, one in enumerate(listed):
            yield Place(path.as_posix(), None, f"{key}[{n}]"), one


def _cases(written: list[tuple[Place, Json]], findings: Findings) -> Iterator[DeepEvalCase]:
    for place, one in written:
        data = _snake(one) if isinstance(one, dict) else one
        if wrong := _CHECK.list_problems(data, place):
            message = wrong[0].message
            if wrong[0].place.key.startswith(f"{place.key}.metrics_data"):
                message = f"{message} - dump the results with `model_dump`, not with `str`"
            findings.add(wrong[0].place, message)
            continue
        checked = as_object(data)
        yield DeepEvalCase(
            place=place,
            data=checked,
            metrics=tuple(_metrics(checked)),
            inner=tuple(_inner(checked.get("trace"))),
        )


def _snake(data: Mapping[str, Json]) -> dict[str, Json]:
    """Keys of this level alone."""
    return {_HUMP.sub(lambda hump: f"_{hump[1].lower()}", key): one for key, one in data.items()}


def _metrics(data: Mapping[str, CheckedJson]) -> Iterator[Metric]:
    for one in data.get("metrics_data") or ():
        yield _metric(_snake(one))
    expected = data.get("expectations_data")
    if isinstance(expected, dict):  # the test run keeps them apart from the metrics
        own = _snake(expected)
        own["success"] = as_boolean(own.get("success"))
        yield _metric({**own, "name": "expectations"})


def _metric(data: Mapping[str, CheckedJson]) -> Metric:
    error = data.get("error")
    return Metric(
        name="expectations" if data.get("expectations_data") else str(data["name"]),
        score=as_number(data.get("score")),
        success=data.get("success"),
        threshold=as_number(data.get("threshold")),
        error=str(error) if error else None,
        flaky=data.get("flaky") is True,
        model=as_string(data.get("evaluation_model")),
        reason=as_string(data.get("reason")),
        cost=as_number(data.get("evaluation_cost")) or 0.0,
    )


def _inner(trace: Json) -> Iterator[Metric]:
    """Metrics of a trace's spans, which decide on the case as well."""
    lists = (spans for key, spans in as_object(trace).items() if key.lower().endswith("spans"))
    for span in chain.from_iterable(map(as_objects, lists)):
        for written in as_objects(_snake(span).get("metrics_data")):
            if isinstance(written.get("name"), str):
                metric = _snake(written)
                metric["success"] = as_boolean(metric.get("success"))
                yield _metric(metric)


# ------------------------------------------------------------------------------------------- trials


ERROR, TIMEOUT, NO_OUTPUT = "agent_error", "timeout", "no_output"
_SHOWN_ERROR = 500  # characters of an error
_TIMED_OUT = re.compile(r"timed out|time-?out", re.IGNORECASE)


def failure(case: DeepEvalCase) -> tuple[TrialStatus, str, str] | None:
    """Status, code and message of an answer that never came; None if one did."""
    if case.conversational or case.text("actual_output"):
        return None
    said = next(_errors(case.trace), "")
    if case.trace.get("status") == "ERRORED":
        if is_nobodys(said):
            return "infra_error", ERROR, said
        return "agent_error", TIMEOUT if _TIMED_OUT.search(said) else ERROR, said or "no message"
    if case.data.get("success") is False and all(metric.broke for metric in case.metrics):
        return "agent_error", NO_OUTPUT, "no output that a metric could judge"
    return None


def _errors(trace: Mapping[str, Json]) -> Iterator[str]:
    """Errors in which spans ended, those of the agent first."""
    kinds = [key for key in trace if key.lower().endswith("spans")]
    kinds.sort(key=lambda key: (not key.startswith("agent"), key))
    for key in kinds:
        errors = (line_or_none(span.get("error"), _SHOWN_ERROR) for span in as_objects(trace[key]))
        yield from filter(None, errors)


def answer_of(case: DeepEvalCase) -> Response:
    turns = case.data.get("turns") if case.conversational else None
    turns_of_agent = [turn for turn in turns or () if turn.get("role") == "assistant"]
    last = turns_of_agent[-1].get("content") if turns_of_agent else None
    return Response(
        answer=last if isinstance(last, str) else case.text("actual_output"),
        steps=_steps([case.data] if turns is None else turns_of_agent),
        context=_context([case.data] if turns is None else turns_of_agent),
        usage=usage_of(
            input=case.data.get("input_token_count"),
            output=case.data.get("output_token_count"),
            cost_usd=case.data.get("token_cost"),
        ),
        turns=None if turns is None else len(turns_of_agent),
    )


def latency_ms(case: DeepEvalCase) -> float | None:
    """deepeval's `completionTime`, which is in seconds, else how long the trace took."""
    seconds = as_amount(case.data.get("completion_time"))
    if seconds is not None:
        return seconds * 1000.0
    ends = [
        case.trace.get(camel) or case.trace.get(snake)
        for camel, snake in (("startTime", "start_time"), ("endTime", "end_time"))
    ]
    try:
        first, last = (datetime.fromisoformat(str(one)) for one in ends)
        return as_amount((last - first).total_seconds() * 1000.0)
    except (ValueError, TypeError):  # not there, or with and without a zone
        return None


def _steps(places: list[Mapping[str, Json]]) -> tuple[ToolCall, ...] | None:
    """Unknown where none of them says anything of tools."""
    listed = [(n, first(one, "tools_called", "toolsCalled")) for n, one in enumerate(places)]
    if not any(isinstance(calls, list) for _, calls in listed):
        return None
    return tuple(
        ToolCall(
            name=str(call["name"]),
            arguments=first(call, "inputParameters", "input_parameters"),
            result=call.get("output"),
            turn=n,
        )
        for n, calls in listed
        for call in as_objects(calls)
        if isinstance(call.get("name"), str)
    )


def _context(places: list[Mapping[str, Json]]) -> str | None:
    listed = [first(place, "retrieval_context", "retrievalContext") for place in places]
    parts = [part for parts in listed for part in as_list(parts)]
    texts = [
        as_text(part.get("context", part) if isinstance(part, dict) else part) for part in parts
    ]
    known = any(isinstance(items, list) for items in listed)
    return "\n\n".join(filter(None, texts)) if known else None


_SHOWN_REASON = 300  # characters of a reason
_NUMBERED = re.compile(r"(?:conversational_)?test_case_\d+")  # deepeval's own name: its place
FAILED = "failed"  # by something that the run does not keep


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTestCase:
    """A case with its place in the session."""

    case: DeepEvalCase
    suite: str
    case_id: str
    digest: str
    round: int


def place_cases(run: DeepEvalRun, suite: str) -> Iterator[PlacedTestCase]:
    """Equal cases are rounds if all are equally many. Conversations get a suite of their own."""
    mixed = len({one.conversational for one in run.cases}) > 1
    known = [_identify(one) for one in run.cases]
    ids = CaseIds(known)
    names = [
        f"{suite[:86]}-conversations" if mixed and one.conversational else suite
        for one in run.cases
    ]
    keys = [(name, ids.of(one)) for name, one in zip(names, known, strict=True)]
    each = {*Counter(keys).values()}
    rounds = min(*each, MOST_ROUNDS) if len(each) == 1 else 1
    counts: Counter[tuple[str, str]] = Counter()
    for key, case, told in zip(keys, run.cases, known, strict=True):
        counts[key] += 1
        case_id, number = number_repeat(key[1], counts[key], rounds)
        yield PlacedTestCase(
            case=case, suite=key[0], case_id=case_id, digest=told.digest, round=number
        )


def _identify(case: DeepEvalCase) -> CaseIdentity:
    name = one_line(case.text("name"), 120)
    asked = _question(case)
    decides = {key: case.data.get(key) for key in _DECIDES if case.data.get(key)}
    return CaseIdentity(
        title="" if _NUMBERED.fullmatch(name) else name,
        asked=asked,
        words=one_line(asked, 60),
        digest=mark(asked, decides),
    )


_DECIDES = ("expected_output", "context", "expected_tools", "expected_outcome", "scenario")


def _question(case: DeepEvalCase) -> str:
    """The input; of a conversation its scenario, or what the user said first."""
    if not case.conversational:
        return case.text("input")
    turns = case.data.get("turns") or ()
    said = (turn.get("content") for turn in turns if turn.get("role") == "user")
    first = next(iter(as_strings([*said])), "")
    return case.text("scenario") or first


# ---------------------------------------------------------------------------------------- judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScore:
    passed: bool | None
    scores: Mapping[str, Score]
    failures: tuple[str, ...]


def judge_case(case: DeepEvalCase) -> CaseScore:
    """deepeval's verdict; a metric that ended in an error has no say, unlike in deepeval."""
    deciding = [one for one in (*case.metrics, *case.inner) if not one.flaky]
    failing = [metric for metric in deciding if metric.success is False and not metric.broke]
    broken = [one for one in deciding if one.broke and one.success is not True]
    passed = case.data.get("success")
    if passed is False and broken and not failing:
        passed = None
    codes = [snake_case(one.name) for one in failing] or [FAILED]
    return CaseScore(
        passed=passed,
        scores=dict(_scores(case.metrics, failed=passed is False)),
        failures=tuple(dict.fromkeys(codes)) if passed is False else (),
    )


def contradiction(case: DeepEvalCase) -> str:
    """What deepeval could not have written; "" if nothing."""
    fails = (metric.name for metric in case.metrics if metric.success is False and not metric.flaky)
    wrong = next(fails, None)
    if case.data.get("success") is True and wrong is not None:
        return f"success is true, but its metric {wrong[:80]!a} failed - run the evaluation again"
    return ""


def _scores(metrics: Sequence[Metric], *, failed: bool) -> Iterator[tuple[str, Score]]:
    """Column -> score; a metric that is there twice has the mean."""
    groups: dict[str, list[Metric]] = {}
    for one in metrics:
        groups.setdefault(column_of(one), []).append(one)
    for column, group in groups.items():
        broken = next((one for one in group if one.broke), None)
        if broken is not None:
            why = one_line(broken.error or "it returned no score", _SHOWN_REASON)
            yield column, Score(unscored=why)
            continue
        values = [metric.score for metric in group if metric.score is not None]
        fails = any(one.success is False for one in group)
        says = None if all(one.success is None or one.flaky for one in group) else not fails
        reason = next((one.reason for one in group if one.reason), "")
        score = Score(
            values={column: sum(values) / len(values)},
            passed=None if says is False and not failed else says,
            reason=one_line(reason, _SHOWN_REASON),
        )
        yield column, score


def column_of(metric: Metric) -> str:
    return metric_name(TOOL, metric.name)


def trial(placed: PlacedTestCase) -> Trial:
    case = _case(placed)
    broke = failure(placed.case)
    if broke is None:
        judged = judge_case(placed.case)
        return trial_of(
            TOOL,
            placed.suite,
            case,
            round=placed.round,
            passed=judged.passed,
            failures=judged.failures,
            scores=judged.scores,
            response=answer_of(placed.case),
            latency_ms=latency_ms(placed.case),
        )
    status, code, said = broke
    columns = sorted({column_of(metric) for metric in placed.case.metrics})
    agents = status == "agent_error"
    return trial_of(
        TOOL,
        placed.suite,
        case,
        round=placed.round,
        status=status,
        failures=(code,) if agents else (),
        scores={TOOL: Score(values=dict.fromkeys(columns, 0.0))} if agents else {},
        error=said,
    )


def _case(placed: PlacedTestCase) -> Case:
    data = placed.case.data
    tags, metadata = data.get("tags") or (), data.get("metadata") or {}
    category = metadata.get("category")
    return case_of(
        TOOL,
        placed.suite,
        placed.case_id,
        input=_question(placed.case),
        keys=dict(_keys(placed.case)),
        category=one_line(category, 200) if isinstance(category, str) else None,
        tags=[one_line(tag, 200) for tag in tags if isinstance(tag, str)],
        digest=placed.digest,
        place=placed.case.place,
    )


def _keys(case: DeepEvalCase) -> Iterator[tuple[str, Json]]:
    """What is expected, as our datasets spell it."""
    if text := case.text("expected_output") or case.text("expected_outcome"):
        yield "expected_answer", text
    context = case.data.get("context")
    if isinstance(context, list) and all(isinstance(part, str) for part in context):
        yield "context", "\n\n".join(context)
    calls = as_objects(case.data.get("expected_tools"))
    if calls and all(isinstance(call.get("name"), str) for call in calls):
        yield "expected_tool_calls", [_call(call) for call in calls]


def _call(call: Mapping[str, Json]) -> dict[str, Json]:
    args = call.get("inputParameters") or call.get("input_parameters")
    return {"name": call["name"], **({"args": args} if isinstance(args, dict) else {})}
