"""Numbers from tables: estimates of a run, pairing of two, missing calls, the pool, case lists."""

from gate.analysis.agreement import corrected_estimates
from gate.analysis.cases import case_changes
from gate.analysis.estimates import default_level, default_tolerance, estimates, family_of
from gate.analysis.falls import falls
from gate.analysis.missing import (
    Arms,
    errored_cases,
    infra_share,
    left_unscored,
    pessimistic,
    pessimistic_column,
    too_much_missing,
    too_much_unscored,
)
from gate.analysis.pairing import MIN_PAIRED, Pairing, pair_cases
from gate.analysis.pooling import Pool, pool, spread
from gate.analysis.session_effect import is_mean, session_effects

__all__ = [
    "MIN_PAIRED",
    "Arms",
    "Pairing",
    "Pool",
    "case_changes",
    "corrected_estimates",
    "default_level",
    "default_tolerance",
    "errored_cases",
    "estimates",
    "falls",
    "family_of",
    "infra_share",
    "is_mean",
    "left_unscored",
    "pair_cases",
    "pessimistic",
    "pessimistic_column",
    "pool",
    "session_effects",
    "spread",
    "too_much_missing",
    "too_much_unscored",
]
