"""`tau-bench`: the result file of a run, several trials of each task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import (
    CLOSE,
    as_amount,
    as_list,
    as_number,
    as_object,
    as_string,
)
from gate.files.plain import json_of, plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats import tau
from gate.importers.trials.build import ToolSuite, provenance_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.names import suite_name
from gate.importers.trials.nobodys_fault import status_of
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Case, Json, Trial
from gate.records.imported import Imported
from gate.text.shortening import tidy


@IMPORTERS.register("tau-bench")
@dataclass(frozen=True, slots=True, kw_only=True)
class TauBench:
    """One trial for each row; `suite` names what the file's name does not tell, `agent` who was
    measured.
    """

    suite: str | None = None
    agent: str | None = None

    reads: ClassVar[str] = "the result file of a run: a list of rows with a reward"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        is_list = found.head.lstrip()[:1] == b"["
        return is_list and found.has("task_id", "reward", "info", "traj", "trial")

    def read(self, path: Path) -> Imported:
        plain(path)
        checked = _check_rows(path)
        suite = ToolSuite(TOOL, self._named(path, checked))
        settings = settings_of(path)
        told = {name: one for name, one in settings.items() if name != "model"}
        return Imported(
            files=(path,),
            provenance=provenance_of(TOOL, self.agent or settings.get("model") or TOOL),
            suites={suite.name: checked.counted.suite(suite, "final data and outputs")},
            trials=lambda: _trials(path, suite, checked, settings.get("strategy", "")),
            options=dict(told),
            notes=tuple(_notes(suite.name, checked)),
        )

    def _named(self, path: Path, checked: _RowTotals) -> str:
        if self.suite is not None:
            return suite_name(self.suite, TOOL)
        domain = domain_of(path.name, frozenset(checked.tools))
        return f"tau-{domain}" if domain else TOOL


@dataclass(slots=True)
class _RowTotals:
    """What the file comes to, without its conversations."""

    counted: tau.TrialCounts = field(default_factory=tau.TrialCounts)
    tasks: dict[str, Mapping[str, Json]] = field(default_factory=dict)  # as a row tells them
    tools: set[str] = field(default_factory=set)
    crashed: int = 0
    rows: int = 0


def _check_rows(path: Path) -> _RowTotals:
    """Raises InvalidInput with everything that is wrong with the rows."""
    findings, seen = Findings(), _RowTotals()
    for row in read_rows(path, findings):
        if not seen.counted.add(row.task, row.trial):
            message = f"task {row.task[:80]} has trial {row.trial} twice - keep one"
            findings.add(row.place, message)
            continue
        seen.rows += 1
        seen.crashed += row.crash is not None
        seen.tools |= gold_tools(row)
        if row.task_info and seen.tasks.setdefault(row.task, row.task_info) != row.task_info:
            message = f"task {row.task[:80]} is different in an earlier row, so versions are mixed"
            findings.add(row.place, f"{message} - import each run's own file")
    place = Place(path.as_posix())
    if not findings and not seen.rows:
        findings.add(place, "has no row - give the file of a run that has some")
    if len(seen.counted.rounds) > MOST_ROUNDS:
        findings.add(place, f"more than {MOST_ROUNDS} different trials - import the run in parts")
    findings.refuse()
    return seen


def _notes(suite: str, checked: _RowTotals) -> Iterator[str]:
    if checked.crashed:
        yield (
            f"{suite}: {checked.crashed} of {checked.rows} trials crashed; tau.reward and "
            "tau.pass^k count them as 0, as the benchmark does"
        )
    yield from checked.counted.notes(suite)


def _trials(path: Path, suite: ToolSuite, checked: _RowTotals, strategy: str) -> Iterator[Trial]:
    findings, rounds = Findings(), checked.counted.rounds
    cases = {
        task: case_in(suite, task, checked.tasks.get(task, {})) for task in checked.counted.tasks
    }
    for row in read_rows(path, findings):
        react = strategy in ("act", "react")
        yield trial_in(suite, row, cases[row.task], rounds[row.trial], react=react)
    findings.refuse()  # it was in order a moment ago


TOOL = "tau-bench"  # what measured, and what judged
_FILE = re.compile(
    r"(?P<strategy>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>[\d.]+)"
    r"_range_-?\d+-+-?\d+_user-(?P<user>.+)-(?P<by>\w+)_\d{10}\.json"
)
_SETTINGS = ("strategy", "model", "temperature", "user")
_DOMAINS = {  # tools that only one of them has
    "airline": {
        *("book_reservation", "cancel_reservation", "get_reservation_details"),
        *("search_direct_flight", "search_onestop_flight", "send_certificate"),
        *("update_reservation_baggages", "update_reservation_flights"),
        *("update_reservation_passengers", "list_all_airports"),
    },
    "retail": {
        *("cancel_pending_order", "exchange_delivered_order_items", "find_user_id_by_email"),
        *("find_user_id_by_name_zip", "get_order_details", "get_product_details"),
        *("list_all_product_types", "modify_pending_order_address", "modify_pending_order_items"),
        *("modify_pending_order_payment", "modify_user_address", "return_delivered_order_items"),
    },
}


def settings_of(path: Path) -> dict[str, str]:
    """What the file's name says: strategy, model, temperature, user."""
    match = _FILE.fullmatch(path.name)
    return {key: match[key] for key in _SETTINGS} if match else {}


