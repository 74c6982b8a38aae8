"""What an agent did otherwise: the steps of a failed round beside those of before."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import CaseChange, StepChange, StepDiff
from gate.text import figures
from gate.text.shortening import shorten

STEP = 160  # characters of one step
LINES = 40  # of one comparison
_NAMED = 3  # tools in a summary
_AGAINST = {"baseline": "the baseline", "reference": "the reference trajectory"}


def summary(change: CaseChange, diff: StepDiff) -> str:
    """`Steps of case-1, round 2, beside the baseline: run_sql is left out, list_tables is new`."""
    what = _tools_in_words(diff) or "the same steps"
    where = f"round {diff.round}, compared with {_AGAINST[diff.against]}"
    return f"Steps of {shorten(change.case_id, 48)}, {where}: {what}"


def lines(diff: StepDiff, *, changed_only: bool = False) -> Iterator[str]:
    """A line a step as in a unified diff: `  same`, `- before`, `+ now`. Hostile text, one line
    each. `changed_only`: without steps that stayed, and of a changed one the arguments that differ.
    """
    steps = [step for step in diff.steps if not changed_only or step.kind != "same"]
    shown = steps[:LINES]
    for step in shown:
        yield from (_differing(step) if changed_only and step.arguments else _lines(step))
    if len(steps) > len(shown):
        yield f"  ... {figures.count(len(steps) - len(shown), 'more step')}"


def _differing(step: StepChange) -> Iterator[str]:
    """`- search_documents(top_k=5)`, `+ search_documents(top_k=1)`."""
    tool = _tool(step)
    for sign, values in (
        ("-", [f"{one.name}={one.was}" for one in step.arguments if one.was]),
        ("+", [f"{one.name}={one.now}" for one in step.arguments if one.now]),
    ):
        yield shorten(f"{sign} {tool}({', '.join(values)})", STEP)


def _lines(step: StepChange) -> Iterator[str]:
    if step.kind == "same":
        yield f"  {shorten(step.now or step.was, STEP)}"
        return
    if step.kind in ("removed", "changed"):
        yield f"- {shorten(step.was, STEP)}"
    if step.kind in ("added", "changed"):
        yield f"+ {shorten(step.now, STEP)}"


def _tools_in_words(diff: StepDiff) -> str:
    """The tools, by what became of them."""
    parts = []
    for kind, words in (
        ("removed", "left out"),
        ("added", "new"),
        ("changed", "called with different arguments"),
    ):
        tools = [_tool(step) for step in diff.steps if step.kind == kind]
        if tools:
            named = figures.join_words(dict.fromkeys(tools), most=_NAMED)
            verb = "is" if len(set(tools)) == 1 else "are"
            parts.append(f"{named} {verb} {words}")
    return ", ".join(parts)


def _tool(step: StepChange) -> str:
    return shorten((step.now or step.was).partition("(")[0], 40)
