"""A row of tau-bench as a trial: whose failure it was, its codes, its conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.files.json_values import as_amount, as_list, as_object, as_objects, as_string
from gate.importers.formats.tau.metrics import REWARD, USER_COST
from gate.importers.formats.tau.rows import TauBenchRow, list_missed_outputs
from gate.importers.trials.build import case_of, trial_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Case, Json, Response, Trial, TrialStatus
from gate.text.escaping import one_line

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
    found = _FILE.fullmatch(path.name)
    return {key: found[key] for key in _SETTINGS} if found else {}


def domain_of(name: str, tools: frozenset[str]) -> str | None:
    """`airline` or `retail`, as the file's name or else the tools of its tasks tell."""
    named = [domain for domain in _DOMAINS if domain in name.lower()]
    used = [domain for domain, own in _DOMAINS.items() if own & tools]
    return next((found[0] for found in (named, used) if len(found) == 1), None)


def gold_tools(row: TauBenchRow) -> frozenset[str]:
    """Names of the tools that its task needs."""
    return frozenset(str(step["name"])[:80] for step in steps(row.task_info.get("actions")))


def steps(actions: Json, key: str = "kwargs") -> list[dict[str, Json]]:
    """Gold actions as `reference_trajectory` spells them; `key` holds their arguments."""
    return [
        {"name": action["name"], "args": as_object(action.get(key))}
        for action in as_objects(actions)
        if isinstance(action.get("name"), str) and action["name"]
    ]


def case_in(suite: str, task: str, info: Mapping[str, Json]) -> Case:
    """`info`: what a row tells of the task; empty where all its trials crashed."""
    keys = {
        "reference_trajectory": steps(info.get("actions")) or None,
        "outputs": as_list(info.get("outputs")) or None,
    }
    return case_of(
        TOOL,
        suite,
        task,
        input=as_string(info.get("instruction")),
        keys={key: value for key, value in keys.items() if value is not None},
    )


def trial_in(suite: str, row: TauBenchRow, case: Case, round: int, *, react: bool) -> Trial:
    """`react`: calls stand in the agent's words, where nobody finds them."""
    crash = row.crash
    said = conversation(row.traj, shows_calls=not react)
    cost = as_amount(row.info.get("user_cost"))
    status: TrialStatus = "completed"
    if crash is not None:
        status = "infra_error" if is_nobodys(crash) else "agent_error"
    return trial_of(
        TOOL,
        suite,
        replace(case, place=row.place),
        round=round,
        status=status,
        passed=row.solved,
        failures=codes(row),
        values={REWARD: row.reward, USER_COST: cost},
        response=_add_finish_reason(said, row) if crash is None else None,
        error=None if crash is None else one_line(crash, 500),
    )


def _add_finish_reason(said: Response, row: TauBenchRow) -> Response:
    reached = row.info.get("reward_info") is None and "reward_info" in row.info
    return replace(said, finish_reason="max_steps") if reached else said


def codes(row: TauBenchRow) -> tuple[str, ...]:
    """Why it has no reward."""
    if row.crash is not None:
        return ("crash",)
    if row.solved:
        return ()
    if "reward_info" in row.info and row.info["reward_info"] is None:
        return ("not_finished", "loop")
    missed = list_missed_outputs(row)
    told = tuple(f"output_missing:{one_line(text, 80)}" for text in missed[:20])
    judged: Mapping[str, Json] = row.judged
    wrong = judged.get("r_actions") in (False, 0.0) or (bool(judged) and not missed)
    return (*told, *(("wrong_final_data",) if wrong else ())) or ("no_reward",)
