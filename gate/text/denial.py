"""Whether a text denies what it names: "not Paris but Lyon", "14 instead of 30 days", "except
Monday", "moved from Tuesday to Thursday", "500 was wrong". English, German, French and Spanish.
"""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

_BEFORE, _AFTER, _NOW = 60, 40, 160  # characters that are read around it
# Small words that may stand between a denial and what is denied; "not more than 12" has others.
_SMALL = (
    r"(?:the|an?|in|at|on|by|for|from|to|of|with|about|around|exactly|actually|currently|really|yet|be"
    r"|der|die|das|den|dem|ein|eine|einen|im|am|um|bei|bis|auf|mehr|genau"
    r"|la|les?|une?|des?|du|à|au|aux|en|dans|el|los|las|una?|del|al|por|es|son|era)"
)
_IS_NOT = r"(?:\b(?:is|are|was|were|be|been|being|am) not|\b(?:is|are|was|were)n't|\bain't)"
_WORD = (
    r"(?!(?:only|just|merely|even|more|less|fewer|than|until|but|because|if|that|who|whether|when|why"
    r"|how|after|before|within|since|beyond|above|below|over|under)\b)[a-z]+"
)
_DENIED = late_pattern(
    rf"(?:(?:\bnot|n't|\bnever|\bno longer|\binstead of|\brather than|\bother than"
    rf"|\bexcept(?: for)?"
    rf"|\bexcluding|\bwithout|\bunlike|\bas opposed to|\bused to (?:be|cost|live|work|say)"
    rf"|\bwould(?: not)? have (?:been|cost|paid|earned|taken|had|saved|made|got|received|needed)"
    rf"|\bi (?:said|wrote|told you|quoted)"
    rf"|\bnicht(?: mehr)?|\bkeine?[nmrs]?|\b(?:an)?statt|\banstelle von|\baußer|\bohne"
    rf"|\bn(?:'|e )[a-z\u00e0-\u00ff]+ (?:plus|jamais)|\bpas|\b(?:est|sont|était) plus"
    rf"|\bau lieu|\bplutôt qu['e]|\bsauf|\bsans"
    rf"|\bno (?:es|son|era|eran|está|están|fue)|\bya no"
    rf"|\ben (?:lugar|vez) de|\bsalvo|\bexcepto|\bsin)"
    rf"(?: {_SMALL}\b){{0,3}}"
    rf"|\b(?:moved|changed|switched|renamed|rescheduled|postponed|corrected|updated|revised"
    rf"|relocated|migrated|verlegt|verschoben|cambiado) (?:\w+ )?(?:from|von|vom|de|du|del))"
    rf"[ \"'(*_\u201c\u201e\u00ab]{{1,4}}(?:l')?\Z"
)
_IN_WORDS = late_pattern(  # of what is no number
    rf"(?:\bno|{_IS_NOT}(?: {_WORD}){{0,2}}|\bno longer(?: {_WORD}){{1,3}}"
    rf"|\b(?:does|do|did)(?: not|n't) (?:include|contain|offer|need|require|use|have)(?: any)?) \Z"
)
_PAST = late_pattern(
    r"\b(?:previously|formerly|originally|initially|earlier|früher|zuvor|ursprünglich"
    r"|auparavant|anciennement|antes)(?: [a-z]+)?(?: [a-z$€]{1,3})? \Z"
)
_NOWADAYS = late_pattern(
    r"\b(?:now|today|currently|since|instead|but|jetzt|heute|nun|inzwischen|désormais|maintenant|ahora|hoy)\b",
    re.IGNORECASE,
)
_WRONG = late_pattern(
    r"[\"')*_\u201d]*(?: (?:earlier|above|before|previously|there))?(?:,| -)?"
    r" (?:is|was|were|are|isn't|wasn't|war|ist|est|era|es) (?:wrong|incorrect|outdated|no longer"
    r""
    r"|(?:already )?taken|sold out|unavailable|not available|fully booked"
    r"|a (?:typo|mistake|misprint)|an error|not (?:correct|right|the right)|falsch|veraltet"
    r"|nicht mehr|faux|incorrect[oe])\b"
    r"| but (?:has|have|was|were)(?: been)? (?:moved|pushed|postponed|changed)\b",
    re.IGNORECASE,
)
_DENYING_WORDS = (
    "not never no longer instead rather other except excluding without unlike opposed used"
    " would said wrote told quoted nicht kein keine keinen keinem keiner keines statt anstatt"
    " anstelle außer ohne pas plus lieu plutôt sauf sans ya lugar vez salvo excepto sin moved"
    " changed switched renamed rescheduled postponed corrected updated revised relocated"
    " migrated verlegt verschoben cambiado previously formerly originally initially earlier"
    " früher zuvor ursprünglich auparavant anciennement antes"
)
_DENYING = frozenset(_DENYING_WORDS.split())


def is_denied(text: str, start: int, end: int, *, counted: bool = False) -> bool:
    """Whether what stands in `text` from `start` to `end` is said not to hold, or no more.
    `counted`: it is a number, which "no" does not deny.
    """
    if _WRONG.match(text, end, end + _AFTER):
        return True
    before = text[max(0, start - _BEFORE) : start].lower().replace("\u2019", "'")
    if "n't" not in before and _DENYING.isdisjoint(before.split()):
        return False
    if _DENIED.search(before) or (not counted and _IN_WORDS.search(before)):
        return True
    return bool(_PAST.search(before) and _NOWADAYS.search(text, end, end + _NOW))
