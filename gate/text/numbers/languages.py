"""Whether a text is in a language in which a point groups thousands: "1.234 Einwohner"."""

from __future__ import annotations

from gate.text.late_pattern import late_pattern

_READ = 4000  # characters; the first sentences tell the language
_FEWEST = 2  # words that tell it
_WORDS = late_pattern(r"[^\W\d_]+")
# Small words that are none in English, of German, Dutch, French, Spanish, Italian and Portuguese.
_POINTED_WORDS = (
    "der die das und ist sind nicht ein eine einen einem einer mit für auf im den dem zu von vom"
    " zum zur wird werden wurde hat haben beträgt betragen kostet kosten pro sich es liegt rund"
    " etwa zählt zählen"
    " het een van voor zijn niet op bij wordt heeft aan"
    " le la les des du est et un une dans pour avec sur sont plus cette ce ses aux"
    " el los las del y en una por con es son tiene tienen hay al su sus cuesta"
    " il lo gli di da è una per sono della nel nella ha ci costa"
    " o os um uma com não são tem mais pelo pela ao na dos das custa é de"
)
_ENGLISH_WORDS = (
    "the of and is are was were to an for with that this it by from as be has have had there our"
    " their its which or but we you i not about will"
)
_POINTED = frozenset(_POINTED_WORDS.split())
_ENGLISH = frozenset(_ENGLISH_WORDS.split())


def groups_with_points(text: str) -> bool:
    """Whether more of its small words are of such a language than of English."""
    words = {found.lower() for found in _WORDS.findall(text[:_READ])}
    pointed = len(words & _POINTED)
    return pointed >= _FEWEST and pointed > len(words & _ENGLISH)
