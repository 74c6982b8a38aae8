"""The anchor in a baseline file: how it is set, grows, follows what was accepted, and what main has
lost since.

Told to users in docs/anchor.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from gate.analysis.anchor import (
    MainLevel,
    RecentRuns,
    Watched,
    add_step,
    find_levels,
    session_variance,
)
from gate.analysis.estimates import family_of
from gate.analysis.pairing import pair_cases
from gate.analysis.session_effect import circumstances, concentrate
from gate.analysis.table import (
    Table,
    append_rounds,
    clear_columns,
    has_values,
    last_rounds,
    take_rounds,
)
from gate.records.baseline import AnchorHeader, AnchorKind, BaselineRun, FirstSeen, RunSteps
from gate.stats.change import NO_TOLERANCE
from gate.store.baseline.file import StoredAnchor
from gate.store.baseline.schema import moment_of

RUNS = 5  # of main that an anchor is made of; a release measures as many rounds at once
WORSE, BETTER = 0.05, 0.001  # one-sided p-values of a level beside the anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class MainRuns:
    """Stored runs of main, oldest first, and the rounds that are kept of them."""

    table: Table
    runs: tuple[BaselineRun, ...]

    @property
    def kept(self) -> list[BaselineRun]:
        return [run for run in self.runs if run.kept]

    def rounds_of(self, number: int) -> Table:
        """The rounds of the kept run of this number."""
        kept = [run.kept for run in self.kept]
        return take_rounds(self.table, sum(kept[:number]), kept[number])

    def with_run(self, table: Table, run: BaselineRun) -> MainRuns:
        """And one more; cases that changed lose their older rounds."""
        run = replace(run, kept=table.rounds)
        joined = append_rounds(self.table, table, keep_absent=True)
        return MainRuns(table=joined, runs=(*self.runs, run))

    def after(self, moment: str) -> RecentRuns:
        """Those that were made later. `moment`: ISO 8601."""
        since = moment_of(moment)
        rounds = [run.kept for run in self.kept if moment_of(run.created_at) > since]
        return RecentRuns(table=last_rounds(self.table, sum(rounds)), rounds=tuple(rounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorRules:
    """`wanted`: `release`, `best` or a ref, of gate.yml. `given`: what a release measured, or what
    stood in the ref's baseline. `accepted`: metrics of the accept records that the file has, oldest
    first; an empty one means all.
    """

    wanted: str
    watched: tuple[Watched, ...]
    accepted: tuple[tuple[str, ...], ...] = ()
    given: StoredAnchor | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.watched for name in one.spec.columns}))

    def fits(self, header: AnchorHeader) -> bool:
        """Whether gate.yml still asks for such an anchor."""
        if self.wanted in ("release", "best"):
            return header.kind in ("first", self.wanted)
        return header.kind == "ref" and header.name == self.wanted


def follow_main(
    before: MainRuns,
    anchor: StoredAnchor | None,
    table: Table,
    run: BaselineRun,
    rules: AnchorRules,
) -> StoredAnchor:
    """The anchor after one more run of main. `before`: the runs before it; `table`: its rounds.

    A file without an anchor gets one of its oldest runs, and the next ones until there are five. A
    metric that was accepted, or that nothing watched before, starts again with the next runs.
    """
    if rules.given is not None and _is_newer(rules.given, anchor):
        anchor = _replace_by(rules.given, anchor, rules)
    elif anchor is None or not rules.fits(anchor.header):
        anchor = _begin(before, rules)
    moved = _moved_by(rules.accepted[anchor.header.accepted :], anchor)
    anchor = _drop(anchor, moved, accepted=len(rules.accepted))
    if before.kept and not moved:
        anchor = _with_step(anchor, before, table, run, rules)
    anchor = _grow(anchor, table, run, rules)
    now = before.with_run(table, run)
    if rules.wanted == "best":
        anchor = _look_for_better(anchor, now, rules)
    return _note_falls(anchor, now, rules)


def judge_main(
    anchor: StoredAnchor, main: MainRuns, watched: Sequence[Watched], *, single: bool = False
) -> dict[str, MainLevel]:
    """By metric: main's runs since the anchor against it. `single`: one run is enough, as at a
    release, which measures many rounds.
    """
    by_moment: dict[str, list[Watched]] = {}
    for one in watched:
        if one.spec.name not in anchor.header.wanted and (
            newest := anchor.newest_of(one.spec.column)
        ):
            by_moment.setdefault(newest, []).append(one)
    levels: dict[str, MainLevel] = {}
    for moment, metrics in by_moment.items():
        recent = main.after(moment)
        levels |= find_levels(
            anchor.table,
            anchor.sizes,
            recent,
            metrics,
            anchor.header.steps,
            sharing=len(watched),
            single=single,
        )
    return levels


def measure_anchor(anchor: StoredAnchor) -> dict[str, float]:
    """The level of each metric that the anchor can tell."""
    table = anchor.table
    known = [spec for spec in table.specs.values() if spec.column in table.columns]
    levels = {spec.name: family_of(spec).reduce(table.values(spec)) for spec in known}
    return {name: level for name, level in levels.items() if math.isfinite(level)}


def name_anchor(
    anchor: StoredAnchor, kind: AnchorKind, name: str, commit: str | None
) -> StoredAnchor:
    """As that of a release or ref; it takes up no more runs."""
    header = replace(anchor.header, kind=kind, name=name, commit=commit, wanted={})
    return replace(anchor, header=header)


def anchor_of(
    main: MainRuns, columns: Sequence[str], *, runs: Sequence[int] | None = None
) -> StoredAnchor:
    """The first five kept runs, or those of these numbers, as an anchor of these columns; it takes
    up more runs until there are five.
    """
    kept = main.kept
    chosen = list(range(len(kept)))[:RUNS] if runs is None else list(runs)
    table = replace(last_rounds(main.table, 0), columns={}, graders={})
    for number in chosen:
        table = append_rounds(table, _only(main.rounds_of(number), columns), keep_absent=True)
    headers = tuple(kept[number] for number in chosen)
    newest = headers[-1] if headers else None
    left = max(0, RUNS - len(headers))
    header = AnchorHeader(
        kind="first",
        commit=newest.commit if newest else None,
        created_at=newest.created_at if newest else "",
        runs=headers,
        wanted=dict.fromkeys(columns, left) if left else {},
        graders={name: value for name, value in main.table.graders.items() if name in columns},
    )
    return StoredAnchor(header=header, table=_only(table, columns))


# ------------------------------------------------------------------------------- how it is set


def _begin(main: MainRuns, rules: AnchorRules) -> StoredAnchor:
    anchor = anchor_of(main, rules.columns)
    header = replace(anchor.header, accepted=len(rules.accepted))
    anchor = replace(anchor, header=header)
    for number in range(1, len(main.kept)):
        older, newer = main.kept[number - 1 : number + 1]
        if circumstances(older) == circumstances(newer):
            anchor = _add_steps(anchor, main.rounds_of(number - 1), main.rounds_of(number), rules)
    return anchor


def _replace_by(
    given: StoredAnchor, anchor: StoredAnchor | None, rules: AnchorRules
) -> StoredAnchor:
    """What is known of the session effect stays: it is the agent's, not the anchor's."""
    steps: Mapping[str, RunSteps] = anchor.header.steps if anchor else {}
    header = replace(given.header, steps=steps, falls={}, accepted=len(rules.accepted))
    return replace(given, header=header, table=_only(given.table, rules.columns))


def _is_newer(given: StoredAnchor, anchor: StoredAnchor | None) -> bool:
    if anchor is None or given.header.kind != "release" or anchor.header.kind != "release":
        # The first runs of main, or what another setting left, give way to what was asked for.
        return anchor is None or (given.header.kind, given.header.name) != (
            anchor.header.kind,
            anchor.header.name,
        )
    return moment_of(given.header.created_at) > moment_of(anchor.header.created_at)


def _only(table: Table, columns: Sequence[str]) -> Table:
    chosen = {name: values for name, values in table.columns.items() if name in columns}
    graders = {name: value for name, value in table.graders.items() if name in columns}
    return replace(table, columns=chosen, graders=graders)


# --------------------------------------------------------------------- how it follows the runs


def _moved_by(accepted: Sequence[Sequence[str]], anchor: StoredAnchor) -> frozenset[str]:
    """The columns whose level somebody accepted anew."""
    moved: set[str] = set()
    for metrics in accepted:
        columns = {spec.column for name, spec in anchor.table.specs.items() if name in metrics}
        moved |= columns if metrics else set(anchor.table.columns)
    return frozenset(moved & set(anchor.table.columns))


def _drop(anchor: StoredAnchor, columns: Set[str], *, accepted: int) -> StoredAnchor:
    """Without the values of these columns, which the next runs bring anew, and without the falls of
    their metrics.
    """
    header, table = anchor.header, anchor.table
    header = replace(header, accepted=accepted)
    if not columns:
        return replace(anchor, header=header)
    falls = {
        metric: seen
        for metric, seen in header.falls.items()
        if metric in table.specs and table.specs[metric].column not in columns
    }
    wanted = {**header.wanted, **dict.fromkeys(sorted(columns), RUNS)}
    return StoredAnchor(
        header=replace(header, wanted=wanted, falls=falls), table=clear_columns(table, columns)
    )


def _with_step(
    anchor: StoredAnchor, before: MainRuns, table: Table, run: BaselineRun, rules: AnchorRules
) -> StoredAnchor:
    """Not where the agent is known to have changed: that is a jump, no scatter of sessions."""
    if circumstances(before.kept[-1]) != circumstances(run):
        return anchor
    return _add_steps(anchor, before.rounds_of(len(before.kept) - 1), table, rules)


def _add_steps(
    anchor: StoredAnchor, older: Table, newer: Table, rules: AnchorRules
) -> StoredAnchor:
    steps = dict(anchor.header.steps)
    for one in rules.watched:
        name = one.spec.name
        steps[name] = add_step(steps.get(name, RunSteps()), one.spec, older, newer)
    return replace(anchor, header=replace(anchor.header, steps=steps))


def _grow(anchor: StoredAnchor, table: Table, run: BaselineRun, rules: AnchorRules) -> StoredAnchor:
    """With the run's rounds of the columns that still want some. A column that nothing watched so
    far wants all of them; one whose grader changed keeps its old values, which nothing is compared
    with, until somebody accepts that.
    """
    header = anchor.header
    fresh = {name: RUNS for name in rules.columns if name not in anchor.table.columns}
    wanted = {**header.wanted, **fresh}
    taken = [name for name in wanted if name in table.columns]
    if not taken:
        return anchor
    graders = {**header.graders, **{n: table.graders[n] for n in taken if n in table.graders}}
    others = frozenset({*anchor.table.columns, *table.columns}.difference(taken))
    rounds = _only(clear_columns(table, others), (*anchor.table.columns, *taken))
    rounds = replace(rounds, graders=graders)
    left = {name: runs - (name in taken) for name, runs in wanted.items()}
    is_first = header.kind == "first"
    return StoredAnchor(
        header=replace(
            header,
            runs=(*header.runs, replace(run, kept=table.rounds)),
            wanted={name: runs for name, runs in left.items() if runs > 0},
            graders=graders,
            commit=run.commit if is_first else header.commit,
            created_at=run.created_at if is_first else header.created_at,
        ),
        table=append_rounds(anchor.table, rounds, keep_absent=True),
    )


def _look_for_better(anchor: StoredAnchor, main: MainRuns, rules: AnchorRules) -> StoredAnchor:
    """The best level that main kept up for five runs.

    Five runs that are better than the anchor say that there may be a better level, but they were
    chosen for being good. So the five runs after them become the anchor, unless they are worse than
    the present one: what they measured had no part in the choice.
    """
    header, kept = anchor.header, main.kept
    since = moment_of(header.better_since or header.created_at)
    later = [n for n, run in enumerate(kept) if moment_of(run.created_at) > since]
    if header.wanted or not rules.watched or len(later) < min(RUNS, len(kept)):
        return anchor
    found = anchor_of(main, rules.columns, runs=later[-RUNS:])
    if not header.better_since:
        if _differs(anchor, found, rules.watched[0], worse=False):
            header = replace(header, better_since=kept[-1].created_at)
        return replace(anchor, header=header)
    if any(_differs(anchor, found, one, worse=True) for one in rules.watched):
        return replace(anchor, header=replace(header, better_since=""))
    steps, accepted = header.steps, header.accepted
    header = replace(found.header, kind="best", wanted={}, steps=steps, accepted=accepted)
    return replace(found, header=header)


def _differs(then: StoredAnchor, now: StoredAnchor, one: Watched, *, worse: bool) -> bool:
    """Whether the second level is worse by more than chance explains in 1 of 20, or better in 1 of
    1,000: each new anchor is one more that chance may have made too good.
    """
    pairing = pair_cases(then.table, now.table)
    spec = one.spec
    if not pairing.n_paired:
        return False
    before, after = pairing.baseline.values(spec), pairing.current.values(spec)
    if not (has_values(before) and has_values(after)):
        return False
    variance = session_variance(then.header.steps.get(spec.name, RunSteps()))
    shares = concentrate(before, then.sizes) + concentrate(after, now.sizes)
    evidence = family_of(spec).compare(
        before, after, spec, tolerance=NO_TOLERANCE, drift=variance * shares
    )
    return evidence.p_worse <= WORSE if worse else evidence.p_better <= BETTER


def _note_falls(anchor: StoredAnchor, main: MainRuns, rules: AnchorRules) -> StoredAnchor:
    """A fall stays until the newest runs are back within the tolerance, or somebody accepts it."""
    levels = judge_main(anchor, main, rules.watched)
    newest = main.runs[-1]
    before = main.runs[-2].commit if len(main.runs) > 1 else None
    falls = dict(anchor.header.falls)
    for metric, level in levels.items():
        if level.fallen and metric not in falls:
            falls[metric] = FirstSeen(
                at=newest.created_at,
                session_id=newest.session_id,
                commit=newest.commit,
                before=before,
            )
        elif level.back:
            falls.pop(metric, None)
    return replace(anchor, header=replace(anchor.header, falls=falls))
