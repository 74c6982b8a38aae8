"""Metrics that say nearly the same, so that a reader needs one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
# Family -> its members; the first named one leads where all are alike.
_FAMILIES = (
    (
        "retrieval",
        r"retrieval\.(recall|precision|hit_rate|ndcg|err|success|f1|map|mrr|rbp|bpref|r_precision)"
        r"(@\d+)?",
        "retrieval.recall@5",
    ),
    ("success", r"agent\.(first_attempt_success_rate|pass[@^]\d+|.*reliable_rate)", ""),
    ("tool calls", r"agent\.tool_(call_|type_|missing_|unknown_|unparsable_).*", ""),
    ("latency", r"operational\.\w*latency_ms", "operational.p95_latency_ms"),
    ("cost", r"(agent|operational)\.(cost_per_|estimated_cost).*", "agent.cost_per_task"),
    ("tokens", r"operational\.\w*tokens", "operational.avg_tokens"),
    ("hallucination", r"operational\.(hallucina\w+|unverified_rate)", ""),
)


def collapse(
    items: Iterable[T], name_of: Callable[[T], tuple[str, str]], weight_of: Callable[[T], float]
) -> list[tuple[T, Sequence[T]]]:
    """Each family's leading item with the others of the family, in the order of the items: the one
    of most weight, of equal ones the family's own first, then by name with numbers in order.
    `name_of`: suite and metric; a family is of one suite.
    """
    families: dict[tuple[str, str], list[T]] = {}
    for item in items:
        suite, metric = name_of(item)
        families.setdefault((suite, _family(metric)), []).append(item)
    collapsed: list[tuple[T, Sequence[T]]] = []
    for members in families.values():
        lead = min(members, key=lambda one: (-weight_of(one), *_order(name_of(one)[1])))
        collapsed.append((lead, [one for one in members if one is not lead]))
    return collapsed


def _family(metric: str) -> str:
    found = (name for name, pattern, _ in _FAMILIES if re.fullmatch(pattern, metric))
    return next(found, f"={metric}")


def _order(metric: str) -> tuple[bool, list[tuple[int, str]]]:
    natural = [
        (int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", metric)
    ]
    return metric not in {lead for *_, lead in _FAMILIES}, natural
