"""The faults that the switches ask for, drawn once a question: same seed, same faults."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from threading import Lock

from gate.agents.sample_agent.options import CHANCES, SampleOptions

_FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w\]]|-\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFaults:
    """What goes wrong with one answer."""

    flaky: bool = False
    error_rate: bool = False
    wrong_args: bool = False
    wrong_tool: bool = False
    hallucinate: bool = False
    loop: bool = False
    refuse: bool = False
    unsafe: bool = False
    malformed: bool = False
    disobey: bool = False
    invent: bool = False


def draw(options: SampleOptions, question: str, nth: int) -> PlantedFaults:
    """The faults of the nth time (from 1) that `question` is asked.

    Each switch has a stream of its own, so that turning one on leaves the others' draws as they
    were, and a larger chance only adds faults.
    """

    def happens(name: str) -> bool:
        stream = random.Random(f"{options.seed}|{name}|{nth}|{question}")
        return stream.random() < options.chance(name)

    return PlantedFaults(**{name: happens(name) for name in CHANCES})


class Counting:
    """How often each key was asked, over all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: Counter[str] = Counter()

    def next(self, key: str) -> int:
        """1 for the first time."""
        with self._lock:
            self._asked[key] += 1
            return self._asked[key]


def other_figures(answer: str) -> str:
    """The answer with its figures changed by about a third; without any figure it gains one."""
    changed = _FIGURE.sub(lambda match: _other(match[0]), answer)
    return changed if changed != answer else f"{answer} This concerned 87 customers last year."


def _other(text: str) -> str:
    if re.fullmatch(r"(19|20)\d\d", text):
        return text  # years stay, or nobody would be fooled
    decimals = len(text.partition(".")[2])
    value = float(text.replace(",", "")) * 1.37 + 1
    return f"{value:,.{decimals}f}"
