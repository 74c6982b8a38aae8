"""Rows of trials that a grader failed."""


def failed_row(*codes, **more):
    """A row of an answer that a grader failed with these codes."""
    return {
        "case_id": "c",
        "status": "completed",
        "passed": False,
        "failures": list(codes),
        "scores": {},
        "error": None,
        "output": "It was 7.",
        **more,
    }


def violation(severity="high"):
    return {"violation": {"rule": "secret", "severity": severity}, "by": "safety"}
