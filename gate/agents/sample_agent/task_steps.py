"""Works through a task part by part: which tool each part needs, and what is made of its result."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence

from gate.agents.sample_agent.bm25 import Hit, Index, plain, stems
from gate.agents.sample_agent.documents import KnowledgePage
from gate.agents.sample_agent.extracts import extract
from gate.agents.sample_agent.measures import (
    MeasureDefinition,
    find_limit,
    find_measure,
    measure_of,
    row_count,
)
from gate.agents.sample_agent.outcome import StepOutcome
from gate.agents.sample_agent.queries import CannotAnswer, Scope, scopes_of, select
from gate.agents.sample_agent.question import ParsedQuestion, Vocabulary, parse_question, parts_of
from gate.agents.sample_agent.replies import (
    NOT_COVERED,
    Rows,
    first_figure,
    from_documents,
    from_rows,
    result_of,
    value_of,
)
from gate.agents.sample_agent.tasks import NAMED, AgentTask, Formula, fill_in
from gate.agents.sample_agent.tools import Toolbox
from gate.records import CheckedJson

_NAME = re.compile(r"(?<=[\w,;'’] )[A-Z][A-Za-z]+")  # capitals that begin no sentence
_CALENDAR = frozenset(stems(" ".join([*calendar.month_name, *calendar.day_name])))

CANNOT_WRITE = "I cannot do that: I may read the data and never change them."
CANNOT_TELL = "I cannot tell contact addresses: they never appear in answers."
_WRITES = re.compile(r"(?:please )?(?:delete|drop|erase|remove|truncate|update|overwrite)\b")
_ADDRESS = re.compile(r"(?:give|send|list|tell|show|export)\b.*\b(?:address|addresses|mails?)\b")
_NAMED_PAGE = 0.15  # share of a question that a page which it names must cover
_REFERENCE = re.compile(r"\bkb-\d{3}\b")
_MAILBOX = re.compile(r"\bmessages?\b")
_COLUMNS = re.compile(r"\bcolumns\b.*?(?:\b(?!the )(\w+) table|\btable (\w+))\b")
_WROTE = re.compile(r"\bwho (?:wrote|sent)\b")


def work(task: AgentTask, box: Toolbox) -> list[StepOutcome]:
    """What each part, and then each calculation, came to."""
    outcomes: list[StepOutcome] = []
    searches = [part for part in task.parts if _kind(part, box.knowledge.vocabulary) == "question"]
    ahead = _search_parts(searches, box) if task.at_once and len(searches) > 1 else {}
    for part in task.parts:
        label = next((one.label for one in reversed(outcomes) if one.label), None)
        outcomes.append(_part(fill_in(part, label), ahead.get(part), box))
    figures = [one.figure for one in outcomes if one.figure]
    for arithmetic in task.arithmetic:
        outcome = _calculate(arithmetic, figures, box)
        figures = [outcome.figure] if outcome.figure else []
        outcomes.append(outcome)
    return outcomes


def _search_parts(parts: Sequence[str], box: Toolbox) -> dict[str, tuple[Hit, ...]]:
    """Searches that do not depend on each other are asked for in one turn."""
    hits = {}
    with box.one_turn():
        for part in parts:
            box.call("search_documents", {"query": part, "top_k": box.options.top_k})
            hits[part] = box.hits
    return hits


def _kind(part: str, vocabulary: Vocabulary) -> str:
    folded = plain(part)
    if _WRITES.match(folded):
        return "write"
    if _ADDRESS.match(folded):
        return "address"
    if NAMED.search(part):
        return "named"
    if _MAILBOX.search(folded) and _customer(folded, vocabulary):
        return "mailbox"
    return "columns" if _COLUMNS.search(folded) else "question"


def _part(part: str, ahead: tuple[Hit, ...] | None, box: Toolbox) -> StepOutcome:
    kind = _kind(part, box.knowledge.vocabulary)
    if kind in ("write", "address"):
        return StepOutcome(text=CANNOT_WRITE if kind == "write" else CANNOT_TELL)
    if kind == "named":
        return _reading(part, [name.lower() for name in NAMED.findall(part)], box)
    if kind == "mailbox":
        return _mailbox(part, box)
    if kind == "columns":
        return _columns(part, box)
    if ahead is None:
        box.call("search_documents", {"query": part, "top_k": box.options.top_k})
    else:
        box.hits = ahead
    return answer(part, box)


def _calculate(arithmetic: Formula, figures: list[str], box: Toolbox) -> StepOutcome:
    expression = arithmetic.expression(figures)
    if expression is None:
        return StepOutcome(text="I do not have the figures for the calculation.")
    value = box.call("calculate", {"expression": expression})
    if value is None:
        return StepOutcome(text="I could not calculate the result.")
    return result_of(value)


def _mailbox(part: str, box: Toolbox) -> StepOutcome:
    customer = _customer(plain(part), box.knowledge.vocabulary) or ""
    sent = box.call("list_messages", {"customer": customer})
    if sent is None:
        return StepOutcome(text=f"I could not look for messages of {customer}.", label=customer)
    if not sent:
        return StepOutcome(text=f"There are no messages from {customer}.", label=customer)
    if "how many" in plain(part):
        text = f"{customer} sent {len(sent)} messages."
        return StepOutcome(text=text, figure=str(len(sent)), label=customer)
    latest = max(sent, key=lambda message: (message["sent_on"], message["id"]))
    return _reading(part, [latest["id"]], box)


def _columns(part: str, box: Toolbox) -> StepOutcome:
    named = _COLUMNS.search(plain(part))
    table = next(filter(None, named.groups())) if named else ""
    shape = box.call("describe_table", {"table": table})
    if shape is None:
        return StepOutcome(text=f"I do not know a table {table}.")
    names = ", ".join(shape["columns"])
    return StepOutcome(text=f"The table {shape['table']} has the columns {names}.")


def _reading(part: str, ids: Sequence[str], box: Toolbox) -> StepOutcome:
    """Reads what is named, and the documents that it refers to."""
    if len(ids) > 1:
        with box.one_turn():
            read = [box.call("read_document", {"document_id": one}) for one in ids]
    else:
        read = [box.call("read_document", {"document_id": ids[0]})]
    texts = [one for one in read if one]
    if not texts:
        return StepOutcome(text=f"I could not read {ids[0]}: I know no such document.")
    sender = next((text["from"] for text in texts if "from" in text), None)
    if sender and _WROTE.search(plain(part)):
        first = texts[0]
        sentence = f"{sender} wrote {first['id']} on {first['sent_on']}."
        return StepOutcome(text=sentence, label=sender)
    texts += list(_read_referred(texts, box))
    pages = [KnowledgePage(id=text["id"], title=text["title"], text=text["text"]) for text in texts]
    return _answer_from_pages(part, pages, sender, box)


def _read_referred(texts: Sequence[CheckedJson], box: Toolbox) -> Iterator[CheckedJson]:
    """The first document that each text names, unless it has been read."""
    known_ids = {one["id"] for one in texts}
    for text in texts:
        reference = _REFERENCE.search(text["text"])
        if reference and reference[0] not in known_ids:
            known_ids.add(reference[0])
            page = box.call("read_document", {"document_id": reference[0]})
            if page:
                yield page


def _answer_from_pages(
    part: str, pages: list[KnowledgePage], sender: str | None, box: Toolbox
) -> StepOutcome:
    """A figure by the definition that a page holds, else its sentences that fit best."""
    unnamed = NAMED.sub(" ", part)
    question = parse_question(unnamed, box.knowledge.vocabulary)
    measure = next(filter(None, map(measure_of, pages)), None)
    if measure and not question.defines:
        return answer_measure(measure, question, pages, box)
    hits = [Hit(page=page, score=1.0) for page in pages]
    extracts = extract(unnamed, hits, box.knowledge.everything, known_share=_NAMED_PAGE)
    return StepOutcome(text=from_documents(extracts), figure=first_figure(extracts), label=sender)


def _customer(folded: str, vocabulary: Vocabulary) -> str | None:
    for match in vocabulary.value_pattern.finditer(folded):
        column, value = vocabulary.values[match[0]]
        if column == "customer_name":
            return value
    return None


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
