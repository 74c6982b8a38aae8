"""Pairs items of two lists, as many as possible: in any order, or in the order of both.

Row i of `fits` is a bit mask: bit j is set if item i on the left may be paired with j on the right.
With masks, a thousand items on each side take milliseconds.
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
    """The partner on the right of each item on the left, or None.

    There are as many pairs as possible (augmenting paths; Berge 1957). Earlier items come first: a
    later item may change an earlier one's partner, but never take it away.
    """
    partner: list[int | None] = [None] * len(fits)
    taken: dict[int, int] = {}  # right -> left
    free, closed = ~0, 0  # closed: reached by a search that failed; later ones fail there, too
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
    """Searches a free partner for `start`, breadth first. Returns the partner, None if there is no
    path, and for each right item the left item that it was reached from.
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
    """For each item on the left its partner, or None, in the longest pairing that keeps both orders
    (longest common subsequence; bit-parallel, Hyyrö 2004). `width`: number of items on the right.
    """
    full = (1 << width) - 1
    row, rows = full, []  # the length grows where a bit is not set
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
