"""A task of several sentences: its questions, what to do with their figures, and how to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.agents.sample_agent.question import parts_of

_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
NAMED = re.compile(r"\b(?:(?:msg|kb)-\d+|message (?:number )?\d+)\b", re.IGNORECASE)
_FORM = re.compile(r"(?:Answer|Reply|Respond|Give the answer|Write the answer)\b")
_KEYS = re.compile(r"JSON\b.*?\bkeys? ([\w, ]+)")
_WORDS = re.compile(r"(?:at most|no more than|under) (\d+) words")
_BARE = re.compile(r"\b(?:number|figure) (?:only|alone)\b")
_SOCIAL = re.compile(r"(?:thanks?|thank you|hello|hi|good (?:morning|afternoon))\b", re.IGNORECASE)
_BACK = re.compile(
    r"\b(?:that|this) (region|product|customer|plan|segment|family|industry|topic)\b", re.IGNORECASE
)
_ARITHMETIC = (  # what a sentence says after "then", and the expression over the figures so far
    (r"add (?:them|both|the (?:two|three|four))", "sum"),
    (r"subtract the second from the first", "{0} - {1}"),
    (r"subtract the first from the second", "{1} - {0}"),
    (r"divide the first by the second", "{0} / {1}"),
    (r"divide the second by the first", "{1} / {0}"),
    (r"multiply (?:them|the two)", "{0} * {1}"),
    (r"multiply (?:it|that) by (?P<number>[\d.,]+\d|\d)", "{0} * {number}"),
    (r"divide (?:it|that) by (?P<number>[\d.,]+\d|\d)", "{0} / {number}"),
    (r"(?:take|work out) (?P<number>[\d.]+) percent of (?:it|that)", "{0} * {number} / 100"),
)
_THEN = r"(?:(?:and )?then |finally,? |and )?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How the answer should look; the default is a text without rules."""

    keys: tuple[str, ...] = ()  # of a JSON object
    bare: bool = False  # the figure and nothing else
    most_words: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """`formula` has {0}, {1} for the figures; "sum" adds all of them."""

    formula: str
    number: str = ""

    def expression(self, figures: list[str]) -> str | None:
        """None where there are too few figures."""
        if self.formula == "sum":
            return " + ".join(figures) if len(figures) > 1 else None
        try:
            return self.formula.format(*figures, number=self.number)
        except IndexError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """`parts`: the questions in their order; none where there is nothing to find out."""

    parts: tuple[str, ...]
    arithmetic: tuple[Formula, ...] = ()
    form: Form = Form()

    @property
    def at_once(self) -> bool:
        """No part needs what another one finds out."""
        return not any(_BACK.search(part) for part in self.parts)


def parse_task(text: str) -> AgentTask:
    """The task as far as these rules understand it; a sentence they do not know is a question."""
    parts: list[str] = []
    arithmetic: list[Formula] = []
    wording: list[str] = []
    for sentence in _SENTENCE.split(text.strip()):
        calculation = _calculation(sentence)
        if calculation:
            arithmetic.append(calculation)
        elif _FORM.match(sentence):
            wording.append(sentence)
        elif not _SOCIAL.match(sentence):
            parts += _split_chain(sentence)
    steps = arithmetic or wording or _BACK.search(text) or NAMED.search(text)
    if len(parts) > 1 and not steps:
        parts = [" ".join(parts)]  # a question and what leads up to it
    return AgentTask(
        parts=tuple(parts), arithmetic=tuple(arithmetic), form=_form(" ".join(wording))
    )


def fill_in(part: str, label: str | None) -> str:
    """ "that region" replaced by its name."""
    return part if label is None else _BACK.sub(label, part)


def _split_chain(sentence: str) -> tuple[str, ...]:
    """Two questions in one, where the second builds on the first."""
    parts = parts_of(sentence)
    return parts if any(_BACK.search(part) for part in parts[1:]) else (sentence,)


def _calculation(sentence: str) -> Formula | None:
    for pattern, formula in _ARITHMETIC:
        match = re.match(_THEN + pattern, sentence, re.IGNORECASE)
        if match:
            return Formula(formula=formula, number=match.groupdict().get("number") or "")
    return None


def _form(wording: str) -> Form:
    keys, words = _KEYS.search(wording), _WORDS.search(wording)
    return Form(
        keys=tuple(re.findall(r"\w+", re.sub(r"\band\b", " ", keys[1]))) if keys else (),
        bare=bool(_BARE.search(wording)),
        most_words=int(words[1]) if words else None,
    )
