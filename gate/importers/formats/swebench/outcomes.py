"""What became of each instance, by run reports, lists of ids and single reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Literal

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import as_amount, as_count, as_object
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.importers.trials import shapes
from gate.importers.trials.names import is_id
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import CheckedJson, Json
from gate.text.shortening import tidy

# `error`: the harness has no verdict on the patch; `incomplete`: there is no prediction.
Outcome = Literal["resolved", "unresolved", "error", "empty_patch", "incomplete"]
CODES: Mapping[Outcome, tuple[str, ...]] = {
    "resolved": (),
    "unresolved": ("unresolved",),
    "error": ("evaluation_error",),
    "empty_patch": ("empty_patch",),
    "incomplete": ("no_prediction",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceVerdict:
    """The verdict on one instance. `infra`: its environment broke, as the harness found."""

    outcome: Outcome
    codes: tuple[str, ...] = ()
    reason: str = ""
    infra: bool = False
    cost_usd: float | None = None
    api_calls: int | None = None


Verdicts = Mapping[str, InstanceVerdict]  # by instance


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVerdicts:
    """What one source says. Of `total` instances those without a verdict are `rest`."""

    place: Place
    verdicts: Verdicts
    total: int | None = None
    rest: Outcome = "incomplete"
    unlisted: Outcome = "unresolved"  # what an instance is that has a patch, but no verdict
    infra_known: bool | None = None  # whether its version looks for broken environments
    submitted_known: bool = True  # whether an instance without a prediction is told apart
    every_report: bool = False  # whether each verdict on tests has a report of its own


NO_SOURCE = SourceVerdicts(place=Place("report.json"), verdicts={}, unlisted="error")


def reason_code(tier: str, reason: str) -> str:
    """`infra:out_of_memory`."""
    cleaned = re.sub(r"[^a-z0-9]+", "_", reason[:200].casefold()).strip("_")[:60]
    return f"{tier}:{cleaned or 'unnamed'}"


def ids_in(data: Mapping[str, Json], key: str, file: str, findings: Findings) -> frozenset[str]:
    """The ids under a key, each once; none where the key is missing."""
    place = Place(file, key=key)
    value = data.get(key)
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(map(is_id, value)):
        findings.add(place, "must be a list of instance ids - use the original file")
        return frozenset()
    ids = frozenset(value)
    if len(ids) < len(value):
        twice = next(one for one in sorted(ids) if value.count(one) > 1)
        findings.add(place, f"has {twice} twice - remove one")
    return ids


def clash(findings: Findings, place: Place, ids: Iterable[str], message: str) -> None:
    """One problem for all these ids, of which it names the first."""
    wrong = sorted(ids)
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        findings.add(place, f"{tidy(wrong[0], 80)}{more}: {message}")


# -------------------------------------------------------------------------------------- run reports


SCHEMA = 2  # `schema_version` of both generations
_AGAIN = "use the original report"
_TIERS = {"infra_failure": "infra", "ambiguous_failure": "ambiguous"}
_KEYS = ("completed", "submitted", *CODES, *_TIERS)

Ids = Mapping[str, frozenset[str]]


def is_run_report(data: Json) -> bool:
    return isinstance(data, dict) and (
        "total_instances" in data or {"resolved_ids", "completed_ids"} <= data.keys()
    )


def read_run_report(data: Mapping[str, Json], file: str, findings: Findings) -> SourceVerdicts:
    """A report's verdict on every instance; what contradicts itself is a problem."""
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
            one: _listed_verdict(outcome, one, ids, as_object(data.get("failure_reasons")))
            for outcome in CODES
            for one in ids[outcome]
        },
        total=as_count(data.get("total_instances")),
        infra_known=infra_known,
        every_report=True,
    )


