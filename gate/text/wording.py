"""Whether a text states a phrase in another spelling: N.A.S.A. for NASA, e-mail for email, colour
for color, creme for crème, panels for panel.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from gate.text import dates
from gate.text.denial import is_denied
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import SMALL
from gate.text.numbers.required_words import has_required_words, read_required_words
from gate.text.other_forms import compile_other_forms
from gate.text.phrases import fold_text

_INITIALS = late_pattern(r"(?<![\w.])(?:[A-Z]\. ?){2,8}(?:[A-Z]\b(?!\.))?")
_TITLE_DOT = late_pattern(r"\b(dr|mr|mrs|ms|st|mt|ft|vs?|prof|jr|sr|inc|ltd|corp|co)\.")
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
_NUMERALS = {name: value for value, name in enumerate(_ROMAN.split(), 1)}
_ORDINAL_NAMES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINALS = {name: n for n, name in enumerate(_ORDINAL_NAMES.split(), 1)}
_ORDINALS |= {"eighteenth": 18, "nineteenth": 19, "twentieth": 20}
_COUNTS = {name: value for name, value in SMALL.items() if value > 1}
_FREE = (
    r"\b(?:at no (?:extra |additional )?(?:cost|charge)|without (?:extra )?charge|costs? nothing"
    r"|complimentary|for free|(?:won't|will not|not) be charged(?! (?:until|for|extra|more))"
    r"|(?<=is )free|(?<=are )free)\b(?! (?:of|from|to|for|until|if|when)\b)"
)
_SHORTER: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (late_pattern(r"\b(?:saint|sankt)\b"), "st"),
    (late_pattern(r"\bmount\b"), "mt"),
    (late_pattern(r"\bpostgres\b"), "postgresql"),
    (late_pattern(r"\b(?:mrs|miss|frau|senora|sra|madame|mme)\b"), "ms"),
    (late_pattern(r"\b(?:herr|senor|monsieur)\b"), "mr"),
    (late_pattern(r"\bk8s\b"), "kubernetes"),
    (late_pattern(_FREE), "free of charge"),
    (late_pattern(r"\b(?:versus|vs)\b"), "v"),
    (late_pattern(r"(?<=[a-z]) (?:is|are|was) (?=[\d#])"), " "),
    (
        late_pattern(r"\b(first|second) world war\b"),
        lambda found: f"world war {_ORDINALS[found[1]]}",
    ),
    (late_pattern(r"\b(?:version|ver\.?|v\.?) ?(?=\d)"), "v"),
    (late_pattern(r"(?:(?<=\w )(?:no|nr|number)\.? ?|#)(?=\d)"), ""),
    (late_pattern(r"(?<=[a-z] )(?:the )?([ivx]{2,5})\b"), lambda found: _numeral(found)),
    (late_pattern(r"\b(?<=war |ype |ase |ass |art |ade )([ivx])\b"), lambda found: _numeral(found)),
    (late_pattern(rf"\b({'|'.join(_COUNTS)})\b"), lambda found: str(_COUNTS[found[1]])),
    (late_pattern(rf"\b({'|'.join(_ORDINALS)})\b"), lambda found: _nth(_ORDINALS[found[1]])),
)
_LABEL_END = late_pattern(r"(?<=\w)[*_ ]{0,3}[:=|][*_ |]{1,6}(?=[\w#])")  # **SKU:** 0245776
_COUNTRIES = (
    (
        late_pattern(r"\b(?:USA|U\.S\.A\.|U\.S\.|US)(?![\w$])|\bUnited States of America\b"),
        "United States",
    ),
    (late_pattern(r"\b(?:UK|U\.K\.)(?!\w)"), "United Kingdom"),
    (late_pattern(r"\bEU\b"), "European Union"),
    (late_pattern(r"\bUN\b"), "United Nations"),
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_LINKING = r"(?:[ -](?:of|for|and|the|on|in|de|des|du|und|für))*[ -]"
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
_NAME = late_pattern(r"[A-Z][a-z]+ [A-Z][a-z]+")  # of a person
_ARTICLE = late_pattern(r"\A(?:the|an?) (?=\S+ \S|\S{6})")
# After a figure, these make it the name of another product.
_MODEL = r"(?![ -](?:pro|max|plus|ultra|mini|lite|air|xl|fe|turbo)\b)"
_STEM = 3  # letters that a word has in each of its forms; a unit's names may begin in other ways
_FEWEST_WORDS = 2  # of what may be told in another order, with the name in it
_CAPITALS = late_pattern(r"[A-Z\u00c0-\u00de][\w'-]*(?: [A-Z\u00c0-\u00de][\w'-]*)*")
_CLAUSE_END = late_pattern(r"[;\n]|[,.!?](?=\s)|\b(?:and|but(?! (?:has|was)\b)|while)\b")
_TITLE = late_pattern(r"\A(?:dr|prof|mr|ms) (?=\S+ \S)")
_NO_PLURAL = frozenset(("new", "mean", "good", "custom", "arm", "right", "left"))


def states(phrase: str, text: str) -> bool:
    """Whether `text` states `phrase`, both as they are written; a model's name is not that of a
    larger one ("iPhone 15" in "iPhone 15 Pro").
    """
    wanted = _patterns(phrase)
    if not wanted:
        return False
    for form in _forms(text, phrase.isascii()):
        for pattern in wanted:
            if any(not is_denied(form, *found.span()) for found in pattern.finditer(form)):
                return True
    if dates.may_date(phrase) and dates.states_date(phrase, text):
        return True
    initials = _initials(phrase)
    if initials and initials.search(text):
        return True
    return _is_told(phrase, text)


def _is_named(name: str, clause: str) -> bool:
    at = clause.lower().find(name.lower())
    return at >= 0 and not is_denied(clause, at, at + len(name))


def _is_told(phrase: str, text: str) -> bool:
    """Whether a clause has the words of a phrase with its dates or its name, and denies where the
    phrase denies: "the laws of Delaware" for "Delaware law". Words alone may change their sense
    with their order ("the dog chased the cat").
    """
    dated, rest = dates.take_dates(phrase)
    required = read_required_words(rest, says=True)
    named = _CAPITALS.findall(phrase)
    if (
        required is None
        or len(named) > 1
        or not (dated or (named and len(required.words) >= _FEWEST_WORDS))
    ):
        return False
    lower = text.lower()
    if not all(word[:_STEM].lower() in lower for word in required.words):
        return False
    return any(
        has_required_words(required, clause)
        and all(_is_named(name, clause) for name in named)
        and all(dates.states_date(date, clause) for date in dated)
        for clause in _CLAUSE_END.split(text)
    )


@lru_cache(maxsize=4096)
def _initials(phrase: str) -> re.Pattern[str] | None:
    """Of "WHO" the names with these initials, of "World Health Organization" its initials."""
    if phrase.isupper() and phrase.isalpha() and 3 <= len(phrase) <= 6:
        return re.compile(rf"\b{(r'[a-z]+' + _LINKING).join(phrase)}[a-z]+\b")
    capitals = "".join(word[0] for word in phrase.split() if word[0].isupper())
    named = len(capitals) >= 3 and phrase.replace(" ", "").isalpha()
    return re.compile(rf"(?<![\w-]){capitals}(?![\w-])") if named else None


@lru_cache(maxsize=4096)
def _patterns(phrase: str) -> tuple[re.Pattern[str], ...]:
    """What states the phrase in the forms of a text."""
    forms = [_ARTICLE.sub("", form, count=1) for form in _forms(phrase, True)]
    forms += [_TITLE.sub("", form) for form in forms if _TITLE.match(form)]
    if _NAME.fullmatch(phrase):
        forms += [" ".join((form.split()[-1], *form.split()[:-1])) for form in forms]
    written = "|".join(re.escape(form).replace(r"\ ", " ") for form in forms if form)
    if _NAME.fullmatch(phrase):
        written = written.replace(" ", r" (?:[a-z]\.? )?")
    if not written:
        return ()
    last = phrase.split()[-1]
    ending = ""
    if last.isalpha() and last.islower() and len(last) >= 3 and last not in _NO_PLURAL:
        ending = "(?:e?s)?"
        if last.endswith("y"):
            written = "|".join(f"{re.escape(form[:-1])}(?:y|ie)" for form in forms)
    before = r"(?:(?<!\w)|(?<=\bv)(?=\d))(?<!\d[.,])" if phrase[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)(?![+#])" if phrase[-1].isalnum() else ""
    model = _MODEL if last[-1:].isdigit() else ""
    own = re.compile(f"{before}(?:{written}){ending}{after}{model}")
    return own, *compile_other_forms(phrase, forms[0])


@lru_cache(maxsize=16)  # several facts are looked for in one answer
def _forms(text: str, plain: bool) -> tuple[str, ...]:
    return tuple(_write_forms(text, plain))


def _write_forms(text: str, plain: bool) -> Iterator[str]:
    """As it is compared, with a space for each hyphen, and without hyphens. `plain`: without
    accents too.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if plain:
            if (german := text.translate(_UMLAUTS)) != text:
                yield _HYPHEN.sub(" ", fold_text(german))
            apart = unicodedata.normalize("NFD", text)
            text = "".join(sign for sign in apart if not unicodedata.combining(sign))
    for short, long in _COUNTRIES:
        text = short.sub(long, text)
    text = _INITIALS.sub(_joined, text)
    text = _TITLE_DOT.sub(r"\1", fold_text(_LABEL_END.sub(" ", text)))
    text = text.replace(" & ", " and ").replace(", ", " ")
    for other, one in (*_AMERICAN, *_SHORTER):
        text = other.sub(one, text)
    text = _CODE.sub(r"\1 \2", text)
    yield _HYPHEN.sub(" ", text)
    if "-" in text:
        yield _HYPHEN_IN_WORD.sub("", text)


def _numeral(found: re.Match[str]) -> str:
    value = _NUMERALS.get(found[1])
    return found[0] if value is None else str(value)


def _nth(value: int) -> str:
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10 if value > 20 else value, 'th') }"


def _joined(match: re.Match[str]) -> str:
    return match[0].replace(".", "").replace(" ", "") + (" " if match[0].endswith(" ") else "")
