"""Figures that a source states beside the entries that they sum up: both have to agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gate.agents.traces.values import at
from gate.errors import Place, Problem
from gate.files.json_values import as_number
from gate.records import Json


class Figure(NamedTuple):
    """`key`: where the source states it, a dotted path. `own`: what the entries give, by each
    reading that is allowed; `shown`: the same in words. `near` and `rel`: the absolute and the
    relative difference that rounding may make.
    """

    key: str
    own: Sequence[float]
    shown: str
    near: float = 0.0
    rel: float = 0.0


def compare_stated(
    told: Mapping[str, Json], figures: Iterable[Figure], place: Place
) -> Iterator[Problem]:
    """A problem for each figure that `told` states otherwise. `place`: where `told` stands."""
    for key, own, shown, near, rel in figures:
        stated = told[key] if key in told else at(told, *key.split("."))
        number = as_number(stated)
        if stated is None or (
            number is not None
            and any(math.isclose(number, one, rel_tol=rel, abs_tol=near) for one in own)
        ):
            continue
        said = str(stated)[:40] if number is None else f"{number:.6g}"
        message = f"says {said}, but {shown} - the file was changed or cut off; export it again"
        yield Problem(replace(place, key=".".join(filter(None, (place.key, key)))), message)
