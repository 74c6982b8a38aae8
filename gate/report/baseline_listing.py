"""A stored baseline as text: its runs, which of them make the pool, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.analysis.pooling import Pool, format_spread, pool
from gate.records.baseline import BaselineRun
from gate.report.wording.patterns import format_stored_mode
from gate.stats.session_effect import FEWEST_RUNS
from gate.store.baseline.file import BaselineFile
from gate.store.baseline.pool import starts_anew
from gate.text.figures import count


def listing(baseline: BaselineFile, origin: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """Lines to print; not yet safe for a terminal."""
    cases = count(len(baseline.table.cases), "case")
    rounds = pool(baseline.table, baseline.runs, baseline.changed_at)
    yield f"{baseline.suite}: {cases}, {count(baseline.table.rounds, 'round')} ({origin})"
    yield from (f"  note: {note}" for note in notes)
    yield f"  {'run':<26} {'commit':<8} {'measured at':<20} rounds kept"
    yield from (_run(run, rounds) for run in reversed(baseline.runs))
    yield f"  pool: {count(rounds.rounds, 'round')} of {count(len(rounds.runs), 'run')}"
    yield from (f"  {note}" for note in rounds.left_out)
    yield from _session_effect(rounds)
    yield from _anchor(baseline)
    yield from (f"  {line}" for run in baseline.runs[-1:] for line in _modes(run))
    newest = baseline.runs[-1].means if baseline.runs else {}
    yield from (
        f"  {name:<40} {'-' if mean is None else f'{mean:.6g}':>12}"
        for name, mean in sorted(newest.items())
    )
    for change in baseline.accepted:
        yield f"  accepted {change.when} by {change.who}: {change.why}"
    if starts_anew(baseline):
        yield "  the next run starts a new baseline"


def _anchor(baseline: BaselineFile) -> Iterator[str]:
    """What main is compared with, how far it has grown, and what main has lost since."""
    if baseline.anchor is None:
        yield "  anchor: none before the next `gate baseline save`"
        return
    header = baseline.anchor.header
    name = {"first": "the first runs", "best": "the best level"}.get(header.kind, header.name)
    size = f"{count(sum(baseline.anchor.sizes), 'round')} of {count(len(header.runs), 'run')}"
    yield f"  anchor: {name}, {size}, up to {header.created_at[:10]}"
    for column, runs in sorted(header.wanted.items()):
        yield f"  anchor: {column} takes up {count(runs, 'more run')}"
    for metric, seen in header.falls.items():
        yield f"  anchor: main has lost {metric}, first seen on {seen.at[:10]}"


def _run(run: BaselineRun, rounds: Pool) -> str:
    commit = (run.commit or "-")[:7]
    place = "pool" if run.session_id in rounds.runs else "left out" if run.kept else "means only"
    return (
        f"  {run.session_id:<26} {commit:<8} {run.created_at[:19]:<20} "
        f"{run.rounds:>6} {run.kept:>4}  {place}"
    )


def _modes(run: BaselineRun) -> Iterator[str]:
    """Why cases failed in a run; nothing where an older version stored it."""
    if run.modes is not None:
        modes = ", ".join(format_stored_mode(mode, cases) for mode, cases in run.modes.items())
        yield f"failure modes of {run.session_id}: {modes or 'none'}"


def _session_effect(rounds: Pool) -> Iterator[str]:
    """How much runs differ beyond chance, one metric a line."""
    seen = {name: effect for name, effect in rounds.effects.items() if effect.seen}
    if not rounds.effects:
        yield (f"  session effect: unknown before {FEWEST_RUNS} runs that can be compared")
    elif not seen:
        runs = max(effect.runs for effect in rounds.effects.values())
        yield f"  session effect: none seen in {count(runs, 'run')}"
    for name, effect in seen.items():
        size = format_spread(rounds.table.specs[name], effect)
        yield (f"  session effect: {name} ±{size} beyond chance ({count(effect.runs, 'run')})")
