"""`answer`: is it correct, complete, and supported by its sources?"""

from __future__ import annotations

from gate.graders.rubrics.rubric import (
    ANSWER,
    CONTEXT,
    QUESTION,
    Criterion,
    RewordedRubric,
)

RUBRIC = RewordedRubric(
    name="answer",
    about=(
        "An answer to a question, beside an expected answer that is right. Where a context is"
        " shown, it is what the answer should rest on. Other words, another order or more detail"
        " than in the expected answer are no faults. Check each claim of the answer by itself, and"
        " look for three faults that a fluent answer hides: a wrong causal claim (it says that one"
        " thing made another happen where the sources only tell that both did, name another cause,"
        " or the reverse); over-extrapolation (a rule, trend, forecast or total drawn from fewer"
        " cases, a shorter time or a smaller part than it speaks of); misattribution (a statement"
        " or figure that is right for another person, product, place, period or document). Each is"
        " as grave as a wrong figure, even where every word and number occurs in the sources."
    ),
    dimension="correctness",
    shows=(QUESTION, CONTEXT, "expected_answer", ANSWER),
    needs=("expected_answer",),
    older={"factual_correctness": "correctness", "reference_coverage": "completeness"},
    criteria={
        "factual_correctness": Criterion(
            about=(
                "Are the claims true, by the expected answer first and the context second? Where"
                " the expected answer says that it cannot be told, saying so is right and any"
                " other answer is wrong."
            ),
            levels={
                "5": "every claim is true",
                "4": "a slip that misleads nobody",
                "3": "the main point is right, one claim that matters is wrong",
                "2": "the main point is partly wrong, or several claims are",
                "1": "the main point is wrong, or there is no answer",
            },
        ),
        "reference_coverage": Criterion(
            about=(
                "Does it answer all that was asked, with everything that the expected answer holds"
                " on it, conditions and limits included?"
            ),
            levels={
                "5": "nothing is missing",
                "4": "a detail is missing that nobody needs to act on it",
                "3": "the main point is there, something that matters is missing",
                "2": "most is missing",
                "1": "what was asked is not answered",
            },
        ),
        "faithfulness": Criterion(
            about=(
                "Does the context support each claim, whether or not the claim is true? What"
                " follows from it by plain reasoning or arithmetic is supported; what only general"
                " knowledge tells is not. Without a context go by the question and the expected"
                " answer: common knowledge is then supported, and figures, names, quotations and"
                " sources that neither holds are not. Saying that one cannot tell claims nothing."
            ),
            levels={
                "5": "every claim is supported",
                "4": "a side remark is not",
                "3": "one claim that matters is not",
                "2": "several are not",
                "1": "the main point is not, or it contradicts the sources",
            },
        ),
    },
)
