"""Numbers in German, French and Spanish words: "fünfundzwanzig", "quatre-vingt-dix", "mil
quinientos", "anderthalb Millionen".
"""

from __future__ import annotations

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.languages import groups_with_points
from gate.text.numbers.number import Number

GERMAN = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
FRENCH = "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
SPANISH = (
    "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis"
    " diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro"
    " veinticinco veintiséis veintisiete veintiocho veintinueve"
)
_TENS = (
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
)
_VALUES: dict[str, float] = {
    name: value
    for names in (GERMAN, FRENCH, SPANISH)
    for value, name in enumerate(names.split(), 2)
}
for _names in _TENS:
    _VALUES |= {name: 10.0 * ten for ten, name in enumerate(_names.split(), 2)}
_VALUES |= {
    **dict(
        zip(
            ("dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn"), range(13, 18), strict=True
        )
    ),
    **{"achtzehn": 18, "neunzehn": 19, "ein": 1, "un": 1, "une": 1, "uno": 1, "una": 1},
    **{"vingts": 20, "anderthalb": 1.5, "eineinhalb": 1.5},
    **{"demi": 0.5, "demie": 0.5, "media": 0.5, "medio": 0.5, "einhalb": 0.5},
    **{"doscientos": 200, "trescientos": 300, "cuatrocientos": 400, "quinientos": 500},
    **{"seiscientos": 600, "setecientos": 700, "ochocientos": 800, "novecientos": 900},
    **{"dutzend": 12, "douzaine": 12, "docena": 12},
}
_TIMES = {"hundert": 100, "cent": 100, "cents": 100, "cien": 100, "ciento": 100}
_TIMES |= {"tausend": 1000, "mille": 1000, "mil": 1000}
_JOINTS = frozenset(("und", "et", "y", "einhalb"))
# In English these are other words.
_DOUBTFUL_WORDS = "once six dos sept seize cent cents elf mille mil media medio ein un trece"
_DOUBTFUL = frozenset(_DOUBTFUL_WORDS.split())
_WORD = late_pattern(r"[^\W\d_]+")
_PIECES = late_pattern(
    r"(tausend|hundert|und(?=zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)"
    r"|ein(?=und)|einhalb$)"
)
_AFTER_ET = frozenset(["un", "une", "onze", "demi", "demie"])
# Alone no numbers.
_NO_NUMBER_WORDS = "ein un une uno una demi demie media medio einhalb"
_NO_NUMBER = frozenset(_NO_NUMBER_WORDS.split())


def find_foreign(text: str) -> tuple[Number, ...]:
    """Every number in words of these languages, in their order; "un" alone is none."""
    lower = text.lower()
    words = list(_WORD.finditer(lower)) if len(lower) == len(text) else []
    known = [_pieces(found[0]) for found in words]
    if not any(known):
        return ()
    numbers: list[Number] = []
    at = 0
    while at < len(words):
        end = at + 1
        if known[at] in (["et"], ["y"]):
            at = end
            continue
        while end < len(words) and known[end - 1] and lower[words[end - 1].end()] in " -":
            if not known[end] or words[end].start() - words[end - 1].end() != 1:
                break
            end += 1
        pieces = [piece for one in known[at:end] for piece in one]
        if pieces and (number := _number(text, pieces, words[at].start(), words[end - 1].end())):
            numbers.append(number)
        at = end
    doubtful = [one for one in numbers if _DOUBTFUL.issuperset(one.text.lower().split())]
    if doubtful and not groups_with_points(text):
        numbers = [one for one in numbers if one not in doubtful]
    return tuple(numbers)


def _pieces(word: str) -> list[str]:
    """The words of a number that a word is made of; none where it is another word."""
    if word in _VALUES or word in _TIMES or word in ("et", "y"):
        return [word]
    pieces = [piece for piece in _PIECES.split(word) if piece] if len(word) > 6 else []
    known = all(piece in _VALUES or piece in _TIMES or piece in _JOINTS for piece in pieces)
    return pieces if known else []


def _number(text: str, pieces: list[str], start: int, end: int) -> Number | None:
    while pieces and pieces[-1] in ("und", "et", "y"):  # "zwei und": of something else
        end = text.lower().rindex(pieces.pop(), start, end)
        end = start + len(text[start:end].rstrip(" -"))
    if not pieces or (len(pieces) == 1 and pieces[0] in _NO_NUMBER):
        return None
    total = current = 0.0
    for before, piece in zip(["", *pieces], pieces, strict=False):
        if before == "et" and piece not in _AFTER_ET:
            return None
        if before == "y" and current % 10 and piece not in ("media", "medio"):
            return None
        if piece in _TIMES and _TIMES[piece] == 1000:
            total, current = total + (current or 1) * 1000, 0.0
        elif piece in _TIMES:
            current = (current or 1) * 100
        elif (before, piece) in (("quatre", "vingt"), ("quatre", "vingts")):
            current += 76
        else:
            current += _VALUES.get(piece, 0.0)
    value = total + current
    follows = _WORD.match(text, end + 1) if text[end : end + 1] == " " else None
    if follows and (power := units.scale_of(follows[0].lower())):
        value, end = value * 10.0**power, follows.end()
    unit, end = units.unit_at(text, end)
    step = 1.0 if value.is_integer() else 0.1
    return Number(value=value, unit=unit, text=text[start:end], start=start, end=end, step=step)
