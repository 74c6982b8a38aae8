"""Answers questions about invoices, by a rule in place of a model."""

INVOICES = {"R1": 250, "R2": 80}


def answer_billing(question: str) -> str:
    found = [number for number in INVOICES if number in question]
    return f"{INVOICES[found[0]]} EUR" if found else "Which invoice?"
