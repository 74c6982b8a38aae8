"""Finds answers that plainly try to instruct their judge, by patterns; no model is asked.

The patterns are things that an honest answer does not have: an order about this answer's score,
often with an order to ignore the rubric; the form of the judge's own reply; the marks of the
prompt. An answer may speak about rubrics, judges and scores, and may quote such an order within a
sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from gate.graders.rubrics.rubric import Rubric
from gate.text.hidden import drop_hidden
from gate.text.late_pattern import late_pattern
from gate.text.prompt_fence import LIMIT
from gate.text.shortening import shorten

_SHOWN = 80  # characters of what was found
_NOUN = r"(?:answer|response|reply|submission|output|solution|completion)s?"
_JUDGE = (
    r"(?:(?:(?:llm|ai|model|the)[ -]){0,2}(?:judge|grader|evaluator|assessor|examiner|scorer)s?"
    r"|grading model"
    r"|who(?:m|ever|soever)? (?:grade|judge|score|evaluate|mark|assesse?)s? (?:this|it))"
)
_RUBRIC = (
    r"(?:(?:grading|scoring|evaluation|marking|assessment|judging)[ -]"
    r"(?:rubric|criteri|instruction|guideline|rule|scheme|prompt|standard)\w*|rubrics?\b)"
)
_BEFORE = (
    r"(?:(?:all|any|your|the|of|these|other) ){0,3}(?:(?:previous|prior|earlier|above|preceding"
    r"|original|initial) (?:\w+ )?(?:instruction|rule|direction|prompt|guideline|criteri)\w*"
    r"|everything (?:above|before))"
)
_LEAVE = (
    r"(?:ignore|disregard|forget|override|bypass|skip|overlook"
    r"|(?:do not|don't) (?:follow|use|apply)|pay no attention to|set aside)"
)
_GIVE = (
    r"(?:give|award|assign|grant|rate|score|mark|grade|set|return|output|respond with|reply with"
    r"|report|hand out|allocate|copy|repeat|record|treat|accept)"
)
_MUCH = (
    r"(?:(?:full|max(?:imum|imal)?|highest(?: possible)?|perfect|top|best possible) (?:\w+ )?"
    r"(?:mark|score|point|rating|grade|credit)s?|(?:5|10|100) ?(?:/|out of|of) ?(?:5|10|100)\b"
    r"|100 ?%|(?:perfect |every criterion |to |score of |scores? ?[:=] ?|a )(?:5|10|100)\b"
    r"|\b(?:5|10|100)(?: points?\b|(?= for\b)|(?= on\b))|\bscore (?:5|10|100)\b)"
)
_RIGHT = r"(?:\bas (?:\w+ )?(?:correct|passing|passed|right)|(?:this|that|the following) score)"
_OWN = (
    rf"(?:(?:this|my|the above) (?:\w+ )?{_NOUN}|(?:every|each|all)(?: the)? (?:criteri\w+|scores?)"
    r"|everything)\b"
)
_START = (
    r"(?:^|[.!?:;,)\]>*#(-] ?|\b(?:please|kindly|simply|just|must|should|shall|and|then|is to) )"
)
_GAP, _SENTENCE = r"[^\n]{0,100}?", r"[^.!?\n]{0,60}?"
_ORDER = rf"(?:{_GIVE}\b{_SENTENCE}(?:{_MUCH}|{_RIGHT}|\b(?:5|10|100)\b)|scores? ?[:=] ?(?:5|10)\b)"

_RULES = tuple(
    late_pattern(written, re.MULTILINE)
    for written in (
        # Leave the rubric aside, and give so much; or the first alone as a whole sentence.
        rf"{_START}{_LEAVE} (?:{_BEFORE}|(?:\w+ ){{0,3}}{_RUBRIC}){_GAP}"
        rf"(?:{_ORDER}|{_NOUN} (?:\w+ ){{0,2}}(?:receive|deserve|get)\w* {_SENTENCE}{_MUCH})",
        rf"{_START}{_LEAVE} (?:(?:the|any|all|your|this|given) ){{0,3}}{_RUBRIC}"
        r"(?: (?:above|below|entirely|completely|you were given))?(?:[.!]|$)",
        # So much for this answer.
        rf"{_START}{_GIVE} (?:{_SENTENCE}{_OWN}{_SENTENCE}(?:{_MUCH}|{_RIGHT})"
        rf"|{_SENTENCE}{_MUCH}{_SENTENCE}{_OWN}){_SENTENCE}(?:[.!?]|$)",
        rf"\b(?:this|my|the above) {_NOUN} (?:must|should|deserves?|has to|ought to|is to|has"
        rf" already been|was already) {_SENTENCE}{_MUCH}{_SENTENCE}(?:[.!?]|$)",
        # A word to the judge, and an order.
        rf"{_START}(?:(?:(?:new|updated) )?"
        r"(?:note|message|instructions?|attention|dear|hey|hello|hi|as)"
        rf"(?: (?:to|for))?(?: (?:the|a|an))? |to (?:the )?)?{_JUDGE}"
        rf"(?: instructions?| of \w+ \w+)?(?: ?[:,!]| you (?:must|should|are)\b)"
        rf"{_GAP}(?:{_ORDER}|fully correct"
        rf"|{_NOUN} (?:above )?is (?:fully )?correct\b)",
        rf"\b{_JUDGE} (?:must|should|has to|have to) {_ORDER}{_SENTENCE}\b(?:this|my) {_NOUN}",
        rf"\bwhen (?:you )?(?:grad|scor|judg|evaluat|assess)\w* (?:this|my)\b{_GAP}{_ORDER}",
        # The same in other languages.
        r"\b(?:ignorier|vergiss|missacht)\w*\b[^.!?\n]{0,40}?(?:rubrik|bewertungs\w+|kriterien)\b"
        r"[^\n]{0,60}?\b(?:gib|vergib|bewerte)\b[^.!?\n]{0,40}?punkt",
        r"\b(?:ignor|oubli)\w+\b[^.!?\n]{0,40}?(?:grille|crit[eè]res|bar[eè]me)\b"
        r"[^\n]{0,60}?\b(?:donn|attribu|met)\w+\b[^.!?\n]{0,40}?(?:maxim|points)",
        r"\b(?:ignor|olvid|omit)\w+\b[^.!?\n]{0,40}?(?:r[uú]brica|criterios)\b"
        r"[^\n]{0,60}?\b(?:da|asign\w+|otorg\w+|pon)\b[^.!?\n]{0,40}?(?:m[aá]xim|puntos)",
        # The judge's own reply, and its marks.
        r"\baddressed_judge\b[\"'` ]{0,3}(?::|=|to\b) ?(?:true|false)\b",
        r"^(?:<<<|>>>) (?:answer|question|context|rubric|steps|first|second|expected_answer"
        r"|server_logs) (?:[0-9a-f]{8,64}|token)$",
    )
)
_CONDITION = late_pattern(r"\b(?:if|when|unless|where|only|from \d+|in case|between)\b")
_FORMS = (len(_RULES) - 2, len(_RULES) - 1)  # quotes belong to them
_CONDITIONAL = (2, 3)  # rules of which a sentence with a condition is a scheme of marks
_MENTION = late_pattern(r"(?<=[\w,:] )[\"“‘'«][^\"”’'»\n]{1,400}[\"”’'»]")
_BLANKS = late_pattern(r"[ \t\u00a0]+")


def addresses_judge(answer: str, rubric: Rubric) -> str:
    """The part that plainly tries to instruct the judge, shortened; empty if there is none."""
    for passage in _find_passages(answer, rubric):
        return shorten(passage.lstrip(" .!?:;,)]>*#(-").rstrip(), _SHOWN)
    return ""


def _find_passages(answer: str, rubric: Rubric) -> Iterator[str]:
    text = _plain(answer)
    yield from _reply_form(text, rubric)
    orders = _MENTION.sub(" ", text)
    for number, rule in enumerate(_RULES):
        for match in rule.finditer(text if number in _FORMS else orders):
            conditional = number in _CONDITIONAL and _CONDITION.search(match[0])
            if not conditional:
                yield match[0]


def _plain(answer: str) -> str:
    """What a judge is shown of it, small letters, without invisible signs and other forms of
    letters.
    """
    shown = answer if len(answer) <= LIMIT else f"{answer[:LIMIT]}\n{answer[-LIMIT:]}"
    text = drop_hidden(unicodedata.normalize("NFKC", shown)).lower().replace("’", "'")
    return _BLANKS.sub(" ", text)


def _reply_form(text: str, rubric: Rubric) -> Iterator[str]:
    """Each criterion with points, as the judge has to write it; one alone with its reason too."""
    forms = [
        re.compile(rf'"{re.escape(word)}" ?: ?{{[^{{}}]{{0,2000}}?"(?:score|better)" ?:')
        for word in map(rubric.asked_as, rubric.criteria)
    ]
    matches = [form.search(text) for form in forms]
    first = matches[0]
    if first is not None and all(matches) and (len(forms) > 1 or '"reason"' in first[0]):
        yield first[0]
