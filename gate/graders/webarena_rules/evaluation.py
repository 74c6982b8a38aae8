"""Whether a recorded run did its task: the product of the parts that the task names. What was not
recorded is reported, never guessed. A part that is 0 decides.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from gate.graders.webarena_rules.recorded import FINAL_HTML, FINAL_URL, LOCATED, PAGES, Recorded
from gate.graders.webarena_rules.task import (
    LAST,
    NOT_ACHIEVABLE,
    PAGE,
    STRING,
    URL,
    Answers,
    Checks,
    Target,
    open_sites,
)
from gate.graders.webarena_rules.tokens import stands_alone
from gate.graders.webarena_rules.urls import ALTERNATIVES, post_url, url_matches
from gate.text.shortening import shorten


def clean_text(text: str) -> str:
    """The text in small letters, without white space and one pair of equal quotes around it."""
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def is_same_text(reference: str, text: str) -> bool:
    return clean_text(text) == clean_text(reference)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """Whether the reference is in the text. `alone`: a reference of one character must be a
    separate word.
    """
    wanted, cleaned = clean_text(reference), clean_text(text)
    if alone and len(wanted) == 1 and not wanted.isspace():
        return stands_alone(wanted, cleaned)
    return wanted in cleaned


_SHOWN = 100  # characters of a text in a reason
_POST = "func:reddit_get_post_url('__last_url__')"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that only a judge can decide. `fuzzy`: does `answer` say what `reference` says;
    `reason`: is it the reason why the task cannot be done.
    """

    kind: Literal["fuzzy", "reason"]
    reference: str
    answer: str


@dataclass(slots=True, kw_only=True)
class TaskVerdict:
    """The result of a task. `wrong`: failure code -> what was found; with one the score is 0.
    `lacking`: what was not recorded, so that a part cannot be judged. Without either, and without
    an open question, the score is 1.
    """

    wrong: dict[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    open: list[OpenQuestion] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        """0 or 1; None if it is not known, or not yet."""
        if self.wrong:
            return 0.0
        return None if self.lacking or self.open else 1.0


def evaluate(checks: Checks, run: Recorded) -> TaskVerdict:
    """The verdict on a run. Raises ValueError if the task itself is faulty."""
    verdict, at = TaskVerdict(), LAST  # where the browser is: targets lead it on
    for part in checks.parts:
        if part == STRING and checks.answers is not None:
            _strings(checks.answers, checks.reason, run.answer, verdict)
        elif part == URL:
            _url(checks.url, run if at == LAST else replace(run, final_url=None), verdict)
        elif part == PAGE:
            for n, target in enumerate(checks.targets):
                at = at if target.url == LAST else target.url
                _target(n, replace(target, url=at), run, verdict)
    return verdict


def _strings(answers: Answers, reason: str, written: str, verdict: TaskVerdict) -> None:
    """In the task's order, as a task that cannot be done starts anew: there the answer is right if
    it is N/A, or if the judge says so, whatever other references said before.
    """
    answer = clean_text(written)  # and once more at each comparison, as upstream does
    wrong: dict[str, str] = {}
    questions: list[OpenQuestion] = []
    for kind in answers.order:
        if kind == "exact_match":
            if not is_same_text(answers.exact, answer):
                wrong["answer_mismatch"] = (
                    f"expected {_short(answers.exact)}, got {_short(written)}"
                )
        elif kind == "must_include":
            wrong |= dict(_list_missing(answers.includes, answer))
        elif answers.fuzzy != (NOT_ACHIEVABLE,):
            questions += [
                OpenQuestion(kind="fuzzy", reference=reference, answer=answer)
                for reference in answers.fuzzy
            ]
        elif wrong or not is_same_text(NOT_ACHIEVABLE, answer):
            wrong.clear()
            questions = [OpenQuestion(kind="reason", reference=reason, answer=answer)]
    verdict.wrong |= wrong
    verdict.open += questions


def _list_missing(references: tuple[str, ...], answer: str) -> Iterator[tuple[str, str]]:
    alone = len(references) == 1
    for reference in references:
        if not includes(reference, answer, alone=alone):
            yield _code("text_missing", reference), f"{_short(reference)} is not in the answer"


def _url(reference: str, run: Recorded, verdict: TaskVerdict) -> None:
    if run.final_url is None:
        verdict.lacking.append(f"{FINAL_URL} ({URL})")
        return
    _check_sites(reference, run.final_url)
    if not url_matches(reference, run.final_url):
        verdict.wrong["url_mismatch"] = f"ended at {_short(run.final_url)}, not {_short(reference)}"


def _check_sites(reference: str, final: str) -> None:
    if (sites := open_sites(reference)) and not open_sites(final):
        raise ValueError(
            f"the task has __{sites[0].upper()}__ for an address - set `sites` to the addresses"
        )


def _target(n: int, target: Target, run: Recorded, verdict: TaskVerdict) -> None:
    text = run.located.get(n)
    if text is None and not target.locator.strip():
        text = _page(target.url, run)
    if text is None:
        verdict.lacking.append(_needed(n, target))
        return
    text = _unescape(text)
    if target.exact is not None:
        if not is_same_text(target.exact, text):
            expected = f"expected {_short(target.exact)}, got {_short(text)}"
            verdict.wrong[f"page_mismatch:{n}"] = expected
        return
    for alternatives in target.includes:
        if not any(includes(other, text) for other in alternatives.split(ALTERNATIVES)):
            verdict.wrong[f"page_mismatch:{n}"] = f"{_short(alternatives)} is not there"


def _unescape(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character's number of thousands of digits
        return text


def _page(url: str, run: Recorded) -> str | None:
    if url == LAST:
        return run.final_html
    if url == _POST:
        return run.page(post_url(run.final_url)) if run.final_url else None
    return run.page(url)


def _needed(n: int, target: Target) -> str:
    """What would have had to be recorded."""
    if target.locator.strip():
        return f"{LOCATED} ({PAGE}, target {n}, {_short(target.locator)})"
    if target.url == LAST:
        return f"{FINAL_HTML} ({PAGE}, target {n})"
    return f"{PAGES} ({PAGE}, target {n}, {_short(target.url)})"


def _code(code: str, detail: str) -> str:
    return f"{code}:{shorten(detail, 60)}"


def _short(text: str) -> str:
    return repr(shorten(text, _SHOWN))
