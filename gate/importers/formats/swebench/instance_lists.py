"""Lists of ids by what became of them: the harness's report before Docker (2024), and the
leaderboard's results.json and per_instance_details.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from gate.errors import Place
from gate.files.json_values import as_amount, as_count, as_object
from gate.files.problems import Findings
from gate.importers.formats.swebench.outcomes import (
    CODES,
    InstanceVerdict,
    Outcome,
    SourceVerdicts,
    clash,
    ids_in,
)
from gate.importers.trials.instance_ids import is_id
from gate.records import Json
from gate.text.escaping import one_line

# What excludes that an instance is resolved, the gravest first.
_FAILED: Mapping[str, tuple[Outcome, str]] = {
    "no_generation": ("empty_patch", "empty_patch"),
    "not_generated": ("incomplete", "no_prediction"),
    "no_logs": ("error", "evaluation_error"),
    "install_fail": ("error", "install_fail"),
    "reset_failed": ("error", "reset_failed"),
    "no_apply": ("error", "no_apply"),
    "test_timeout": ("unresolved", "test_timeout"),
    "test_errored": ("unresolved", "test_errored"),
}
_OTHERS = ("generated", "with_logs", "applied")


def is_lists(data: Json) -> bool:
    return isinstance(data, dict) and isinstance(data.get("resolved"), list)


def is_details(data: Json) -> bool:
    """`{id: {cost, api_calls, resolved}}`."""
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    return (
        isinstance(first, dict) and "resolved" in first and bool({"cost", "api_calls"} & {*first})
    )


def read_lists(data: Mapping[str, Json], file: str, findings: Findings) -> SourceVerdicts:
    """Those that are in no list and were not generated are the dataset's rest."""
    ids = {key: ids_in(data, key, file, findings) for key in ("resolved", *_FAILED, *_OTHERS)}
    verdicts = {
        one: InstanceVerdict(outcome="unresolved", codes=CODES["unresolved"])
        for one in chain.from_iterable(ids[key] for key in _OTHERS)
    }
    for key, (outcome, code) in reversed([*_FAILED.items()]):
        verdicts |= dict.fromkeys(ids[key], InstanceVerdict(outcome=outcome, codes=(code,)))
        both = ids[key] & ids["resolved"]
        clash(findings, file, key, both, "also in resolved - which is it?")
    verdicts |= dict.fromkeys(ids["resolved"], InstanceVerdict(outcome="resolved"))
    generated = "generated" in data
    return SourceVerdicts(
        place=Place(file),
        verdicts=verdicts,
        rest="incomplete" if generated else "unresolved",
        submitted_known=generated,
    )


def read_details(data: Mapping[str, Json], file: str, findings: Findings) -> SourceVerdicts:
    verdicts: dict[str, InstanceVerdict] = {}
    for instance, told in data.items():
        place = Place(file, key=one_line(instance, 80))
        resolved = as_object(told).get("resolved")
        if not is_id(instance):
            findings.add(place, "is no id of an instance - copy the file again")
        elif not isinstance(resolved, bool) or not isinstance(told, dict):
            findings.add(place, "`resolved` is neither true nor false - copy the file again")
        else:
            outcome: Outcome = "resolved" if resolved else "unresolved"
            verdicts[instance] = InstanceVerdict(
                outcome=outcome,
                codes=CODES[outcome],
                cost_usd=as_amount(told.get("cost")),
                api_calls=as_count(told.get("api_calls")),
            )
    return SourceVerdicts(place=Place(file), verdicts=verdicts, submitted_known=False)
