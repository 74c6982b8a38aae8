"""A rubric: what a judge model sees, what it scores on which scales, and when that passes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, get_args

from gate.errors import UsageError

Dimension = Literal["retrieval", "correctness", "response_quality", "operational", "agent"]

# What `shows` can name beside keys of the case.
QUESTION, ANSWER, CONTEXT, STEPS = "question", "answer", "context", "steps"
LOGS = "server_logs"
FROM_RESPONSE = (ANSWER, STEPS, LOGS)
RESERVED = ("canary", "addressed_judge", "total")  # words of a reply or a failure code
LARGEST = 100  # of a scale
_SCALE = (1, 5)
_WORD = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_METRIC = re.compile(rf"({'|'.join(get_args(Dimension))})\.[a-z][a-z0-9_]{{0,59}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing to score. `scale`: the lowest and the highest whole number, by default 1 and 5.
    `levels`: score -> what deserves it. `metric`: the name of its metric.
    """

    about: str = ""
    scale: tuple[int, int] | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    metric: str = ""

    @property
    def low(self) -> int:
        return (self.scale or _SCALE)[0]

    @property
    def high(self) -> int:
        return (self.scale or _SCALE)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What a judge scores. Raises UsageError, with the key, for an invalid rubric.

    `shows`: question, context, answer, steps, server_logs, or keys of the case. `needs`: keys of
    the case; if one is null or empty, the case is not counted. `total`: the metric of all points
    together, 0 to 1; criteria then have a metric only if they name one. `least`, `least_total`:
    what an answer needs to pass; without either the judge has no opinion. `compare_with`: the
    case's key with another answer; each criterion then asks which of the two is better.
    """

    name: str
    about: str
    criteria: Mapping[str, Criterion]
    dimension: Dimension = "correctness"
    shows: tuple[str, ...] = (QUESTION, ANSWER)
    needs: tuple[str, ...] = ()
    total: str = ""
    least: Mapping[str, float] = field(default_factory=dict)
    least_total: int | None = None
    compare_with: str = ""

    def __post_init__(self) -> None:
        faults = chain(
            _check_texts(self),
            _check_criteria(self),
            _check_metrics(self),
            _check_shown(self),
            _check_comparison(self),
        )
        for key, what in chain(faults, limits(self, self.least, self.least_total)):
            raise UsageError(f"rubric '{self.name[:60]}': {key}: {what}")

    @property
    def older_words(self) -> Mapping[str, str]:
        """Criterion -> the word that it had before, by which the judge model is still asked."""
        return {}

    @property
    def needed_keys(self) -> tuple[str, ...]:
        """The keys that a case must have."""
        pair = (self.compare_with,) if self.compare_with else ()
        return tuple(dict.fromkeys((*self.needs, *pair)))

    @property
    def read(self) -> tuple[str, ...]:
        """The keys of a case that the judge sees, or that decide whether it is asked."""
        shown = (name for name in self.shows if name not in (QUESTION, *FROM_RESPONSE))
        return tuple(dict.fromkeys((*shown, *self.needed_keys)))

    def asked_as(self, criterion: str) -> str:
        """The word for it in the prompt and in the judge's reply."""
        return self.older_words.get(criterion, criterion)

    def criterion_named(self, word: str) -> str:
        """The criterion of this name; a name that it had before counts, too."""
        if word in self.criteria:
            return word
        return next((new for new, old in self.older_words.items() if old == word), word)

    def metric_of(self, criterion: str) -> str:
        """The name of a criterion's metric; empty if it has none."""
        metric = self.criteria[criterion].metric
        return metric or ("" if self.total else f"{self.dimension}.{criterion}")

    def bounds(self, criterion: str) -> tuple[float, float]:
        """The lowest and the highest value of a criterion; 0 and 1 for a comparison."""
        scored = self.criteria[criterion]
        return (0.0, 1.0) if self.compare_with else (float(scored.low), float(scored.high))

    @property
    def total_bounds(self) -> tuple[float, float]:
        every = [self.bounds(name) for name in self.criteria]
        return sum(low for low, _ in every), sum(high for _, high in every)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewordedRubric(Rubric):
    """A built-in rubric with criteria that were called otherwise before. The judge model is asked
    by the old words: another prompt would be another measurement, and no older baseline could be
    compared with it.
    """

    older: Mapping[str, str]  # criterion -> the word that it had before

    @property
    def older_words(self) -> Mapping[str, str]:
        return self.older


