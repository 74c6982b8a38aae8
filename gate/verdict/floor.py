"""The floor: a suite in which nothing at all passes fails, whatever it is compared with."""

from __future__ import annotations

import numpy as np

from gate.analysis.columns import UNGRADED
from gate.records import Floor
from gate.suites.config.levels import ALWAYS
from gate.verdict.comparability import ACCEPTED, Standing

FEWEST = 5  # graded answers, below which nothing is said (docs/semantics.md 3)
DECIDES = "success"  # the column of pass and fail


def floor_of(standing: Standing) -> Floor | None:
    """What the floor says of a suite; None where it has none, or something passed."""
    if not standing.data.floor or standing.error or standing.current.graders.get(DECIDES) == "":
        return None
    spec = standing.current.specs.get(ALWAYS)
    if spec is not None and standing.judge_outage(spec):
        return None
    success = standing.current.column(DECIDES)
    success = np.where(standing.current.column(UNGRADED) == 1.0, np.nan, success)
    answers = int((~np.isnan(success)).sum())
    if answers < FEWEST or np.nansum(success) > 0.0:
        return None
    return Floor(answers=answers, mild=_excuse(standing))


def _excuse(standing: Standing) -> str:
    """Why it only warns."""
    if standing.data.accepts_all or ALWAYS in standing.data.accepted:
        return ACCEPTED
    if standing.pairing is None:
        return ""
    before = standing.pairing.whole.column(DECIDES)
    measured = before[~np.isnan(before)]
    return "nothing passed in the baseline either" if measured.size and not measured.any() else ""
