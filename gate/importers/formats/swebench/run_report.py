"""Reports on a whole run: the harness's `<model>.<run id>.json`, and lists of ids by outcome."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations

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
    reason_code,
)
from gate.importers.trials.instance_ids import is_id
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import Json
from gate.text.escaping import one_line

SCHEMA = 2  # `schema_version` of both generations
_TIERS = {"infra_failure": "infra", "ambiguous_failure": "ambiguous"}
_KEYS = ("completed", "submitted", *CODES, *_TIERS)

Ids = Mapping[str, frozenset[str]]


def is_run_report(data: Json) -> bool:
    return isinstance(data, dict) and (
        "total_instances" in data or {"resolved_ids", "completed_ids"} <= data.keys()
    )


def read_run_report(data: Mapping[str, Json], file: str, findings: Findings) -> SourceVerdicts:
    """Its verdict on every instance; what contradicts itself is a problem."""
    version = data.get("schema_version", SCHEMA)
    if version != SCHEMA or isinstance(version, bool):
        message = (
            f"version {str(version)[:40]} is not supported, only {SCHEMA} is - update Agent Gate"
        )
        findings.add(Place(file, key="schema_version"), message)
    ids = {name: ids_in(data, f"{name}_ids", file, findings) for name in _KEYS}
    _check_counts(data, ids, file, findings)
    _check_relations(data, ids, file, findings)
    infra_known = "infra_failure_ids" in data
    return SourceVerdicts(
        place=Place(file),
        verdicts={
            one: _verdict(outcome, one, ids, as_object(data.get("failure_reasons")))
            for outcome in CODES
            for one in ids[outcome]
        },
        total=as_count(data.get("total_instances")),
        infra_known=infra_known,
        every_report=True,
    )


def _verdict(
    outcome: Outcome, instance: str, ids: Ids, reasons: Mapping[str, Json]
) -> InstanceVerdict:
    reason = str(reasons.get(instance) or "")
    tiers = [tier for name, tier in _TIERS.items() if instance in ids[name]]
    more = tuple(reason_code(tier, reason) for tier in tiers)
    return InstanceVerdict(outcome=outcome, codes=(*CODES[outcome], *more), infra="infra" in tiers)


def _check_counts(data: Mapping[str, Json], ids: Ids, file: str, findings: Findings) -> None:
    """Each number against its list, and all of them against the whole."""
    if "resolved_ids" not in data:
        findings.add(Place(file, key="resolved_ids"), "is missing - give a run report of SWE-bench")
    counts = (
        Figure(f"{name}_instances", (len(ids[name]),), f"{name}_ids has {len(ids[name])}")
        for name in _KEYS
    )
    findings.take(*compare_stated(data, counts, Place(file)))
    place = Place(file, key="total_instances")
    total = as_count(data.get("total_instances"))
    named = len(frozenset().union(*(ids[name] for name in CODES)))
    if not total:
        findings.add(place, "must be a number from 1 on - copy the report again")
    elif named > total or (named < total and "incomplete_ids" in data):
        outcomes = ", ".join(f"{len(ids[name])} {name}" for name in CODES)
        whole = Figure(place.key, (named,), f"the lists name {named} ({outcomes})")
        findings.take(*compare_stated(data, [whole], Place(file)))


def _check_relations(data: Mapping[str, Json], ids: Ids, file: str, findings: Findings) -> None:
    """What is in one list and must not, or must, be in another."""
    for one, other in combinations(CODES, 2):
        both = ids[one] & ids[other]
        clash(
            findings, Place(file, key=f"{one}_ids"), both, f"is also in {other}_ids - copy it again"
        )
    tested = ids["resolved"] | ids["unresolved"]
    failed = ids["unresolved"] | ids["error"]
    if "completed_ids" in data:
        untold = ids["completed"] - tested - ids["error"]
        clash(
            findings, Place(file, key="completed_ids"), untold, "is completed, but has no outcome"
        )
        missing = tested - ids["completed"]
        clash(
            findings,
            Place(file, key="completed_ids"),
            missing,
            "has an outcome, but is missing here",
        )
    if "submitted_ids" in data:
        patched = tested | ids["error"] | ids["empty_patch"]
        unsent = patched - ids["submitted"]
        clash(
            findings,
            Place(file, key="submitted_ids"),
            unsent,
            "has an outcome, but is missing here",
        )
        both = ids["incomplete"] & ids["submitted"]
        clash(
            findings,
            Place(file, key="incomplete_ids"),
            both,
            "is also in submitted_ids - copy it again",
        )
    for name in _TIERS:
        solved = ids[name] - failed
        clash(findings, Place(file, key=f"{name}_ids"), solved, "is not in the list of any failure")
    both = ids["infra_failure"] & ids["ambiguous_failure"]
    clash(findings, Place(file, key="infra_failure_ids"), both, "is also in ambiguous_failure_ids")


# -------------------------------------------------------------------------------------------- lists
# The harness's report before Docker (2024), and the leaderboard's results.json and
# per_instance_details.json.


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
        clash(findings, Place(file, key=key), both, "is also in resolved - copy it again")
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
            findings.add(place, "is not an instance id - copy the file again")
        elif not isinstance(resolved, bool) or not isinstance(told, dict):
            findings.add(place, "`resolved` must be true or false - copy the file again")
        else:
            outcome: Outcome = "resolved" if resolved else "unresolved"
            verdicts[instance] = InstanceVerdict(
                outcome=outcome,
                codes=CODES[outcome],
                cost_usd=as_amount(told.get("cost")),
                api_calls=as_count(told.get("api_calls")),
            )
    return SourceVerdicts(place=Place(file), verdicts=verdicts, submitted_known=False)
