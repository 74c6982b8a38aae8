"""Does an answer name a file that it was to write, wherever the scratch folder was moved to?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.records import Json

SCRATCH = "scratch"
_MOST_VALUES = 10_000
_LONGEST = 20_000  # characters of one text that are looked at
_BREAKS = re.compile(r"[\s'\"`=,;()<>|&\[\]{}]+")
_SEPARATORS = re.compile(r"[\\/]+")


def strings(value: Json) -> Iterator[str]:
    """Every text inside, keys left out; the first 10,000 values are looked at."""
    waiting, seen = [value], 0
    while waiting and seen < _MOST_VALUES:
        one = waiting.pop()
        seen += 1
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def names_path(texts: Iterable[str], wanted: str) -> bool:
    """Whether one of the texts is, or has in it, a path that ends as `wanted` does.

    What was below `./scratch/` may be anywhere below another folder of that name.
    """
    want = parts(wanted)
    return any(_ends(parts(word), want) for text in texts for word in _words(text[:_LONGEST]))


def is_there(files: Iterable[str], wanted: str) -> bool | None:
    """Whether `wanted` is among the files, which are told from `./scratch/` on; None for a path
    that lies elsewhere.
    """
    want = parts(wanted)
    if want[:1] != (SCRATCH,):
        return None
    return any(parts(file) in (want, want[1:]) for file in files)


def parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in _SEPARATORS.split(path.strip()) if part not in ("", "."))


def _words(text: str) -> Iterator[str]:
    yield text
    for word in _BREAKS.split(text):
        yield word.rstrip(".:!?")


def _ends(path: tuple[str, ...], want: tuple[str, ...]) -> bool:
    if not want or path[-len(want) :] == want:
        return bool(want)
    tail = want[1:]
    if want[0] != SCRATCH or not tail:
        return False
    return path[-len(tail) :] == tail and SCRATCH in path[: -len(tail)]
