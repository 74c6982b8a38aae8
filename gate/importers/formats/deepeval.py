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

from gate.agents.traces.values import as_text
from gate.errors import Place, UsageError
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
from gate.files.problems import Findings, refuse_file
from gate.files.timestamps import iso, moment_of
from gate.importers.trials import build, names, shapes
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
from gate.text.shortening import tidy

TOOL = "deepeval"
_NAMED = re.compile(r"test_run_(\d{8}_\d{6})")  # local time, of which it does not write the zone
_LATEST = ".latest_run_full.json"
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")

_LISTS = (
    *("testCases", "conversationalTestCases", "test_results"),
    *("test_cases", "conversational_test_cases"),
)

_METRIC = shapes.object_of(
    "name",
    name=shapes.WORD,
    success=shapes.FLAG,
    score=shapes.NUMBER,
    threshold=shapes.NUMBER,
    error=shapes.TEXT,
    flaky=shapes.FLAG,
)
_CHECK = SchemaCheck(
    shapes.object_of(
        name=shapes.TEXT,
        success=shapes.FLAG,
        metrics_data={**shapes.LIST, "items": _METRIC},
        turns={**shapes.LIST, "items": {"type": "object"}},
        tools_called=shapes.LIST,
        tags=shapes.LIST,
        metadata=shapes.OBJECT,
        trace=shapes.OBJECT,
        expectations_data=shapes.OBJECT,
    )
)


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
        """With the keys of its own level in snake_case, too."""
        return _snake(as_object(self.data.get("trace")))

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
        raise UsageError(
            f"{path}: SQLite files cannot be imported; set DEEPEVAL_RESULTS_FOLDER, run "
            "deepeval again, and give a test_run_*.json of that folder"
        )
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
    times = sorted(as_strings([case.trace.get("start_time") for case in run.cases]))[:1]
    named = _NAMED.match(run.path.name)
    times += [named[1].replace("_", "T")] if named else []
    return next(filter(None, (iso(moment_of(one)) for one in times)), None)


def _iterate_cases(data: Json, path: Path) -> Iterator[tuple[Place, Json]]:
    given = {"": data} if isinstance(data, list) else as_object(data)
    lists = {key: given[key] for key in ("", *_LISTS) if isinstance(given.get(key), list)}
    if not lists:
        message = "not a deepeval test run: it has no `testCases` - give a test_run_*.json"
        refuse_file(path, message)
    for key, listed in lists.items():
        for n, one in enumerate(as_list(listed)):
            yield Place(path.as_posix(), None, f"{key}[{n}]"), one


def _cases(written: list[tuple[Place, Json]], findings: Findings) -> Iterator[DeepEvalCase]:
    for place, one in written:
        data = _snake(one) if isinstance(one, dict) else one
        if wrong := _CHECK.list_problems(data, place):
            message = wrong[0].message
            if wrong[0].place.key.startswith(f"{place.key}.metrics_data"):
                message = f"{message} - save the results with `model_dump()`, not with `str()`"
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
    yield from map(_metric, as_objects(data.get("metrics_data")))
    expected = data.get("expectations_data")
    if isinstance(expected, dict):  # the test run keeps them apart from the metrics
        yield _metric({**expected, "name": "expectations"})


