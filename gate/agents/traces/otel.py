"""OpenTelemetry traces: spans of the GenAI conventions, of MCP and of OpenInference."""

from __future__ import annotations

from gate.agents.traces.building import Builder
from gate.agents.traces.open_calls import Step
from gate.agents.traces.otel_facts import USAGE, AgentCall, ExecutedCall, ModelCall, RetrievalFacts
from gate.agents.traces.otel_spans import TraceSpan, spans
from gate.agents.traces.plain import document
from gate.agents.traces.trace import Trace
from gate.agents.traces.values import Called, arguments_of, first
from gate.errors import AgentFailure
from gate.records import Document, Json


def read(data: Json, into: Builder) -> None:
    """OTLP's JSON: an export, a list of exports (JSON Lines), or a list of spans."""
    span_list = spans(data)
    _walk(span_list, into)
    traces = {span.trace for span in span_list}
    if len(traces) > 1:
        into.faults.tell("traces", n=len(traces))


def trace_of(span_list: list[TraceSpan]) -> Trace:
    """The trace that the spans `in_order` make: of one trace, or of all traces of one
    conversation. Raises AgentFailure.
    """
    into = Builder()
    _walk(span_list, into)
    return into.trace("otel")


def _walk(span_list: list[TraceSpan], into: Builder) -> None:
    walk = _Walk(into)
    for span in span_list:
        try:
            walk.read_span(span)
        except AgentFailure as failure:
            raise AgentFailure(f"span {span.id}: {failure}") from None
    walk.end()


class _Walk:
    """Through the spans in the order of their start."""

    def __init__(self, into: Builder) -> None:
        self._into = into
        self._unanswered: dict[str, Step] = {}  # that ran, and whose result is not in their span
        self._early: dict[
            tuple[str, str], Step
        ] = {}  # that ran before a model call that asked for them
        self._answers: dict[str, str] = {}  # of the outermost agent of each trace
        self._trace = ""

    def read_span(self, span: TraceSpan) -> None:
        self._trace = span.trace
        facts = span.facts
        if isinstance(facts, ModelCall):
            self._model_call(span, facts)
        elif isinstance(facts, ExecutedCall):
            self._add_execution(span, facts)
        elif isinstance(facts, RetrievalFacts):
            self._into.add_documents(_document(item, n) for n, item in enumerate(facts.documents))
        elif isinstance(facts, AgentCall) and facts.answer is not None:
            self._answers.setdefault(span.trace, facts.answer)

    def end(self) -> None:
        """Ends the walk. The answer is that of the last trace that has one."""
        if self._trace in self._answers:
            self._into.answers(self._answers[self._trace])

    def _model_call(self, span: TraceSpan, model_call: ModelCall) -> None:
        if self._unanswered or self._into.open:
            for id, result in model_call.results:
                self._add_result(id, result)
        if model_call.cut_off:
            self._into.faults.tell("half", f"span {span.id}")
        usage = dict(zip(USAGE, model_call.usage, strict=True))
        has_usage = any(value is not None for value in model_call.usage)
        failed = span.error is not None and not has_usage
        self._into.turn(
            model_call.said or "",
            model=model_call.model,
            finish_reason=model_call.finish_reason,
            costs=not failed,
        )
        if has_usage:
            self._into.spending.add_named(usage)
        for call in model_call.calls:
            self._add_call(call)

    def _add_call(self, call: Called) -> None:
        """The clocks of two machines may tell that it ran before it was asked for."""
        step = self._early.pop((call.id or "", call.name), None)
        if step is None:
            self._into.call(call)
        else:
            step.turn = self._into.turns - 1
            _complete(step, call)

    def _add_result(self, id: str, result: Json) -> None:
        """Each model call is shown all results again: the first time counts."""
        step = self._unanswered.pop(id, None) or self._into.open.with_id(id)
        if step is not None:
            step.result = result

    def _add_execution(self, span: TraceSpan, execution: ExecutedCall) -> None:
        """What a model asked for is one call with what then ran."""
        call = Called(execution.name or "(no name)", execution.given, False, execution.id)
        result = execution.result
        step = self._into.open.take(call.id, call.name if call.id is None else None)
        if step is None:
            step = self._into.call(call, waits=False)
            if call.id is not None:
                self._early[call.id, call.name] = step
        else:
            _complete(step, call)
        step.result, step.error = result, span.error
        step.latency_ms = self._latency_ms(span)
        if result is None and step.id is not None:
            self._unanswered[step.id] = step

    def _latency_ms(self, span: TraceSpan) -> float | None:
        if span.start is None or span.end is None:
            return None
        if span.end < span.start:
            self._into.faults.tell("backwards", f"span {span.id}")
            return None
        return (span.end - span.start) / 1e6


def _complete(step: Step, call: Called) -> None:
    """Who asked and who ran may each have recorded the arguments, or neither."""
    if step.arguments == {} and call.given is not None:
        step.arguments, step.raw_arguments = arguments_of(call.given)


def _document(item: Json, n: int) -> Document:
    """OpenInference may leave the id out: the place stands in."""
    if isinstance(item, dict) and first(item, "id", "document_id") is None:
        item = {**item, "id": n}
    return document(item, "a retrieved document")
