"""A trace, or the traces of a conversation, as one run of an agent, and the run as a trial."""

from __future__ import annotations

import hashlib
import marshal
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from gate.agents.traces.otel import trace_of
from gate.agents.traces.otel_facts import AgentCall, ModelCall, fill_gaps
from gate.agents.traces.otel_spans import TraceSpan, in_order
from gate.agents.traces.values import as_text
from gate.errors import AgentFailure
from gate.files.json_values import as_number
from gate.importers.formats.otel.group_spans import Group
from gate.importers.formats.otel.span_filter import EVALUATION, KeptSpans, keep_spans
from gate.importers.trials.build import AT_THE_SOURCE, ToolSuite, score_metric
from gate.importers.trials.conversations import response_of
from gate.importers.trials.names import metric_name, suite_name
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import (
    Document,
    Json,
    MetricSpec,
    Response,
    Score,
    ToolCall,
    Trial,
    TrialStatus,
    Usage,
)
from gate.text.shortening import tidy

BY_QUESTION, BY_TRACE = "question", "trace"
_CASE_ID = 200  # characters
_TITLE = 60  # characters of one that come from a question
_ERROR = 2_000
_LATE = 1 << 63  # of a span that does not say when it began


class TracedRun(NamedTuple):
    """`start` in ns, None: nobody knows. `failed`: how it ended, of one that did."""

    key: str
    suite: str
    case: str
    question: str
    start: int | None
    latency_ms: float | None
    failed: str | None
    nobodys: bool  # nobody answered: no failure of the agent
    results: tuple[SpanScore, ...]
    response: Response

    @property
    def passed(self) -> bool | None:
        return opinion(self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """`case`: an attribute, BY_QUESTION or BY_TRACE; `suite`: "" stands for the service's name."""

    case: str
    suite: str = ""

    @property
    def also(self) -> frozenset[str]:
        """The attributes that are read for it."""
        return frozenset({self.case} - {BY_QUESTION, BY_TRACE})


@dataclass(slots=True)
class Oddities:
    """What is wrong with runs, by file and line, and what is worth a note."""

    wrong: list[tuple[int, int, str]] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)


def run_of(group: Group, naming: Naming, odd: Oddities) -> TracedRun | None:
    """The run that a group of spans is; None where something is wrong (in `odd`)."""
    spans = _each_once(group, odd)
    order = in_order([span.span for span in spans])
    key = group.conversation or spans[0].span.trace
    try:
        response = _response(order, group.beyond)
    except AgentFailure as failure:
        file, line, _ = group.kept[0]
        message = f"trace {spans[0].span.trace}: {failure} - remove the trace, or export it again"
        odd.wrong.append((file, line, tidy(message, 500)))
        return None
    asked = _find_question(order)
    roots = _roots([span.span for span in spans])
    latency, backwards = _latency_ms(roots)
    failed = _find_error(roots, order, response)
    odd.counted["without content"] += not asked and not response.answer
    odd.counted["too long"] += group.beyond > 0
    return TracedRun(
        key=key,
        suite=naming.suite or _suite(order, spans),
        case=_case(naming, order, asked, key, odd.counted),
        question=asked,
        start=min((s.start for s in (*roots, *order) if s.start is not None), default=None),
        latency_ms=latency,
        failed=failed,
        nobodys=failed is not None and _nobodys(failed, roots),
        results=collect_scores(span.span for span in spans),
        response=replace(response, trace_faults=(*response.trace_faults, *backwards)),
    )


def _each_once(group: Group, odd: Oddities) -> list[KeptSpans]:
    """The group's spans without repeats; events that were logged go to their spans."""
    kept: dict[tuple[str, str, int], tuple[int, int, KeptSpans]] = {}
    logged: list[TraceSpan] = []
    for n, (file, line, data) in enumerate(group.kept):
        one = keep_spans(data)
        span = one.span
        if one.logged:
            logged.append(span)
            continue
        own = (file, line, one)
        same = kept.setdefault((span.trace, span.id, 0 if span.id else n), own)
        if same is not own:
            odd.counted["twice"] += 1
            if same[2].span != span:
                where = f"line {same[1]}" if same[0] == file else f"line {same[1]} of another file"
                message = (
                    f"span {tidy(span.id, 40)} is also in {where}, with different content - "
                    "remove one of the two"
                )
                odd.wrong.append((file, line, message))
    for event in logged:
        to = (event.trace, event.id, 0)
        if to not in kept:
            to = next(key for key in kept if key[0] == event.trace)
        file, line, one = kept[to]
        own_span = one.span
        facts = fill_gaps(own_span.facts, event.facts) if to[1] == event.id else own_span.facts
        own_span = own_span._replace(facts=facts, events=(*own_span.events, *event.events))
        kept[to] = (file, line, one._replace(span=own_span))
    return [one for _, _, one in kept.values()]


def _response(order: list[TraceSpan], beyond: int) -> Response:
    """Raises AgentFailure."""
    response = response_of(trace_of(order))
    if not beyond:
        return response
    more = f"{beyond:,} spans too many were not read, so tokens, cost and turns are unknown"
    faults = (*response.trace_faults, more)
    return replace(response, usage=Usage(), turns=None, trace_faults=faults)


