"""The rows of a tau-bench result file, checked: a task, a trial, its reward and what led to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import CLOSE, as_number, as_object
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.records import Json


@dataclass(frozen=True, slots=True)
class TauBenchRow:
    """`info` is empty where the row has none; `traj` is as it stands there."""

    place: Place
    task: str
    trial: int
    reward: float
    info: Mapping[str, Json]
    traj: Json

    @property
    def solved(self) -> bool:
        return abs(self.reward - 1.0) <= CLOSE

    @property
    def crash(self) -> str | None:
        """What the benchmark caught; None: the trial ran."""
        said = self.info.get("error")
        return None if said is None or "reward_info" in self.info else str(said)

    @property
    def task_info(self) -> Mapping[str, Json]:
        return as_object(self.info.get("task"))

    @property
    def judged(self) -> Mapping[str, Json]:
        """`reward_info.info`: which check gave the reward."""
        return as_object(as_object(self.info.get("reward_info")).get("info"))


def read_rows(path: Path, found: Findings) -> Iterator[TauBenchRow]:
    """Those that can be read; what is wrong with the others goes to `found`. Raises UsageError for
    a file that is no list, InvalidInput for one that is no JSON.
    """
    data = json_of(path)
    if not isinstance(data, list):
        raise UsageError(f"{path}: no list of rows, which a result file of tau-bench is")
    for n, item in enumerate(data):
        row = _row(item, Place(path.as_posix(), key=f"[{n}]"), found)
        if row is not None:
            yield row


def trial_number(value: Json) -> int | None:
    """A whole number from 0 on."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 1 << 31 else None


def _row(item: Json, place: Place, found: Findings) -> TauBenchRow | None:
    data = as_object(item)
    task, trial, reward = (data.get(key) for key in ("task_id", "trial", "reward"))
    named = isinstance(task, (int, str)) and not isinstance(task, bool) and 0 < len(str(task)) < 200
    counted, worth = trial_number(trial), as_number(reward)
    wrong = [
        *([] if named else ["task_id is no number or name of a task"]),
        *([] if counted is not None else ["trial is no whole number from 0 on"]),
        *([] if worth is not None and 0 <= worth <= 1 + CLOSE else ["reward is not from 0 to 1"]),
        *(["nested too deeply"] if is_too_deep(item) else []),
    ]
    if wrong or counted is None or worth is None:
        found.add(place, f"{'; '.join(wrong)} - a row of tau-bench has task_id, trial and reward")
        return None
    row = TauBenchRow(
        place, str(task), counted, worth, as_object(data.get("info")), data.get("traj")
    )
    contradiction = _contradiction(row)
    if contradiction:
        found.add(place, f"{contradiction} - one of the two was changed")
        return None
    return row


def _contradiction(row: TauBenchRow) -> str:
    """What the row says twice, and not alike; empty where it agrees with itself."""
    told = as_number(as_object(row.info.get("reward_info")).get("reward"))
    if told is not None and abs(told - row.reward) > CLOSE:
        return f"reward {row.reward:g}, but info.reward_info.reward {told:g}"
    if row.crash is not None and row.reward > CLOSE:
        return f"reward {row.reward:g} of a trial that crashed (info.error)"
    for key in ("r_actions", "r_outputs"):
        part = row.judged.get(key)
        if row.solved and (part is False or as_number(part) == 0.0):
            return f"reward {row.reward:g}, but {key} is 0"
    missed = list_missed_outputs(row)
    if missed and (row.solved or as_number(row.judged.get("r_outputs")) == 1.0):
        return "an output that is not there (outputs: false), but the reward says that all are"
    return ""


def list_missed_outputs(row: TauBenchRow) -> list[str]:
    """The texts that the agent was to say and did not."""
    return [text for text, said in as_object(row.judged.get("outputs")).items() if said is False]
