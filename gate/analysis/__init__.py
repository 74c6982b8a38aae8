"""Numbers from tables: estimates of a run, pairing of two, missing calls, the pool, case lists."""

from gate.analysis.agreement import corrected_estimates
from gate.analysis.cases import case_changes
from gate.analysis.categories import categories
from gate.analysis.estimates import (
    default_level,
    default_tolerance,
    estimates,
    family_of,
    success_of_cases_like_these,
)
from gate.analysis.falls import falls
from gate.analysis.missing import (
    Arms,
    could_be_anything,
    errored_cases,
    infra_share,
    left_unscored,
    pessimistic,
    pessimistic_values,
    too_much_missing,
    too_much_unscored,
    unjudged_share,
    without_silence,
)
from gate.analysis.pairing import MIN_PAIRED, Pairing, pair_cases
from gate.analysis.pooling import Pool, pool, spread
from gate.analysis.reliability import histories, reliability
from gate.analysis.session_effect import is_mean, session_effects

__all__ = [
    "MIN_PAIRED",
    "Arms",
    "Pairing",
    "Pool",
    "case_changes",
    "categories",
    "corrected_estimates",
    "could_be_anything",
    "default_level",
    "default_tolerance",
    "errored_cases",
    "estimates",
    "falls",
    "family_of",
    "histories",
    "infra_share",
    "is_mean",
    "left_unscored",
    "pair_cases",
    "pessimistic",
    "pessimistic_values",
    "pool",
    "reliability",
    "session_effects",
    "spread",
    "success_of_cases_like_these",
    "too_much_missing",
    "too_much_unscored",
    "unjudged_share",
    "without_silence",
]