def _find_question(order: Sequence[TraceSpan]) -> str:
    """What the outermost agent was asked, else the first model call; later ones repeat it."""
    told = (span.facts for span in order)
    agents = [facts.asked for facts in told if isinstance(facts, AgentCall)]
    models = (span.facts.asked for span in order if isinstance(span.facts, ModelCall))
    return next(filter(None, agents), None) or next(models, None) or ""


def _suite(order: Sequence[TraceSpan], spans: Iterable[KeptSpans]) -> str:
    """The service of the outermost span that counts."""
    services = {(span.span.trace, span.span.id): span.service for span in spans}
    service = services[order[0].trace, order[0].id] if order else ""
    return suite_name(service, "otel")


def _case(
    naming: Naming, order: Sequence[TraceSpan], asked: str, key: str, counts: Counter[str]
) -> str:
    for name in naming.also:
        told = (as_text(s.attributes[name]) for s in order if s.attributes.get(name) is not None)
        named = next(filter(None, told), "")
        if named:
            return _shorten_id(named)
        counts["without the attribute"] += 1
    if asked and naming.case != BY_TRACE:
        digits = hashlib.sha256(asked.encode(errors="backslashreplace")).hexdigest()[:8]
        return f"{tidy(asked[:_TITLE], _TITLE)} {digits}".strip()
    return _shorten_id(key)


def _shorten_id(text: str) -> str:
    if len(text) <= _CASE_ID:
        return text
    return f"{text[: _CASE_ID - 13]}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _roots(spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """The outermost span of each trace, by time: without a parent, or with an unknown one."""
    there = {(span.trace, span.id) for span in spans}
    roots: dict[str, tuple[tuple[bool, int], TraceSpan]] = {}
    for span in spans:
        if span.parent and (span.trace, span.parent) in there and span.parent != span.id:
            continue
        rank = (bool(span.parent), _LATE if span.start is None else span.start)
        if span.trace not in roots or rank < roots[span.trace][0]:
            roots[span.trace] = (rank, span)
    return [span for rank, span in sorted(roots.values(), key=lambda one: one[0][1])]


def _latency_ms(roots: Sequence[TraceSpan]) -> tuple[float | None, tuple[str, ...]]:
    """How long all of them took together, and what is odd about it."""
    took = [
        None if span.start is None or span.end is None else (span.end - span.start) / 1e6
        for span in roots
    ]
    if any(one is not None and one < 0 for one in took):
        return None, ("the outermost span ends before it starts: the latency is unknown",)
    known = [duration for duration in took if duration is not None]
    return (sum(known) if known and len(known) == len(took) else None), ()


def _find_error(
    roots: Sequence[TraceSpan], order: Sequence[TraceSpan], response: Response
) -> str | None:
    """The error of the last outermost span, else of the agent's span if no answer came."""
    error = roots[-1].error if roots else None
    if roots and error is None and not response.answer:
        last = [span for span in order if span.trace == roots[-1].trace]
        error = last[0].error if last and last[0].kind in ("agent", "llm") else None
    return None if error is None else error[:_ERROR]


def _nobodys(failed: str, roots: Sequence[TraceSpan]) -> bool:
    kind = as_text(roots[-1].attributes.get("error.type")) if roots else ""
    status = int(kind) if len(kind) == 3 and kind.isdecimal() else None
    return is_nobodys(failed, status) or is_nobodys(kind)


_FAILED = "agent_error"
_PARTS = {kind: tuple(field.name for field in fields(kind)) for kind in (ToolCall, Usage, Document)}
_TAKEN = {kind: attrgetter(*names) for kind, names in _PARTS.items()}
_PLAIN = ("answer", "model", "finish_reason", "turns", "omitted_steps", "trace_faults")
_plain = attrgetter(*_PLAIN)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


# Suite, case, start in ns, key, digest of its question, and its metrics: does it say pass or fail?
RunEntry = tuple[str, str, int | None, str, bytes, list[tuple[str, bool]]]
# Runs with their data, what is wrong (file, line, message), and how much is odd.
FoundRuns = tuple[list[tuple[RunEntry, bytes]], list[tuple[int, int, str]], dict[str, int]]


def runs_of(request: tuple[str, str, list[tuple[object, ...]]]) -> FoundRuns:
    """Entry and data of each group's run, as plain values, what is wrong, and what is odd."""
    case, suite, groups = request
    naming, odd = Naming(case=case, suite=suite), Oddities()
    runs = []
    for group in groups:
        run = run_of(Group._make(group), naming, odd)
        if run is not None:
            runs.append((_entry(run), pack_run(run)))
    return runs, odd.wrong, dict(odd.counted)


def _entry(run: TracedRun) -> RunEntry:
    """What is to be known of it before it is a trial."""
    asked = hashlib.sha256(run.question.encode()).digest()[:8]
    metrics = [(result.metric, result.passed is not None) for result in run.results]
    return run.suite, run.case, run.start, run.key, asked, metrics


