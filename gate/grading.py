"""One answer judged by every grader of its suite; a grader that fails is data, never a 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gate.errors import GraderFailure
from gate.plugins import GRADERS, Grader, build
from gate.records import Attempt, Case, PluginSpec, Response, Score


def named_graders(specs: Sequence[PluginSpec], root: Path) -> dict[str, Grader]:
    """Grader name -> grader, in the order of gate.yml; the second of a name is `name#2`."""
    graders: dict[str, Grader] = {}
    for spec in specs:
        name, n = spec.name, 1
        while name in graders:
            n += 1
            name = f"{spec.name}#{n}"
        graders[name] = build(GRADERS, spec, root)
    return graders


def grade_attempt(case: Case, response: Response, graders: Mapping[str, Grader]) -> Attempt:
    """A completed attempt with its scores; the runner fills in number and latency.

    `passed`: every grader with an opinion passed; None when none has one, or when one that may have
    had an opinion could not judge and no other one failed the answer.
    """
    scores = {name: _score(grader, case, response) for name, grader in graders.items()}
    opinions = [score.passed for score in scores.values() if score.passed is not None]
    unjudged = any(score.unscored for score in scores.values())
    passed = None if not opinions or (unjudged and all(opinions)) else all(opinions)
    return Attempt(
        n=0,
        status="completed",
        latency_ms=None,
        response=response,
        scores=scores,
        passed=passed,
        failures=tuple(code for score in scores.values() for code in score.failures),
    )


def failed_values(graders: Mapping[str, Grader]) -> dict[str, float | None]:
    """Column -> value of a trial that ended in an agent error."""
    return {
        spec.column: spec.on_agent_error
        for grader in graders.values()
        for spec in grader.metrics()
    }


def _score(grader: Grader, case: Case, response: Response) -> Score:
    try:
        return grader.grade(case, response)
    except GraderFailure as failure:
        return Score(unscored=str(failure) or "the grader gave no reason")
    except Exception as error:
        return Score(unscored=f"{type(error).__name__}: {error}")
