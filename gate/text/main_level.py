"""What main has lost since its anchor, in a sentence."""

from __future__ import annotations

from gate.records.baseline import AnchorLevel, AnchorReport
from gate.text import figures

SHA = 7  # characters of a commit that is named


def name_anchor(anchor: AnchorReport) -> str:
    """Since when: `v1.4.0`, `its first runs (2026-11-02)`; hostile where a release is named."""
    day = f" ({anchor.created_at[:10]})" if anchor.created_at else ""
    if anchor.kind == "best":
        return f"its best level{day}"
    if anchor.kind == "first":
        return f"its first {figures.count(anchor.runs, 'run')}{day}"
    return f"`{anchor.name}`"


def describe_fall(anchor: AnchorReport, level: AnchorLevel) -> str:
    """`main has lost 7.5 pt of `agent.success_rate` since `v1.4.0` (0.87 -> 0.80 in its newest 3
    runs; first seen on 2026-11-12 at `9d0e1f2`)`.
    """
    since = name_anchor(anchor)
    amount = figures.size(abs(level.change or 0.0), level.unit, relative=level.relative)
    name = f"`{level.metric}`"
    what = f"main has lost {amount} of {name} since {since}"
    if level.direction == "lower":
        what = f"main's {name} has risen by {amount} since {since}"
    if level.change is None:
        what = f"main's {name} has got worse since {since}"
    return f"{what} ({'; '.join(filter(None, (_values(level), _first_seen(level))))})"


def _values(level: AnchorLevel) -> str:
    if level.now is None or level.typical:
        return ""
    then, now = (figures.value(number, level.unit) for number in (level.anchor, level.now))
    runs = "this run" if level.runs == 1 else f"its newest {figures.count(level.runs, 'run')}"
    return f"{then} -> {now} in {runs}"


def _first_seen(level: AnchorLevel) -> str:
    if level.seen is None:
        return ""
    seen, day = level.seen, level.seen.at[:10]
    commits = [f"`{commit[:SHA]}`" for commit in (seen.before, seen.commit) if commit]
    if len(commits) == 2 and commits[0] != commits[1]:
        return f"first seen on {day} between {commits[0]} and {commits[1]}"
    return f"first seen on {day}" + (f" at {commits[-1]}" if commits else "")
