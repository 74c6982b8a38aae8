"""How many words a reader of the comment has before them."""

from __future__ import annotations

import html
import re

_NOT_SHOWN = re.compile(r"<!--.*?-->|^```\w*$|^\|[ :|-]+\|$|^> \[!\w+\]$", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"^(?:#+|>|-|\|) |(?<=\s)\||\|$|</?\w+[^>]*>|[`*]", re.MULTILINE)


def count_words(comment: str) -> tuple[int, int]:
    """Words outside folds, and of the whole comment. A word is a piece between white space (a
    no-break space too) with a letter or a digit, of the text as GitHub shows it: those of tables
    count, HTML comments and the addresses of links do not.
    """
    shown = _NOT_SHOWN.sub("", comment)
    shown = re.sub(r"\]\([^()\s]*\)", "]", shown)
    opened = re.sub(r"<details>.*?</details>", "", shown, flags=re.DOTALL)
    return len(_words(opened)), len(_words(shown))


def _words(shown: str) -> list[str]:
    pieces = html.unescape(_MARKS.sub(" ", shown)).split()
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
