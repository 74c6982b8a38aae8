"""Names that somebody copied from a report, which shows hidden characters by signs."""

from __future__ import annotations

from collections.abc import Iterable

from gate.text.escaping import one_line
from gate.text.shortening import shorten

_BREAKS = dict.fromkeys(map(ord, "\u200b"))  # what keeps GitHub from making links of names


def find_pasted(given: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Those of the `known` names that are `given`, as they are or as the reports show them. What is
    itself a name stands for no other.
    """
    names = frozenset(known)
    wanted = frozenset(given)
    pasted = {shorten(one.translate(_BREAKS), None) for one in wanted - names}
    shown = (name for name in names if one_line(name, None) in pasted) if pasted else ()
    return (wanted & names).union(shown)
