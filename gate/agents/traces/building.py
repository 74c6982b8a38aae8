"""A trace put together, entry by entry: numbers the model calls, pairs calls with results, sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.open_calls import OpenCalls, Step
from gate.agents.traces.spending import Spending
from gate.agents.traces.trace import MAX_DOCUMENTS, MAX_STEPS, Shape, Trace
from gate.agents.traces.values import Called, arguments_of, error_of, first, text
from gate.records import Document, Json, ToolCall

_MODELS = 5  # that are named, where several took part


class Builder:
    """Linear in the length of the trace; keeps the first steps whole and counts the others."""

    def __init__(self) -> None:
        self.faults = TraceFaults()
        self.spending = Spending(self.faults)
        self.open = OpenCalls()
        self._said: list[str] | None = None
        self.turns = 0
        self._costing = 0  # of the turns
        self.shows_turns = True
        self._kept: list[Step] = []
        self._calls = 0
        self._models: dict[str, None] = {}
        self._finish_reason: str | None = None
        self._documents: dict[str, Document] | None = None

    def turn(
        self,
        answer_text: str,
        *,
        usage: Json = None,
        model: Json = None,
        finish_reason: Json = None,
        costs: bool = True,
    ) -> None:
        """A call of the model begins; what it says is the answer, unless another one follows.
        `costs`: it should have told its usage.
        """
        self.turns += 1
        self._costing += costs
        self._said = [answer_text]
        self._finish_reason = text(finish_reason, "finish_reason")
        if usage is not None:
            self.spending.add(usage)
        if model is not None:
            self.add_model(model)

    def says(self, text: str) -> None:
        """The last model call goes on."""
        self._said = [] if self._said is None else self._said
        self._said.append(text)

    def answers(self, text: str) -> None:
        """The whole answer, where it is told apart from what the model says."""
        self._said = [text]

    def add_model(self, model: Json) -> None:
        """A model that took part."""
        name = text(model, "model")
        if name and len(self._models) < _MODELS:
            self._models[name] = None

    def set_finish_reason(self, finish_reason: Json) -> None:
        """Why the last model call ended, where that is told apart from it."""
        self._finish_reason = text(finish_reason, "finish_reason") or self._finish_reason

    def call(self, called: Called, *, turn: int | None = None, waits: bool = True) -> Step:
        """A tool call, of the last model call unless `turn` is given; `waits` for its result."""
        if turn is None and self.turns:
            turn = self.turns - 1
        step = Step(name=called.name, id=called.id, turn=turn, number=self._calls)
        self._calls += 1
        if len(self._kept) < MAX_STEPS:
            step.arguments, step.raw_arguments = (
                (called.given, None) if called.custom else arguments_of(called.given)
            )
            self._kept.append(step)
        if waits and not self.open.add(step):
            self.faults.tell("same_id", called.id or "")
        return step

    def result(
        self, result: Json, *, id: str | None, name: str | None = None, error: Json = None
    ) -> None:
        """A tool's result; `error` is a text, or true when the result says what was wrong."""
        step = self.open.take(id, name)
        if step is not None:
            step.result = result
            step.error = error_of(error, result) or step.error
        elif not self.open.overflowed:
            self.faults.tell("no_call", id or name or "")

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Further documents, best first; one that was found before keeps its place."""
        documents_by_id = {} if self._documents is None else self._documents
        for document in documents:
            if len(documents_by_id) < MAX_DOCUMENTS:
                documents_by_id.setdefault(document.id, document)
        self._documents = documents_by_id

    def add_envelope(self, envelope: Mapping[str, Json]) -> None:
        """What stands beside the messages, where these do not say it themselves."""
        if not self._models:
            self.add_model(first(envelope, "model", "model_name"))
        if self._finish_reason is None:
            self.set_finish_reason(first(envelope, "finish_reason", "stop_reason"))
        self.spending.add_whole(envelope.get("usage"))

    def trace(self, shape: Shape) -> Trace:
        for step in self.open:
            self.faults.tell("no_result", f"{step.name} {step.id or ''}")
        usage = self.spending.total(self._costing)
        return Trace(
            shape=shape,
            answer=None if self._said is None else "".join(self._said),
            steps=tuple(map(_close_step, self._kept)),
            turns=self.turns if self.shows_turns else None,
            usage=usage,
            model=" + ".join(self._models) or None,
            finish_reason=self._finish_reason,
            retrieved=None if self._documents is None else tuple(self._documents.values()),
            omitted_steps=self._calls - len(self._kept),
            faults=self.faults.sentences(),
        )


def _close_step(step: Step) -> ToolCall:
    return ToolCall(
        name=step.name,
        arguments=step.arguments,
        raw_arguments=step.raw_arguments,
        result=step.result,
        error=step.error,
        id=step.id,
        turn=step.turn,
        latency_ms=step.latency_ms,
    )
