"""Sorts requests by urgency, by a rule in place of a model."""


def answer_support(request: str) -> str:
    return "urgent" if "down" in request.lower() else "normal"
