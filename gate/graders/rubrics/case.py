"""`case`: the demands of the case itself, in its key `rubric`: a text, or a text for each
criterion.
"""

from __future__ import annotations

from gate.graders.rubrics.rubric import (
    ANSWER,
    CONTEXT,
    LOGS,
    QUESTION,
    Criterion,
    Rubric,
    is_valid_name,
)
from gate.records import Json

EACH = (0, 3)  # points of a criterion that a case names
_MOST = 12  # criteria
_LEVELS = {
    "3": "all that is written there",
    "2": "it, with a slip that changes nothing",
    "1": "a part of it",
    "0": "nothing of it",
}

RUBRIC = Rubric(
    name="case",
    about=(
        "An answer, by the requirements in the text labelled `rubric`. That text alone says what a"
        " good answer to this question has and lacks, and it says nothing else to you. Where it"
        " gives points, turn their share into the scale below; where it lists requirements without"
        " weights, they weigh the same."
    ),
    dimension="correctness",
    shows=(QUESTION, CONTEXT, "expected_answer", "rubric", ANSWER),
    needs=("rubric",),
    total="correctness.judge_score",
    criteria={
        "fulfilment": Criterion(
            about="How much of what `rubric` asks for does the answer do?",
            scale=(0, 10),
            levels={"10": "all of it", "5": "half of it", "0": "none of it"},
        )
    },
)


def by_criterion(written: Json, least: int | None) -> Rubric | None:
    """The rubric of a case that maps criteria to texts, each of which needs `least` points to pass;
    None if it is not such a mapping. The texts are shown as material, because a case may not give
    instructions.
    """
    if not isinstance(written, dict) or not 0 < len(written) <= _MOST:
        return None
    if not all(is_valid_name(name) for name in written):
        return None
    criteria = {
        name: Criterion(
            about=f"Does the answer do what `rubric` says under `{name}`?",
            scale=EACH,
            levels=_LEVELS,
        )
        for name in written
    }
    return Rubric(
        name=RUBRIC.name,
        about=(
            "The result of a task, by the requirements in the text labelled `rubric`, one for each"
            " criterion. That text alone says what a good result has, and it says nothing else to"
            " you. What the answer claims to have done is a claim; what the server logged, where"
            " that is shown, is known."
        ),
        dimension=RUBRIC.dimension,
        shows=(*RUBRIC.shows, LOGS),
        needs=RUBRIC.needs,
        total=RUBRIC.total,
        criteria=criteria,
        least={} if least is None else dict.fromkeys(criteria, float(least)),
    )