def _metric(written: Mapping[str, CheckedJson]) -> Metric:
    data = _snake(written)
    error = data.get("error")
    return Metric(
        name="expectations" if data.get("expectations_data") else str(data["name"]),
        score=as_number(data.get("score")),
        success=as_boolean(data.get("success")),
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
        listed = as_objects(_snake(span).get("metrics_data"))
        yield from (_metric(one) for one in listed if isinstance(one.get("name"), str))


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
        return "agent_error", NO_OUTPUT, "the case has no output, so no metric could judge it"
    return None


def _errors(trace: Mapping[str, Json]) -> Iterator[str]:
    """Errors in which spans ended, those of the agent first."""
    kinds = [key for key in trace if key.lower().endswith("spans")]
    kinds.sort(key=lambda key: (not key.startswith("agent"), key))
    for span in chain.from_iterable(as_objects(trace[key]) for key in kinds):
        if error := line_or_none(span.get("error"), _SHOWN_ERROR):
            yield error


def answer_of(case: DeepEvalCase) -> Response:
    turns = [_snake(turn) for turn in case.data.get("turns") or ()]
    answers = [turn for turn in turns if turn.get("role") == "assistant"]
    last = answers[-1].get("content") if answers else None
    places = answers if case.conversational else [case.data]
    return Response(
        answer=last if isinstance(last, str) else case.text("actual_output"),
        steps=_steps(places),
        context=_context(places),
        usage=build.usage_of(
            input=case.data.get("input_token_count"),
            output=case.data.get("output_token_count"),
            cost_usd=case.data.get("token_cost"),
        ),
        turns=len(answers) if case.conversational else None,
    )


def latency_ms(case: DeepEvalCase) -> float | None:
    """deepeval's `completionTime`, which is in seconds, else how long the trace took."""
    seconds = as_amount(case.data.get("completion_time"))
    if seconds is not None:
        return seconds * 1000.0
    ends = (str(case.trace.get(key)) for key in ("start_time", "end_time"))
    try:
        first, last = map(datetime.fromisoformat, ends)
        return as_amount((last - first).total_seconds() * 1000.0)
    except (ValueError, TypeError):  # not there, or with and without a zone
        return None


def _steps(places: Sequence[Mapping[str, Json]]) -> tuple[ToolCall, ...] | None:
    """Unknown where none of them says anything of tools."""
    if not any(isinstance(place.get("tools_called"), list) for place in places):
        return None
    return tuple(
        ToolCall(
            name=str(call["name"]),
            arguments=_snake(call).get("input_parameters"),
            result=call.get("output"),
            turn=n,
        )
        for n, place in enumerate(places)
        for call in as_objects(place.get("tools_called"))
        if isinstance(call.get("name"), str)
    )


def _context(places: Sequence[Mapping[str, Json]]) -> str | None:
    listed = [place.get("retrieval_context") for place in places]
    if not any(isinstance(items, list) for items in listed):
        return None
    parts = chain.from_iterable(map(as_list, listed))
    found = (part.get("context", part) if isinstance(part, dict) else part for part in parts)
    return "\n\n".join(filter(None, map(as_text, found)))


_SHOWN_REASON = 300  # characters of a reason
_NUMBERED = re.compile(r"(?:conversational_)?test_case_\d+")  # deepeval's own name: its place
FAILED = "failed"  # by something that the run does not keep


PlacedCase = build.PlacedResult[DeepEvalCase]


def place_cases(run: DeepEvalRun, suite: str) -> Iterator[PlacedCase]:
    """Equal cases are rounds if all are equally many. Conversations get a suite of their own."""
    mixed = len({one.conversational for one in run.cases}) > 1
    known = [_identify(one) for one in run.cases]
    ids = names.CaseIds(known)
    suites = [
        f"{suite[:86]}-conversations" if mixed and one.conversational else suite
        for one in run.cases
    ]
    each = {*Counter(zip(suites, map(ids.of, known), strict=True)).values()}
    rounds = min(*each, MOST_ROUNDS) if len(each) == 1 else 1
    found = zip(suites, known, run.cases, strict=True)
    return build.place_results(TOOL, found, ids, rounds)


def _identify(case: DeepEvalCase) -> names.CaseIdentity:
    name = tidy(case.text("name"), 120)
    asked = _question(case)
    decides = {key: case.data.get(key) for key in _DECIDES if case.data.get(key)}
    return names.CaseIdentity(
        title="" if _NUMBERED.fullmatch(name) else name,
        asked=asked,
        words=tidy(asked, 60),
        digest=names.mark(asked, decides),
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
    codes = [names.snake_case(one.name) for one in failing] or [FAILED]
    return CaseScore(
        passed=passed,
        scores=dict(_scores(case.metrics, failed=passed is False)),
        failures=tuple(dict.fromkeys(codes)) if passed is False else (),
    )


def _judge_failure(case: DeepEvalCase, status: TrialStatus, code: str) -> CaseScore:
    """Of an answer that never came: 0 in each metric, where that is the agent's failure."""
    if status != "agent_error":
        return CaseScore(passed=None, scores={}, failures=())
    columns = sorted({column_of(metric) for metric in case.metrics})
    scores = {TOOL: Score(values=dict.fromkeys(columns, 0.0))}
    return CaseScore(passed=None, scores=scores, failures=(code,))


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
            why = tidy(broken.error or "the metric returned no score", _SHOWN_REASON)
            yield column, Score(unscored=why)
            continue
        values = [metric.score for metric in group if metric.score is not None]
        fails = any(one.success is False for one in group)
        says = None if all(one.success is None or one.flaky for one in group) else not fails
        reason = next((one.reason for one in group if one.reason), "")
        score = Score(
            values={column: sum(values) / len(values)},
            passed=None if says is False and not failed else says,
            reason=tidy(reason, _SHOWN_REASON),
        )
        yield column, score


def column_of(metric: Metric) -> str:
    return names.metric_name(TOOL, metric.name)


def trial(placed: PlacedCase) -> Trial:
    case = placed.result
    status, code, said = failure(case) or ("completed", "", None)
    judged = judge_case(case) if status == "completed" else _judge_failure(case, status, code)
    return placed.suite.trial(
        _case(placed),
        round=placed.round,
        status=status,
        passed=judged.passed,
        failures=judged.failures,
        scores=judged.scores,
        response=answer_of(case) if status == "completed" else None,
        latency_ms=latency_ms(case) if status == "completed" else None,
        error=said,
    )


def _case(placed: PlacedCase) -> Case:
    data = placed.result.data
    category = as_object(data.get("metadata")).get("category")
    return placed.suite.case(
        placed.case_id,
        input=_question(placed.result),
        keys=dict(_keys(placed.result)),
        category=tidy(category, 200) if isinstance(category, str) else None,
        tags=[tidy(tag, 200) for tag in as_strings(data.get("tags"))],
        digest=placed.digest,
        place=placed.result.place,
    )


def _keys(case: DeepEvalCase) -> Iterator[tuple[str, Json]]:
    """What is expected, as our datasets spell it."""
    if text := case.text("expected_output") or case.text("expected_outcome"):
        yield "expected_answer", text
    context = case.data.get("context")
    if isinstance(context, list) and all(isinstance(part, str) for part in context):
        yield "context", "\n\n".join(context)
    calls = [_snake(call) for call in as_objects(case.data.get("expected_tools"))]
    if calls and all(isinstance(call.get("name"), str) for call in calls):
        yield (
            "expected_tool_calls",
            [
                {"name": call["name"], **({"args": args} if isinstance(args, dict) else {})}
                for call in calls
                for args in [call.get("input_parameters")]
            ],
        )
