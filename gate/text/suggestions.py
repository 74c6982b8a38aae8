"""The known name that is nearest to one that is not known."""

from __future__ import annotations


def did_you_mean(name: str, known: tuple[str, ...] | list[str]) -> str:
    """` - did you mean 'x'?`, or the known names when none is near and there are few."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f" - did you mean '{near[0]}'?"
    return f" - known: {', '.join(known)}" if 0 < len(known) <= 12 else ""
