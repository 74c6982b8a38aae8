"""One thing that `gate doctor` looked at, and what it found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gate.errors import Problem
from gate.text import figures

AGAIN = "run `gate doctor` again when that is mended"
_MOST = 5  # problems of a file that are told one by one
_STATUS = re.compile(r" answered (\d{3})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `advice`: what to do; empty where nothing is wrong."""

    name: str
    text: str
    advice: str = ""
    warns: bool = False  # worth a word, but a run gives a verdict all the same

    @property
    def ok(self) -> bool:
        return not self.advice or self.warns


def make_fault(name: str, message: str, advice: str = "") -> Finding:
    """A message says what is wrong and what to do in one sentence. `advice`: where it does not."""
    what, mark, todo = message.partition("; ")
    if not mark:
        what, mark, todo = message.partition(" - ")
    return Finding(name=name, text=what, advice=todo or advice or AGAIN)


def list_faults(name: str, problems: Sequence[Problem]) -> Iterator[Finding]:
    """The first problems of each file, and how many more it has."""
    for file, of_file in groupby(problems, key=lambda problem: problem.place.file):
        found = list(of_file)
        shown = found if len(found) == _MOST + 1 else found[:_MOST]
        yield from (make_fault(name, str(problem)) for problem in shown)
        if more := len(found) - len(shown):
            text = f"{file}: {figures.count(more, 'more problem')}"
            yield Finding(name=name, text=text, advice="`gate validate` lists them")


def advise_on_failure(message: str, otherwise: str, *, section: str = "agent") -> str:
    """What to do about the status with which somebody answered; `otherwise` where it has none."""
    found = _STATUS.search(message)
    status = int(found[1]) if found else 0
    if status in (401, 403):
        return f"check the key: `{section}.api_key_env` in gate.yml names its variable"
    if status in (404, 405):
        return f"check the path of the {section}'s address in gate.yml"
    if status == 429:
        return "wait, or ask for a higher limit: the provider wants fewer requests"
    if status >= 500:
        return f"look into the {section}'s own log: the error is there"
    return otherwise
