"""What an agent must not do: rules over its answer and its calls, and what breaks them."""

from gate.safety.leaks import secrets_of
from gate.safety.looking import MOST, violations
from gate.safety.ruleset import (
    PATH_KEYS,
    ArgumentRule,
    CaseRules,
    OwnRule,
    Ruleset,
    Source,
    faults,
)
from gate.safety.sensitive import PERSONAL, SECRETS, PersonalKind, SecretKind

__all__ = [
    "MOST",
    "PATH_KEYS",
    "PERSONAL",
    "SECRETS",
    "ArgumentRule",
    "CaseRules",
    "OwnRule",
    "PersonalKind",
    "Ruleset",
    "SecretKind",
    "Source",
    "faults",
    "secrets_of",
    "violations",
]
