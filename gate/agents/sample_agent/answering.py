"""The answer to one question: computed from rows, or quoted from retrieved documents."""

from __future__ import annotations

import calendar
import re

from gate.agents.sample_agent.bm25 import Index
from gate.agents.sample_agent.documents import KnowledgePage
from gate.agents.sample_agent.extracts import extract
from gate.agents.sample_agent.measures import MeasureDefinition, find_limit, find_measure, row_count
from gate.agents.sample_agent.outcome import StepOutcome
from gate.agents.sample_agent.queries import CannotAnswer, Scope, scopes_of, select
from gate.agents.sample_agent.question import ParsedQuestion, Vocabulary, parse_question, parts_of
from gate.agents.sample_agent.replies import (
    NOT_COVERED,
    Rows,
    first_figure,
    from_documents,
    from_rows,
    value_of,
)
from gate.agents.sample_agent.tools import Toolbox
from gate.agents.sample_agent.words import stems
from gate.records import CheckedJson

_NAME = re.compile(r"(?<=[\w,;'’] )[A-Z][A-Za-z]+")  # capitals that begin no sentence
_CALENDAR = frozenset(stems(" ".join([*calendar.month_name, *calendar.day_name])))


def unknown_names(text: str, index: Index, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Capitalised words inside a sentence that neither a document nor a row holds, in order."""

    def is_known(stem: str) -> bool:
        return stem in index.pages_with or stem in vocabulary.stems or stem in _CALENDAR

    return tuple(name for name in _NAME.findall(text) if not all(map(is_known, stems(name))))


def answer(text: str, box: Toolbox) -> StepOutcome:
    """The answer from what the last search found."""
    knowledge = box.knowledge
    unknown = unknown_names(text, knowledge.index, knowledge.vocabulary)
    if unknown:
        message = f"I do not know {unknown[0]}: neither the documents nor the database name it."
        return StepOutcome(text=message)
    question = parse_question(text, knowledge.vocabulary)
    pages = [hit.page for hit in box.hits]
    measure = find_measure(pages, question.stems)
    if measure is None and question.counted and not question.defines:
        measure = row_count(pages, question.counted)
    if measure is None or question.defines or not question.wants_data:
        if {"tabl", "databas"} <= set(question.stems):
            return _tables(box)
        extracts = [extract(part, box.hits, knowledge.index) for part in parts_of(text)]
        replies = dict.fromkeys(map(from_documents, extracts))
        return StepOutcome(text=" ".join(replies), figure=first_figure(extracts[0]))
    return answer_measure(measure, question, pages, box)


def answer_measure(
    measure: MeasureDefinition, question: ParsedQuestion, pages: list[KnowledgePage], box: Toolbox
) -> StepOutcome:
    """The figures that the question asks of a measure; why not, where the data cannot tell."""
    try:
        return _compute_measure(measure, question, pages, box)
    except CannotAnswer as reason:
        return StepOutcome(text=str(reason))


def _compute_measure(
    measure: MeasureDefinition, question: ParsedQuestion, pages: list[KnowledgePage], box: Toolbox
) -> StepOutcome:
    sources, stated = [measure.page] if measure.page else [], ""
    limits: dict[str, float] = {}
    if measure.parameter and measure.phrase:
        limit = find_limit((p for p in pages if p.id != measure.page), measure.phrase)
        if limit is None:
            raise CannotAnswer(f"{measure.name} needs the {measure.phrase}, which I did not find.")
        limits[measure.parameter] = limit.value
        sources.append(limit.page)
        stated = f" The {measure.phrase} is {limit.stated}."
    scopes = scopes_of(question)
    results = _query(measure, question, scopes, limits, box)
    cited = "".join(f" [{page}]" for page in sources)
    figure, label = value_of(question, results)
    sentence = from_rows(measure, question, scopes, results)
    return StepOutcome(text=sentence + stated + cited, figure=figure, label=label)


def _query(
    measure: MeasureDefinition,
    question: ParsedQuestion,
    scopes: tuple[Scope, ...],
    limits: dict[str, float],
    box: Toolbox,
) -> list[Rows]:
    shape = box.describe_table_once(measure.table)
    results: list[Rows] = []
    for scope in scopes:
        sql = select(
            measure, scope, question, shape=shape, limits=limits, today=box.knowledge.database.today
        )
        rows = box.call("run_sql", {"sql": sql})
        if rows is None:
            raise CannotAnswer(f"I could not query the database for {measure.name}.")
        results.append(rows)
    return results


def _tables(box: Toolbox) -> StepOutcome:
    names: CheckedJson = box.call("list_tables", {})
    text = f"The database has these tables: {', '.join(names)}." if names else NOT_COVERED
    return StepOutcome(text=text)
