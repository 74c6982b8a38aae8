"""Its categories and how they add up (v4): five groups, each a mean of its categories' accuracies.

Non-live, multi-turn and agentic: means of categories or of such means, whatever their sizes; live:
over all its questions. Relevance and format sensitivity are in no group.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = re.compile(r"BFCL_v(\d{1,3})_(\w{1,60}?)(?:_(result|score))?(?:\.\w+)+", re.ASCII)

_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_TURNS = ("base", "miss_func", "miss_param", "long_context")
_SHARES: Mapping[str, Mapping[str, float]] = {  # group -> category -> its share; live: by sizes
    "non_live": {
        **dict.fromkeys(("simple_python", "simple_java", "simple_javascript"), 1 / 12),
        **dict.fromkeys(("multiple", "parallel", "parallel_multiple"), 1 / 4),
    },
    "live": dict.fromkeys(_LIVE, 0.0),
    "irrelevance": dict.fromkeys(("irrelevance", "live_irrelevance"), 1 / 2),
    "multi_turn": dict.fromkeys((f"multi_turn_{one}" for one in _TURNS), 1 / 4),
    "agentic": {
        **dict.fromkeys(("web_search_base", "web_search_no_snippet"), 1 / 4),
        **dict.fromkeys(("memory_kv", "memory_vector", "memory_rec_sum"), 1 / 6),
    },
}
WEIGHTS: Mapping[str, float] = {
    **{"non_live": 0.1, "live": 0.1, "irrelevance": 0.1},
    **{"multi_turn": 0.3, "agentic": 0.4},
}
_OTHERS = ("live_relevance", "format_sensitivity")
ORDER = (*(name for shares in _SHARES.values() for name in shares), *_OTHERS)
_GROUPS = {name: group for group, shares in _SHARES.items() for name in shares}
# Those whose questions are numbered through, category_0 to category_n.
SIZES: Mapping[str, int] = {
    **{"simple_python": 400, "simple_java": 100, "simple_javascript": 50, "multiple": 200},
    **{"parallel": 200, "parallel_multiple": 200, "irrelevance": 240},
    **{f"multi_turn_{one}": 200 for one in _TURNS},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileName:
    """`kind`: result, score, or empty: questions or answers."""

    version: str
    category: str
    kind: str


def parse_name(path: Path) -> FileName | None:
    """What a file's name tells; None where it is none of the benchmark's."""
    found = _FILE.fullmatch(path.name)
    if found is None:
        return None
    return FileName(version=f"v{int(found[1])}", category=found[2], kind=found[3] or "")


def rank(category: str) -> tuple[int, str]:
    """The order in which categories are told."""
    return (ORDER.index(category) if category in ORDER else len(ORDER), category)


def group_of(category: str) -> str | None:
    return _GROUPS.get(category)


def group_shares(totals: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Group -> category -> share, of the groups whose categories are all in `totals` (category ->
    number of questions, above 0).
    """
    whole = {g: shares for g, shares in _SHARES.items() if totals.keys() >= shares.keys()}
    found = {group: dict(shares) for group, shares in whole.items()}
    if "live" in found:
        size = sum(totals[name] for name in _LIVE)
        found["live"] = {name: totals[name] / size for name in _LIVE}
    return found


def overall_shares(totals: Mapping[str, int]) -> dict[str, float]:
    """Category -> its share of the overall score; empty unless all five groups are there."""
    groups = group_shares(totals)
    if groups.keys() != WEIGHTS.keys():
        return {}
    return {
        name: WEIGHTS[group] * share
        for group, shares in groups.items()
        for name, share in shares.items()
    }


def is_matched(category: str) -> bool:
    """Whether its verdict is a comparison of calls of Python functions with those expected."""
    return not any(
        part in category
        for part in ("java", "multi_turn", "web_search", "memory", "relevance", "sensitivity")
    ) and not re.search(r"exec|rest|sql|chatable", category)


def is_irrelevance(category: str) -> bool:
    return category in ("irrelevance", "live_irrelevance")


def is_relevance(category: str) -> bool:
    return category == "live_relevance"
