"""`trajectory`: did the agent go about it well, step by step?"""

from __future__ import annotations

from gate.graders.rubrics.rubric import ANSWER, QUESTION, STEPS, Criterion, Rubric

RUBRIC = Rubric(
    name="trajectory",
    about=(
        "The steps of an agent on a task: the tools that it called, with arguments and results, in"
        " order. Its answer is shown to tell what they led to. Other steps than one would expect"
        " are no fault if they lead there as well."
    ),
    dimension="agent",
    shows=(QUESTION, STEPS, ANSWER),
    criteria={
        "trajectory_quality": Criterion(
            about=(
                "Does each step follow from the task and the results before it, get closer to the"
                " goal, and not repeat what is known; are errors noticed and dealt with; does the"
                " answer rest on what the steps found; and was nothing done that nobody asked for?"
            ),
            levels={
                "5": "every step was needed and in a sensible order",
                "4": "a step could have been spared",
                "3": "detours or repeated steps, and it got there",
                "2": "wrong tools or arguments, or a result that was ignored, led it astray",
                "1": "the steps have nothing to do with the task, or did harm",
            },
        )
    },
)
