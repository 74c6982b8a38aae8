"""Pairs between two lists, as many as possible: in any order, or in the order of both.

A row of `fits` is a bit mask: bit j is set where item i on the left may have j on the right. So a
thousand calls against a thousand expected ones take milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence


def make_mask(positions: Iterable[int]) -> int:
    """The bit mask with these positions set."""
    bits = 0
    for position in positions:
        bits |= 1 << position
    return bits


def list_positions(mask: int) -> Iterator[int]:
    """The positions that are set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def maximum_matching(fits: Sequence[int]) -> list[int | None]:
    """For each item on the left its partner on the right, or None.

    As many pairs as there can be (augmenting paths; Berge 1957), earlier items first: an item that
    has found a partner never loses it to a later one, it may only change it.
    """
    partner: list[int | None] = [None] * len(fits)
    taken: dict[int, int] = {}  # right -> left
    free, closed = ~0, 0  # closed: a search that failed has been there, and no later one succeeds
    for start in range(len(fits)):
        end, came_from = _free_partner(fits, taken, (free, closed), start)
        if end is None:
            closed |= make_mask(came_from)
            continue
        free &= ~(1 << end)
        right: int | None = end
        while right is not None:
            left = came_from[right]
            before = partner[left]
            partner[left], taken[right] = right, left
            right = before
    return partner


def _free_partner(
    fits: Sequence[int], taken: dict[int, int], free_closed: tuple[int, int], start: int
) -> tuple[int | None, dict[int, int]]:
    """A path from `start` to a free partner, breadth first: the partner, None without a path, and
    right -> the left item it was reached from.
    """
    free, closed = free_closed
    came_from: dict[int, int] = {}
    unseen = ~closed
    waiting = deque([start])
    while waiting:
        left = waiting.popleft()
        if fits[left] & unseen & free:
            end = next(list_positions(fits[left] & unseen & free))
            came_from[end] = left
            return end, came_from
        reached = fits[left] & unseen
        unseen &= ~reached
        for right in list_positions(reached):
            came_from[right] = left
            if fits[taken[right]] & unseen & free:  # the end is in sight
                waiting = deque([taken[right]])
                break
            waiting.append(taken[right])
    return None, came_from


def longest_in_order(fits: Sequence[int], width: int) -> list[int | None]:
    """The longest pairing that keeps both orders (longest common subsequence), of `width` items on
    the right: each left item's partner, or None. Bit-parallel: Hyyrö 2004.
    """
    full = (1 << width) - 1
    row, rows = full, []  # a bit that is not set: the length grows there
    for fitting in fits:
        matched = row & fitting
        row = ((row + matched) | (row - matched)) & full
        rows.append(row)
    chosen: list[int | None] = [None] * len(fits)
    i, j = len(fits), width
    while i and j:
        if rows[i - 1] >> (j - 1) & 1:
            j -= 1
        elif i > 1 and not rows[i - 2] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            chosen[i] = j
    return chosen
