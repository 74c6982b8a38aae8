"""What a run prints while it runs: plain lines; on a terminal a live line (progress_bar.py)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from gate.records import Comparison, TrialRow
from gate.run.prepare import SuitePlan
from gate.store.baseline.find import Compared
from gate.text import figures
from gate.text.escaping import plain
from gate.verdict.course import Course

EVERY_S = 10.0  # seconds between two plain lines
_BETWEEN = "; "

# Suite and case -> share of its rounds that the baseline passed.
Shares = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressListener:
    """Is called with each finished row, and after each look with the course and what it saw."""

    row: Callable[[TrialRow], None] = lambda row: None
    beside: Callable[[TrialRow], None] = lambda row: None  # of the control agent
    look: Callable[[Course, Sequence[Comparison]], None] = lambda course, rows: None


@contextmanager
def progress(
    stream: TextIO,
    *,
    planned: int,
    quiet: bool,
    verbose: bool,
    color: bool,
    redact: Callable[[str], str] = str,
    warnings: Iterable[str] = (),
    describe_pace: Callable[[], str] = str,
    planned_of: Mapping[str, int] | None = None,
    read_shares: Callable[[], Shares] = dict,
    begun: Iterable[TrialRow] = (),
    begun_beside: Iterable[TrialRow] = (),
) -> Iterator[ProgressListener]:
    """The listener for this output. rich is imported only for a terminal. `warnings` are printed
    before the first row. `describe_pace` says what a provider's limits do to the run. `planned_of`:
    planned trials of each suite, without those of the control. `begun`: trials of a resumed
    session; `begun_beside`: those of its control.
    """
    if quiet or planned == 0:
        yield ProgressListener()
        return
    for warning in warnings:
        stream.write(f"warning: {plain(redact(warning))}\n")
    so_far = RunSoFar(
        planned,
        planned_of or {},
        read_shares(),
        describe_pace,
        begun=begun,
        begun_beside=begun_beside,
    )
    if stream.isatty() and color and not verbose:
        from gate.run.progress_bar import live_line

        with live_line(stream, so_far.line):
            yield ProgressListener(row=so_far.add, beside=so_far.add_beside, look=so_far.look)
    else:
        lines = Lines(stream, so_far, verbose=verbose, redact=redact)
        yield ProgressListener(row=lines.row, beside=lines.beside, look=lines.look)
        lines.end()


def count_planned(plans: Iterable[SuitePlan], *, fresh_control: bool = False) -> dict[str, int]:
    """Suite -> its planned trials; with `fresh_control` also those of the control agent."""
    return {
        plan.name: (len(plan.chosen) + fresh_control * len(plan.chosen - plan.new_cases))
        * len(plan.task_source().numbers)
        for plan in plans
    }


def read_passed_shares(baselines: Mapping[str, Compared]) -> Shares:
    return {
        (name, case): share
        for name, compared in baselines.items()
        if compared.table is not None
        for case, share in compared.table.passed_shares().items()
    }


class RunSoFar:
    """What a run has come to, beside the baseline on the trials that both have."""

    def __init__(
        self,
        planned: int,
        planned_of: Mapping[str, int],
        shares: Shares,
        describe_pace: Callable[[], str] = str,
        *,
        begun: Iterable[TrialRow] = (),
        begun_beside: Iterable[TrialRow] = (),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._planned, self._planned_of = planned, planned_of
        self._shares, self._describe_pace = shares, describe_pace
        self.done = self._failed = self._errors = 0
        self._done_of: Counter[str] = Counter()  # without the control's
        self._usd = self._was = self._now = 0.0
        self._paired = 0
        self._newly: set[tuple[str, str]] = set()
        self._look = self._seen = self._saved = ""
        for row in begun:
            self.add(row)
        for row in begun_beside:
            self.add_beside(row)
        self._seconds, self._began, self._before = seconds, seconds(), self.done

    def add(self, row: TrialRow) -> None:
        passed = row["passed"]
        self._done_of[row["suite"]] += 1
        self._failed += passed is False
        share = self._shares.get((row["suite"], row["case_id"])) if self._shares else None
        if share is not None and passed is not None:
            self._paired += 1
            self._was += share
            self._now += passed
            if share > 0.5 and not passed:
                self._newly.add((row["suite"], row["case_id"]))
        self.add_beside(row)

    def add_beside(self, row: TrialRow) -> None:
        """A row of the control: its failure says nothing about the change."""
        self.done += 1
        self._errors += row["status"] == "infra_error"
        self._usd += row["cost_usd"] or 0.0

    def look(self, course: Course, rows: Sequence[Comparison]) -> None:
        """Remembers what the look of the first suite that goes on saw, and what the ended ones
        spared.
        """
        name = min(course.going, default=None) or next(iter(course.plans))
        self._look = f"look {course.made[name]} of {len(course.plans[name].calls)}"
        seen = next((r for r in rows if r.suite == name and r.level == "block"), None)
        self._seen = ""
        if seen is not None and seen.delta is not None:
            delta = figures.change(seen.delta, seen.unit, relative=seen.relative)
            ends = figures.interval(seen.ci_low, seen.ci_high, seen.unit, relative=seen.relative)
            self._seen = plain(f"{seen.metric} {delta} {ends}".rstrip())
        saved = sum(
            max(0, self._planned_of.get(suite, 0) - self._done_of[suite])
            for suite in course.plans
            if suite not in course.going and course.made[suite]
        )
        self._saved = f"{figures.count(saved, 'call')} saved" if saved else ""

    def line(self, width: int | None = None) -> str:
        """`120/600 trials, 48 failed; 33 newly fail (0.87 → 0.60); agent.success_rate −26.7 pt
        (−35.1 … −18.3); look 2 of 20; 480 calls saved; $0.84; at most 2 min 41 s left`: the
        baseline's rate and this run's are of the same trials. Of `width` columns at most it leaves
        out what matters least.
        """
        planned = max(self._planned, self.done)
        counts = f"{self.done}/{planned} trials, {self._failed} failed"
        if self._errors:
            counts += f", {self._errors} not answered"
        newly = ""
        if self._paired:
            was, now = (figures.value(v / self._paired, "share") for v in (self._was, self._now))
            fail = "fails" if len(self._newly) == 1 else "fail"
            newly = f"{len(self._newly)} newly {fail} ({was} → {now})"
        left, done = "", self.done - self._before
        if done and self.done < planned:
            seconds = (self._seconds() - self._began) / done * (planned - self.done)
            left = f"at most {figures.duration(seconds)} left"
        usd = figures.money(self._usd) if self._usd else ""
        pace = self._describe_pace()
        shown = [counts, newly, self._seen, self._look, self._saved, usd, left, pace]
        if width is None:
            return _BETWEEN.join(filter(None, shown))
        kept = [counts]
        for part in (newly, left, self._seen, self._saved, usd, self._look, pace):
            if part and len(_BETWEEN.join([*kept, part])) <= width:
                kept.append(part)
        return _BETWEEN.join(part for part in shown if part in kept)


class Lines:
    """Prints a line every ten seconds and at the end; with `verbose` one for each trial and
    look.
    """

    def __init__(
        self,
        stream: TextIO,
        so_far: RunSoFar,
        *,
        verbose: bool,
        redact: Callable[[str], str] = str,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._so_far, self._verbose = stream, so_far, verbose
        self._redact, self._seconds = redact, seconds
        self._said_at = seconds()
        self._said = so_far.done

    def row(self, row: TrialRow) -> None:
        self._so_far.add(row)
        self._tell(row, "")

    def beside(self, row: TrialRow) -> None:
        """A row of the control agent."""
        self._so_far.add_beside(row)
        self._tell(row, " of the control")

    def _tell(self, row: TrialRow, who: str) -> None:
        if self._verbose:
            self._say(self._redact(trial_line(row, who=who)))
        if self._seconds() - self._said_at >= EVERY_S:
            self._count()

    def look(self, course: Course, rows: Sequence[Comparison]) -> None:
        self._so_far.look(course, rows)
        for line in look_lines(course) if self._verbose else ():
            self._say(line)

    def end(self) -> None:
        """Prints the last count, unless it was printed already."""
        if self._said < self._so_far.done:
            self._count()

    def _count(self) -> None:
        self._said, self._said_at = self._so_far.done, self._seconds()
        self._say(self._so_far.line())

    def _say(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


def look_lines(course: Course) -> Iterator[str]:
    """A line for each suite that continues or has ended."""
    for name, looks in course.plans.items():
        word = "goes on" if name in course.going else course.ended.get(name, "")
        yield plain(f"[{name}] look {course.made[name]} of {len(looks.calls)}: {word}")


def trial_line(row: TrialRow, *, who: str = "") -> str:
    """One trial in one line; texts of agents and datasets are made harmless."""
    word = {"infra_error": "not answered", "agent_error": "agent error"}.get(row["status"])
    word = word or {True: "passed", False: "failed", None: "unscored"}[row["passed"]]
    unanswered = row["status"] == "infra_error"  # a code says less than the error
    codes = ("" if unanswered else ", ".join(row["failures"])) or row["error"] or ""
    latency = "" if row["latency_ms"] is None else f" {figures.value(row['latency_ms'], 'ms')}"
    name = f"[{row['suite']}] {row['case_id']} round {row['round']}{who}"
    return plain(f"{name}: {word}{latency}{' - ' + codes if codes else ''}")
