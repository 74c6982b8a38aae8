"""All graders of a suite applied to one answer: scores, passed or not, failure codes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from gate.agents.judges.totals import GraderReplies, judging, unless_out
from gate.errors import GraderFailure
from gate.graders.user_code.make import make_grader
from gate.plugins import Ask, Grader, GraderTraits, ModelGrader, read_traits
from gate.records import Attempt, Case, PluginSpec, Question, Reply, Response, Score

_PLAIN = frozenset((float, type(None)))
_WHY_LIMIT = 300  # characters of a reason for an unscored answer


def make_graders(specs: Iterable[PluginSpec], root: Path) -> dict[str, Grader]:
    """The graders of a suite by name; the second of one name is `name#2`. Raises UsageError."""
    seen: Counter[str] = Counter()
    graders: dict[str, Grader] = {}
    for spec in specs:
        name = spec.name.rpartition(":")[2]  # a user's own is called by its class
        seen[name] += 1
        suffix = f"#{seen[name]}" if seen[name] > 1 else ""
        graders[name + suffix] = make_grader(spec, root)
    return graders


def ask_nobody(case: Case, questions: Sequence[Question]) -> list[tuple[Reply, ...]]:
    """An Ask without models: no votes for any question."""
    return [() for _ in questions]


def grade_attempt(
    case: Case, response: Response, graders: Mapping[str, Grader], ask: Ask = ask_nobody
) -> Attempt:
    """The graded attempt; the caller adds its number and times. Graders that use a model ask it
    through `ask`. `passed` is True if every grader with an opinion says so, False if one says no,
    and None if no grader has an opinion or one that decides left the answer unscored.
    """
    noted_replies: list[GraderReplies] = []
    scores = {
        name: _score(partial(_grade_by_model, grader, ask, noted_replies), case, response)
        if hasattr(grader, "questions")
        else _score(grader.grade, case, response)
        for name, grader in graders.items()
    }
    codes = (code for score in scores.values() for code in score.failures)
    return Attempt(
        n=0,
        status="completed",
        latency_ms=None,
        response=response,
        scores=scores,
        passed=_decide_passed(graders, scores),
        failures=tuple(dict.fromkeys(codes)),
        judging=judging(noted_replies),
    )


def values_of_failed_trial(
    graders: Mapping[str, Grader], case: Case | None = None
) -> dict[str, float | None]:
    """Column -> value of a trial that ended in an agent error. With `case`, a column that does not
    apply to the case is None.
    """
    values = {
        spec.column: spec.on_agent_error for grader in graders.values() for spec in grader.metrics()
    }
    if case is not None:
        silence = Response(answer="", retrieved=(), steps=())
        for grader in graders.values():
            judged = _score(grader.grade, case, silence).values
            values.update({column: None for column, value in judged.items() if value is None})
    return values


def gives_no_verdict(graders: Mapping[str, Grader], case: Case) -> bool:
    """Whether no grader decides on passing for this case, tried with an empty answer. A grader that
    cannot score the empty answer has an opinion if it is one that decides.
    """
    silence = Response(answer="", retrieved=(), steps=())
    scores = {name: _score(one.grade, case, silence) for name, one in graders.items()}
    return not any(
        score.passed is not None or (score.unscored is not None and _decides(graders[name]))
        for name, score in scores.items()
    )


def _decides(grader: Grader) -> bool:
    """Whether an answer that the grader could not score is left open."""
    return getattr(grader, "decides", True)


def _grade_by_model(
    grader: Grader, ask: Ask, noted_replies: list[GraderReplies], case: Case, response: Response
) -> Score:
    """The score of a grader that asks a model; what was asked is noted in `asked`."""
    asking = cast("ModelGrader", grader)
    questions = asking.questions(case, response)
    replies = ask(case, questions) if questions else []
    score = Score(unscored="the grader failed while reading the replies")
    try:
        score = unless_out(asking.read(case, response, replies), replies)
    finally:
        votes = [reply for given in replies for reply in given]
        if questions or score.flagged:
            noted = GraderReplies(
                role=asking.role,
                scored=score.unscored is None or score.flagged,
                replies=votes,
                decides=read_traits(GraderTraits, grader).decides,
                flagged=score.flagged,
            )
            noted_replies.append(noted)
    return score


def _score(grade: Callable[[Case, Response], Score], case: Case, response: Response) -> Score:
    """A grader's score; whatever goes wrong in a grader leaves the answer unscored, never 0."""
    try:
        return _to_plain_floats(grade(case, response))
    except GraderFailure as failure:
        return Score(unscored=str(failure)[:_WHY_LIMIT])
    except Exception as error:
        return Score(unscored=f"{type(error).__name__}: {error}"[:_WHY_LIMIT])


def _to_plain_floats(score: Score) -> Score:
    """The score with plain finite floats (a user's grader may return numpy's). Raises on others."""
    if not isinstance(score, Score):
        raise GraderFailure(f"the grader returned {type(score).__name__}, not a Score")
    if score.unscored is not None and not score.flagged:
        return Score(unscored=score.unscored, reason=score.reason)
    values = score.values
    if not _PLAIN.issuperset(map(type, values.values())):
        values = {k: None if v is None else float(v) for k, v in score.values.items()}
    for column, value in values.items():
        if value is not None and not math.isfinite(value):
            raise GraderFailure(f"the grader returned {value} for {column}")
    passed = None if score.passed is None else bool(score.passed)
    if values is score.values and passed is score.passed:
        return score
    return replace(score, values=values, passed=passed)


def _decide_passed(graders: Mapping[str, Grader], scores: Mapping[str, Score]) -> bool | None:
    opinions = [score.passed for score in scores.values() if score.passed is not None]
    if False in opinions:
        return False
    unscored = [graders[name] for name, score in scores.items() if score.unscored is not None]
    return True if opinions and not any(map(_decides, unscored)) else None
