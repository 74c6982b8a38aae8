"""One assistant of two packages: each case's category says which of them answers it."""

from billing.agent import answer_billing
from support.agent import answer_support

PACKAGES = {"billing": answer_billing, "support": answer_support}


def answer(case: dict[str, str]) -> str:
    return PACKAGES[case["category"]](case["input"])
