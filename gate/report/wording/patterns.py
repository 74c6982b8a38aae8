"""Why answers fail, in words: modes, clusters of alike failures, how far cases can be relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gate.analysis.failures.modes import ORDER
from gate.records import CaseChange, Cluster, FailureMode, ModeCount, Reliability, SuiteReport
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, join, say, strong

_TOP = 3
_LABEL = 160  # characters
_IDS = 3  # cases that a cluster names
WORDS: Mapping[FailureMode, str] = {
    "safety": "safety violation",
    "timeout": "time-out",
    "agent_error": "agent error",
    "loop": "loop",
    "inefficient": "inefficient",
    "refusal": "refusal",
    "tool_args_wrong": "wrong tool arguments",
    "wrong_tool": "wrong tool",
    "missing_tool_use": "missing tool use",
    "retrieval_miss": "retrieval miss",
    "hallucinated_data": "hallucinated data",
    "format": "wrong format",
    "instruction": "instruction not followed",
    "wrong_answer": "wrong answer",
}


def words(mode: FailureMode | None) -> str:
    """Empty for none."""
    return WORDS[mode] if mode else ""


def mostly(changes: Sequence[CaseChange]) -> Line:
    """` Why: retrieval miss (12), wrong tool (2).`; nothing where no case has a mode. The numbers
    add up to that of the cases, or it is said of how many they are.
    """
    modes = Counter(change.mode for change in changes if change.mode)
    top = sorted(modes.items(), key=lambda item: (-item[1], ORDER.index(item[0])))
    if not top:
        return ()
    total = modes.total()
    if len(top) == 1 and total == len(changes):
        return say(" Why: {}.", words(top[0][0]))
    parts = [f"{words(mode)} ({n:,})" for mode, n in top[:_TOP]]
    rest = sum(n for _, n in top[_TOP:])
    of = f", of the {total:,} looked at" if total < len(changes) else ""
    return say(" Why{}: {}.", of, ", ".join([*parts, *([f"other ({rest:,})"] if rest else [])]))


def top_mode(modes: Sequence[ModeCount]) -> str:
    """`retrieval miss (12 cases)`; `none` where nothing failed."""
    if not modes:
        return "none"
    return f"{words(modes[0].mode)} ({figures.count(modes[0].cases, 'case')})"


def format_stored_mode(mode: str, cases: int) -> str:
    """The same of a stored run, whose modes may be those of a later version."""
    label = {str(one): word for one, word in WORDS.items()}.get(mode)
    return f"{label or shorten(mode.replace('_', ' '), 40)} ({figures.count(cases, 'case')})"


def mode_rows(suite: SuiteReport) -> list[tuple[str, str, str]]:
    """Mode, cases, trials."""
    return [(words(mode.mode), f"{mode.cases:,}", f"{mode.trials:,}") for mode in suite.modes]


def cluster_rows(clusters: Iterable[Cluster]) -> list[tuple[str, str, str, str]]:
    """Mode, what they share, cases, a few of them; hostile text from the second on."""
    rows = []
    for cluster in clusters:
        more = cluster.n_cases - len(cluster.cases[:_IDS])
        ids = [shorten(case, 48) for case in cluster.cases[:_IDS]] + [f"{more:,} more"] * (more > 0)
        row = (
            words(cluster.mode),
            shorten(cluster.label, _LABEL),
            f"{cluster.n_cases:,}",
            ", ".join(ids),
        )
        rows.append(row)
    return rows


def reliability(counts: Reliability | None) -> Line:
    """`Of 200 cases asked twice or more 180 passed every round, 15 are flaky, 5 failed ...`."""
    if counts is None:
        return ()
    cases = counts.reliable + counts.flaky + counts.consistently_failing
    if not cases:
        return ()
    sentence = f"Of {figures.count(cases, 'case')} asked twice or more "
    part = say(sentence + "{} passed every round", strong(f"{counts.reliable:,}"))
    flaky = f", {counts.flaky:,} {'is' if counts.flaky == 1 else 'are'} flaky"
    failing = f", {counts.consistently_failing:,} failed every round."
    return join("", [part, say(flaky), say(failing)])
