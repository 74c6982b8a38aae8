"""Everything that is wrong with a source, told at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar

from gate.errors import InvalidInput, Place, Problem, UsageError

Item = TypeVar("Item")
_SHOWN = 50  # problems told one by one


def refuse_problems(items: Iterable[Item | Problem]) -> Iterator[Item]:
    """The items again, of what was in order a moment ago. Raises InvalidInput at a problem."""
    for item in items:
        if isinstance(item, Problem):
            raise InvalidInput([item])
        yield item


def refuse_file(path: Path, message: str, key: str = "") -> NoReturn:
    """Raises InvalidInput for a file, or what stands under a key in it."""
    raise InvalidInput([Problem(Place(path.as_posix(), key=key), message)])


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

    def keep_good(self, items: Iterable[Item | Problem]) -> Iterator[Item]:
        """The items that are no problems, one by one; the problems among them are taken."""
        for item in items:
            if isinstance(item, Problem):
                self.take(item)
            else:
                yield item

    @contextmanager
    def taking(self, place: Place | None = None) -> Iterator[None]:
        """Takes the problems of the InvalidInput that ends the block; with a `place` also the
        message of another UsageError, as a problem there.
        """
        try:
            yield
        except InvalidInput as error:
            self.take(*error.problems)
        except UsageError as error:
            if place is None:
                raise
            self.add(place, str(error))

    def __bool__(self) -> bool:
        return bool(self.problems)

    def refuse(self) -> None:
        """Raises InvalidInput where anything was found."""
        if not self.problems:
            return
        rest = f"and {self._more:,} more problems from here on"
        more = [Problem(self._onward, rest)] if self._onward else []
        raise InvalidInput([*self.problems, *more])
