"""`case`: by what the case itself asks for, in its key `rubric`."""

from __future__ import annotations

from gate.rubrics.rubric import ANSWER, CONTEXT, QUESTION, Criterion, Rubric

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
