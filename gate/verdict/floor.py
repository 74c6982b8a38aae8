"""The floor: a suite in which nothing at all passes fails, whatever it is compared with."""

from __future__ import annotations

import numpy as np

from gate.analysis.columns import UNGRADED
from gate.records import Floor
from gate.suites.config.levels import ALWAYS
from gate.verdict.comparability import ACCEPTED, Standing

FEWEST = 5  # graded answers, below which nothing is said (docs/semantics.md 3)
DECIDES = "success"  # the column of pass and fail


def floor_of(one: Standing) -> Floor | None:
    """What the floor says of a suite; None where it has none, or something passed."""
    if not one.data.floor or one.error or one.current.graders.get(DECIDES) == "":
        return None
    spec = one.current.specs.get(ALWAYS)
    if spec is not None and one.out(spec):
        return None
    success = one.current.column(DECIDES)
    success = np.where(one.current.column(UNGRADED) == 1.0, np.nan, success)
    answers = int((~np.isnan(success)).sum())
    if answers < FEWEST or np.nansum(success) > 0.0:
        return None
    return Floor(answers=answers, mild=_excuse(one))


def _excuse(one: Standing) -> str:
    """Why it only warns."""
    if one.data.accepts_all or ALWAYS in one.data.accepted:
        return ACCEPTED
    if one.pairing is None:
        return ""
    before = one.pairing.whole.column(DECIDES)
    known = before[~np.isnan(before)]
    return "nothing passed in the baseline either" if known.size and not known.any() else ""
