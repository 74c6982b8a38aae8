"""The form that people fill in: one HTML file that loads nothing and sends nothing. It shows
neither the judge's scores nor where an answer comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from gate.commands.label_review.manifest import Criterion, Manifest, Shown
from gate.graders.rubrics.rubric import CONTEXT
from gate.graders.rubrics.shown_to_judge import as_text, is_empty
from gate.records import Case, Json, TrialRow
from gate.report.html_page import content_policy, value_text
from gate.report.html_templates import templates
from gate.text.escaping import clean, one_line

TEXT = 100_000  # characters of a question, an answer or a context
VALUE = 4_000  # characters of an argument or a result
STEPS = 30  # calls that are shown
SHORT = 130  # characters of a question that is shown whole
BUTTONS = 11  # values of a scale that fit beside each other; more are a field for a number

_HERE = Path(__file__).parent
_REFERENCES = {"expected_answer": "Expected answer", "rubric": "What a good answer has"}
FACTS = "expected_facts"

Text = tuple[str, str]  # heading, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One case as people see it."""

    item: int  # from 1
    case_id: str
    round: int
    answer_digest: str
    question: str
    answer: str
    reference: tuple[Text, ...] = ()  # what the dataset says of a right answer
    evidence: tuple[Text, ...] = ()  # what the agent had, folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A criterion as the form shows it."""

    name: str
    title: str
    rubric: str
    question: str
    more: str  # of the question, folded
    low: int
    high: int
    values: tuple[int, ...]  # empty: too many for buttons
    ends: tuple[str, str]  # what the lowest and the highest mean
    levels: tuple[tuple[int, str], ...]  # highest first


def make_card(
    item: int,
    shown: Shown,
    row: TrialRow,
    case: Case | None,
    keys: Iterable[str] = (),
) -> Card:
    """The card of a trial. `row`: the trial; `case`: that of the dataset, None if it is missing or
    was edited; `keys`: the case's keys that its judges see.
    """
    return Card(
        item=item,
        case_id=one_line(shown.case_id),
        round=shown.round,
        answer_digest=shown.answer_digest,
        question=clean(as_text(case.input) if case else row["question"], TEXT),
        answer=clean(row["output"] or "", TEXT),
        reference=tuple(_references(case, keys)),
        evidence=tuple(_evidence(case, row)),
    )


def render(manifest: Manifest, cards: tuple[Card, ...]) -> str:
    style, script = _asset("form.css"), _asset("form.js")
    fields = tuple(make_field(criterion) for criterion in manifest.criteria)
    lows, highs = [field.low for field in fields], [field.high for field in fields]
    return _template().render(
        period=manifest.period,
        suite=manifest.suite,
        sample=manifest.digest,
        cards=cards,
        fields=fields,
        about=tuple((one_line(name), clean(t, TEXT)) for name, t in manifest.about.items()),
        digits=(min(lows), min(9, max(highs))),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=content_policy(style, script),
    )


def make_field(criterion: Criterion) -> Field:
    levels = {int(value): clean(text, 400) for value, text in criterion.levels.items()}
    question, more = _split_first_sentence(clean(criterion.question, 2_000))
    every = tuple(range(criterion.low, criterion.high + 1))
    return Field(
        name=criterion.name,
        title=one_line(criterion.title),
        rubric=one_line(criterion.rubric),
        question=question,
        more=more,
        low=criterion.low,
        high=criterion.high,
        values=every if len(every) <= BUTTONS else (),
        ends=(levels.get(criterion.low, ""), levels.get(criterion.high, "")),
        levels=tuple((value, levels[value]) for value in sorted(levels, reverse=True)),
    )


def _split_first_sentence(text: str) -> tuple[str, str]:
    """The first sentence of a long text, and the rest."""
    end = re.search(r"[.?!]\s", text) if len(text) > SHORT else None
    return (text[: end.end()].strip(), text[end.end() :]) if end else (text, "")


def _references(case: Case | None, keys: Iterable[str]) -> list[Text]:
    """People see what the judge sees: one that goes by more is another instrument."""
    if case is None:
        return []
    keys_of_judges = {
        key: key.replace("_", " ").capitalize() for key in keys if key not in (FACTS, CONTEXT)
    }
    references = [
        (one_line(title), clean(as_text(case.keys[key]), TEXT))
        for key, title in {**keys_of_judges, **_REFERENCES}.items()
        if not is_empty(case.keys.get(key))
    ]
    facts = case.keys.get(FACTS)
    if isinstance(facts, list) and facts:
        references.append(("Expected facts", clean(" · ".join(map(_fact, facts)), TEXT)))
    return references


def _join_texts(value: Json) -> str:
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    return "\n\n".join(texts) if texts == value else as_text(value)


def _fact(fact: Json) -> str:
    if not isinstance(fact, dict):
        return as_text(fact)
    optional = " (optional)" if fact.get("required") is False else ""
    value = fact.get("value")
    ways = value if isinstance(value, list) else [value]
    return " or ".join(map(as_text, ways)) + optional


def _evidence(case: Case | None, row: TrialRow) -> list[Text]:
    evidence = []
    context = case.keys.get("context") if case else None
    if not is_empty(context):
        evidence.append(("Context", clean(_join_texts(context), TEXT)))
    steps = row.get("steps") or []
    if steps:
        calls = "\n\n".join(_step(step) for step in steps[:STEPS])
        more = f"\n\n… and {len(steps) - STEPS} more" if len(steps) > STEPS else ""
        evidence.append((f"What the agent did ({len(steps)})", calls + more))
    documents = row.get("retrieved_ids") or []
    if documents:
        listed = "\n".join(one_line(str(name)) for name in documents[:STEPS])
        evidence.append((f"Documents retrieved ({len(documents)})", listed))
    return evidence


def _step(step: Mapping[str, Json]) -> str:
    arguments = step.get("raw_arguments") if step.get("arguments") is None else step["arguments"]
    lines = [f"{step.get('name')}({value_text(arguments, VALUE)})"]
    outcomes = [step[key] for key in ("result", "error") if step.get(key) is not None]
    lines += [f"→ {value_text(value, VALUE)}" for value in outcomes]
    return clean("\n".join(lines))


@cache
def _template() -> Template:
    return templates(_HERE).get_template("form.html.j2")


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
