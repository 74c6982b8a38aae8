"""The agents of one run: the candidate alone, or the candidate and its control side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gate.analysis.columns import TrialColumns
from gate.analysis.outages import Transports
from gate.analysis.tally import Tally
from gate.records import Trial, TrialRow
from gate.records.trial_row import RowsOf
from gate.run.trial_worker import Task, TrialWorker, Unmade
from gate.store.event_log import is_unanswered
from gate.store.session import Meta, SessionWriter
from gate.system.executors import Later

Key = tuple[str, str, int]  # suite, case id, round


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResults:
    """The results of one agent's trials, by suite; `meta` describes what was asked."""

    meta: Meta
    columns: Mapping[str, TrialColumns]
    tallies: Mapping[str, Tally]
    rows_of: RowsOf


class Arm:
    """One agent's trials: on disk in its own session, as columns, and as counts."""

    def __init__(self, session: SessionWriter, suites: Iterable[str]) -> None:
        self.session = session
        self.columns = {name: TrialColumns(name) for name in suites}
        self.tallies = {name: Tally() for name in self.columns}
        self._unanswered: dict[Key, TrialRow] = {}  # of the session; asked again if there is time
        self._read(session.rows())
        self.done = frozenset(session.find_done()) - self._unanswered.keys()  # when the run began

    def _read(self, rows: Iterable[TrialRow]) -> None:
        """What the session has. An agent that was down for nearly all trials is asked again."""
        counted = {name: Transports() for name in self.tallies}
        held = []
        for row in rows:
            counted[row["suite"]].add(row)
            if is_unanswered(row):
                self._unanswered[_key(row)] = row
            elif row.get("transport"):
                held.append(row)
            else:
                self._add(row)
        out = {name: one.outage() for name, one in counted.items()}
        for row in held:
            outage = out[row["suite"]]
            if outage is not None and outage.kind == row["transport"]:
                self._unanswered[_key(row)] = row
            else:
                self._add(row)

    def take(self, row: TrialRow, line: bytes = b"") -> None:
        """Adds a trial. It is written to disk first: as `line`, where somebody encoded it already,
        without secrets.
        """
        self.session.append(row, line)
        self._add(row)
        self._unanswered.pop(_key(row), None)

    def give_up_unanswered(self) -> None:
        """Adds the unanswered trials of the session as they are: the run does not ask them
        again.
        """
        for row in self._unanswered.values():
            self._add(row)
        self._unanswered.clear()

    def answers(self) -> ArmResults:
        return ArmResults(
            meta=self.session.meta,
            columns=self.columns,
            tallies=self.tallies,
            rows_of=self.session.rows_of,
        )

    def _add(self, row: TrialRow) -> None:
        self.columns[row["suite"]].add(row)
        self.tallies[row["suite"]].add(row)


class Arms:
    """The agents of a run. `alone`: suite -> cases that only the candidate is asked."""

    def __init__(
        self, candidate: Arm, control: Arm | None, alone: Mapping[str, frozenset[str]]
    ) -> None:
        self.candidate, self.control = candidate, control
        self._alone = alone

    def __iter__(self) -> Iterator[Arm]:
        return iter([self.candidate] if self.control is None else [self.candidate, self.control])

    def of(self, trial: Trial) -> Arm:
        """The arm that a trial belongs to. Raises ValueError for a trial of the control if there is
        none.
        """
        arm = self.control if trial.control else self.candidate
        if arm is None:
            raise ValueError("a trial of the control in a run without one")
        return arm

    def done(self, suite: str, case_id: str, number: int) -> bool:
        """Whether every agent has its result of this trial."""
        trial = (suite, case_id, number)
        return trial in self.candidate.done and (
            self.control is None or trial in self.control.done or self._is_alone(suite, case_id)
        )

    def side_by_side(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Each task for both agents, one right after the other, without those that are done. A hash
        of the case draws who comes first, and this alternates from round to round, so effects of
        the order cancel.
        """
        control = self.control
        for task in tasks:
            suite, case_id = task.suite.name, task.case.id
            trial = (suite, case_id, task.round)
            pair = [] if trial in self.candidate.done else [task]
            if control and trial not in control.done and not self._is_alone(suite, case_id):
                pair.append(replace(task, control=True))
                if _control_first(task):
                    pair.reverse()
            yield from pair

    def _is_alone(self, suite: str, case_id: str) -> bool:
        return case_id in self._alone.get(suite, ())


class PairedWorker:
    """One thread's connections to both agents."""

    def __init__(self, candidate: TrialWorker, control: TrialWorker) -> None:
        self._candidate, self._control = candidate, control

    def work(self, task: Task) -> Trial | Unmade | Later[Task]:
        return (self._control if task.control else self._candidate).work(task)

    def close(self) -> None:
        self._candidate.close()
        self._control.close()


def _control_first(task: Task) -> bool:
    text = f"{task.suite.name}\0{task.case.id}".encode("utf-8", "surrogatepass")
    return (hashlib.sha256(text).digest()[0] + task.round) % 2 == 1


def _key(row: TrialRow) -> Key:
    return row["suite"], row["case_id"], row["round"]