def is_valid_name(criterion: str) -> bool:
    """Whether a criterion may have this name."""
    return bool(_WORD.fullmatch(criterion)) and criterion not in RESERVED


Faults = Iterator[tuple[str, str]]  # key, what is wrong with it


def limits(rubric: Rubric, least: Mapping[str, float], least_total: int | None) -> Faults:
    """What is wrong with the limits for passing."""
    for name, value in least.items():
        if name not in rubric.criteria:
            yield f"least.{name}", f"no such criterion - there are {', '.join(rubric.criteria)}"
        else:
            yield from _check_reachable(f"least.{name}", value, rubric.bounds(name))
    if least_total is not None and rubric.compare_with:
        yield "least_total", "a comparison has no points - use `least`"
    elif least_total is not None:
        yield from _check_reachable("least_total", least_total, rubric.total_bounds)


def _check_reachable(key: str, value: float, bounds: tuple[float, float]) -> Faults:
    low, high = bounds
    if not low < value <= high:
        yield key, f"{value:g} must be above {low:g}, which is always met, and at most {high:g}"


def _check_texts(rubric: Rubric) -> Faults:
    if not _NAME.fullmatch(rubric.name):
        yield "name", "must be 1 to 60 letters, digits, '_', '.' or '-'"
    if not rubric.about.strip():
        yield "about", "is empty - say what is judged"
    if not rubric.criteria:
        yield "criteria", "there are none - name at least one"


def _check_criteria(rubric: Rubric) -> Faults:
    for name, criterion in rubric.criteria.items():
        key = f"criteria.{name}"
        if not is_valid_name(name):
            taken = ", ".join(RESERVED)
            yield key, f"a criterion is called in small letters, digits and '_', and not {taken}"
        if not 0 <= criterion.low < criterion.high <= LARGEST:
            message = f"must be two whole numbers from 0 to {LARGEST}, the lower first"
            yield f"{key}.scale", message
        for level in criterion.levels:
            if not (
                level.isascii()
                and level.isdigit()
                and criterion.low <= int(level) <= criterion.high
            ):
                message = f"'{level[:20]}' is not a whole number of the scale"
                yield f"{key}.levels", f"{message}, {criterion.low} to {criterion.high}"


def _check_metrics(rubric: Rubric) -> Faults:
    named = {f"criteria.{name}.metric": rubric.metric_of(name) for name in rubric.criteria}
    seen: dict[str, str] = {}
    for key, metric in {**named, "total": rubric.total}.items():
        if metric and not _METRIC.fullmatch(metric):
            dimensions = ", ".join(get_args(Dimension))
            yield key, f"'{metric[:80]}' is not dimension.name with a dimension of {dimensions}"
        if metric and metric in seen:
            yield key, f"{metric} is the metric of {seen[metric]} already"
        seen[metric] = key


def _check_shown(rubric: Rubric) -> Faults:
    if not set(rubric.shows) & set(FROM_RESPONSE):
        yield "shows", "nothing of the agent's is shown - add answer or steps"
    if len(set(rubric.shows)) < len(rubric.shows):
        yield "shows", "names something twice"
    for name in rubric.needs:
        if name in (QUESTION, *FROM_RESPONSE):
            yield "needs", f"'{name}' is no key of the case"


def _check_comparison(rubric: Rubric) -> Faults:
    if not rubric.compare_with:
        return
    if rubric.compare_with in (QUESTION, *FROM_RESPONSE):
        yield "compare_with", f"'{rubric.compare_with}' is no key of the case"
    if ANSWER not in rubric.shows:
        yield "shows", "a comparison needs answer"
    if rubric.compare_with in rubric.shows:
        message = f"'{rubric.compare_with}' is compared with, so that the judge must not know it"
        yield "shows", f"{message} - leave it out"
    if rubric.total:
        yield "total", "a comparison has no points - leave it out"
    for name, criterion in rubric.criteria.items():
        if criterion.scale is not None or criterion.levels:
            yield f"criteria.{name}", "a comparison has no scale and no levels"
