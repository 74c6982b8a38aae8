"""What scorers of Inspect gave a sample, as numbers: the same ones that its own metrics take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.importers.formats.inspect.logs import TOOL
from gate.importers.trials.build import score_metric
from gate.importers.trials.names import metric_name
from gate.records import LARGEST, Json, MetricSpec

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_FROM_VALUE = {"P": "partial", "N": "no_answer"}
MOST_SCORES = 200  # different ones in one log


def number_of(value: Json) -> float | None:
    """As Inspect's `value_to_float`; None for what it has no number for, and for NaN, which it
    gives what was not scored.
    """
    if isinstance(value, str):
        found = _LETTERS.get(value, _WORDS.get(value.lower()))
        if found is not None or len(value) > 40:
            return found
    elif not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_beyond(value: Json) -> bool:
    """A number that nobody measured, Infinity too; NaN is what was not scored."""
    return isinstance(value, (int, float)) and value == value and abs(value) > LARGEST


def code_of(value: Json) -> str:
    """Why an answer did not pass."""
    return _FROM_VALUE.get(value, "incorrect") if isinstance(value, str) else "incorrect"


@dataclass(frozen=True, slots=True)
class GivenScore:
    """One value: of a scorer, or of one part of it where it gives several."""

    name: str  # `includes`, `parts.a`
    scorer: str
    value: Json


def iterate_scores(scores: Mapping[str, Json]) -> Iterator[GivenScore]:
    """Every value of a sample's `scores`."""
    for scorer, score in scores.items():
        value = score.get("value")
        if isinstance(value, dict):
            yield from (GivenScore(f"{scorer}.{key}", scorer, part) for key, part in value.items())
        elif isinstance(value, list):
            parts = enumerate(value[:MOST_SCORES], 1)
            yield from (GivenScore(f"{scorer}.{n}", scorer, part) for n, part in parts)
        else:
            yield GivenScore(scorer, scorer, value)


@dataclass(slots=True, kw_only=True)
class ScoreValues:
    """All values of one name in a log: [sum, number] by sample id over its epochs. A text that is
    no number counts as 0 beside numbers, as Inspect's metrics take it; texts alone are no score.
    """

    scorer: str
    by_id: dict[str, list[float]] = field(default_factory=dict)
    low: float = math.inf
    high: float = -math.inf
    graded: bool = True  # each value is correct or incorrect, 1 or 0
    measured: bool = False  # there is a number among them
    mixed: bool = False  # and a text that is none

    def add(self, sample_id: str, value: Json) -> None:
        number = number_of(value)
        if number is None and not isinstance(value, str):
            return
        self.measured = self.measured or number is not None
        self.mixed = self.mixed or number is None
        self.graded = self.graded and (number in (0.0, 1.0) or value == "P")
        number = number or 0.0
        self.low, self.high = min(self.low, number), max(self.high, number)
        place = self.by_id.setdefault(sample_id, [0.0, 0])
        place[0] += number
        place[1] += 1

    @property
    def means(self) -> tuple[float, float]:
        """Over the samples of their means over epochs, and over all at once."""
        each = [total / number for total, number in self.by_id.values()]
        number = sum(number for _, number in self.by_id.values())
        return math.fsum(each) / len(each), math.fsum(t for t, _ in self.by_id.values()) / number

    def spec(self, name: str) -> MetricSpec:
        """Its metric: values from 0 to 1 are a rate, others have no bounds."""
        share = self.low >= 0.0 and self.high <= 1.0
        about = "mean over the samples, as Inspect's mean and accuracy are"
        return score_metric(column(name), share=share, about=about)


def column(name: str) -> str:
    """`parts.a` -> `inspect.parts.a`."""
    return metric_name(TOOL, *name.split(".", 1))


def decider(seen: Mapping[str, ScoreValues], order: Sequence[str]) -> str | None:
    """The first scorer, in the log's order, whose values all say correct or incorrect."""
    ordered = sorted(seen, key=lambda n: order.index(n) if n in order else len(order))
    return next((n for n in ordered if seen[n].measured and seen[n].graded), None)
