"""When a running suite is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

MOST_LOOKS = 10
FEWEST_CALLS = 10  # of a batch between two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Numbers of trials after which the verdict is looked at, ascending; the last is the cap.

    Raises ValueError for anything else: a stored plan may come from anybody.
    """

    calls: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(type(number) is int for number in self.calls)
        if not (whole and 0 < len(self.calls) <= MOST_LOOKS) or any(
            late <= early for early, late in pairwise((0, *self.calls))
        ):
            raise ValueError(f"looks come after 1 to {MOST_LOOKS} ascending numbers of trials")

    @property
    def cap(self) -> int:
        return self.calls[-1]


def equal_looks(cap: int, *, batch: int = FEWEST_CALLS) -> Looks:
    """Looks after equal batches of at least `batch` trials, at most ten of them. Their number is
    even, so that half of the cap, which the planned trials are by default, is a look.
    """
    number = max(1, min(MOST_LOOKS, cap // max(FEWEST_CALLS, batch)))
    number -= number % 2 if number > 1 else 0
    return Looks(calls=tuple(round(cap * (k + 1) / number) for k in range(number)))
