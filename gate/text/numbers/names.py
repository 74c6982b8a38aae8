"""Numbers that are part of a name: "Boeing 747", "her iPhone 15", "12 Elm Street"."""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

_WINDOW = 48
LONGEST = 5  # digits of a number in a name
_PRODUCT_WORDS = (
    "airbus android apollo azure bluetooth boeing catch-22 channel chanel claude covid dreamliner"
    " formula fortune ftse galaxy gemini gpt hdmi html http iphone ipad ipod ios java llama macos"
    " magnum mazda mercedes nasdaq nikkei node office pep peugeot php pixel playstation polaroid"
    " porsche postgres postgresql python rtx ryzen studio tls ubuntu unicode usb utf windows xbox"
)
_PRODUCTS = frozenset(_PRODUCT_WORDS.split())  # and any with a capital inside: "iPhone", "MySQL"
_SERIES = frozenset(
    (
        *(("world", "war"), ("area", "51"), ("type", "1"), ("type", "2"), ("fahrenheit", "451")),
        *(("ocean's", "11"), ("catch", "22"), ("blink", "182"), ("level", "42"), ("group", "7")),
    )
)
_LED_BY = frozenset((*_PRODUCTS, "past"))  # small words that may make a name
_INNER_CAPITAL = late_pattern(r"[A-Za-z]*[a-z][A-Z]\w*\Z")
_CALLED = late_pattern(
    r"\b(?P<the>[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Mm]y|[Oo]ur|[Yy]our|[Tt]heir|[Tt]his|[Tt]hat|[Ii]ts)"
    r" (?:[A-Z][\w&-]*[a-z&]\w* ){1,2}\Z"
)
_COUNTED = late_pattern(r" (?!is\b|was\b|has\b|as\b|does\b|this\b|its\b)[a-z]{2,}s\b")
_STREET = late_pattern(
    r"[A-Za-z]? (?:[A-Z][\w'-]{1,20} ){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Way|Place"
    r"|Terrace|Crescent|Close|Gardens|Grove|Hill|Row|Parade|Quay|Walk|Mews|Highway)\b"
    r"|[,]? (?:rue|avenue|boulevard|via|calle|place|chemin|quai) (?:d|[A-Z])"
)
_STREET_BEFORE = late_pattern(
    r"(?:[a-zäöüß](?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|damm|ufer|ring)|\bStra(?:ß|ss)e)\Z"
    r"|\b(?:Rua|Calle|Via|Avenida|Piazza) (?:[A-Z]\w+,? ?){1,3}\Z",
)
_CLOCK = late_pattern(r"\b(?:half|quarter|ten|twenty|five) past\Z|\bquarter to\Z", re.IGNORECASE)
_SHARP_WORDS = (
    "video tv tvs uhd resolution display monitor screen footage camera stream streaming movie"
    " content quality oled ultra projector"
)
_SHARP = frozenset(_SHARP_WORDS.split())
_DECADE = late_pattern(
    r"(?:\b(?:the|her|his|their|my|our|your|its|early|late|mid)[ -]|['\u2019])\Z", re.IGNORECASE
)


def may_name(text: str, end: int) -> bool:
    """Whether the word that ends there may make a name of a number after it."""
    word = text[max(text.rfind(" ", max(0, end - 20), end), 0) : end].strip()
    return not word.islower() or word in _LED_BY


def is_in_name(text: str, start: int, end: int) -> bool:
    """Whether the plain digits from `start` to `end` are part of a name."""
    if end - start > LONGEST:
        return False
    if text[start:end].isdecimal() and _STREET.match(text, end, end + 80):
        return True
    if text[start - 1 : start] not in (" ", "\u00a0"):
        return False
    window = text[max(0, start - _WINDOW) : start - 1]
    word = window.replace("\n", " ").rpartition(" ")[2].lstrip("(\"'*_[`\u201c")
    plain = word.lower().rstrip(".")
    if plain in _PRODUCTS or (plain, text[start:end]) in _SERIES or _STREET_BEFORE.search(window):
        return True
    if plain in ("past", "to") and _CLOCK.search(window):
        return True
    if not word[:1].isalpha() or word.islower():
        return window.endswith("orld war")
    if plain == "war" or (_INNER_CAPITAL.match(word) and text[start:end] not in ("0", "1")):
        return True
    called = _CALLED.search(f"{window} ")
    if called is None:
        return False
    counts = called["the"].lower() not in ("a", "an") and _COUNTED.match(text, end, end + 30)
    return not counts


def is_glued_name(text: str, start: int, letters: str) -> bool:
    """ "4K video", "in her 30s": a name, though the letter may be a unit. `letters` stand right
    after the digits that begin at `start`.
    """
    digits = len(text) - len(text[start:].lstrip("0123456789")) - start
    end = start + digits + len(letters)
    if letters == "s" and digits == 2 and text[start + 1] == "0":
        return bool(_DECADE.search(text, max(0, start - 8), start))
    if letters == "K" and digits == 1:
        return text[end : end + 12].lstrip(" -").partition(" ")[0].lower().rstrip(".,") in _SHARP
    return letters == "p" and digits > 2
