"""The wording of answers: figures with their unit and scope, and the documents they rest on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from gate.agents.sample_agent.extracts import Extract
from gate.agents.sample_agent.measures import MeasureDefinition
from gate.agents.sample_agent.outcome import StepOutcome
from gate.agents.sample_agent.queries import Scope
from gate.agents.sample_agent.question import ParsedQuestion
from gate.agents.sample_agent.tasks import Form
from gate.records import CheckedJson, Json

NOT_COVERED = "I do not know: the documents do not cover this question."
REFUSAL = "I am sorry, but I cannot help with that request."

NOTHING_TO_DO = "You are welcome. Ask me about the figures and rules of Fernhill whenever you like."

Rows = Sequence[Mapping[str, CheckedJson]]
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_CITATION = re.compile(r"\s*\[(?:kb|msg)-\d+\]")
_CHATTER = (
    "Thank you for this question. I have looked it up for you with great care, as I always do, and"
    " I am glad to tell you in full what I found:"
)


def figure(value: float, unit: str) -> str:
    """A value as it is printed: "1,234.50 USD", "12.30 percent", "17 orders"."""
    if unit in ("USD", "percent", "days", "minutes"):
        return f"{value:,.2f} {unit}"
    return f"{value:,.0f} {unit}"


def from_documents(extracts: Sequence[Extract]) -> str:
    """The sentences with their source, or that nobody knows."""
    if not extracts:
        return NOT_COVERED
    return " ".join(e.sentence for e in extracts) + f" [{extracts[0].page.id}]"


def from_rows(
    measure: MeasureDefinition,
    question: ParsedQuestion,
    scopes: Sequence[Scope],
    results: Sequence[Rows],
) -> str:
    """One sentence or two about the figures of one or two queries."""
    for scope, rows in zip(scopes, results, strict=True):
        if not any(row["matching"] and row["value"] is not None for row in rows):
            return f"The database holds no matching rows for {measure.name} {scope.label()}."
    if question.operation == "share":
        return _share(measure, scopes, results)
    if len(results) == 2:
        labels, values = [scope.label() for scope in scopes], _first_values(results)
        text = _two(measure.name, labels, values, measure.unit)
        if question.operation == "change":
            return text + _change(values, measure.unit)
        return text + _gap(labels, values, measure.unit)
    if "label" not in results[0][0]:
        value = figure(results[0][0]["value"], measure.unit)
        return f"{measure.name} {scopes[0].label()}: {value}."
    return _listing(measure, question, scopes[0], results[0])


def _listing(measure: MeasureDefinition, question: ParsedQuestion, scope: Scope, rows: Rows) -> str:
    rows = [row for row in rows if row["value"] is not None]
    if question.operation == "compare" and len(rows) == 2:
        heading = f"{measure.name} {Scope(period=scope.period).label()}:"
        labels, values = [row["label"] for row in rows], [row["value"] for row in rows]
        for_labels = [f"for {label}" for label in labels]
        return _two(heading, labels, values, measure.unit) + _gap(for_labels, values, measure.unit)
    listed = "; ".join(f"{row['label']} {figure(row['value'], measure.unit)}" for row in rows)
    order = ("lowest first, " if question.lowest else "highest first, ") * (
        question.operation == "rank"
    )
    return f"{measure.name} ({order}{scope.label()}): {listed}."


def _two(heading: str, labels: Sequence[str], values: Sequence[float], unit: str) -> str:
    text = "; ".join(f"{n} {figure(v, unit)}" for n, v in zip(labels, values, strict=True))
    return f"{heading} {text}."


def _change(values: Sequence[float], unit: str) -> str:
    first, second = values
    relative = f" ({100 * (second - first) / first:+.2f} percent)" if first else ""
    return f" The change is {figure(second - first, unit)}{relative}."


def _gap(labels: Sequence[str], values: Sequence[float], unit: str) -> str:
    (low, _), (high, label) = sorted(zip(values, labels, strict=True))
    relative = f" ({100 * (high - low) / low:.2f} percent)" if low else ""
    return f" The higher figure is the one {label}, by {figure(high - low, unit)}{relative}."


def _share(measure: MeasureDefinition, scopes: Sequence[Scope], results: Sequence[Rows]) -> str:
    part, total = _first_values(results)
    parts = f"{figure(part, measure.unit)} of {figure(total, measure.unit)}"
    if not total:
        return f"{measure.name} {scopes[1].label()} is zero, so there is no share."
    return (
        f"Share of {measure.name} {scopes[0].label()}: {100 * part / total:.2f} percent ({parts})."
    )


def _first_values(results: Sequence[Rows]) -> list[float]:
    return [rows[0]["value"] for rows in results]


def value_of(question: ParsedQuestion, results: Sequence[Rows]) -> tuple[str | None, str | None]:
    """The one figure that the rows state, as it is written in an expression, and its name."""
    rows = results[0]
    if not rows or rows[0]["value"] is None or question.operation in ("group", "compare"):
        return None, None
    value = rows[0]["value"]
    if len(results) == 2:
        first, second = _first_values(results)
        if question.operation == "change":
            value = round((second or 0) - first, 2)
        elif second:
            value = round(100 * first / second, 2)
    return format_operand(value), rows[0].get("label")


def format_operand(value: float) -> str:
    """A number as it goes into an expression: "17", "1234.5"."""
    return f"{value:.0f}" if value == int(value) else str(value)


def first_figure(extracts: Sequence[Extract]) -> str | None:
    """The first number of the sentences, as it is written there."""
    match = _FIGURE.search(" ".join(extract.sentence for extract in extracts))
    return match[0] if match else None


def result_of(value: float) -> StepOutcome:
    """The result of a calculation."""
    return StepOutcome(text=f"The result is {value:,.2f}.", figure=format_operand(value))


def in_form(outcomes: Sequence[StepOutcome], form: Form, *, malformed: bool, disobey: bool) -> str:
    """The answer as it was asked for. `malformed` breaks the form, `disobey` the length."""
    text = _join_outcomes(outcomes, form)
    if malformed and (form.keys or form.bare):
        return f"Here you are: {text}"
    if form.most_words is None:
        return text
    if disobey:
        return f"{_CHATTER} {text}"
    text = _CITATION.sub("", text)
    return text if len(text.split()) <= form.most_words else text.partition(". ")[0]


def _join_outcomes(outcomes: Sequence[StepOutcome], form: Form) -> str:
    figure = next((outcome.figure for outcome in reversed(outcomes) if outcome.figure), None)
    if form.keys:
        return json.dumps(dict(zip(form.keys, _items(outcomes), strict=False)))
    if form.bare and figure:
        return figure
    return " ".join(dict.fromkeys(outcome.text for outcome in outcomes))


def _items(outcomes: Sequence[StepOutcome]) -> list[Json]:
    """Names and figures in their order; a text where there is neither."""
    items: list[Json] = []
    for outcome in outcomes:
        figure = None if outcome.figure is None else json.loads(outcome.figure.replace(",", ""))
        stated = [item for item in (outcome.label, figure) if item is not None]
        items += stated or [outcome.text]
    return items
