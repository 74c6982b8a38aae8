"""Pairs between two lists, as many as possible."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def maximum_matching(fits: Sequence[Sequence[int]]) -> list[int | None]:
    """For each item on the left its partner on the right, or None; `fits[i]` are the partners that
    item i could have.

    As many pairs as there can be (augmenting paths; Berge 1957), earlier items first: an item that
    has found a partner never loses it to a later one, it may only change it.
    """
    partner: list[int | None] = [None] * len(fits)
    taken: dict[int, int] = {}  # right -> left
    for start in range(len(fits)):
        came_from = _free_partner(fits, taken, start)
        right = came_from.pop(-1, None)
        while right is not None:
            left = came_from[right]
            before = partner[left]
            partner[left], taken[right] = right, left
            right = before
    return partner


def _free_partner(
    fits: Sequence[Sequence[int]], taken: dict[int, int], start: int
) -> dict[int, int]:
    """A path from `start` to a free partner, breadth first: right -> the left item it was reached
    from. The free one stands under -1; without it there is no path.
    """
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        left = waiting.popleft()
        for right in fits[left]:
            if right in came_from:
                continue
            came_from[right] = left
            if right not in taken:
                came_from[-1] = right
                return came_from
            waiting.append(taken[right])
    return came_from
