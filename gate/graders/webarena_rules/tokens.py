"""Whether a sign stands as a word of its own, as the benchmark's tokeniser (NLTK) cuts texts.

It is asked for references of one character only: "0" is no word of "10", "0.5" and "x=0". Letters
and digits are judged as NLTK 3.8 does; of other signs the rare cases are simplified. Where NLTK's
sentence model decides, its rule for digits is followed: "5." before a word in small letters is no
end of a sentence, and then the dot belongs to the 5.
"""

from __future__ import annotations

import re

# Cut off from what is around them, wherever they stand.
_APART = frozenset(';@#$%&?!*()[]{}<>«“‘„»”’`"')
_CLOSING = ")]}>\"'»”’ "  # may stand between the last dot of a text and its end
_ENDS_SENTENCE = frozenset(")\"}]*@'({[")  # right after a dot: a sentence ended there
_BEFORE_NUMBER = frozenset('("`{[:;&#*@)}]-.')  # what the sentence model cuts off before a number
_CLITICS = ("'s", "'m", "'d", "'ll", "'re", "'ve", "n't")
_NO_QUOTE_BEFORE = frozenset("mtsdn")  # an apostrophe before these is theirs
# Before a letter or digit: no sign that it surely belongs to, a single dash or dot among them.
_EDGE = r"(?<![\w/+=^~|\\])(?<!(?<!-)-)(?<!(?<!\.)\.)"
_BREAKS_OFF = frozenset(":,;.!?")


def stands_alone(sign: str, text: str) -> bool:
    """Whether `sign`, one character, is a token of `text`."""
    if sign == '"':
        return False  # the tokeniser writes `` or '' instead
    if sign in _APART and sign != "`":
        return sign in text
    edge = _EDGE if _is_word(sign) else ""
    after = r"(?=\W|\Z|n't)" if _is_word(sign) else ""
    last = len(text.rstrip().rstrip(_CLOSING).rstrip())
    matches = re.finditer(edge + re.escape(sign) + after, text)
    return any(_begins(text, match.start()) and _ends(text, match.end(), last) for match in matches)


def _begins(text: str, at: int) -> bool:
    """Whether a token begins at `at`, whatever was before it."""
    before = text[at - 1 : at]
    if not before or before.isspace() or before in _APART:
        return True
    run = _run_before(text, at)
    if before in ":,":
        return not text[at].isdecimal() and _commas_before(text, at) % 2 == 1
    if before == "-":
        return run % 2 == 0
    if before == ".":
        return run > 1
    if before == "'":
        has_own_quote = text[at] in _NO_QUOTE_BEFORE or not _is_word(text[at])
        return run % 2 == 0 or not has_own_quote
    return False


def _ends(text: str, at: int, last: int) -> bool:
    """Whether a token ends before `at`. `last`: behind the last sign that is no closing one."""
    if _plainly_ends(text, at, last):
        return True
    for clitic in _CLITICS:
        if text.startswith(clitic, at) and _plainly_ends(text, at + len(clitic), last):
            return True
    if text[at] != "'":
        return False
    inner = text[at + 1 : at + 2]  # 5'6
    has_own_quote = not _is_word(inner) or inner.lower() in _NO_QUOTE_BEFORE
    return _plainly_ends(text, at + 1, last) or not (
        has_own_quote or _is_word(text[at + 2 : at + 3])
    )


def _plainly_ends(text: str, at: int, last: int) -> bool:
    after = text[at : at + 1]
    if not after or after.isspace() or after in _APART:
        return True
    following = text[at + 1 : at + 2]
    if after in ":,":
        return not following.isdecimal()
    if after == "." and following != ".":
        return at + 1 == last or _sentence_ends(text, at)
    return following == after and after in "-.'"


def _sentence_ends(text: str, dot: int) -> bool:
    """Whether a sentence ends with the dot behind a sign, where more follows."""
    following = text[dot + 1]
    if not following.isspace():
        return following in _ENDS_SENTENCE
    before = text[dot - 2 : dot - 1] if dot > 1 else ""
    if before and not before.isspace() and before not in _BEFORE_NUMBER:
        return True  # $5. and the like are no number to the sentence model
    at = dot + 1
    while text[at].isspace():
        at += 1
    return not (text[at].isalpha() or text[at] in _BREAKS_OFF)


def _run_before(text: str, at: int) -> int:
    """How many signs like the one before `at` stand there in a row."""
    start = at - 1
    while start > 0 and text[start - 1] == text[at - 1]:
        start -= 1
    return at - start


def _commas_before(text: str, at: int) -> int:
    start = at
    while start > 0 and text[start - 1] in ":,":
        start -= 1
    return at - start


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
