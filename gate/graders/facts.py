"""Does the answer state the expected facts: numbers within a tolerance, words as whole words?"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import ClassVar

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.stats.matching import mask, maximum_matching
from gate.text.late_pattern import late_pattern
from gate.text.numbers.agreement import Sign, agrees, stated
from gate.text.numbers.number import LIMIT, Locale, Number
from gate.text.numbers.scanning import numbers
from gate.text.phrases import folded, mentioned
from gate.user_code.patterns import search

METRIC = "correctness.fact_accuracy"
_CODE_LIMIT = 80  # characters of a value in a failure code
_NAMED = 5  # missing facts that the reason explains

_VALUE: Json = {"type": ["number", "string"]}
_SEVERAL: Json = {"type": "array", "items": _VALUE, "minItems": 1}
_FACT: Json = {
    "type": "object",
    "properties": {
        "value": {"anyOf": [_VALUE, _SEVERAL]},
        "tolerance": {"type": ["number", "null"], "minimum": 0},
        "required": {"type": "boolean"},
        "must_not": {"type": "boolean"},
        "near": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "regex": {"type": "boolean"},
    },
    "required": ["value"],
    "additionalProperties": False,
}
# Where a clause ends, so that in "revenue 12, cost 15" each figure has its own label.
_CLAUSE_END = late_pattern(
    r"[;\n]|[,.](?=\s)|\b(?:and|but|while|whereas|versus|vs)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One expected fact. `wanted`: numbers, folded phrases or patterns, of which one is enough.
    `near`: labels, next to one of which it must stand; none: it may stand anywhere.
    """

    label: str
    wanted: tuple[Number | str | re.Pattern[str], ...]
    tolerance: float
    required: bool = True
    must_not: bool = False
    near: tuple[str, ...] = ()

    def numbers(self) -> Iterator[Number]:
        return (one for one in self.wanted if isinstance(one, Number))


@GRADERS.register("facts")
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The share of the case's required `expected_facts` that the answer states; passes when it
    states all of them.
    """

    rel_tol: float = 0.01  # for facts without a tolerance of their own
    abs_tol: float = 0.0
    sign: Sign = "strict"  # ignore: "fell by 5 %" states -5 %
    rounding: bool = False  # a number that is rounded right agrees: 1.2 for 1.23
    locale: Locale = "en"
    one_to_one: bool = False  # each number of the answer states one fact only

    keys: ClassVar[Mapping[str, Json]] = {
        "expected_facts": {"type": "array", "items": {"anyOf": [_VALUE, _FACT]}}
    }
    needs: ClassVar[tuple[str, ...]] = ("expected_facts",)

    def __post_init__(self) -> None:
        if self.rel_tol < 0 or self.abs_tol < 0:
            raise UsageError("facts: a tolerance cannot be below 0")

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of the required facts that the answers state"
        return (MetricSpec(name=METRIC, column=METRIC, unit="share", description=about),)

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get("expected_facts") or []
        facts = [self._fact(one) for one in written]
        total = sum(fact.required for fact in facts)
        if not total:
            return Score(values={METRIC: None})
        page = Page(text=(response.answer or "")[:LIMIT], locale=self.locale)
        holds = self._hold(facts, page)
        missed = [f for f, held in zip(facts, holds, strict=True) if f.required and not held]
        optional = [held for f, held in zip(facts, holds, strict=True) if not f.required]
        reason = f"{total - len(missed)} of {total} facts"
        if optional:
            reason += f", {sum(optional)} of {len(optional)} optional ones"
        if missed:
            reason += ": " + "; ".join(_explained(fact, page) for fact in missed[:_NAMED])
        return Score(
            values={METRIC: (total - len(missed)) / total},
            passed=not missed,
            failures=tuple(dict.fromkeys(map(_code, missed))),
            reason=reason,
        )

    def _fact(self, written: Json) -> Fact:
        given = written if isinstance(written, dict) else {"value": written}
        value = given.get("value")
        several = value if isinstance(value, list) else [value]
        tolerance = given.get("tolerance")
        return Fact(
            label=_label(several[0]) if several else "",
            wanted=tuple(self._wanted(one, given.get("regex", False)) for one in several),
            tolerance=self.rel_tol if tolerance is None else float(tolerance),
            required=given.get("required", True),
            must_not=given.get("must_not", False),
            near=_labels(given.get("near")),
        )

    def _wanted(self, value: Json, is_pattern: bool) -> Number | str | re.Pattern[str]:
        if is_pattern:
            return _pattern(value)
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise GraderFailure(f"expected_facts: {value!r} is neither a number nor text"[:200])
        return stated(value, self.locale) or folded(str(value))

    def _hold(self, facts: Sequence[Fact], page: Page) -> list[bool]:
        """For each fact whether it holds; a `must_not` holds when it is not stated."""
        most = None if self.one_to_one else 1  # which one it is matters to nobody else
        fits = [list(islice(self._stating(fact, page), most)) for fact in facts]
        if self.one_to_one:
            first = sorted(range(len(facts)), key=lambda i: not facts[i].required)
            exclusive = [i for i in first if not facts[i].must_not]
            chosen = maximum_matching([mask(fits[i]) for i in exclusive])
            for i, number in zip(exclusive, chosen, strict=True):
                fits[i] = [] if number is None else [number]
        return [
            (bool(stating) or _in_words(fact, page)) != fact.must_not
            for fact, stating in zip(facts, fits, strict=True)
        ]

    def _stating(self, fact: Fact, page: Page) -> Iterator[int]:
        """Which numbers of the answer state the fact."""
        wanted = tuple(fact.numbers())
        if wanted:
            candidates = page.near(fact.near) if fact.near else range(len(page.numbers))
            for i in candidates:
                if any(self._agrees(page.numbers[i], one, fact.tolerance) for one in wanted):
                    yield i

    def _agrees(self, number: Number, expected: Number, rel_tol: float) -> bool:
        return agrees(
            number,
            expected,
            rel_tol=rel_tol,
            abs_tol=self.abs_tol,
            sign=self.sign,
            rounding=self.rounding,
        )


@dataclass(frozen=True, kw_only=True)
class Page:
    """An answer, read once for all its facts."""

    text: str
    locale: Locale

    @cached_property
    def words(self) -> str:
        return folded(self.text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        return numbers(self.text, self.locale)

    @cached_property
    def clause_ends(self) -> list[int]:
        return [*(end.start() for end in _CLAUSE_END.finditer(self.text)), len(self.text)]

    def _clauses(self, labels: tuple[str, ...]) -> Iterator[tuple[int, int, int]]:
        """Where each clause with a label begins and ends, and where the label ends."""
        for at in _label_pattern(labels).finditer(self.text):
            clause = bisect_left(self.clause_ends, at.end())
            begin = self.clause_ends[clause - 1] if clause else 0
            yield begin, self.clause_ends[clause], at.end()

    def clauses(self, labels: tuple[str, ...]) -> list[str]:
        """Each clause with one of the labels, once."""
        return [self.text[low:high] for low, high in {(a, b) for a, b, _ in self._clauses(labels)}]

    def near(self, labels: tuple[str, ...]) -> list[int]:
        """Numbers in a clause with a label; where that has none, the next number after it."""
        starts = [number.start for number in self.numbers]
        found: set[int] = set()
        for begin, end, label_end in self._clauses(labels):
            first, beyond = bisect_left(starts, begin), bisect_left(starts, end)
            after = bisect_left(starts, label_end)
            inside = range(first, beyond)
            found.update(inside or range(after, min(after + 1, len(starts))))
        return sorted(found)


def _label(value: Json) -> str:
    """As a person writes it: 22706 and not 22706.0."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return (f"{value:.0f}" if whole else str(value))[:_CODE_LIMIT]


