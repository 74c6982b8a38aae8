"""Stored runs of a suite -> its history: rows, oldest first, and changes of level with their
circumstances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gate.records import AcceptedStart, Direction, Estimate, MetricSpec, Provenance
from gate.records.baseline import BaselineRun
from gate.records.history import (
    CaseCourse,
    CaseCourses,
    Course,
    LevelChange,
    PastRun,
    SuiteHistory,
)
from gate.stats.change_points import FEWEST, MOST, chance_noise, change_points
from gate.store.baseline.find import differences
from gate.store.baseline.schema import AcceptanceNote, moment_of
from gate.text.figures import count

ALPHA = 0.01  # shared by the metrics of a suite
COMPARABLE = 0.5  # of the largest run's cases: the means of a smaller sample are others
STRIP_RUNS = 40  # the newest runs whose cases are shown
STRIP_CASES = 200  # the worst of them

Rounds = tuple[int, int]  # that passed, and that were judged


def no_cases() -> Mapping[str, Rounds]:
    """An empty mapping, where no rounds of cases are kept."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail:
    """What is known of a run beside its numbers, as far as its place keeps it."""

    provenance: Provenance | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)  # by metric
    read_cases: Callable[[], Mapping[str, Rounds]] = no_cases  # by case


NO_DETAIL = RunDetail()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The stored runs of one suite, in any order but for those of the same moment."""

    suite: str
    source: str
    runs: tuple[BaselineRun, ...]
    accepted: tuple[AcceptanceNote, ...] = ()
    notes: tuple[str, ...] = ()
    specs: Mapping[str, MetricSpec] = field(default_factory=dict)  # by metric
    blocking: frozenset[str] = frozenset()  # metrics, as far as it is known
    details: Mapping[str, RunDetail] = field(default_factory=dict)  # by session id
    anchor: Mapping[str, float] = field(default_factory=dict)  # by metric
    anchor_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A metric that the table has."""

    name: str
    unit: str
    direction: Direction

    @property
    def share(self) -> bool:
        return self.unit == "share"


SUCCESS = Followed(name="agent.success_rate", unit="share", direction="higher")
EFFICIENCY = Followed(name="agent.trajectory_efficiency", unit="ratio", direction="lower")
STEPS = Followed(name="agent.avg_steps", unit="steps", direction="lower")
COST = Followed(name="agent.cost_per_task", unit="USD", direction="lower")
FOLLOWED = (SUCCESS, EFFICIENCY, STEPS, COST)


def history_of(
    chain: Chain,
    *,
    last: int | None,
    since: datetime | None,
    repository_url: str = "",
    cases: bool = False,
) -> SuiteHistory:
    """The newest `last` runs from `since` on. A change of level is looked for in all of them. Runs
    of one moment keep the order of the chain: the end of a session's name is drawn by chance.
    `repository_url`: where commits are linked to that no session says more of. `cases`: whether the
    rounds of each case are read.
    """
    runs = sorted(chain.runs, key=lambda run: moment_of(run.created_at))
    numbers = [
        n for n, run in enumerate(runs) if since is None or moment_of(run.created_at) >= since
    ]
    shown = numbers[-last:] if last else numbers
    first = {runs[n].session_id for n in shown}
    changes, notes = _changes(runs, chain.accepted)
    chosen = [runs[n] for n in shown]
    return SuiteHistory(
        suite=chain.suite,
        source=chain.source,
        runs=tuple(
            past_run(run, chain.details.get(run.session_id, NO_DETAIL), repository_url)
            for run in chosen
        ),
        changes=tuple(change for change in changes if change.first.session_id in first),
        older=len(runs) - len(shown),
        notes=(*chain.notes, *notes),
        courses=tuple(_list_courses(chain, chosen)),
        starts=tuple(_list_starts(chain.accepted, chosen)),
        cases=_read_case_courses(chain, chosen[-STRIP_RUNS:]) if cases else None,
    )


def past_run(run: BaselineRun, detail: RunDetail = NO_DETAIL, repository_url: str = "") -> PastRun:
    modes = run.modes
    if modes is None and run.means.get(SUCCESS.name) == 1.0:
        modes = {}  # no mode was stored then, and nothing failed
    top = top_mode(modes or {})
    return PastRun(
        session_id=run.session_id,
        created_at=run.created_at,
        commit=run.commit,
        cases=run.cases or None,
        rounds=run.rounds or None,
        success_rate=run.means.get(SUCCESS.name),
        efficiency=run.means.get(EFFICIENCY.name),
        avg_steps=run.means.get(STEPS.name),
        cost_per_task=run.means.get(COST.name),
        modes=modes,
        top_mode=top,
        top_mode_cases=(modes or {}).get(top or "", 0),
        trials=run.trials,
        commit_url=_find_commit_url(run.commit, detail.provenance, repository_url),
        run_id=detail.provenance.run_id if detail.provenance else None,
    )


def _find_commit_url(commit: str | None, made: Provenance | None, repository_url: str) -> str:
    """On the server that the run was made on, else in the repository that was given."""
    server, found, _ = (made.run_url or "" if made else "").partition("/actions/runs/")
    address = server if found else repository_url
    plain = address.startswith("https://") and commit and re.fullmatch("[0-9a-f]{7,64}", commit)
    return f"{address}/commit/{commit}" if plain else ""


def top_mode(modes: Mapping[str, int]) -> str | None:
    """The mode of most cases. Of two with as many the first, as the run's report has them: more
    trials, then the more serious one.
    """
    return max(
        (mode for mode, cases in modes.items() if cases), key=lambda m: modes[m], default=None
    )


# ------------------------------------------------------------------------------ metrics and cases


