"""A mutation test for a dataset: does each right answer pass its case's graders, and no wrong one?
The right answer is made from the case's keys, the wrong ones from the right one. No agent is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gate.graders.semantic_similarity import SemanticSimilarity
from gate.plugins import Ask, Grader, GraderTraits, read_traits
from gate.records import Case, MetricSpec, Response, Score
from gate.run.grade import ask_nobody, grade_attempt
from gate.suites.cases.curation.demands import OF_THE_WAY, Demand, demands_of
from gate.suites.cases.curation.gold import Gold, gold_of
from gate.suites.cases.curation.mutations import (
    exchange_figures,
    figures_of,
    move_figures,
    turn_directions,
)
from gate.suites.cases.keys import MUTATIONS
from gate.text.numbers.agreement import agrees
from gate.text.numbers.number import Locale, Number
from gate.text.phrases import fold_text

Verdict = Literal["passed", "failed", "open"]
_MOST_OTHERS = 50  # other cases' answers that are tried on a case
_MOST_PAIRS = 20_000  # of a case and another's answer, in a suite
_OTHERS_TOLD = 3  # of those that pass, for one case
# None of the mutations is about what these judge: a way, a length, a form of the text.
_UNTRIED = frozenset(("trajectory", "safety", "conciseness", "readability", "structure"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFinding:
    """A right answer that fails (`mutation` is gold), or a wrong one that passes."""

    case: str
    place: str  # file:line
    mutation: str
    answer: str
    why: str = ""


@dataclass(slots=True, kw_only=True)
class Count:
    """The figures of one mutation over all cases: how many answers were tried, and their
    results.
    """

    failed: int = 0
    passed: int = 0
    allowed: int = 0  # passed, and the case says why they may
    open: int = 0  # that a grader decides on which was not asked

    @property
    def tried(self) -> int:
        return self.failed + self.passed + self.allowed + self.open


@dataclass(slots=True, kw_only=True)
class DatasetCheck:
    """The result of the check of one suite."""

    suite: str
    dataset: str
    cases: int = 0
    without_gold: int = 0  # cases that do not say what a right answer is
    right: Count = field(default_factory=Count)  # of the right answers
    mutations: dict[str, Count] = field(
        default_factory=lambda: {name: Count() for name in MUTATIONS}
    )
    allowed_cases: int = 0  # with a `check_allow` that is needed
    findings: list[DatasetFinding] = field(default_factory=list)
    telling_nothing: list[str] = field(default_factory=list)  # graders
    not_asked: list[str] = field(default_factory=list)  # graders
    unneeded: list[str] = field(default_factory=list)  # allowances, one sentence each

    @property
    def faults(self) -> int:
        return len(self.findings) + len(self.telling_nothing)


def check_cases(
    suite: str,
    dataset: str,
    cases: Iterable[Case],
    graders: Mapping[str, Grader],
    ask: Ask | None = None,
) -> DatasetCheck:
    """Runs the mutation test of one suite. `ask`: asks the judge and the verifier; None: no model
    is asked, and answers that only a model could fail stay open.
    """
    return _Check(DatasetCheck(suite=suite, dataset=dataset), graders, ask).run(list(cases))


class _Check:
    def __init__(
        self, checked: DatasetCheck, graders: Mapping[str, Grader], ask: Ask | None
    ) -> None:
        self._checked = checked
        self._ask = ask
        asked_graders = {
            name: grader for name, grader in graders.items() if ask or not _is_model(grader)
        }
        self._not_asked = {
            name: grader for name, grader in graders.items() if name not in asked_graders
        }
        deciding = [name for name, grader in asked_graders.items() if _decides(grader)]
        deciding.sort(
            key=lambda name: bool(set(asked_graders[name].keys) & OF_THE_WAY)
        )  # answers first
        self._deciding = {name: asked_graders[name] for name in deciding}
        self._measuring: dict[str, Grader] = {}
        if not any(
            _demands(grader) for grader in (*self._deciding.values(), *self._unasked_deciders())
        ):
            self._measuring = {
                name: grader
                for name, grader in asked_graders.items()
                if not _decides(grader) and _demands(grader) and not _is_untried(name)
            }
        self._better = {
            spec.column: spec for grader in self._measuring.values() for spec in grader.metrics()
        }
        locales = (getattr(grader, "locale", None) for grader in graders.values())
        self._locale: Locale = next((grader for grader in locales if grader), "en")
        self._leeway = _Leeway(graders)
        self._measured: tuple[Response, Mapping[str, Score]] | None = None  # of a right answer
        self._passed_some: set[str] = set()  # graders that had an opinion
        self._said_no: set[str] = set()  # graders that said no, once

    def run(self, cases: list[Case]) -> DatasetCheck:
        checked = self._checked
        checked.cases = len(cases)
        golds = [gold_of(case) for case in cases]
        demands = [demands_of(case.keys) for case in cases]
        for at, (case, gold) in enumerate(zip(cases, golds, strict=True)):
            self._case(case, gold, _answers_of_other_cases(at, demands, golds))
        checked.not_asked = sorted(
            name for name, grader in self._not_asked.items() if _decides(grader)
        )
        checked.telling_nothing = sorted(
            name for name in self._passed_some - self._said_no if not _is_untried(name)
        )
        return checked

    def _case(self, case: Case, gold: Gold, others: Iterator[str]) -> None:
        allowed: Mapping[str, str] = case.keys.get("check_allow") or {}
        needed: set[str] = set()
        passed = self._gold(case, gold)
        if not gold.answers:
            self._checked.without_gold += 1
        for name, answers in self._mutants(case, gold, others):
            reported = 0
            for response in answers:
                verdict, _ = self._verdict(case, response, passed)
                self._count(self._checked.mutations[name], verdict, allowed=name in allowed)
                if verdict == "passed" and name in allowed:
                    needed.add(name)
                elif verdict == "passed" and reported < _OTHERS_TOLD:
                    reported += 1
                    self._tell(case, name, response.answer)
        self._checked.allowed_cases += bool(needed)
        self._checked.unneeded += [
            f"{_place(case)}: {case.id}: check_allow.{name} is not needed: no such wrong "
            "answer passes"
            for name in sorted(allowed.keys() - needed)
        ]

    def _gold(self, case: Case, gold: Gold) -> Response | None:
        """Grades the right answers. Returns the first; None where the case has none."""
        for answer in gold.answers:
            response = gold.response(answer)
            verdict, why = self._verdict(case, response, None)
            self._count(self._checked.right, verdict, right=True)
            if verdict == "failed":
                self._tell(case, "gold", answer, why)
        return gold.response(gold.answers[0]) if gold.answers else None

    def _mutants(
        self, case: Case, gold: Gold, others: Iterator[str]
    ) -> Iterator[tuple[str, Iterator[Response]]]:
        """Mutation -> wrong answers; those with no way, which no grader of the way may pass, are
        looked at for the graders' sake alone.
        """
        self._check_silence(case)
        if not gold.answers:
            if self._is_judged(case):
                yield "empty", iter([Response(answer="", retrieved=(), steps=())])
            return
        right = gold.answers[0]
        yield "empty", iter([gold.response("")])
        yield "other_gold", map(gold.response, others)
        if gold.made_up:
            return
        figures = figures_of(right, case.question, self._locale)
        yield (
            "swapped",
            map(gold.response, self._keep_different(gold, exchange_figures(right, figures))),
        )
        other = turn_directions(right)
        yield (
            "turned",
            map(gold.response, self._keep_different(gold, iter([other] if other else []))),
        )
        fives = (
            change.answer
            for change in move_figures(right, figures, self._locale)
            if not self._leeway.allows(demands_of(case.keys), change.before, change.after)
        )
        yield "number_5pct", map(gold.response, self._keep_different(gold, fives))

    @staticmethod
    def _keep_different(gold: Gold, answers: Iterator[str]) -> Iterator[str]:
        """Without those that are right after all."""
        right = set(gold.answers)
        return (answer for answer in answers if answer not in right)

    def _is_judged(self, case: Case) -> bool:
        """Whether somebody judges more of the case than the manner of its answer."""
        return any(
            (
                not grader.keys
                or any(case.keys.get(key) not in (None, [], {}) for key in grader.keys)
            )
            for name, grader in self._deciding.items()
            if not _is_untried(name)
        )

    def _check_silence(self, case: Case) -> None:
        silence = Response(answer="", retrieved=(), steps=(), state={"": None})
        self._scores(
            case, silence, {n: g for n, g in self._deciding.items() if n not in self._said_no}
        )

    def _verdict(
        self, case: Case, response: Response, right: Response | None
    ) -> tuple[Verdict, str]:
        """`right`: the right answer's, to compare measured values with; None: this is the right
        one.
        """
        scores = self._scores(case, response, self._deciding, complete=right is None)
        lost = [name for name, score in scores.items() if score.passed is False]
        if lost:
            return "failed", "; ".join(_why(name, scores[name]) for name in lost)[:500]
        if right is not None and self._measuring and self._measures_worse(case, response, right):
            return "failed", ""
        undecided = any(score.unscored is not None for score in scores.values())
        silent = not self._measuring and all(score.passed is None for score in scores.values())
        if (
            undecided
            or silent
            or (right is not None and any(True for _ in self._unasked_deciders()))
        ):
            return "open", ""
        return "passed", ""

    def _scores(
        self,
        case: Case,
        response: Response,
        graders: Mapping[str, Grader],
        *,
        complete: bool = True,
    ) -> dict[str, Score]:
        """Each grader's score; unless `whole` only as far as is needed once one has said no: those
        that have said it before have nothing to add.
        """
        scores: dict[str, Score] = {}
        lost = False
        for name, grader in graders.items():
            if lost and not complete and (name in self._said_no or _is_untried(name)):
                continue
            alone = grade_attempt(case, response, {name: grader}, self._ask or ask_nobody)
            score = scores[name] = alone.scores[name]
            if score.passed is not None:
                self._passed_some.add(name)
            if score.passed is False:
                self._said_no.add(name)
                lost = True
        return scores

    def _measures_worse(self, case: Case, response: Response, right: Response) -> bool:
        if self._measured is None or self._measured[0] is not right:
            scores = grade_attempt(case, right, self._measuring, self._ask or ask_nobody).scores
            self._measured = (right, scores)
        was = self._measured[1]
        now = grade_attempt(case, response, self._measuring, self._ask or ask_nobody).scores
        return any(
            _is_worse(self._better.get(column), before, now[name].values.get(column))
            for name, score in was.items()
            for column, before in score.values.items()
        )

    def _unasked_deciders(self) -> Iterator[Grader]:
        """The graders that would decide, and were not asked."""
        return (one for one in self._not_asked.values() if _decides(one) and not _optional(one))

    @staticmethod
    def _count(
        count: Count, verdict: Verdict, *, right: bool = False, allowed: bool = False
    ) -> None:
        if verdict == "open":
            count.open += 1
        elif verdict == "failed":
            count.failed += 1
        elif allowed and not right:
            count.allowed += 1
        else:
            count.passed += 1

    def _tell(self, case: Case, mutation: str, answer: str, why: str = "") -> None:
        finding = DatasetFinding(
            case=case.id, place=_place(case), mutation=mutation, answer=answer, why=why
        )
        self._checked.findings.append(finding)


# ------------------------------------------------------------------------------------- other cases


def _answers_of_other_cases(
    at: int, demands: Sequence[Sequence[Demand]], golds: Sequence[Gold]
) -> Iterator[str]:
    """The right answers of the cases that come next in the file, from its start again at its end:
    of those that do not say all that this case asks for.
    """
    most = min(_MOST_OTHERS, max(1, _MOST_PAIRS // len(golds)))
    words = {fold_text(answer) for answer in golds[at].answers}
    required = [demand for demand in demands[at] if demand.required]
    tried = 0
    for step in range(1, len(golds)):
        other = (at + step) % len(golds)
        answers = golds[other].answers
        if not answers or fold_text(answers[0]) in words:
            continue
        if not required or not all(
            any(demand.is_met_by(two) for two in demands[other]) for demand in required
        ):
            yield answers[0]
            tried += 1
            if tried >= most:
                return


# -------------------------------------------------------------------------------------- tolerances


class _Leeway:
    """How far a number may be off: as the facts, and graders of numbers, allow."""

    def __init__(self, graders: Mapping[str, Grader]) -> None:
        loose: list[Any] = [grader for grader in graders.values() if hasattr(grader, "rel_tol")]
        deciding = [grader for grader in loose if _decides(grader)]
        self._rel = max((grader.rel_tol for grader in deciding), default=0.0)
        self._abs = max((grader.abs_tol for grader in deciding), default=0.0)

    def allows(self, demands: Sequence[Demand], before: float, after: float) -> bool:
        """Whether `after` still agrees with what `before` stands for, or nobody needs either."""
        facts = [demand for demand in demands if demand.key == "expected_facts"]
        if not facts:
            return self._within(before, after, self._rel)
        stated = [one for one in facts if self._states(one, before)]
        needed = [one for one in stated if one.required]
        return bool(stated) and all(self._states(one, after) for one in needed)

    def _states(self, fact: Demand, value: float) -> bool:
        rel_tol = self._rel if fact.tolerance is None else fact.tolerance
        return any(
            self._within(accepted, value, rel_tol)
            for accepted in fact.accepted
            if isinstance(accepted, float)
        )

    def _within(self, expected: float, value: float, rel_tol: float) -> bool:
        number = Number(value=value)
        return agrees(number, Number(value=expected), rel_tol=rel_tol, abs_tol=self._abs)


# ----------------------------------------------------------------------------------------- graders


def _is_model(grader: Grader) -> bool:
    """Whether it asks a model to judge. The verifier is a help where numbers are left open."""
    return read_traits(GraderTraits, grader).role == "judge" or isinstance(
        grader, SemanticSimilarity
    )


def _optional(grader: Grader) -> bool:
    return bool(read_traits(GraderTraits, grader).optional)


def _decides(grader: Grader) -> bool:
    return bool(read_traits(GraderTraits, grader).decides)


def _is_untried(name: str) -> bool:
    return name.partition("#")[0] in _UNTRIED


def _demands(grader: Grader) -> bool:
    """Whether a key of the case tells it what is right: context and tools only tell what is."""
    return bool(set(grader.keys) - {"context", "tools", "canary", "safety"})


def _is_worse(spec: MetricSpec | None, before: float | None, now: float | None) -> bool:
    if spec is None or before is None or now is None:
        return False
    return now < before if spec.direction == "higher" else now > before


def _why(name: str, score: Score) -> str:
    return f"{name}: {score.reason or ', '.join(score.failures)}"


def _place(case: Case) -> str:
    return str(case.place)
