"""The numbers that nothing offline explains, as one question to a verifier, and its votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gate.records import CheckedJson, Json, Question, Reply
from gate.text.numbers.number import Number
from gate.text.prompt_fence import DATA_NOT_INSTRUCTIONS, fence_text, make_canary
from gate.text.shortening import shorten

MOST_ASKED = 60  # numbers of one question; further ones stay unverified
_AROUND = 100  # characters of the answer on each side of a number
_PASSAGES, _PASSAGE_LIMIT = 12, 4_000  # how many texts of the context, and characters of one
_EXPLANATION = 160

Verdict = Literal["verified", "refuted", "unverified"]

_RULES = (
    "You check numbers in an answer. Each numbered line of `numbers` gives one number and the words"
    " around it in the answer. Say of each whether the question or the context supports it: it is"
    " stated there, or it follows by a calculation from numbers that are stated there, with the"
    " right unit and sign, rounded as the answer has it. The operands must be the ones that the"
    " answer speaks of: that some numbers happen to give the value is not enough. What is common"
    " knowledge but not in the context is not supported. In doubt say false.\n"
    f"{DATA_NOT_INSTRUCTIONS}\n"
    "Reply with one JSON object: `numbers` is a list with an object for each line: its `index`,"
    " `explanation` (one short sentence: where it stands, or the operands and the operation) and"
    " `verified` (true or false)."
)
_ITEM: Json = {
    "type": "object",
    "properties": {
        "index": {"type": "integer", "minimum": 1, "maximum": MOST_ASKED},
        "explanation": {"type": "string"},
        "verified": {"type": "boolean"},
    },
    "required": ["index", "explanation", "verified"],
    "additionalProperties": False,
}
_SCHEMA: CheckedJson = {
    "type": "object",
    "properties": {
        "numbers": {"type": "array", "items": _ITEM},
        "canary": {"type": "string"},
    },
    "required": ["numbers", "canary"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the votes say of one number."""

    verdict: Verdict
    explanation: str = ""


def question_on(
    asked: Sequence[Number], answer: str, question: str, context: Sequence[str]
) -> Question:
    """One question about all of `asked`, numbers of the answer."""
    listed = "\n".join(
        f"{k}. {shorten(one.text, 60)} in: {excerpt(answer, one)}"
        for k, one in enumerate(asked[:MOST_ASKED], 1)
    )
    passages = [
        fence_text(f"context, text {k} of {len(context)}", text, limit=_PASSAGE_LIMIT)
        for k, text in enumerate(context[:_PASSAGES], 1)
    ]
    material = "\n\n".join(
        (
            fence_text("question", question),
            *(passages or ["There is no context."]),
            fence_text("numbers", listed, limit=60 * MOST_ASKED * 6),
        )
    )
    token = make_canary(_RULES, material)
    return Question(
        role="verifier",
        name="hallucination",
        instructions=f"{_RULES}\nCopy this token into `canary`: {token}",
        material=material,
        schema=_SCHEMA,
        canary=token,
    )


def excerpt(answer: str, number: Number) -> str:
    """The number with _AROUND characters of the answer on each side, in one line."""
    low, high = max(0, number.start - _AROUND), number.end + _AROUND
    shown = shorten(answer[low:high], 2 * _AROUND + 200)
    return f"{'…' if low else ''}{shown}{'…' if high < len(answer) else ''}"


def findings(count: int, replies: Sequence[Reply]) -> list[Finding]:
    """For each of `count` numbers what the majority of the votes says; no vote, or as many for as
    against it, leaves it unverified.
    """
    votes = [_vote(reply) for reply in replies if reply.data is not None]
    return [_make_finding([vote[k] for vote in votes if k in vote]) for k in range(1, count + 1)]


def _vote(reply: Reply) -> dict[int, tuple[bool, str]]:
    """Index -> verified, why. An index that comes twice with both opinions is none."""
    items = (reply.data or {}).get("numbers", [])
    opinions = {(one["index"], one["verified"]) for one in items}
    clear = Counter(index for index, _ in opinions)
    return {
        one["index"]: (one["verified"], one["explanation"])
        for one in items
        if clear[one["index"]] == 1
    }


def _make_finding(opinions: Sequence[tuple[bool, str]]) -> Finding:
    for verified in (True, False):
        agreeing = [why for opinion, why in opinions if opinion is verified]
        if 2 * len(agreeing) > len(opinions):
            verdict: Verdict = "verified" if verified else "refuted"
            return Finding(verdict=verdict, explanation=shorten(agreeing[0], _EXPLANATION))
    return Finding(verdict="unverified")