def _listed_verdict(
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
        findings.add(place, "must be 1 or more - use the original report")
    elif named > total or (named < total and "incomplete_ids" in data):
        outcomes = ", ".join(f"{len(ids[name])} {name}" for name in CODES)
        whole = Figure(place.key, (named,), f"the lists have {named} ids ({outcomes})")
        findings.take(*compare_stated(data, [whole], Place(file)))


def _check_relations(data: Mapping[str, Json], ids: Ids, file: str, findings: Findings) -> None:
    """Finds ids that are in one list and must not, or must, be in another."""

    def check(name: str, wrong: Iterable[str], message: str) -> None:
        clash(findings, Place(file, key=f"{name}_ids"), wrong, message)

    for one, other in combinations(CODES, 2):
        check(one, ids[one] & ids[other], f"is also in {other}_ids - {_AGAIN}")
    tested = ids["resolved"] | ids["unresolved"]
    failed = ids["unresolved"] | ids["error"]
    if "completed_ids" in data:
        without_outcome = ids["completed"] - tested - ids["error"]
        message = "is completed, but in no list of resolved, unresolved or failed ids"
        check("completed", without_outcome, f"{message} - {_AGAIN}")
        message = "is resolved or unresolved, but not in completed_ids"
        check("completed", tested - ids["completed"], f"{message} - {_AGAIN}")
    if "submitted_ids" in data:
        patched = tested | ids["error"] | ids["empty_patch"]
        message = "is in a list of outcomes, but not in submitted_ids"
        check("submitted", patched - ids["submitted"], f"{message} - {_AGAIN}")
        both = ids["incomplete"] & ids["submitted"]
        check("incomplete", both, f"is also in submitted_ids - {_AGAIN}")
    for name in _TIERS:
        message = f"is neither in unresolved_ids nor in error_ids - {_AGAIN}"
        check(name, ids[name] - failed, message)
    both = ids["infra_failure"] & ids["ambiguous_failure"]
    check("infra_failure", both, f"is also in ambiguous_failure_ids - {_AGAIN}")


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
    keys = as_object(next(iter(as_object(data).values()), None)).keys()
    return "resolved" in keys and bool({"cost", "api_calls"} & keys)


def read_lists(data: Mapping[str, Json], file: str, findings: Findings) -> SourceVerdicts:
    """Verdicts by lists of ids; instances in none of them are the dataset's rest."""
    ids = {key: ids_in(data, key, file, findings) for key in ("resolved", *_FAILED, *_OTHERS)}
    verdicts = {
        one: InstanceVerdict(outcome="unresolved", codes=CODES["unresolved"])
        for one in chain.from_iterable(ids[key] for key in _OTHERS)
    }
    for key, (outcome, code) in reversed([*_FAILED.items()]):
        verdicts |= dict.fromkeys(ids[key], InstanceVerdict(outcome=outcome, codes=(code,)))
        both = ids[key] & ids["resolved"]
        clash(findings, Place(file, key=key), both, "is also in resolved - use the original file")
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
        place = Place(file, key=tidy(instance, 80))
        resolved = as_object(told).get("resolved")
        if not is_id(instance):
            findings.add(place, "is not an instance id - use the original file")
        elif not isinstance(resolved, bool) or not isinstance(told, dict):
            findings.add(place, "`resolved` must be true or false - use the original file")
        else:
            outcome: Outcome = "resolved" if resolved else "unresolved"
            verdicts[instance] = InstanceVerdict(
                outcome=outcome,
                codes=CODES[outcome],
                cost_usd=as_amount(told.get("cost")),
                api_calls=as_count(told.get("api_calls")),
            )
    return SourceVerdicts(place=Place(file), verdicts=verdicts, submitted_known=False)


# --------------------------------------------------------------------------------- instance reports


NAME = "report.json"
_MOST = 64 << 20  # bytes
_FLAG: Json = {"type": "boolean"}
_IDS: Json = {"type": "array", "items": shapes.STRING}
_TESTS = shapes.object_of("success", "failure", success=_IDS, failure=_IDS)
_KINDS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_CHECK = SchemaCheck(
    shapes.object_of(
        "resolved",
        **dict.fromkeys(("resolved", "patch_is_None", "patch_exists"), _FLAG),
        **dict.fromkeys(("patch_successfully_applied", "infra_failure"), _FLAG),
        infra_failure_reason=shapes.TEXT,
        tests_status=shapes.object_of(*_KINDS, null=True, **dict.fromkeys(_KINDS, _TESTS)),
    )
)


def is_instance_report(data: Json) -> bool:
    first = as_object(next(iter(as_object(data).values()), None))
    return {"resolved", "patch_exists"} <= first.keys()


def read_reports(
    files: Iterable[Path], unreported: Iterable[Path], known_bad: frozenset[str], findings: Findings
) -> SourceVerdicts:
    """`unreported`: folders without a report; `known_bad`: no report the harness could read."""
    verdicts: dict[str, InstanceVerdict] = {}
    versions: dict[bool, Path] = {}
    for path in files:
        for instance, found in _iterate_reports(path):
            if isinstance(found, Problem):
                if instance not in known_bad:
                    findings.take(found)
            elif instance in verdicts:
                findings.add(Place(path.as_posix()), f"{instance} has two reports - remove one")
            else:
                versions.setdefault("infra_failure" in found, path)
                verdicts[instance] = _tested_verdict(instance, found, path, findings)
    if len(versions) > 1:
        message = (
            f"written by swebench 5.0.0 or later, but {versions[False]} by an older "
            "version - use files of the same run"
        )
        findings.add(Place(versions[True].as_posix()), message)
    for folder in unreported:
        verdicts.setdefault(folder.name, InstanceVerdict(outcome="error", codes=CODES["error"]))
    if not verdicts:
        return NO_SOURCE
    first = next(iter(versions.values()), None)
    return SourceVerdicts(
        place=Place(first.as_posix() if first else next(iter(unreported)).as_posix()),
        verdicts=verdicts,
        infra_known=True in versions if versions else None,
    )


def _iterate_reports(path: Path) -> Iterator[tuple[str, Mapping[str, Json] | Problem]]:
    """Instance and report, or what is wrong with it. A folder's report is its own instance's."""
    own = path.parent.name if path.name == NAME else None
    file = path.as_posix()
    try:
        data = json_of(path, _MOST)
    except InvalidInput as error:
        yield own or "", error.problems[0]
        return
    if not isinstance(data, dict) or not data:
        message = "must be a JSON object with a report for each instance - use the original file"
        yield own or "", Problem(Place(file), message)
        return
    for instance, report in data.items():
        place = Place(file, key=tidy(instance, 80))
        if not is_id(instance):
            yield instance, Problem(place, "is not an instance id - use the original file")
        elif len(data) == 1 and own not in (None, instance) and is_id(own) and "__" in own:
            yield (
                instance,
                Problem(
                    place,
                    f"is in the folder of {own[:80]} - move it to the folder of its instance",
                ),
            )
        elif wrong := _CHECK.list_problems(report, place):
            yield instance, wrong[0]
        else:
            yield instance, report


def _tested_verdict(
    instance: str, report: Mapping[str, CheckedJson], path: Path, findings: Findings
) -> InstanceVerdict:
    """Resolved: every test of both kinds passes; of a kind without tests that is so, too."""
    tests = report.get("tests_status")
    failed = [kind for kind in _KINDS if tests and tests[kind]["failure"]]
    patched = report.get("patch_exists", True) and not report.get("patch_is_None", False)
    ran = patched and report.get("patch_successfully_applied", True)
    resolved = report["resolved"]
    wrong = ""
    if resolved and not ran:
        wrong = "resolved is true, but there is no " + ("test output" if patched else "patch")
    elif tests is not None and resolved != (not failed):
        wrong = f"resolved is {str(resolved).lower()}, but {_format_tests(tests)}"
        wrong += " - the file was changed; use the original file"
    if wrong:
        findings.add(Place(path.as_posix(), key=instance), wrong)
    if resolved:
        return InstanceVerdict(outcome="resolved", reason=_format_tests(tests))
    infra, reason = report.get("infra_failure") is True, report.get("infra_failure_reason")
    codes = [f"{kind.lower()}_failed" for kind in failed]
    if not ran:
        codes = ["no_test_output" if patched else "empty_patch"]
    if infra or reason:
        codes.append(reason_code("infra" if infra else "ambiguous", reason or ""))
    return InstanceVerdict(
        outcome="unresolved",
        codes=tuple(codes) or CODES["unresolved"],
        reason=_format_tests(tests),
        infra=infra,
    )


def _format_tests(tests: Mapping[str, CheckedJson] | None) -> str:
    """`1 of 2 FAIL_TO_PASS tests pass, 40 of 40 PASS_TO_PASS`."""
    if not tests:
        return ""
    counts = [(len(tests[kind]["success"]), len(tests[kind]["failure"])) for kind in _KINDS]
    (fixed, broken), (kept, lost) = counts
    return (
        f"{fixed} of {fixed + broken} {_KINDS[0]} tests pass, {kept} of {kept + lost} {_KINDS[1]}"
    )
