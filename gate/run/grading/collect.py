"""The trials of recorded answers: read here, graded by several processes, kept and counted here in
the order of the files, whoever was first.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, cast

from gate.errors import InfrastructureError, InvalidInput, Place, Problem, UsageError
from gate.records import Price, TrialRow
from gate.run.arms import Arm
from gate.run.grading.case_store import CaseFile, store_cases
from gate.run.grading.grade_batch import BatchGrader, GradedSuite, GradingKit, Reply
from gate.run.grading.read_trials import (
    DUPLICATE,
    MOST_TRIALS,
    UNKNOWN,
    UNREADABLE,
    AnswerFile,
    Batch,
    Skipped,
    TrialReader,
)
from gate.run.kept_answers import is_outside
from gate.run.pipeline import Collected, Effects
from gate.run.prepare import SuitePlan
from gate.store.skipped_lines import NAME, SkippedLines
from gate.system.in_order import OrderedWorker, map_in_order
from gate.system.shortage import shortage
from gate.system.worker_process import TRIES, WorkerDied, WorkerProcess
from gate.text.figures import count
from gate.text.redaction import Redactor

_WORKER = "gate.run.grading.worker_main"
_AT_ONCE = 16  # answers that graders with a model, or of the user's code, are given at a time
_SAYS = {
    UNREADABLE: "cannot be read",
    UNKNOWN: "are of no known case",
    DUPLICATE: "repeat an answer",
}

Graded = tuple[Batch, list[Reply]]


class Helpers(Protocol):
    """Other machines that grade. What they encode has no secrets only if they were told them."""

    @property
    def know_secrets(self) -> bool: ...

    def workers(self, kit: GradingKit) -> list[OrderedWorker[Batch, Graded]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """What is graded, by how many processes or by `helpers`; `prices` by model."""

    files: tuple[AnswerFile, ...]
    processes: int
    prices: Mapping[str, Price]
    redactor: Redactor
    helpers: Helpers | None = None

    @property
    def encodes(self) -> bool:
        """Whether what graders encode may be stored as it is."""
        return self.helpers is None or self.helpers.know_secrets


def collect(grading: Grading, plans: Sequence[SuitePlan], effects: Effects) -> Collected:
    """Grades the answers whose trials are not in the session yet. Raises InvalidInput where the
    files have no answer to any case, UsageError where one cannot be read to its end,
    InfrastructureError, Interrupted.
    """
    session = effects.session
    arm = Arm(session, [plan.name for plan in plans])
    way_on = f"continue with the same files and options and --resume {session.folder}"
    with (
        effects.stop.defer(),
        TemporaryDirectory(prefix="gate-", ignore_cleanup_errors=True) as folder,
        SkippedLines(session.folder, grading.redactor) as skipped,
    ):
        kit = GradingKit(
            suites=tuple(
                GradedSuite(suite=p.suite, specs=p.specs, expected_keys=p.expected_keys)
                for p in plans
            ),
            prices=grading.prices,
            redactor=grading.redactor,
            root=effects.world.root,
            cases=Path(folder) / "cases",
            started_at=session.meta.created_at,
        )
        outside = any(is_outside(one) for plan in plans for one in plan.graders.values())
        if outside and grading.helpers is not None:
            session.discard()
            raise UsageError(_cannot_help(plans))
        reader = TrialReader(
            grading.files,
            plans,
            store_cases(plans, kit.cases),
            lambda *key: key in arm.done,
            1 if outside else MOST_TRIALS,
        )
        here = partial(_Here, kit, plans, effects)
        graded = _graded(reader, kit, here, effects, grading, outside)
        try:
            with closing(graded):  # which ends the processes, whatever happens here
                for batch, replies in graded:
                    _take(batch, replies, arm, effects, encoded=grading.encodes)
                    _skip(batch, replies, grading.files, skipped)
        except WorkerDied as error:
            raise InfrastructureError(
                f"a process that grades was ended {TRIES} times ({error}; out of memory?); what "
                f"was graded is kept: give fewer --processes, and {way_on}"
            ) from error
        except Exception as error:
            if (short := shortage(error)) is not None:
                raise InfrastructureError(f"{short}; what was graded is kept: {way_on}") from error
            raise
    if effects.stop.is_requested():
        raise effects.stop.error(f"interrupted; the session is saved: {way_on}")
    arm.give_up_unanswered()
    if reader.broken is not None:
        raise UsageError(f"{reader.broken}; what was graded is kept: {way_on}")
    made = sum(tally.trials for tally in arm.tallies.values())
    if not made and not effects.broken():
        session.discard()
        raise InvalidInput(_nothing(reader, grading.files, skipped))
    return Collected(
        columns=arm.columns,
        tallies=arm.tallies,
        ended_early=_missing(plans, arm),
        notes=tuple(_tell_skipped(skipped)),
    )


class _Here:
    """Grades in this process; one thread at a time."""

    def __init__(self, kit: GradingKit, plans: Sequence[SuitePlan], effects: Effects) -> None:
        graders = [plan.graders for plan in plans]
        self._cases = CaseFile(kit.cases)
        self._grader = BatchGrader(kit, graders, self._cases.find, effects.ask)

    def work(self, batch: Batch) -> Graded:
        return batch, self._grader.grade(batch.trials)

    def close(self) -> None:
        """What is under way ends by itself."""
        self._cases.close()


class _There:
    """Grades in a process of its own."""

    def __init__(self, given: bytes) -> None:
        self._process = WorkerProcess(_WORKER, given)

    def work(self, batch: Batch) -> Graded:
        return batch, cast("list[Reply]", self._process.work(batch.trials))

    def close(self) -> None:
        self._process.close()


def _graded(
    reader: TrialReader,
    kit: GradingKit,
    here: Callable[[], _Here],
    effects: Effects,
    grading: Grading,
    outside: bool,
) -> Generator[Graded]:
    """The batches with what became of them, in order. Graders that ask a model or are the user's
    code are called from this process, as in a run: they have processes and limits of their own.
    What is one batch is not worth a process.
    """
    batches = reader.batches()
    begin = list(islice(batches, 2))
    every = chain(begin, batches)

    def stopped() -> bool:
        return effects.stop.is_requested() or bool(effects.broken())

    if grading.helpers is not None:
        yield from map_in_order(
            grading.helpers.workers(kit), every, stopped=stopped, idle=effects.idle
        )
        return
    if not outside and (grading.processes == 1 or len(begin) < 2):
        with closing(here()) as grader:
            for batch in every:
                if stopped():
                    return
                yield grader.work(batch)
        return
    workers: list[OrderedWorker[Batch, Graded]] = (
        [here() for _ in range(max(_AT_ONCE, effects.beyond))]
        if outside
        else [_There(pickle.dumps(kit)) for _ in range(grading.processes)]
    )
    yield from map_in_order(workers, every, stopped=stopped, idle=effects.idle)


def _take(
    batch: Batch, replies: Sequence[Reply], arm: Arm, effects: Effects, *, encoded: bool
) -> None:
    """The graded trials: on disk, counted and told. A case's id is that of the plan: there it is
    one text for all rounds, and no secret is taken out of it.
    """
    effects.session.note_sources(effects.sources())
    for case_id, reply in zip(batch.case_ids, replies, strict=True):
        if isinstance(reply, bytes):
            row = cast("TrialRow", json.loads(reply))
            row["case_id"] = case_id
            arm.take(row, reply if encoded else b"")
            effects.progress(row)


def _skip(
    batch: Batch, replies: Sequence[Reply], files: Sequence[AnswerFile], skipped: SkippedLines
) -> None:
    """What was not graded, in the order of the lines."""
    faults = [reply for reply in replies if not isinstance(reply, bytes)]
    found = [
        *batch.skipped,
        *(Skipped(file=file, line=line, kind=UNREADABLE, why=why) for file, line, why in faults),
    ]
    for one in sorted(found, key=lambda one: (one.file, one.line)):
        skipped.add(files[one.file].name, one.line, one.kind, one.why)


def _cannot_help(plans: Sequence[SuitePlan]) -> str:
    found = ((p.name, name) for p in plans for name, one in p.graders.items() if is_outside(one))
    suite, grader = next(found)
    return (
        f"--executor dask: the suite '{suite}' has {grader}, which asks a model or is code of your "
        "own, and is called by one process; leave out --executor"
    )


def _missing(plans: Sequence[SuitePlan], arm: Arm) -> str:
    """That some planned trials have no answer; empty where all have one."""
    planned = sum(plan.planned for plan in plans)
    made = sum(arm.columns[plan.name].count_within(plan.suite.rounds) for plan in plans)
    return f"{planned - made:,} of {planned:,} answers are missing" if made < planned else ""


def _tell_skipped(skipped: SkippedLines) -> Iterator[str]:
    for kind, number in skipped.counts.items():
        yield (
            f"{count(number, 'line')} of the recorded answers {_SAYS[kind]} and "
            f"{'was' if number == 1 else 'were'} not graded; {NAME} of the session lists "
            f"{'it' if number == 1 else 'them'}: {skipped.first[kind]}"
        )


def _nothing(
    reader: TrialReader, files: Sequence[AnswerFile], skipped: SkippedLines
) -> list[Problem]:
    """What is wrong with files that have no answer to any case."""
    names = ", ".join(file.name for file in files)
    if not reader.rows:
        return [Problem(Place(names), "has no recorded answer - give what --record wrote")]
    told = [f"{count(reader.rows, 'line')}, but no answer to a case that is graded"]
    return [Problem(Place(names), "; ".join([*told, *skipped.first.values()]))]