def _labels(near: Json) -> tuple[str, ...]:
    """As the case writes them: one, several, or none."""
    written = [near] if isinstance(near, str) else near or []
    return tuple(label for label in written if label.strip())


@lru_cache(maxsize=4096)
def _label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(labels, key=len, reverse=True)
    return re.compile("|".join(map(_whole, longest_first)), re.IGNORECASE)


def _whole(label: str) -> str:
    """The label as whole words; one that begins or ends with a sign, as "%", beside anything."""
    words = r"\s+".join(map(re.escape, label.split()))
    before = r"(?<!\w)" if label[:1].isalnum() else ""
    return before + words + (r"(?!\w)" if label[-1:].isalnum() else "")


def _pattern(value: Json) -> re.Pattern[str]:
    try:
        return re.compile(value, re.IGNORECASE)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise GraderFailure(f"expected_facts: {str(value)[:80]!r} is no pattern: {error}") from None


def _in_words(fact: Fact, page: Page) -> bool:
    """Whether one of the phrases or patterns is there; next to the label where there is one."""
    phrases = [one for one in fact.wanted if isinstance(one, str)]
    patterns = [one for one in fact.wanted if isinstance(one, re.Pattern)]
    if not (phrases or patterns):
        return False
    texts = page.clauses(fact.near) if fact.near else [page.text]
    if any(search(pattern, text) for pattern in patterns for text in texts):
        return True
    folds = (folded(text) for text in texts) if fact.near else [page.words]
    return any(mentioned(one, text) for text in folds for one in phrases)


def _code(fact: Fact) -> str:
    return f"{'forbidden_fact' if fact.must_not else 'fact_missing'}:{fact.label}"


def _explained(fact: Fact, page: Page) -> str:
    if fact.must_not:
        return f"states {fact.label}, which it must not"
    where = f" near '{fact.near[0]}'" if fact.near else ""
    wanted = next(fact.numbers(), None)
    if wanted is None:
        return f"missing '{fact.label}'{where}"
    plain = [number for number in page.numbers if not number.maybe_date] or page.numbers
    nearest = min(plain, key=lambda number: abs(number.value - wanted.value), default=None)
    seen = f"nearest number: {nearest.text}" if nearest else "the answer states no number"
    return f"missing {fact.label}{where} ({seen})"
