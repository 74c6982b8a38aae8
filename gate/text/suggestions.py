"""The known names that are nearest to one that is not known."""

from __future__ import annotations


def did_you_mean(name: str, names: tuple[str, ...] | list[str]) -> str:
    """` - did you mean 'x'?`, or the known names when none is near and there are few."""
    near = nearest(name, names, most=1)
    if near:
        return f" - did you mean '{near[0]}'?"
    return f" - known: {', '.join(names)}" if 0 < len(names) <= 12 else ""


def nearest(name: str, names: tuple[str, ...] | list[str], *, most: int = 3) -> list[str]:
    """Those that look like it, the nearest first."""
    import difflib

    return difflib.get_close_matches(name, names, n=most, cutoff=0.6)
