"""Whether a text states a phrase in another spelling: N.A.S.A. for NASA, e-mail for email, colour
for color, creme for crème, panels for panel.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from gate.text import dates
from gate.text.late_pattern import late_pattern
from gate.text.phrases import fold_text

_INITIALS = late_pattern(r"(?<![\w.])(?:[A-Z]\. ?){2,8}(?:[A-Z]\b(?!\.))?")
_TITLE_DOT = late_pattern(r"\b(dr|mr|mrs|ms|st|prof|jr|sr|inc|ltd|corp|co)\.")
_AMERICAN = (
    (late_pattern(r"(?<=[a-z]{3})([iy])s(?=(?:e[ds]?|ing|ers?|ations?|ational|able)\b)"), r"\1z"),
    (
        late_pattern(
            r"\b((?:dis)?(?:arm|behavi|cand|clam|col|endeav|fav|flav|harb|hon|hum|lab|neighb|od"
            r"|parl|rig|rum|sav|savi|splend|tum|val|vap|vig))our"
        ),
        r"\1or",
    ),
    (
        late_pattern(
            r"\b(cent|theat|fib|calib|lit|lust|sab|somb|spect|(?:[a-z]{2,5})?met)re(s?)\b"
        ),
        r"\1er\2",
    ),
    (
        late_pattern(
            r"\b(cancel|channel|counsel|dial|equal|fuel|jewel|label|level|marvel|model|signal|total"
            r"|travel)l(?=ed|ing|er)"
        ),
        r"\1",
    ),
    (late_pattern(r"\b(defen|licen|offen|preten)c(?=e)"), r"\1s"),
    (late_pattern(r"\b(catal|anal|dial|monol)ogue"), r"\1og"),
    (late_pattern(r"\b(an|c|h|p|leuk|orthop)ae(?=[a-z]{2})"), r"\1e"),
    (late_pattern(r"\boe(?=str|soph)|\bfoe(?=t[au])"), "e"),
    (late_pattern(r"\bprogramme(?=s?\b)"), "program"),
    (late_pattern(r"\bgrey"), "gray"),
    (late_pattern(r"\baluminium\b"), "aluminum"),
    (late_pattern(r"\btyre(?=s?\b)"), "tire"),
)
_CODE = late_pattern(r"\b([a-z]{2,})(\d{2,})\b")  # iso9001
_HYPHEN = late_pattern(r"(?<=\w)-(?=\w)")
_HYPHEN_IN_WORD = late_pattern(r"(?<=[a-z])-(?=\w)|(?<=\d)-(?=[a-z])")
_ARTICLE = late_pattern(r"\A(?:the|an?) (?=\S+ \S|\S{6})")
# After a figure, these make it the name of another product.
_MODEL = r"(?![ -](?:pro|max|plus|ultra|mini|lite|air|xl|fe|turbo)\b)"
_NO_PLURAL = frozenset(("new", "mean", "good", "custom", "arm", "right", "left"))


def states(phrase: str, text: str) -> bool:
    """Whether `text` states `phrase`, both as they are written; a model's name is not that of a
    larger one ("iPhone 15" in "iPhone 15 Pro").
    """
    wanted = _pattern(phrase)
    if wanted is None:
        return False
    if any(wanted.search(form) for form in _forms(text, phrase.isascii())):
        return True
    return dates.may_date(phrase) and dates.states_date(phrase, text)


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    forms = [_ARTICLE.sub("", form, count=1) for form in _forms(phrase, True)]
    written = "|".join(re.escape(form).replace(r"\ ", " ") for form in forms if form)
    if not written:
        return None
    last = phrase.split()[-1]
    ending = ""
    if last.isalpha() and last.islower() and len(last) >= 3 and last not in _NO_PLURAL:
        ending = "(?:e?s)?"
        if last.endswith("y"):
            written = "|".join(f"{re.escape(form[:-1])}(?:y|ie)" for form in forms)
    before = r"(?<!\w)(?<!\d[.,])" if phrase[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if phrase[-1].isalnum() else ""
    return re.compile(
        f"{before}(?:{written}){ending}{after}{_MODEL if last[-1:].isdigit() else ''}"
    )


def _forms(text: str, plain: bool) -> Iterator[str]:
    """As it is compared, with a space for each hyphen, and without hyphens. `plain`: without
    accents too.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if plain:
            apart = unicodedata.normalize("NFD", text)
            text = "".join(sign for sign in apart if not unicodedata.combining(sign))
    text = _INITIALS.sub(_joined, text)
    text = _TITLE_DOT.sub(r"\1", fold_text(text)).replace(" & ", " and ").replace(", ", " ")
    for british, american in _AMERICAN:
        text = british.sub(american, text)
    text = _CODE.sub(r"\1 \2", text)
    yield _HYPHEN.sub(" ", text)
    if "-" in text:
        yield _HYPHEN_IN_WORD.sub("", text)


def _joined(match: re.Match[str]) -> str:
    return match[0].replace(".", "").replace(" ", "") + (" " if match[0].endswith(" ") else "")
