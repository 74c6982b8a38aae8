"""What main has lost since its anchor, in a sentence."""

from __future__ import annotations

from gate.records.baseline import AnchorKind, AnchorLevel, AnchorReport
from gate.text import figures

SHA = 7  # characters of a commit that is named


def name_anchor(anchor: AnchorReport) -> str:
    """Since when: `v1.4.0` in backticks, or as `name_level`; hostile where it has a name."""
    name = name_level(anchor.kind, anchor.name, anchor.runs, anchor.created_at)
    return f"`{name}`" if anchor.name else name


def name_level(kind: AnchorKind, name: str, runs: int, created_at: str) -> str:
    """`v1.4.0`, `its first 5 runs up to 2026-11-02`, `its best level of 2026-11-02`."""
    day = created_at[:10]
    if kind == "best":
        return "its best level" + (f" of {day}" if day else "")
    if kind == "first":
        return f"its first {figures.count(runs, 'run')}" + (f" up to {day}" if day else "")
    return name


def describe_fall(anchor: AnchorReport, level: AnchorLevel) -> str:
    """`main has lost 7.5 points of `agent.success_rate` since `v1.4.0` (0.87 -> 0.80)`."""
    since, name = name_anchor(anchor), f"`{level.metric}`"
    if level.change is None:
        return f"main's {name} has got worse since {since}"
    size = figures.size(abs(level.change), level.unit, relative=level.relative)
    amount = figures.spell_points(size)
    what = f"main has lost {amount} of {name} since {since}"
    if level.direction == "lower":
        what = f"main's {name} has risen by {amount} since {since}"
    if level.now is None or level.typical:
        return what
    then, now = (figures.value(number, level.unit) for number in (level.anchor, level.now))
    return f"{what} ({then} -> {now})"


def describe_first_seen(level: AnchorLevel) -> str:
    """`first seen on 2026-11-12 between `b2c1f00` and `9d0e1f2``; empty without a fall."""
    if level.seen is None:
        return ""
    seen, day = level.seen, level.seen.at[:10]
    commits = [f"`{commit[:SHA]}`" for commit in (seen.before, seen.commit) if commit]
    if len(commits) == 2 and commits[0] != commits[1]:
        return f"first seen on {day} between {commits[0]} and {commits[1]}"
    return f"first seen on {day}" + (f" at {commits[-1]}" if commits else "")