def pack_run(run: TracedRun) -> bytes:
    response = run.response
    documents = response.retrieved
    return marshal.dumps(
        (
            *run[:-2],
            tuple(map(tuple, run.results)),
            (
                _plain(response),
                tuple(map(_TAKEN[ToolCall], response.steps or ())),
                _TAKEN[Usage](response.usage),
                None if documents is None else tuple(map(_TAKEN[Document], documents)),
            ),
        )
    )


def unpack_run(data: bytes) -> TracedRun:
    *own, results, (plain, steps, usage, documents) = marshal.loads(data)  # noqa: S302 - ours
    response = Response(
        **dict(zip(_PLAIN, plain, strict=True)),
        steps=tuple(ToolCall(**dict(zip(_PARTS[ToolCall], s, strict=True))) for s in steps),
        usage=Usage(**dict(zip(_PARTS[Usage], usage, strict=True))),
        retrieved=None
        if documents is None
        else tuple(Document(**dict(zip(_PARTS[Document], d, strict=True))) for d in documents),
    )
    return TracedRun._make((*own, tuple(map(SpanScore._make, results)), response))


def trial(run: TracedRun, number: int) -> Trial:
    """`number`: which time it was, from 1, that the case was asked."""
    failed: TrialStatus = "infra_error" if run.nobodys else "agent_error"
    status = "completed" if run.failed is None else failed
    suite = ToolSuite(TOOL, run.suite)
    return suite.trial(
        suite.case(run.case, input=run.question),
        round=number,
        status=status,
        passed=run.passed,
        failures=(_FAILED,) if status == "agent_error" else (),
        scores={result.metric: result.score() for result in run.results},
        response=run.response,
        latency_ms=run.latency_ms,
        error=run.failed,
        started_at=AT_THE_SOURCE if run.start is None else moment(run.start),
    )


def moment(ns: int) -> str:
    """ISO 8601, UTC, to the millisecond, rounded down."""
    at = _BEGINNING + timedelta(milliseconds=ns // 1_000_000)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -------------------------------------------------------------------------------------- evaluations


TOOL = "otel"
_PREFIX = "gen_ai.evaluation."
_LABELS = {"pass": True, "passed": True, "fail": False, "failed": False}
_REASON = 2_000  # characters


class SpanScore(NamedTuple):
    """What one evaluation said of a trace: `metric` is its name, `unscored` why no value."""

    metric: str
    value: float | None
    passed: bool | None
    reason: str
    unscored: str | None

    def score(self) -> Score:
        values = {} if self.unscored else {self.metric: self.value}
        told = None if self.unscored else self.passed
        return Score(values=values, passed=told, reason=self.reason, unscored=self.unscored)


def collect_scores(spans: Iterable[TraceSpan]) -> tuple[SpanScore, ...]:
    """Scores by name, first told first; of several the mean, and all have to pass."""
    by_name: dict[str, list[Mapping[str, Json]]] = {}
    for span in spans:
        for event, told in span.events:
            if event == EVALUATION:
                name = as_text(told.get(f"{_PREFIX}name"))
                by_name.setdefault(metric_name(TOOL, name), []).append(told)
    return tuple(_summarize_scores(name, results) for name, results in by_name.items())


def opinion(results: Iterable[SpanScore]) -> bool | None:
    """Whether the trace passed: it failed where one of them says so; None: none says anything."""
    opinions = [result.passed for result in results if result.passed is not None]
    return all(opinions) if opinions else None


def spec(metric: str) -> MetricSpec:
    """An evaluation's metric; its scale is unknown, and more is taken to be better."""
    about = "mean score of an evaluation that the traces recorded"
    return score_metric(metric, share=False, about=about)


def _summarize_scores(metric: str, results: list[Mapping[str, Json]]) -> SpanScore:
    labels = [as_text(result.get(f"{_PREFIX}score.label")) for result in results]
    words = [_LABELS[label.lower()] for label in labels if label.lower() in _LABELS]
    passed = all(words) if words else None
    given = (as_number(told.get(f"{_PREFIX}score.value")) for told in results)
    values = [value for value in given if value is not None]
    if values:
        value: float | None = math.fsum(values) / len(values)
    else:
        value = None if passed is None else float(passed)
    reasons = (as_text(one.get(f"{_PREFIX}explanation")) for one in results)
    said = " / ".join(dict.fromkeys(filter(None, (*labels, *reasons))))
    if passed is False:  # of several evaluations the reader sees which one
        said = f"{metric.partition('.')[2]}: {said}"
    return SpanScore(metric, value, passed, said[:_REASON], _why(value, results))


def _why(value: float | None, results: list[Mapping[str, Json]]) -> str | None:
    if value is not None:
        return None
    errors = [
        as_text(result["error.type"]) for result in results if result.get("error.type") is not None
    ]
    if errors:
        return f"the evaluation failed: {errors[0][:200]}"
    return "the evaluation has neither a score nor a label of pass or fail"
