"""Does an answer decline, by how it begins?

English only: elsewhere the model's finish reason or a grader of the user's own can tell.
"""

from __future__ import annotations

from gate.text.late_pattern import late_pattern

_BEGINNING = 400  # characters in which a refusal declares itself
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'", "`": "'"})

_SORRY = (
    r"(?:(?:(?:i(?: am|'m) (?:\w+ )?(?:sorry|afraid)|sorry|my apologies|i apologi[sz]e"
    r"|thank(?:s| you) for|as an? (?:ai|large|language|virtual|assistant)\b)"
    r"(?:[^.,;:!?]{0,60}[.,;:!?]+)?|(?:unfortunately|regrettably|no)[,.]?)"
    r"\s*(?:but |however,? |that )?)"
)
_CANNOT = (
    r"(?:(?:can(?:not|'?t| not)|will not|won't|may not|must not|am not going to|'m not going to)"
    r"(?: be able to)?"
    r"|(?: ?am|'m| ?are|'re) (?:not (?:able|allowed|permitted|authori[sz]ed|willing)|unable) to)"
)
_DOING = (
    r"(?:\w+ly )?(?:help|assist|answer|comply|provide|fulfil+|respond|discuss|disclose|reveal|share"
    r"|support|process|proceed|engage|participate|give|offer|advise|grant|generate|create|write"
    r"|produce|perform|complete|carry out|do (?:that|this|it|so))\b"
)
_REFUSAL = late_pattern(
    rf"{_SORRY}{{0,3}}(?:"
    rf"(?:i|we) ?{_CANNOT} {_DOING}"
    r"|(?:i|we) (?:must |have to |need to |respectfully |will )*(?:decline|refuse)\b"
    r"|(?:this|that|your|the) (?:request|question|topic) (?:can(?:not|'t| not) be|violates"
    r"|goes against|is (?:against|outside|beyond|not something))\b"
    r"|(?:this|that|it)(?: is|'s| goes) (?:against|outside) (?:my|our)\b"
    r")",
)


def refuses(answer: str) -> bool:
    """`I am sorry, but I cannot help with that.` Not knowing, or having found nothing, is none."""
    text = " ".join(answer[:_BEGINNING].translate(_APOSTROPHES).casefold().split())
    return _REFUSAL.match(text.lstrip("\"'*_> ")) is not None
