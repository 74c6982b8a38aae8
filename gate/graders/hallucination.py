"""Does anything support the numbers of the answer: its sources, a calculation, a verifier?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from gate.errors import GraderFailure, UsageError
from gate.graders.claims.asking import MOST_ASKED, Finding, excerpt, findings, question_on
from gate.graders.claims.check import CONTRADICTIONS, Checked, check
from gate.graders.claims.entities import Entity, Kind, find_unsupported_entities
from gate.graders.claims.source_texts import context_of
from gate.graders.claims.sources import Leeway
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Question, Reply, Response, Role, Score
from gate.text.numbers.number import LIMIT, Locale, Number
from gate.text.shortening import shorten

RATE = "operational.hallucination_rate"
UNVERIFIED = "operational.unverified_rate"
ANSWERS = "operational.hallucinated_answers"
ENTITIES = "operational.unsupported_entities"
_NAMED = 4  # numbers of a kind that the reason shows
_CODES = 20
_CODE_LIMIT = 60  # characters of a number in a code
_REASON_LIMIT = 2000
NOWHERE = "no source states it, and it is no calculation that the answer names"


@GRADERS.register("hallucination")
@dataclass(frozen=True, slots=True, kw_only=True)
class Hallucination:
    """The share of the answer's numbers that neither context nor question states, that is no
    calculation from them, and that no verifier confirms.
    """

    rel_tol: float = 0.0  # beyond rounding to the last stated digit
    abs_tol: float = 0.0
    unverified: Literal["apart", "count"] = "apart"
    max_rate: float | None = None  # passes at most at this rate; None: no opinion
    entities: tuple[Kind, ...] = ()
    locale: Locale = "en"

    keys: ClassVar[Mapping[str, Json]] = {
        "context": {"type": ["string", "array"], "items": {"type": "string"}}
    }
    needs: ClassVar[tuple[str, ...]] = ()
    role: ClassVar[Role] = "verifier"

    def __post_init__(self) -> None:
        if self.rel_tol < 0 or self.abs_tol < 0:
            raise UsageError("hallucination: a tolerance cannot be below 0")
        if self.max_rate is not None and not 0 <= self.max_rate <= 1:
            raise UsageError("hallucination: max_rate is a share, from 0 to 1")

    @property
    def decides(self) -> bool:
        return self.max_rate is not None

    def metrics(self) -> tuple[MetricSpec, ...]:
        told = [
            _metric(RATE, "mean", "share of an answer's numbers that nothing supports"),
            _metric(UNVERIFIED, "mean", "share of an answer's numbers that nobody could check"),
            _metric(ANSWERS, "rate", "share of answers with a number that nothing supports"),
        ]
        if self.entities:
            about = f"share of the {', '.join(self.entities)} that the sources do not have"
            told.append(_metric(ENTITIES, "mean", about, asks=""))
        return tuple(told)

    def questions(self, case: Case, response: Response) -> tuple[Question, ...]:
        context = context_of(case, response)
        if context is None:
            return ()
        checked = self._check(case, response, context)
        if not checked.open:
            return ()
        return (question_on(checked.open, response.answer[:LIMIT], case.question, context),)

    def grade(self, case: Case, response: Response) -> Score:
        return self.read(case, response, ())

    def read(self, case: Case, response: Response, replies: Sequence[tuple[Reply, ...]]) -> Score:
        context = context_of(case, response)
        if context is None:
            if "context" in case.keys:  # written as null: does not apply to this case
                return Score(values={one.column: None for one in self.metrics()})
            raise GraderFailure(
                "nothing to check the answer's numbers against: let the agent report `context`,"
                " `retrieved` with texts or `steps` with results, or give the case a `context`"
            )
        checked = self._check(case, response, context)
        votes = replies[0] if replies else ()
        asked = min(len(checked.open), MOST_ASKED)
        found = findings(asked, votes)
        found += [Finding(verdict="unverified")] * (len(checked.open) - asked)
        found = [
            Finding(verdict="refuted")
            if one.verdict == "unverified" and why in CONTRADICTIONS
            else one
            for one, why in zip(found, checked.why, strict=True)
        ]
        account = Account(checked=checked, found=tuple(found), answer=response.answer[:LIMIT])
        made_up, seen = find_unsupported_entities(
            response.answer[:LIMIT], (*context, case.question), self.entities
        )
        return self._score(account, made_up, seen)

    def _check(self, case: Case, response: Response, context: Sequence[str]) -> Checked:
        leeway = Leeway(rel_tol=self.rel_tol, abs_tol=self.abs_tol)
        answer = response.answer[:LIMIT]
        return check(answer, case.question, context, leeway=leeway, locale=self.locale)

    def _score(self, account: Account, made_up: Sequence[Entity], seen: int) -> Score:
        refuted, unverified = account.count("refuted"), account.count("unverified")
        total = account.checked.total
        apart = self.unverified == "apart" and unverified > 0
        any_wrong = refuted + unverified > 0
        values: dict[str, float | None] = {
            RATE: None if apart else (refuted + unverified) / (total or 1),
            UNVERIFIED: unverified / (total or 1),
            ANSWERS: None if apart and not refuted else float(any_wrong),
        }
        if self.entities:
            values[ENTITIES] = len(made_up) / seen if seen else 0.0
        passed = self._passes(refuted / (total or 1), values[RATE])
        numbers = account.list_unsupported()
        codes = (f"unsupported_number:{number.text[:_CODE_LIMIT]}" for number in numbers)
        return Score(
            values=values,
            passed=passed,
            failures=tuple(dict.fromkeys(codes))[:_CODES] if passed is False else (),
            reason="; ".join((*account.describe(), *_entities_told(made_up, seen)))[:_REASON_LIMIT],
            details=account.details(),
        )

    def _passes(self, refuted: float, rate: float | None) -> bool | None:
        """Without a rate only what is refuted can tell, and only that the answer fails."""
        if self.max_rate is None:
            return None
        if rate is None:
            return False if refuted > self.max_rate else None
        return rate <= self.max_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of each number of one answer."""

    checked: Checked
    found: tuple[Finding, ...]  # of the open ones
    answer: str

    def count(self, verdict: str) -> int:
        return sum(one.verdict == verdict for one in self.found)

    def list_unsupported(self) -> Iterator[Number]:
        for number, finding in zip(self.checked.open, self.found, strict=True):
            if finding.verdict != "verified":
                yield number

    def rows(self) -> Iterator[tuple[Number, Finding, str]]:
        """Each open number, what became of it, and why."""
        rows = zip(self.checked.open, self.found, self.checked.why, strict=True)
        for number, finding, why in rows:
            yield number, finding, finding.explanation or why or NOWHERE

    def details(self) -> dict[str, Json]:
        """The counts of each kind, and the numbers that no source states, those that nothing
        supports first.
        """
        wrong_first = sorted(self.rows(), key=lambda row: row[1].verdict == "verified")
        return {
            "numbers": self.checked.total,
            "stated": len(self.checked.stated),
            "calculated": len(self.checked.calculated),
            **{verdict: self.count(verdict) for verdict in ("verified", "refuted", "unverified")},
            "claims": [
                {
                    "number": number.text[:_CODE_LIMIT],
                    "at": number.start,
                    "verdict": finding.verdict,
                    "why": why,
                }
                for number, finding, why in wrong_first[:_CODES]
            ],
        }

    def describe(self) -> Iterator[str]:
        """The counts, then each kind of number that a reader should look at, with an excerpt."""
        checked = self.checked
        if not checked.total:
            yield "no numbers"
            return
        counts = [
            f"{len(checked.stated)} from the sources",
            f"{len(checked.calculated)} calculated",
            *(f"{self.count(verdict)} {verdict}" for verdict in ("verified", "refuted")),
            f"{self.count('unverified')} unverified",
        ]
        yield f"{checked.total} numbers: {', '.join(counts)}"
        for verdict in ("refuted", "unverified"):
            some = [(number, why) for number, one, why in self.rows() if one.verdict == verdict]
            for number, why in some[:_NAMED]:
                shown = f"{number.text[:_CODE_LIMIT]}{'' if why is NOWHERE else f' ({why})'}"
                yield f"{verdict} {shown} in '{excerpt(self.answer, number)}'"


def _entities_told(made_up: Sequence[Entity], seen: int) -> Iterator[str]:
    if made_up:
        named = ", ".join(f"{one.kind[:-1]} '{shorten(one.text, 60)}'" for one in made_up[:8])
        yield f"{len(made_up)} of {seen} names, dates or quotes are not in the sources: {named}"


def _metric(
    name: str, family: str, about: str, asks: Literal["", "verifier"] = "verifier"
) -> MetricSpec:
    return MetricSpec(
        name=name,
        column=name,
        family=family,
        unit="share",
        direction="lower",
        on_agent_error=None,
        description=about,
        asks=asks,
    )
