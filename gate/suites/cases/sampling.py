"""Which cases run: samples and shards by hash of the case id, so that every run chooses the
same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def choose(categories: Mapping[str, str | None], suite: str, n: int) -> frozenset[str]:
    """`n` case ids of `categories` (case id -> category), always the same ones. Within a category
    the lowest sha256(suite, id) come first. Categories get places by Webster's (Sainte-Laguë)
    method, so each has its share up to rounding, and a smaller sample is part of a larger one.
    """
    if n >= len(categories):
        return frozenset(categories)
    groups: dict[str | None, list[str]] = {}
    for case_id in sorted(categories, key=lambda case_id: _hash(suite, case_id)):
        groups.setdefault(categories[case_id], []).append(case_id)
    seats = [
        ((rank + 0.5) / len(members), _hash(suite, case_id), case_id)
        for members in groups.values()
        for rank, case_id in enumerate(members)
    ]
    return frozenset(case_id for _, _, case_id in sorted(seats)[: max(n, 0)])


def in_shard(case_id: str, index: int, count: int) -> bool:
    """Whether the case is in shard `index` (from 1) of `count`; each case is in exactly one."""
    return int(_hash("shard", case_id)[:16], 16) % count == index - 1


def _hash(salt: str, case_id: str) -> str:
    return hashlib.sha256(f"{salt}\0{case_id}".encode()).hexdigest()