def domain_of(name: str, tools: frozenset[str]) -> str | None:
    """`airline` or `retail`, as the file's name or else the tools of its tasks tell."""
    named = [domain for domain in _DOMAINS if domain in name.lower()]
    used = [domain for domain, own in _DOMAINS.items() if own & tools]
    return next((found[0] for found in (named, used) if len(found) == 1), None)


def gold_tools(row: TauBenchRow) -> frozenset[str]:
    """Names of the tools that its task needs."""
    return frozenset(str(step["name"])[:80] for step in tau.steps(row.task_info.get("actions")))


def case_in(suite: ToolSuite, task: str, info: Mapping[str, Json]) -> Case:
    """`info`: what a row tells of the task; empty where all its trials crashed."""
    keys = {
        "reference_trajectory": tau.steps(info.get("actions")) or None,
        "outputs": as_list(info.get("outputs")) or None,
    }
    known = {key: value for key, value in keys.items() if value is not None}
    return suite.case(task, input=as_string(info.get("instruction")), keys=known)


def trial_in(suite: ToolSuite, row: TauBenchRow, case: Case, round: int, *, react: bool) -> Trial:
    """`react`: calls stand in the agent's words, where nobody finds them."""
    crash = row.crash
    said = conversation(row.traj, shows_calls=not react)
    if "reward_info" in row.info and row.info["reward_info"] is None:
        said = replace(said, finish_reason="max_steps")
    cost = as_amount(row.info.get("user_cost"))
    return suite.trial(
        replace(case, place=row.place),
        round=round,
        status=status_of(crash),
        passed=row.solved,
        failures=codes(row),
        values={tau.REWARD: row.reward, tau.USER_COST: cost},
        response=said if crash is None else None,
        error=None if crash is None else tidy(crash, 500),
    )


def codes(row: TauBenchRow) -> tuple[str, ...]:
    """Why it has no reward."""
    if row.crash is not None:
        return ("crash",)
    if row.solved:
        return ()
    if "reward_info" in row.info and row.info["reward_info"] is None:
        return ("not_finished", "inefficient")
    missed = list_missed_outputs(row)
    told = tuple(f"output_missing:{tidy(text, 80)}" for text in missed[:20])
    judged: Mapping[str, Json] = row.judged
    wrong = judged.get("r_actions") in (False, 0.0) or (bool(judged) and not missed)
    return (*told, *(("wrong_final_data",) if wrong else ())) or ("no_reward",)


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


def read_rows(path: Path, findings: Findings) -> Iterator[TauBenchRow]:
    """Rows that can be read; other problems go to `findings`. Raises UsageError, InvalidInput."""
    data = json_of(path)
    if not isinstance(data, list):
        raise UsageError(f"{path}: not a list of rows; give a result file of tau-bench")
    for n, item in enumerate(data):
        row = _row(item, Place(path.as_posix(), key=f"[{n}]"), findings)
        if row is not None:
            yield row


def _row(item: Json, place: Place, findings: Findings) -> TauBenchRow | None:
    data = as_object(item)
    task, trial, reward = (data.get(key) for key in ("task_id", "trial", "reward"))
    named = isinstance(task, (int, str)) and not isinstance(task, bool) and 0 < len(str(task)) < 200
    counted, worth = tau.trial_number(trial), as_number(reward)
    wrong = [
        *([] if named else ["task_id is not the number or name of a task"]),
        *([] if counted is not None else ["trial is not a whole number of 0 or more"]),
        *([] if worth is not None and 0 <= worth <= 1 + CLOSE else ["reward is not from 0 to 1"]),
        *(["nested too deeply"] if is_too_deep(item) else []),
    ]
    if wrong or counted is None or worth is None:
        findings.add(
            place, f"{'; '.join(wrong)} - a row of tau-bench has task_id, trial and reward"
        )
        return None
    row = TauBenchRow(
        place, str(task), counted, worth, as_object(data.get("info")), data.get("traj")
    )
    contradiction = _contradiction(row)
    if contradiction:
        findings.add(place, f"{contradiction} - the file was changed; export it again")
        return None
    return row


def _contradiction(row: TauBenchRow) -> str:
    """What the row says twice, and not alike; empty where it agrees with itself."""
    stated = as_number(as_object(row.info.get("reward_info")).get("reward"))
    if stated is not None and abs(stated - row.reward) > CLOSE:
        return f"reward is {row.reward:g}, but info.reward_info.reward is {stated:g}"
    if row.crash is not None and row.reward > CLOSE:
        return f"reward is {row.reward:g}, but the trial crashed (info.error)"
    for key in ("r_actions", "r_outputs"):
        part = row.judged.get(key)
        if row.solved and (part is False or as_number(part) == 0.0):
            return f"reward is {row.reward:g}, but {key} is 0"
    missed = list_missed_outputs(row)
    if missed and (row.solved or as_number(row.judged.get("r_outputs")) == 1.0):
        return "an output is missing (outputs: false), but the reward says that all are there"
    return ""


def list_missed_outputs(row: TauBenchRow) -> list[str]:
    """The texts that the agent was to say and did not."""
    return [text for text, said in as_object(row.judged.get("outputs")).items() if said is False]
