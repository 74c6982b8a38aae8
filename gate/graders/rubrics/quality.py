"""`quality`: is the answer well made, whether or not it is right?"""

from __future__ import annotations

from gate.graders.rubrics.rubric import ANSWER, QUESTION, Criterion, RewordedRubric

RUBRIC = RewordedRubric(
    name="quality",
    about=(
        "How well an answer is made, for somebody who asked this question. Whether it is true is"
        " judged elsewhere: take its claims as they are."
    ),
    dimension="response_quality",
    shows=(QUESTION, ANSWER),
    older={"coherence": "structure", "question_coverage": "completeness"},
    criteria={
        "coherence": Criterion(
            metric="response_quality.coherence",  # as baselines know the criterion: it is hashed
            about=(
                "Does its form serve its content: the main point first, an order that can be"
                " followed, lists and tables only where they help?"
            ),
            levels={
                "5": "it reads in one go",
                "3": "the order must be worked out",
                "1": "the parts do not hang together",
            },
        ),
        "clarity": Criterion(
            about=(
                "Can each sentence be understood at once and in one way, in words that the one who"
                " asks will know?"
            ),
            levels={
                "5": "every sentence",
                "3": "some must be read twice, or can be read in two ways",
                "1": "the point cannot be understood",
            },
        ),
        "question_coverage": Criterion(
            about="Does it take up each part of the question, and end where it should?",
            levels={
                "5": "each part is taken up",
                "3": "a part is passed over",
                "1": "the question is not taken up, or the answer breaks off",
            },
        ),
    },
)
