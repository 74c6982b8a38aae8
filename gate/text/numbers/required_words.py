"""Words that a text has to say together, in any order and in other forms: "probation" in
"probationary", "GB" in "gigabyte", "per month" in "monthly".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import measure_of_word

_WORD = late_pattern(
    r"(?P<per>/ ?|\b(?:per|an?|each|every|pro|par|por|je) (?=\w+))?(?P<word>[^\W\d_]+)"
)
_LIGHT_WORDS = (
    "the a an of in for on at to is are was were be with and or s per each every de du des la le"
    " les el los las del der die das den dem ein eine von mit für pro par por je et y und"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())
# Said in many ways; not needed where another word says what it is.
_VAGUE = frozenset(("period", "window", "time", "duration", "term", "limit", "amount", "total"))
_OFTEN = {
    **dict.fromkeys(("hourly", "stündlich"), "hour"),
    **dict.fromkeys(("daily", "täglich", "nightly"), "day"),
    **dict.fromkeys(("weekly", "wöchentlich"), "week"),
    **dict.fromkeys(("monthly", "monatlich", "mensuel", "mensual"), "month"),
    **dict.fromkeys(("quarterly", "vierteljährlich"), "quarter"),
    **dict.fromkeys(("yearly", "annual", "annually", "annum"), "year"),
    **dict.fromkeys(("jährlich", "annuel", "anual"), "year"),
}
_ARTICLES = ("a ", "an ")
_MOST_WORDS = 5


_DENIES = late_pattern(
    r"\b(?:not|no|never|without|cannot|neither|nor|none|kein\w*|nicht|nie|ohne|pas|jamais|sans|sin"
    r"|nunca)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_SAYS = late_pattern(r"\b(?:is|are|was|were|has|have|had|can|may|must|will|do|does)\b")


class RequiredWords(NamedTuple):
    """Words that a text must have together; `per`: those after "per", as in "per month". `denies`:
    whether the text must say that something is not so; None: it need say neither.
    """

    words: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    denies: bool | None = None


def read_required_words(text: str, *, says: bool = False) -> RequiredWords | None:
    """The words of a text that carry meaning; None if they are more than five, or figures are among
    them. `says`: the text is a statement even if it has no verb that is known here.
    """
    rest = _DENIES.sub(" ", text)
    denies = True if rest != text else False if says or _SAYS.search(text) else None
    words: list[str] = []
    per: list[str] = []
    for found in _WORD.finditer(rest):
        word = found["word"]
        if often := _OFTEN.get(word.lower()):
            per.append(often)
        elif found["per"] and found["per"] not in _ARTICLES:
            per.append(word)
        elif word.lower() not in _LIGHT:
            words.append(word)
    words = [word for word in words if word not in _VAGUE] or words
    if len(words) + len(per) > _MOST_WORDS or any(map(str.isdecimal, text)):
        return None
    return RequiredWords(tuple(words), tuple(per), denies)


def has_required_words(wanted: RequiredWords, text: str) -> bool:
    """Whether a text, a clause or a sentence, has all the words, and denies where they do."""
    if wanted.denies is not None and wanted.denies != (_DENIES.search(text) is not None):
        return False
    words, per = set(), set()
    for found in _WORD.finditer(text):
        often = _OFTEN.get(found["word"].lower())
        words.add(often or found["word"])
        if often or found["per"]:
            per.add(often or found["word"])
    return all(any(_is_form(one, word) for word in words) for one in wanted.words) and all(
        any(_is_form(one, word) for word in per) for one in wanted.per
    )


def has_per(text: str) -> bool:
    """Whether a text says "per year" or its like."""
    return any(found["per"] and found["per"] not in _ARTICLES for found in _WORD.finditer(text))


@lru_cache(maxsize=4096)
def _is_form(wanted: str, word: str) -> bool:
    if (unit := measure_of_word(wanted)) is not None:
        return unit in (measure_of_word(word), measure_of_word(word.lower()))
    wanted, word = wanted.lower(), word.lower()
    if len(wanted) > 3 and wanted.endswith("s") and not wanted.endswith("ss"):
        wanted = wanted[:-1]
    if len(wanted) < 4:
        doubled = wanted + wanted[-1]
        return word in (wanted, f"{wanted}s", f"{wanted}es", f"{doubled}ed", f"{doubled}ing")
    return word.startswith(wanted[: max(4, len(wanted) - 2)])
