"""The money that a model may cost, kept while many threads ask it."""

from __future__ import annotations

from threading import Lock

from gate.text.figures import in_usd


class SpendingLimit:
    """Votes are begun until the limit is reached; those under way are guessed at the mean so far.

    An unknown cost is no part of the sum and is counted, since a limit in money cannot hold then.
    """

    def __init__(self, section: str, usd: float | None, *, spent: float = 0.0) -> None:
        self._section, self._limit = section, usd
        self._spent, self._own = spent, 0.0
        self._under_way, self._known, self._unknown = 0, 0, 0
        self._lock = Lock()

    def begin(self) -> str:
        """Why no vote may be begun; empty when one was, to be ended with `end`."""
        with self._lock:
            mean = self._own / self._known if self._known else 0.0
            if self._limit is not None and self._spent + self._under_way * mean >= self._limit:
                return f"the {self._section}'s budget of {in_usd(self._limit)} USD is used up"
            self._under_way += 1
            return ""

    def end(self, usd: float, *, is_complete: bool) -> None:
        """`usd`: USD of the vote's calls as far as known; `is_complete`: of all of them."""
        with self._lock:
            self._under_way -= 1
            self._spent += usd
            self._own += usd
            self._known += is_complete
            self._unknown += not is_complete

    def note(self) -> str:
        """That the limit cannot hold; empty when there is none, or every cost was known."""
        if self._limit is None or not self._unknown:
            return ""
        return (
            f"{self._section}.budget_usd cannot be enforced: the cost of {self._unknown} votes is "
            "unknown, because token counts or the model's price are missing - add the price under "
            "pricing"
        )
