"""A row of promptfoo's CSV tests: columns are variables, but for those that begin with `__`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gate.records import Json

_TYPED = re.compile(r"(not-)?([a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_CODE = ("javascript:", "fn:", "eval:", "python:", "file://")
# Types that a cell may begin with; any other text is what the answer equals.
_TYPES = re.compile(
    r"equals|i?contains(-all|-any)?|(is|contains)-(json|xml|html|sql)|starts-with|regex|is-refusal"
    r"|latency|cost|perplexity(-score)?|levenshtein|similar(:\w+)?|rouge-n|bleu|gleu|meteor|pi"
    r"|classifier|moderation|webhook|ruby|guardrails|(model-graded-)?factuality|g-eval|word-count"
    r"|model-graded-closedqa|answer-relevance|context-(recall|relevance|faithfulness)"
    r"|conversation-relevance|finish-reason|(llm|search|agent)-rubric|skill-used|tool-call-f1"
    r"|is-valid-(function|openai-function|openai-tools)-call|(trace|trajectory)[:-][\w-]+"
)


def test_of(row: Mapping[str, str]) -> dict[str, Json]:
    """The test that promptfoo makes of it."""
    test: dict[str, Json] = {"vars": {}, "assert": [], "metadata": {}, "options": {}}
    for key, cell in row.items():
        if key.startswith("__expected"):
            if cell.strip():
                test["assert"].append(_assertion(cell.strip()))
        elif key.startswith("__metadata:"):
            if cell.strip():
                test["metadata"][key.removeprefix("__metadata:").removesuffix("[]")] = cell
        elif key in ("__prefix", "__suffix"):
            test["options"][key.removeprefix("__")] = cell
        elif key == "__description":
            test["description"] = cell
        elif key == "__threshold" and cell.strip():
            test["threshold"] = cell
        elif not key.startswith(("__config:", "__metric", "__provider", "__threshold")):
            test["vars"][key] = cell
    return test


def _assertion(cell: str) -> dict[str, Json]:
    if cell.startswith(_CODE):
        kind = "python" if cell.startswith("python:") or ".py" in cell[-40:] else "javascript"
        return {"type": kind, "value": cell}
    if cell.startswith("grade:"):
        return {"type": "llm-rubric", "value": cell.removeprefix("grade:")}
    found = _TYPED.fullmatch(cell)
    if found is None or not _TYPES.fullmatch(found[2]):
        return {"type": "equals", "value": cell}
    return {"type": f"{found[1] or ''}{found[2]}", "value": (found[4] or "").strip() or None}
