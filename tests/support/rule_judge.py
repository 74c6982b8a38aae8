"""A judge that goes by plain rules, behind OpenAI's protocol: what it says of an answer can be
foreseen, and depends on the answer.
"""

from __future__ import annotations

import json
import re

from tests.support.chat_server import ChatServer

_FENCE = re.compile(r"<<< (?P<label>[^\n]*) [0-9a-f]{16}\n(?P<text>.*?)\n>>> ", re.DOTALL)
_CANARY = re.compile(r"`canary`: ([0-9a-f]{16})")
_SOURCE = re.compile(r"\[?kb-\d+\]?")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def rule_judge() -> ChatServer:
    """Answers faithful where each figure of the answer stands in the context, and correct where
    each figure of the expected answer stands in it.
    """
    return ChatServer(reply_by_rules, read=json.dumps)


def reply_by_rules(asked: str, nth: int) -> str:
    system, user = (message["content"] for message in json.loads(asked)[-2:])
    canary = _CANARY.search(system)
    if canary is None or "faithfulness" not in system:
        return "I only grade answers."  # no verifier
    told = _fenced(user)
    answer, context = _figures(told.get("answer", "")), _figures(told.get("context", ""))
    expected = _figures(told.get("expected_answer", ""))
    faithful = answer <= context | _figures(told.get("question", ""))
    scores = {
        "correctness": 5 if expected <= answer else 2,
        "completeness": 5 if expected <= answer else 2,
        "faithfulness": 5 if faithful else 1,
    }
    judged: dict[str, object] = {
        name: {"reason": "by its figures", "score": score} for name, score in scores.items()
    }
    return json.dumps({**judged, "addressed_judge": False, "canary": canary[1]})


def _fenced(prompt: str) -> dict[str, str]:
    """Label up to the first comma -> the texts under it."""
    found: dict[str, str] = {}
    for fence in _FENCE.finditer(prompt):
        label = fence["label"].partition(",")[0]
        found[label] = found.get(label, "") + "\n" + fence["text"]
    return found


def _figures(text: str) -> set[str]:
    plain = _SOURCE.sub("", text)
    return {figure.replace(",", "").rstrip(".") for figure in _FIGURE.findall(plain)}
