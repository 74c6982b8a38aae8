"""What does a judge model say about the answer, by a rubric?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import ClassVar, Literal

from gate.errors import UsageError
from gate.graders.rubrics.attack import addresses_judge
from gate.graders.rubrics.built_in import rubric_of
from gate.graders.rubrics.case import EACH, by_criterion
from gate.graders.rubrics.prompt import questions_on
from gate.graders.rubrics.rubric import CONTEXT, STEPS, Rubric, limits
from gate.graders.rubrics.shown_to_judge import LIMITS, is_empty
from gate.graders.rubrics.votes import Points, RubricResult, compare_votes, read_votes, score_votes
from gate.plugins import GRADERS
from gate.records import (
    Case,
    Document,
    Json,
    MetricSpec,
    Question,
    Reply,
    Response,
    Role,
    Score,
    ToolCall,
)
from gate.records.codec import to_json
from gate.text.shortening import shorten

_REASON_LIMIT = 2_000
_ABOUT_LIMIT = 200  # characters of a criterion's text in its metric's description
_NO_STEPS = "the agent does not say which tools it called - it should return its calls as `steps`"
_NO_VOTE = "no judge was asked"
_CODE = "judge_injection"
_ANY: Json = {"type": ["string", "number", "boolean", "array", "object"]}


@GRADERS.register("judge")
@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Asks the judge model by a `rubric`: answer, task, quality, trajectory, safety, case, or one
    written out.

    `least` (criterion -> points) and `least_total`: what an answer needs to pass, by default those
    of the rubric. `least_each`: the points, 0 to 3, for each criterion that a case names in its own
    rubric. `optional`: left out, with a warning, if gate.yml has no judge. `flagged`: what an
    answer gets that tries to instruct its judge: no points, or the lowest.
    """

    rubric: str | Rubric = "answer"
    least: Mapping[str, float] = field(default_factory=dict)
    least_total: int | None = None
    least_each: int | None = None
    optional: bool = False
    flagged: Literal["unscored", "worst"] = "unscored"

    role: ClassVar[Role] = "judge"

    def __post_init__(self) -> None:
        rubric = self._rubric
        if len(self._own_least) < len(self.least):
            twice = " and ".join(f"least.{word}" for word in self.least)
            raise UsageError(f"judge by '{rubric.name}': {twice} name a criterion twice")
        for key, what in limits(rubric, self._own_least, self.least_total):
            raise UsageError(f"judge by '{rubric.name}': {key}: {what}")
        if self.least_each is not None and self.rubric != "case":
            raise UsageError(f"judge by '{rubric.name}': least_each: only `rubric: case` has it")
        if self.least_each is not None and not EACH[0] < self.least_each <= EACH[1]:
            raise UsageError(f"judge by 'case': least_each: must be 1 to {EACH[1]}")

    @property
    def keys(self) -> Mapping[str, Json]:
        return dict.fromkeys(self._rubric.read, _ANY)

    @property
    def needs(self) -> tuple[str, ...]:
        return self._rubric.needed_keys

    @property
    def decides(self) -> bool:
        return self.least_each is not None or self._deciding(self._rubric)

    def metrics(self) -> tuple[MetricSpec, ...]:
        rubric = self._rubric
        specs = [
            _metric(metric, *rubric.bounds(name), _description(rubric, name))
            for name in rubric.criteria
            if (metric := rubric.metric_of(name))
        ]
        if rubric.total:
            description = (
                f"share of the points of the rubric '{rubric.name}', as a judge model gives them"
            )
            specs.append(_metric(rubric.total, 0.0, 1.0, description))
        return tuple(specs)

    def questions(self, case: Case, response: Response) -> tuple[Question, ...]:
        if not self._counts(case) or self._name_unseen(response):
            return ()
        rubric = self._rubric_for(case)
        if addresses_judge(response.answer, rubric):
            return ()  # no vote could change what it gets
        return questions_on(rubric, case, response)

    def grade(self, case: Case, response: Response) -> Score:
        """The score without replies: no value if the case does not count, else unscored."""
        return self.read(case, response, ())

    def read(self, case: Case, response: Response, replies: Sequence[tuple[Reply, ...]]) -> Score:
        if not self._counts(case):
            return Score(values=dict.fromkeys((spec.column for spec in self.metrics()), None))
        if unseen := self._name_unseen(response):
            return Score(unscored=unseen)
        rubric = self._rubric_for(case)
        if instruction := addresses_judge(response.answer, rubric):
            return self._flag(rubric, f"the answer tries to instruct the judge: '{instruction}'")
        if not replies:
            return Score(unscored=_NO_VOTE)
        read_replies = [read_votes(given) for given in replies]
        for _, why in read_replies:
            if why:
                return Score(unscored=why)
        votes = [some for some, _ in read_replies]
        if rubric.compare_with:
            return self._score(rubric, compare_votes(rubric, votes[0], votes[1]))
        return self._score(rubric, score_votes(rubric, votes[0], partial(self._nearness, rubric)))

    def digest_text(self) -> str:
        """Canonical JSON of everything that shapes the questions and the scores. It changes with
        the wording of the prompts, which no option shows.
        """
        rubric = self._rubric
        case = Case(id="-", input="-", keys={key: "-" for key in rubric.read if key != CONTEXT})
        call = ToolCall(name="-", arguments={}, result="-")
        response = Response(answer="-", retrieved=(Document(id="-", text="-"),), steps=(call,))
        parts = {
            "rubric": _as_asked(rubric),
            "least": {rubric.asked_as(n): value for n, value in self._least(rubric).items()},
            "least_total": self._least_total(rubric),
            "questions": questions_on(rubric, case, response),
            **self._each_wording(case, response),
            **({} if self.flagged == "unscored" else {"flagged": self.flagged}),
            "limits": LIMITS,
        }
        return json.dumps(to_json(parts), sort_keys=True, separators=(",", ":"))

    def digest_options(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """The options as they are hashed: alike for the old and the new name of a criterion."""
        if not self.least:
            return options
        rubric = self._rubric
        least = {rubric.asked_as(name): value for name, value in self._own_least.items()}
        return {**options, "least": least}

    @property
    def abouts(self) -> Mapping[str, str]:
        """Column -> the word with which its reason begins."""
        rubric = self._rubric
        named = ((rubric.metric_of(name), name) for name in rubric.criteria)
        return {metric: name for metric, name in named if metric}

    @property
    def older_words(self) -> Mapping[str, str]:
        """Keys of the options that are old words for criteria -> how they are written now."""
        named = {word: self._rubric.criterion_named(word) for word in self.least}
        return {f"least.{word}": f"least.{name}" for word, name in named.items() if word != name}

    @property
    def _own_least(self) -> Mapping[str, float]:
        """Criterion -> points, as the options have them."""
        return {self._rubric.criterion_named(word): value for word, value in self.least.items()}

    @property
    def _rubric(self) -> Rubric:
        return rubric_of(self.rubric)

    def _rubric_for(self, case: Case) -> Rubric:
        """The rubric, or what a case makes of it that names criteria of its own."""
        criteria = case.keys.get("rubric") if self.rubric == "case" else None
        return by_criterion(criteria, self.least_each) or self._rubric

    def _each_wording(self, case: Case, response: Response) -> Mapping[str, Json]:
        named = self._rubric_for(replace(case, keys={**case.keys, "rubric": {"name": "-"}}))
        if named == self._rubric:
            return {}
        return {"each": to_json([named, questions_on(named, case, response)])}

    def _least(self, rubric: Rubric) -> Mapping[str, float]:
        return {**rubric.least, **(self._own_least if rubric == self._rubric else {})}

    def _deciding(self, rubric: Rubric) -> bool:
        return bool(self._least(rubric)) or self._least_total(rubric) is not None

    def _least_total(self, rubric: Rubric) -> int | None:
        given = self.least_total if rubric == self._rubric else None
        return rubric.least_total if given is None else given

    def _counts(self, case: Case) -> bool:
        return not any(is_empty(case.keys.get(key)) for key in self._rubric.needed_keys)

    def _name_unseen(self, response: Response) -> str:
        return _NO_STEPS if STEPS in self._rubric.shows and response.steps is None else ""

    def _flag(self, rubric: Rubric, why: str) -> Score:
        """A judge that decides on passing fails the answer; its points are worth nothing."""
        deciding = self._deciding(rubric)
        worst = {spec.column: spec.low for spec in self.metrics()}
        return Score(
            values=worst if self.flagged == "worst" else {},
            unscored=None if self.flagged == "worst" else shorten(why, _REASON_LIMIT),
            passed=False if deciding else None,
            failures=(_CODE,) if deciding else (),
            reason=why[:_REASON_LIMIT],
            uncertainty=1.0,
            flagged=True,
        )

    def _score(self, rubric: Rubric, judged: RubricResult) -> Score:
        if judged.injection:
            return self._flag(rubric, judged.reason)
        codes = self._codes(rubric, judged)
        values = {
            metric: points
            for name, points in judged.points.items()
            if (metric := rubric.metric_of(name))
        }
        if rubric.total:
            low, high = rubric.total_bounds
            values[rubric.total] = (sum(judged.points.values()) - low) / (high - low)
        return Score(
            values=values,
            passed=not codes if self._deciding(rubric) else None,
            failures=codes,
            reason=judged.reason[:_REASON_LIMIT],
            uncertainty=judged.uncertainty,
        )

    def _codes(self, rubric: Rubric, judged: RubricResult) -> tuple[str, ...]:
        if not self._deciding(rubric):
            return ()
        word = "judge_low" if rubric == self._rubric else "rubric_not_met"
        low = [
            f"{word}:{name}"
            for name, value in self._least(rubric).items()
            if judged.points[name] < value
        ]
        limit = self._least_total(rubric)
        if limit is not None and sum(judged.points.values()) < limit:
            low.append("judge_low:total")
        return tuple(low)

    def _nearness(self, rubric: Rubric, points: Points) -> float:
        """How close a single vote is to what would change its meaning: to the limits between pass
        and fail, or without any to the middle of a scale. 1: next to it; 0: as far as can be.
        """
        least = self._least(rubric)
        rules = [(points[name], value, rubric.bounds(name)) for name, value in least.items()]
        total = self._least_total(rubric)
        if total is not None:
            rules.append((sum(points.values()), total, rubric.total_bounds))
        if rules:  # a limit lies half a point below the least score that passes
            return max(_near(at, limit - 0.5, bounds) for at, limit, bounds in rules)
        each = [(points[name], rubric.bounds(name)) for name in rubric.criteria]
        return max(_near(at, (low + high) / 2, (low, high)) for at, (low, high) in each)


def _as_asked(rubric: Rubric) -> Json:
    """The rubric as the judge model is asked by it."""
    criteria = {rubric.asked_as(name): one for name, one in rubric.criteria.items()}
    names = [field.name for field in fields(Rubric)]
    form: Json = to_json({name: getattr(rubric, name) for name in names} | {"criteria": criteria})
    return form


def _near(at: float, limit: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return max(0.0, 1.0 - abs(at - limit) / max(limit - low, high - limit))


def _metric(name: str, low: float, high: float, description: str) -> MetricSpec:
    return MetricSpec(
        name=name,
        column=name,
        unit="share" if (low, high) == (0.0, 1.0) else "points",
        low=low,
        high=high,
        on_agent_error=low,
        description=description,
        asks="judge",
    )


def _description(rubric: Rubric, name: str) -> str:
    if rubric.compare_with:
        preference = (
            f"how often a judge model prefers the answer to `{rubric.compare_with}`, a tie half"
        )
        return f"{preference} ({rubric.name}: {name})"
    about = rubric.criteria[name].about or rubric.about
    cut = about if len(about) <= _ABOUT_LIMIT else about[: _ABOUT_LIMIT - 3] + "..."
    return f"a judge model's score ({rubric.name}: {name}): {cut}"
