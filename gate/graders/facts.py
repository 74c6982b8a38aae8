"""Does the answer state the expected facts: numbers within a tolerance, words as whole words?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, Json, MetricSpec, Response, Score
from gate.stats.matching import make_mask, maximum_matching
from gate.text.denial import is_denied
from gate.text.late_pattern import late_pattern
from gate.text.longer_names import without_longer
from gate.text.numbers.number import LIMIT, SMALL, TENS, Locale, Number, Sign
from gate.text.numbers.page import Page
from gate.text.phrases import find_phrase, fold_text
from gate.user_code.patterns import search

if TYPE_CHECKING:
    from gate.text.numbers.expected_numbers import Comparing, Expected

METRIC = "correctness.fact_accuracy"
_CODE_LIMIT = 80  # characters of a value in a failure code
_DIGITS = 40  # of a text that may be a number
_STRUCK = late_pattern(r"~~[^~\n]{1,200}~~")  # out: "~~$79.99~~ $49.99"
_NUMBER_WORDS = frozenset((*SMALL, *TENS, "half"))
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
        "as": {"enum": ["text", "number"]},
    },
    "required": ["value"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One expected fact. `numbers`, `phrases` and `patterns`: one is enough. `near`: labels,
    next to one of which it must stand; none: it may stand anywhere.
    """

    label: str
    tolerance: float
    required: bool = True
    must_not: bool = False
    near: tuple[str, ...] = ()
    numbers: tuple[Expected, ...] = ()
    phrases: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()


@GRADERS.register("facts")
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The share of the case's required `expected_facts` that the answer states; passes when it
    states all of them.
    """

    rel_tol: float = 0.01  # for facts without a tolerance of their own
    abs_tol: float = 0.0
    sign: Sign = "strict"  # ignore: "fell by 5 %" states -5 %
    rounding: bool | None = None  # 1.2 for 1.23; None: where the answer's number looks rounded
    percent_as_number: bool = True  # 30 % agrees with 30, too
    number_words: bool = True  # "twelve" states 12
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

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        for fact, text in _texts(keys):
            if fact.get("as") == "number" and self._whole(text) is None:
                yield f"expected_facts: {text[:_CODE_LIMIT]!r} is not a number (as: number)"

    def case_doubts(self, keys: Mapping[str, Json]) -> Iterator[str]:
        """Texts that could be the name of something as well as a number."""
        for fact, text in _texts(keys):
            if "as" in fact or fact.get("regex") or not _has_figures(text):
                continue
            from gate.text.numbers.agreement import is_code, read_whole

            said = f"expected_facts: {text[:_CODE_LIMIT]!r} looks like a number and is compared as"
            if is_code(text) and read_whole(text.strip().lstrip("0"), self.locale):
                yield f"{said} text - say `as: text`, or `as: number`"
            elif text.strip().isdecimal() and (number := self._whole(text)) is not None:
                allowed = _tolerance(fact, self.rel_tol, (number,)) * int(text[:_DIGITS])
                if allowed >= 1:
                    yield f"{said} one, with a tolerance - say `as: text`, or `as: number`"

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get("expected_facts") or []
        facts = [self._fact(one) for one in written]
        total = sum(fact.required for fact in facts)
        if not total:
            return Score(values={METRIC: None})
        answer = (response.answer or "")[:LIMIT]
        if "~~" in answer:
            answer = _STRUCK.sub(lambda found: " " * len(found[0]), answer)
        page = Page(text=answer, locale=self.locale, words=self.number_words)
        holds = self._hold(facts, page)
        missed = [f for f, held in zip(facts, holds, strict=True) if f.required and not held]
        optional = [held for f, held in zip(facts, holds, strict=True) if not f.required]
        reason = f"{total - len(missed)} of {total} facts"
        if optional:
            reason += f", {sum(optional)} of {len(optional)} optional ones"
        if missed:
            reason += ": " + "; ".join(_explain(fact, page) for fact in missed[:_NAMED])
        return Score(
            values={METRIC: (total - len(missed)) / total},
            passed=not missed,
            failures=tuple(dict.fromkeys(map(_code, missed))),
            reason=reason,
        )

    def _fact(self, written: CheckedJson) -> Fact:
        given = written if isinstance(written, dict) else {"value": written}
        value = given.get("value")
        several = value if isinstance(value, list) else [value]
        if given.get("regex", False):
            patterns, found = tuple(map(_pattern, several)), []
        else:
            patterns, found = (), [self._expected(one, given.get("as")) for one in several]
        numbers = tuple(one for one in found if not isinstance(one, str))
        phrases = tuple(one for one in found if isinstance(one, str))
        return Fact(
            label=_label(several[0]) if several else "",
            tolerance=_tolerance(given, self.rel_tol, numbers),
            required=given.get("required", True),
            must_not=given.get("must_not", False),
            near=_labels(given.get("near")),
            numbers=numbers,
            phrases=phrases + self._comparing.get_texts(numbers) if numbers else phrases,
            patterns=patterns,
        )

    def _expected(self, value: Json, kind: str | None) -> Expected | str:
        """What a value stands for: something with a number, or a text as the case writes it."""
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise GraderFailure(f"expected_facts: {value!r} is neither a number nor text"[:200])
        if kind == "text" or (isinstance(value, str) and not _may_state(value)):
            found = None
        elif kind == "number" and isinstance(value, str):
            found = self._whole(value)
        else:
            found = self._comparing.read(value)
        if found is None and kind == "number":
            raise GraderFailure(f"expected_facts: {str(value)[:80]!r} is not a number (as: number)")
        if found is None:
            return value if isinstance(value, str) else _label(value)
        return found

    def _whole(self, text: str) -> Expected | None:
        return self._comparing.read_whole(text) if _has_figures(text) else None

    @property
    def _comparing(self) -> Comparing:
        from gate.text.numbers.expected_numbers import make_comparing  # facts in words need none

        return make_comparing(
            self.abs_tol,
            self.sign,
            self.rounding,
            self.percent_as_number,
            self.locale,
            self.number_words,
        )

    def _hold(self, facts: Sequence[Fact], page: Page) -> list[bool]:
        """For each fact whether it holds; a `must_not` holds when it is not stated."""
        most = None if self.one_to_one else 1  # which one it is matters to nobody else
        fits = [list(islice(self._stating(fact, page), most)) for fact in facts]
        if self.one_to_one:
            first = sorted(range(len(facts)), key=lambda i: not facts[i].required)
            exclusive = [i for i in first if not facts[i].must_not]
            chosen = maximum_matching([make_mask(fits[i]) for i in exclusive])
            for i, number in zip(exclusive, chosen, strict=True):
                fits[i] = [] if number is None else [number]
        return [
            (bool(stating) or _in_words(fact, page)) != fact.must_not
            for fact, stating in zip(facts, fits, strict=True)
        ]

    def _stating(self, fact: Fact, page: Page) -> Iterator[int]:
        """Which numbers of the answer state the fact."""
        if not fact.numbers:
            return iter(())
        return self._comparing.find_all(fact.numbers, page, fact.near, fact.tolerance)


def _tolerance(given: CheckedJson, rel_tol: float, numbers: Sequence[Expected]) -> float:
    """The fact's own, or the usual one; that of 99.95 % is a share of what is missing to 100."""
    if given.get("tolerance") is not None:
        return float(given["tolerance"])
    first = numbers[0] if numbers else None
    if not isinstance(first, Number):
        return rel_tol
    if first.text.isdecimal() and 1000 <= first.value < 1900 and given.get("as") is None:
        return 0.0  # a year; later ones are known as such
    if first.unit == "%" and first.step < 1 and 90 < first.value < 100:
        return rel_tol * (100 - first.value) / first.value
    return rel_tol