def _list_courses(chain: Chain, runs: Sequence[BaselineRun]) -> Iterator[Course]:
    """Every metric with a value, those that lead first."""
    leading = [*(one.name for one in FOLLOWED), *sorted(chain.blocking)]
    names = [*leading, *sorted({name for run in runs for name in run.means})]
    for name in dict.fromkeys(names):
        values = tuple(run.means.get(name) for run in runs)
        if all(value is None for value in values):
            continue
        stored = [chain.details.get(run.session_id, NO_DETAIL).estimates.get(name) for run in runs]
        followed = next((one for one in FOLLOWED if one.name == name), None)
        told = next((one for one in reversed(stored) if one), None)
        known = followed or chain.specs.get(name) or told
        bounded = any(one and one.ci_low is not None for one in stored)
        yield Course(
            metric=name,
            unit=known.unit if known else "",
            direction=known.direction if known else "higher",
            leads=name in leading,
            values=values,
            lows=tuple(one.ci_low if one else None for one in stored) if bounded else (),
            highs=tuple(one.ci_high if one else None for one in stored) if bounded else (),
            anchor=chain.anchor.get(name),
            anchor_name=chain.anchor_name if name in chain.anchor else "",
        )


def _list_starts(
    accepted: Sequence[AcceptanceNote], runs: Sequence[BaselineRun]
) -> Iterator[AcceptedStart]:
    """Those between two of the runs."""
    moments = [moment_of(run.created_at) for run in runs]
    for note in sorted(accepted, key=lambda one: moment_of(one.when)):
        before = sum(moment < moment_of(note.when) for moment in moments)
        if 0 < before < len(runs):
            told = f"{note.when[:10]} by {note.who}: {note.why}"
            yield AcceptedStart(before=before, told=told, metrics=note.metrics)


def _read_case_courses(chain: Chain, runs: Sequence[BaselineRun]) -> CaseCourses | None:
    """The worst first: by the newest run, then by all of them."""
    found = [chain.details.get(run.session_id, NO_DETAIL).read_cases() for run in runs]
    courses = [
        CaseCourse(case_id=case, rounds=tuple(rounds.get(case) for rounds in found))
        for case in sorted({case for rounds in found for case in rounds})
    ]
    failed = [course for course in courses if _share(course.rounds) < 1.0]
    failed.sort(key=lambda course: (_share(course.rounds[-1:]), _share(course.rounds)))
    if not courses:
        return None
    return CaseCourses(
        runs=len(runs),
        cases=tuple(failed[:STRIP_CASES]),
        steady=len(courses) - len(failed),
        left_out=max(0, len(failed) - STRIP_CASES),
    )


def _share(rounds: Sequence[Rounds | None]) -> float:
    """Of the judged rounds those that passed; 1 where none was judged."""
    judged = sum(pair[1] for pair in rounds if pair)
    return sum(pair[0] for pair in rounds if pair) / judged if judged else 1.0


# ----------------------------------------------------------------------------- changes of level


def _changes(
    runs: Sequence[BaselineRun], accepted: Sequence[AcceptanceNote]
) -> tuple[list[LevelChange], list[str]]:
    """Oldest first, and what was left out of the search."""
    most = max((run.cases for run in runs), default=0)
    complete_runs = [run for run in runs if not 0 < run.cases < most * COMPARABLE]
    notes = []
    if len(complete_runs) < len(runs):
        left_out = count(len(runs) - len(complete_runs), "run")
        notes.append(
            f"{left_out} covered less than half of the cases and were not searched for changes"
        )
    if len(complete_runs) > MOST:
        notes.append(f"only the newest {MOST} runs are searched for changes")
    followed = [one for one in FOLLOWED if len(_measured_values(complete_runs, one)) >= FEWEST]
    changes = [
        change
        for one in followed
        for change in _find_changes(
            one, _measured_values(complete_runs, one), accepted, ALPHA / len(followed)
        )
    ]
    return sorted(changes, key=lambda change: moment_of(change.first.created_at)), notes


def _measured_values(
    runs: Sequence[BaselineRun], metric: Followed
) -> list[tuple[BaselineRun, float]]:
    values = ((run, run.means.get(metric.name)) for run in runs)
    return [(run, value) for run, value in values if value is not None]


def _find_changes(
    metric: Followed,
    measured: Sequence[tuple[BaselineRun, float]],
    accepted: Sequence[AcceptanceNote],
    alpha: float,
) -> Iterator[LevelChange]:
    values = [value for _, value in measured]
    calls = [run.trials or run.cases * run.rounds for run, _ in measured]
    noise = chance_noise(sum(values) / len(values), calls, share=metric.share)
    for point in change_points(values, noise, alpha=alpha):
        old, new = measured[point.at - 1][0], measured[point.at][0]
        yield LevelChange(
            metric=metric.name,
            unit=metric.unit,
            direction=metric.direction,
            before=point.before,
            after=point.after,
            runs_before=point.runs_before,
            runs_after=point.runs_after,
            last=past_run(old),
            first=past_run(new),
            p=point.p,
            differs=differences(old.fingerprint, new.fingerprint),
            accepted=tuple(_find_acceptances(metric, accepted, old, new)),
        )


def _find_acceptances(
    metric: Followed, accepted: Sequence[AcceptanceNote], old: BaselineRun, new: BaselineRun
) -> Iterator[str]:
    """Consent that was given between the two runs, and is about this metric or about all."""
    for note in accepted:
        between = moment_of(old.created_at) < moment_of(note.when) <= moment_of(new.created_at)
        if between and (not note.metrics or metric.name in note.metrics):
            yield f"{note.when[:10]} by {note.who}: {note.why}"
