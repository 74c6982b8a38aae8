"""Whether a recorded run did its task: the product of the parts that the task names.

What was not recorded is told, never guessed. A part that is 0 decides, whatever the others are.
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
from gate.text.escaping import one_line


def clean(text: str) -> str:
    """Without white space around, without one pair of equal quotes around, in small letters."""
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def same(reference: str, text: str) -> bool:
    return clean(text) == clean(reference)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """Whether the reference is somewhere in the text. `alone`: one of a single character must be
    a word of it.
    """
    wanted, whole = clean(reference), clean(text)
    if alone and len(wanted) == 1 and not wanted.isspace():
        return stands_alone(wanted, whole)
    return wanted in whole


_SHOWN = 100  # characters of a text in a reason
_POST = "func:reddit_get_post_url('__last_url__')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """What only a judge can tell. `fuzzy`: does `answer` say what `reference` says; `reason`: is
    it the reason why the task cannot be done.
    """

    kind: Literal["fuzzy", "reason"]
    reference: str
    answer: str


@dataclass(slots=True, kw_only=True)
class Found:
    """`wrong`: failure code -> what was found; with one the score is 0. `lacking`: what was not
    recorded, so that a part of the task cannot be judged. With neither, and nothing open, it is 1.
    """

    wrong: dict[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        """None: not known, or not yet."""
        if self.wrong:
            return 0.0
        return None if self.lacking or self.open else 1.0


def evaluate(checks: Checks, run: Recorded) -> Found:
    """Raises ValueError where the task itself, and not the run, stands in the way."""
    found, at = Found(), LAST  # where the browser is: targets lead it on
    for part in checks.parts:
        if part == STRING and checks.answers is not None:
            _strings(checks.answers, checks.reason, run.answer, found)
        elif part == URL:
            _url(checks.url, run if at == LAST else replace(run, final_url=None), found)
        elif part == PAGE:
            for n, target in enumerate(checks.targets):
                at = at if target.url == LAST else target.url
                _target(n, replace(target, url=at), run, found)
    return found


def _strings(answers: Answers, reason: str, said: str, found: Found) -> None:
    """In the task's order, as a task that cannot be done starts anew: there the answer is right if
    it is N/A, or if the judge says so, whatever other references said before.
    """
    answer = clean(said)  # and once more at each comparison, as upstream does
    wrong: dict[str, str] = {}
    asked: list[Open] = []
    for kind in answers.order:
        if kind == "exact_match":
            if not same(answers.exact, answer):
                wrong["answer_mismatch"] = f"expected {_short(answers.exact)}, got {_short(said)}"
        elif kind == "must_include":
            wrong |= dict(_missing(answers.includes, answer))
        elif answers.fuzzy != (NOT_ACHIEVABLE,):
            asked += [Open(kind="fuzzy", reference=one, answer=answer) for one in answers.fuzzy]
        elif wrong or not same(NOT_ACHIEVABLE, answer):
            wrong.clear()
            asked = [Open(kind="reason", reference=reason, answer=answer)]
    found.wrong |= wrong
    found.open += asked


def _missing(references: tuple[str, ...], answer: str) -> Iterator[tuple[str, str]]:
    alone = len(references) == 1
    for one in references:
        if not includes(one, answer, alone=alone):
            yield _code("text_missing", one), f"{_short(one)} is not in the answer"


def _url(reference: str, run: Recorded, found: Found) -> None:
    if run.final_url is None:
        found.lacking.append(f"{FINAL_URL} ({URL})")
        return
    _addressed(reference, run.final_url)
    if not url_matches(reference, run.final_url):
        found.wrong["url_mismatch"] = f"ended at {_short(run.final_url)}, not {_short(reference)}"


def _addressed(reference: str, final: str) -> None:
    if (sites := open_sites(reference)) and not open_sites(final):
        raise ValueError(
            f"the task has __{sites[0].upper()}__ for an address - set `sites` to the addresses"
        )


def _target(n: int, target: Target, run: Recorded, found: Found) -> None:
    text = run.located.get(n)
    if text is None and not target.locator.strip():
        text = _page(target.url, run)
    if text is None:
        found.lacking.append(_needed(n, target))
        return
    text = _unescaped(text)
    if target.exact is not None:
        if not same(target.exact, text):
            expected = f"expected {_short(target.exact)}, got {_short(text)}"
            found.wrong[f"page_mismatch:{n}"] = expected
        return
    for one in target.includes:
        if not any(includes(other, text) for other in one.split(ALTERNATIVES)):
            found.wrong[f"page_mismatch:{n}"] = f"{_short(one)} is not there"


def _unescaped(text: str) -> str:
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
    return f"{code}:{one_line(detail, 60)}"


def _short(text: str) -> str:
    return repr(one_line(text, _SHOWN))
