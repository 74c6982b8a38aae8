"""`task`: is the task done? Ten points together, of which seven pass."""

from __future__ import annotations

from gate.graders.rubrics.rubric import ANSWER, QUESTION, Criterion, Rubric

RUBRIC = Rubric(
    name="task",
    about=(
        "The result of a task, beside an expected one where there is one. Without it, go by what"
        " the task asks for and what is generally known to be true."
    ),
    dimension="correctness",
    shows=(QUESTION, "expected_answer", ANSWER),
    total="correctness.judge_score",
    least_total=7,
    criteria={
        "accuracy": Criterion(
            about="Is what it says right?",
            scale=(0, 4),
            levels={
                "4": "all of it",
                "3": "a slip that changes nothing",
                "2": "the main point, with an error that matters",
                "1": "a small part",
                "0": "the main point is wrong, or there is no result",
            },
        ),
        "completeness": Criterion(
            about="Is everything done that the task asks for?",
            scale=(0, 3),
            levels={
                "3": "everything",
                "2": "something minor is missing",
                "1": "something that matters is missing",
                "0": "nothing of it is done",
            },
        ),
        "conciseness": Criterion(
            about="Is it free of what nobody asked for?",
            scale=(0, 3),
            levels={
                "3": "nothing could be left out",
                "2": "a little could be",
                "1": "half of it could be",
                "0": "what was asked for is hard to find in it, or there is no result",
            },
        ),
    },
)