def _has_figures(text: str) -> bool:
    return any(map(str.isnumeric, text))


def _may_state(text: str) -> bool:
    """Whether a text may have a number: 12, "$1.2M", "six months", "a warranty of two years"."""
    if _has_figures(text):
        return True
    return not _NUMBER_WORDS.isdisjoint(text.lower().replace("-", " ").split())


def _texts(keys: Mapping[str, CheckedJson]) -> Iterator[tuple[Mapping[str, Json], str]]:
    """Each fact with each text that it names."""
    for written in keys.get("expected_facts") or []:
        fact = written if isinstance(written, dict) else {"value": written}
        value = fact.get("value")
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str):
                yield fact, one


def _label(value: Json) -> str:
    """As a person writes it: 22706 and not 22706.0."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return (f"{value:.0f}" if whole else str(value))[:_CODE_LIMIT]


def _labels(near: CheckedJson) -> tuple[str, ...]:
    """As the case writes them: one, several, or none."""
    written = [near] if isinstance(near, str) else near or []
    return tuple(label for label in written if label.strip())


def _pattern(value: CheckedJson) -> re.Pattern[str]:
    try:
        return re.compile(value, re.IGNORECASE)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise GraderFailure(
            f"expected_facts: {str(value)[:80]!r} is not a regex: {error}"
        ) from None


def _in_words(fact: Fact, page: Page) -> bool:
    """Whether one of the phrases or patterns is there; next to the label where there is one."""
    if not (fact.phrases or fact.patterns):
        return False
    texts = page.clauses(fact.near) if fact.near else [page.text]
    if any(search(pattern, text) for pattern in fact.patterns for text in texts):
        return True
    return any(_states(one, text, page) for text in texts for one in fact.phrases)


def _states(phrase: str, text: str, page: Page) -> bool:
    """Whether one of the page's texts has the phrase, in this or another spelling."""
    wanted = fold_text(phrase)
    if not wanted:
        return False
    text = without_longer(phrase, text)
    folded = page.folded if text is page.text else fold_text(text)
    # A product's name may be a part of a longer one: "iPhone 15" of "iPhone 15 Pro".
    if not (wanted[-1].isdigit() and wanted[0].isalpha() and wanted.isascii()):
        for at in find_phrase(wanted, folded):
            if not is_denied(folded, at, at + len(wanted)):
                return True
    from gate.text import wording  # most facts stand there as they are written

    return wording.states(phrase, text)


def _code(fact: Fact) -> str:
    return f"{'forbidden_fact' if fact.must_not else 'fact_missing'}:{fact.label}"


def _explain(fact: Fact, page: Page) -> str:
    if fact.must_not:
        return f"states {fact.label}, which it must not"
    where = f" near '{fact.near[0]}'" if fact.near else ""
    if not fact.numbers:
        if fact.patterns and not fact.phrases:
            return f"nothing in the answer fits the expected pattern{where}"
        return f"missing '{fact.label}'{where}"
    from gate.text.numbers.expected_numbers import get_value

    wanted = get_value(fact.numbers[0])
    plain = [number for number in page.numbers if not number.maybe_date] or page.numbers
    nearest = min(plain, key=lambda number: abs(number.value - wanted), default=None)
    seen = f"nearest number: {nearest.text}" if nearest else "the answer states no number"
    return f"missing {fact.label}{where} ({seen})"
