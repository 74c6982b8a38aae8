"""Numbers that only say which one is meant: "section 6", "type 2", "Toy Story 3", "on 5 March",
"the card ending in 4417".
"""

from __future__ import annotations

import re

from gate.text.dates import MONTHS
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Number

_WINDOW = 60  # characters before it that are read
_LAST_DAY = 31
_MOST_DIGITS = 6  # of what a word before it makes a label
_LAST_YEAR = 2035  # a later one after a name belongs to it: "Blade Runner 2049"
_SHORT, _SHORT_DATE = 5, 7  # words of an answer that says nothing else
_KINDS_WORDS = "type category class grade stage phase tier level zone series model typ klasse tipo"
_KINDS = frozenset(_KINDS_WORDS.split())
_NAMED_WORDS = (
    "step section chapter page pages figure fig table appendix clause article paragraph"
    " footnote equation exhibit annex slide lesson episode volume question exercise room"
    " apartment flat suite gate platform terminal bus tram train flight route highway interstate"
    " motorway seat bullet rule phase season tier pier module ext extension type category class"
    " grade stage zone track line lane form regulation directive order ticket invoice case issue"
    " bug request psalm box locker option variant version release build sprint group team player"
    " district ward floor building unit house door row column schedule item act scene part book"
    " verse mark model series generation level lot dock bay entrance exit junction channel week"
    " round heat game match number reference id pin kapitel abschnitt seite artikel paragraf"
    " schritt zimmer raum gleis linie typ halle tor tür abbildung tabelle absatz anlage anhang"
    " klasse stufe kategorie gruppe etage block bestellung auftrag rechnung nummer bestellnummer"
    " zeile spalte frage aufgabe regel teil chapitre étape alinéa annexe chambre salle quai voie"
    " porte ligne étage catégorie classe groupe règle leçon épisode saison numéro commande"
    " facture siège capítulo artículo página paso sección habitación sala andén vía puerta línea"
    " piso planta tipo categoría clase grupo fase regla lección episodio temporada número pedido"
    " factura vuelo asiento"
)
_NAMED = frozenset((*_NAMED_WORDS.split(), "no", "nr", "n\u00b0", "n\u00ba", "\u00a7", "\u2116"))
_SHORTENED_WORDS = "no nr num art abs kap ch sec fig abb p pp s vol bd cap pág núm rn ref para"
_SHORTENED = frozenset(_SHORTENED_WORDS.split())
_STANDARDS_WORDS = "ISO IEC EN DIN RFC IEEE ANSI NIST ASTM BS UN CVE PEP SAE UL S&P G H"
_STANDARDS = frozenset(_STANDARDS_WORDS.split())
_VALUE_SAID = late_pattern(r"\bthe number \Z", re.IGNORECASE)
_LAST_DIGITS = late_pattern(
    r"(?:\bend(?:ing|s|ed)(?: (?:in|with))?:?|\b(?:endet|endend) auf|\bendziffern|\bterminant par"
    r"|\bfinissant par|\btermina(?:da|do)? en|[*x\u2022\u00b7#.]{3,}"
    r"|\blast (?:four|4|three|3|two|2)(?: (?:digits|numbers))?(?: of [\w ]{1,24})?"
    r"(?: (?:are|is))?:?) ?\Z",
    re.IGNORECASE,
)
_DIGITS_SAID = ("end", "last ", "termin", "finissant", "***", "xxx", "\u2022\u2022", "...")
_MONTHS_BEGIN_WORDS = (
    "jan feb fév mar mär mrz apr avr abr may mai jun jui jul aug aoû ago sep oct okt nov dec"
    " dez déc dic ene"
)
_MONTHS_BEGIN = frozenset(_MONTHS_BEGIN_WORDS.split())
_MONTH_AFTER = late_pattern(rf"(?:\.|st|nd|rd|th|er)? (?:of |de )?(?:{MONTHS})\b", re.IGNORECASE)
_CAP = r"[A-Z\u00c0-\u00de][\w'\u2019&-]*"
# A name in the middle of a sentence, or one of two words at its beginning.
_NAME = late_pattern(rf"(?P<inside>(?<=[a-z,] ))?(?P<more>{_CAP} )?(?P<last>{_CAP}[a-z]\w*) \Z")
_NO_NAME_WORDS = (
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday"
    " friday saturday sunday in by until till since before after for from to of around circa"
    " year fy fiscal spring summer autumn fall winter only about over almost nearly total some"
    " at on and or the exactly just up with q1 q2 q3 q4 h1 h2"
)
_NO_NAME = frozenset(_NO_NAME_WORDS.split())
_NO_NOUN_AFTER = late_pattern(
    r"[.,;:!?)\"']*(?:\s*\Z|[.,;:!?)\"']\s|\s(?=(?:and|or|as|which|that|because|when|while|but|after"
    r"|before|during|in|on|at|for|with|from|to|by|over|via|und|et|y)\b))|(?P<verb>\s(?=(?:is|was|are|were"
    r"|has|had|have|will|would|can|could|does|did|runs?|never|also|ist|war|hat|hatte|wird|est|était|es"
    r"|fue|ha)\b))"
)
_COUNTED = late_pattern(r" (?!is\b|was\b|has\b|as\b|does\b|this\b|its\b|runs\b)[a-z]{2,}s\b")
_PAIR = late_pattern(rf"{_CAP} \d+(?!\w)")


def is_label(word: str) -> bool:
    """Whether a number after the word only says which one is meant: "room", "section"."""
    return word.rstrip(":#").lower() in _NAMED


def only_names(text: str, number: Number) -> bool:
    """Whether a number of `text` is the name or the place of something, and states no amount:
    unless the answer is nothing but that.
    """
    start, end = number.start, number.end
    if number.unit or not text[start:end].isdecimal():
        return False
    before, words = text[max(0, start - _WINDOW) : start], len(text[:400].split())
    if number.value <= _LAST_DAY and words > _SHORT_DATE and _is_day(text, number):
        return True
    if words <= _SHORT:
        return False
    if any(sign in before for sign in _DIGITS_SAID) and _LAST_DIGITS.search(before):
        return True
    if end - start > _MOST_DIGITS:
        return False
    last = before.rstrip(" \u00a0\"'*_(")[-24:].replace("'", " ").replace("\u2019", " ").split()
    if not last:
        return False
    name = last[-1].lstrip('(*_["\u201c')
    word = name.lower()
    if name in _STANDARDS:
        return True
    if word in _NAMED or (word[-1:] == "." and word[:-1] in _SHORTENED):
        if word in _KINDS:
            return True
        return not (_VALUE_SAID.search(before) or _COUNTED.match(text, end, end + 30))
    return _in_name(text, number, before)


def _is_day(text: str, number: Number) -> bool:
    if number.maybe_date:
        return text[number.start - 1 : number.start] != "#"
    follows = text[number.end : number.end + 16].lower().split()
    return any(one[:3] in _MONTHS_BEGIN for one in follows) and bool(
        _MONTH_AFTER.match(text, number.end)
    )


def _in_name(text: str, number: Number, before: str) -> bool:
    """ "the Pixel Watch 3 is back", "Cyberpunk 2077 runs": what stands in a list of such pairs
    ("Norway 12, Sweden 15") is counted.
    """
    found = _NAME.search(before)
    if found is None or found["last"].lower() in _NO_NAME:
        return False
    if number.maybe_date:
        return number.value > _LAST_YEAR
    after = _NO_NOUN_AFTER.match(text, number.end)
    if after is None or len(_PAIR.findall(text, 0, 2000)) > 1:
        return False
    return found["inside"] is not None or bool(found["more"] and after["verb"])
