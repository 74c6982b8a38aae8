"""The sample agent behind OpenAgent's endpoint: the analyst, small tasks, and reports on tools."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gate.agents.sample_agent import reports, small_tasks
from gate.agents.sample_agent.analyst import INSTRUCTIONS_TOKENS, MODEL, ask, tokens
from gate.agents.sample_agent.faults import PlantedFaults, draw, other_figures
from gate.agents.sample_agent.files import TOOLS, FileTools
from gate.agents.sample_agent.knowledge import Knowledge
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.replies import REFUSAL
from gate.agents.sample_agent.scratch_files import Scratch
from gate.agents.sample_agent.tools import DEFINITIONS
from gate.errors import AgentFailure
from gate.records import Json, Response, Usage

NO_TOOLS = "With a provider key I am a plain model: I have no tools and no documents."
TOOLS_OFFERED = len(DEFINITIONS) + len(TOOLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """What the agent works with, besides the question."""

    knowledge: Knowledge
    options: SampleOptions
    connection: sqlite3.Connection
    scratch: Scratch | None
    now: Callable[[], datetime]


def answer_chat(question: str, place: Workplace, *, nth: int, system: str, tools: bool) -> Response:
    """The answer to the nth asking (from 1). `tools`: false for a plain call of the model, which
    has none. `system` counts as input and changes nothing else.

    Raises AgentFailure when `error_rate` strikes.
    """
    faults = draw(place.options, question, nth)
    if faults.error_rate:
        raise AgentFailure("the sample agent failed on purpose (error_rate)")
    box = FileTools(
        pages=place.knowledge.index.pages, scratch=place.scratch, faults=faults, now=place.now
    )
    reply_text = REFUSAL if faults.refuse else _answer_text(question, place, box, tools=tools)
    if reply_text is None and tools:
        return ask(
            question,
            nth=nth,
            knowledge=place.knowledge,
            options=place.options,
            connection=place.connection,
        )
    return _response(question, system, _spoilt(reply_text or NO_TOOLS, faults), box)


def _answer_text(question: str, place: Workplace, box: FileTools, *, tools: bool) -> str | None:
    """The answer; None: it is a question for the analyst."""
    form = reports.form_of(question)
    if form is not None:
        return json.dumps(_make_report(question, form, place, box, tools=tools), ensure_ascii=False)
    if tools and small_tasks.asks_the_time(question):
        return json.dumps(box.call("time"))
    lines = small_tasks.parse_line_request(question) if tools else None
    return _lines(question, *lines, place.knowledge) if lines else small_tasks.answer(question)


def _make_report(
    question: str, form: dict[str, Json], place: Workplace, box: FileTools, *, tools: bool
) -> dict[str, Json]:
    if box.faults.invent:
        return reports.invent(question, form)
    if not tools:
        return reports.decline(form, NO_TOOLS)
    return reports.report(question, form, box, place.knowledge.index)


def _lines(question: str, prefix: str, count: int, knowledge: Knowledge) -> str:
    """Sentences of the documents that fit best: the form is kept, whatever the subject is."""
    hits = knowledge.index.search(question, top_k=count)
    pages = [hit.page for hit in hits] or list(knowledge.index.pages)
    sentences = [sentence for page in pages for sentence in page.sentences()]
    return "\n".join(f"{prefix}{sentence}" for sentence in sentences[:count])


def _spoilt(answer: str, faults: PlantedFaults) -> str:
    if faults.hallucinate:
        answer = other_figures(answer)
    return f"Here you are: {answer}" if faults.malformed else answer


def _response(question: str, system: str, answer: str, box: FileTools) -> Response:
    results = "".join(json.dumps(step.result) for step in box.steps)
    calls = "".join(json.dumps(step.arguments) for step in box.steps)
    read = tokens(system) + tokens(question) + tokens(results)
    return Response(
        answer=answer,
        steps=tuple(box.steps),
        usage=Usage(
            input_tokens=INSTRUCTIONS_TOKENS + read, output_tokens=tokens(calls) + tokens(answer)
        ),
        model=MODEL,
        finish_reason="stop",
        turns=len(box.steps) + 1,
    )
