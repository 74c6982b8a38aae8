"""Whether an answer says that it does not know or will not say. English."""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

_BEGINNING = 200  # characters in which it says so
_LONGEST = 600  # characters: a longer text says more than that
_ABLE = (
    r"(?:can ?not|can't|could not|couldn't|'m (?:not able|unable) to"
    r"|(?:am|are|was|were) (?:not able|unable) to)"
)
_LOOK = (
    r"(?:find|answer|determine|provide|locate|tell|say|give|share|access|confirm|identify|retrieve"
    r"|help|assist|disclose|comply|see any)"
)
_TOLD = r"(?:known|given|stated|mentioned|specified|provided|disclosed)"
_THERE = (
    r"(?:available|covered|listed|contained|included|recorded|there|in (?:the|these|my|our) \w+)"
)
_MATTER = r"(?:information|data|documents?|answers?|records?|results?|evidence|figures?|details?)"
_SAYS = r"(?:say|cover|mention|contain|give|state|include|specify|provide|show|answer|record)"
_ABSTAINS = late_pattern(
    rf"\b(?:i|we)(?: really| simply| just)? {_ABLE} {_LOOK}\b"
    rf"|\b(?:i|we) (?:do not|don't) (?:know|have)\b"
    rf"|\b(?:i am|i'm|we are|we're) not (?:sure|aware)\b"
    rf"|\b(?:not enough|insufficient|no(?: \w+)?) {_MATTER}\b"
    rf"|\b(?:(?:is|are|was|were) not|isn't|aren't|wasn't|it's not)(?: \w+)? {_TOLD}\b"
    rf"|\b{_MATTER}(?: \w+){{0,4}} (?:(?:is|are|was|were) not|isn't|aren't|wasn't) {_THERE}\b"
    rf"|\b(?:does|do|did)(?: not|n't) {_SAYS}\b"
    r"|\bno \w+ (?:covers?|mentions?|says?|states?|contains?|answers?) \w+",
    re.IGNORECASE,
)
_ALL_OF_IT = late_pattern(
    r"\W*(?:unknown|not known|n/?a|none|no answer|no idea|unanswerable|not available|not found"
    r"|not specified|i do not know|i don't know)\W*",
    re.IGNORECASE,
)
_NOT_KNOWN = late_pattern(r"\W*(?:unknown|not known|not available|unanswerable)\s*[:.,;-]", re.I)
_BUT = late_pattern(r"\b(?:but|however|although|though|nevertheless)\b", re.IGNORECASE)
_NEGATION = late_pattern(
    r"\b(?:no|not|none|nothing|nobody|never|neither|nor|unable|unknown|cannot|without|sorry|unclear"
    r"|unsure|unavailable|refuse|decline|unfortunately|lacks?|missing|private|confidential"
    r"|kein\w*|nicht|leider|pas|aucun\w*|ningun\w*|desconocid\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def abstains(text: str) -> bool:
    """Whether it surely does: nothing is told after "but"."""
    said = text.strip().replace("\u2019", "'")
    if _ALL_OF_IT.fullmatch(said):
        return True
    if len(said) > _LONGEST:
        return False
    found = _NOT_KNOWN.match(said) or _ABSTAINS.search(said, 0, _BEGINNING)
    return found is not None and not _BUT.search(said, found.end())


def may_abstain(text: str) -> bool:
    """Whether it has any word with which one would; without one it surely does not abstain."""
    return not text.strip() or abstains(text) or bool(_NEGATION.search(text))
