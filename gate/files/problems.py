"""Everything that is wrong with a source, told at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from gate.errors import InvalidInput, Place, Problem

_SHOWN = 50  # problems told one by one


@dataclass(slots=True)
class Findings:
    """Problems in the order in which they were met; those beyond the first 50 are counted."""

    problems: list[Problem] = field(default_factory=list)
    _more: int = 0
    _onward: Place | None = None  # where the first one stands that is but counted

    def add(self, place: Place, message: str) -> None:
        self.take(Problem(place, message))

    def take(self, *problems: Problem) -> None:
        for problem in problems:
            if len(self.problems) < _SHOWN:
                self.problems.append(problem)
            else:
                self._more += 1
                self._onward = self._onward or problem.place

    def __bool__(self) -> bool:
        return bool(self.problems)

    def refuse(self) -> None:
        """Raises InvalidInput where anything was found."""
        if not self.problems:
            return
        told = f"and {self._more:,} more problems from here on"
        more = [Problem(self._onward, told)] if self._onward else []
        raise InvalidInput([*self.problems, *more])
