"""Names of other tools as our own: of metrics and of suites, which become keys and folders."""

from __future__ import annotations

import re
import unicodedata

_MOST = 80  # characters of one part of a metric's name
_RESERVED = re.compile(r"\.(jsonl?|md|html|xml|lock)$")  # a suite's folder lies beside such files


def metric_name(tool: str, *parts: str) -> str:
    """`inspect.model_graded_qa`: each part in snake_case, of letters, digits and `_` alone."""
    return ".".join((tool, *map(snake_case, parts)))


def snake_case(text: str) -> str:
    """`LLMJudge (v2)` is `llm_judge_v2`; what has none of these characters is `unnamed`."""
    plain = unicodedata.normalize("NFKD", text[: 4 * _MOST]).encode("ascii", "ignore").decode()
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:_MOST].rstrip("_") or "unnamed"


def suite_name(text: str, otherwise: str = "suite") -> str:
    """A name that a folder can have: letters, digits, `.`, `_` and `-`."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text[:200]).strip("-._")[:100].rstrip("-._")
    return _RESERVED.sub("", clean) or otherwise
