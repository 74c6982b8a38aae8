"""The rubrics that come with the gate, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gate.errors import UsageError
from gate.graders.rubrics import answer, case, quality, safety, task, trajectory
from gate.graders.rubrics.rubric import Rubric
from gate.plugins import Grader
from gate.text.suggestions import did_you_mean

BUILT_IN: Mapping[str, Rubric] = {
    rubric.name: rubric
    for rubric in (
        answer.RUBRIC,
        case.RUBRIC,
        quality.RUBRIC,
        safety.RUBRIC,
        task.RUBRIC,
        trajectory.RUBRIC,
    )
}


def rubric_of(written: str | Rubric) -> Rubric:
    """The built-in rubric of that name; a written one unchanged. Raises UsageError with the most
    similar name.
    """
    if isinstance(written, Rubric):
        return written
    if written not in BUILT_IN:
        near = did_you_mean(written, tuple(BUILT_IN))
        raise UsageError(f"rubric: no built-in rubric is called '{written[:60]}'{near}")
    return BUILT_IN[written]


def rubrics_of(graders: Iterable[Grader]) -> tuple[Rubric, ...]:
    """The rubrics of the graders that ask a judge."""
    written = [
        getattr(grader, "rubric", None)
        for grader in graders
        if getattr(grader, "role", "") == "judge"
    ]
    return tuple(rubric_of(grader) for grader in written if isinstance(grader, (str, Rubric)))
