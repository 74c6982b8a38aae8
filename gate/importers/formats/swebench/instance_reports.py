"""`<instance>/report.json`: the harness on one instance, its verdict recomputed from the tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_schema import SchemaCheck
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.importers.formats.swebench.outcomes import (
    CODES,
    InstanceVerdict,
    SourceVerdicts,
    reason_code,
)
from gate.importers.trials.instance_ids import is_id
from gate.records import CheckedJson, Json
from gate.text.escaping import one_line

NAME = "report.json"
_MOST = 64 << 20  # bytes
_FLAG: Json = {"type": "boolean"}
_IDS: Json = {"type": "array", "items": {"type": "string"}}
_TESTS: Json = {
    "type": "object",
    "properties": {"success": _IDS, "failure": _IDS},
    "required": ["success", "failure"],
}
_KINDS = ("FAIL_TO_PASS", "PASS_TO_PASS")
REPORT: dict[str, Json] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("resolved", "patch_is_None", "patch_exists"), _FLAG),
        **dict.fromkeys(("patch_successfully_applied", "infra_failure"), _FLAG),
        "infra_failure_reason": {"type": ["string", "null"]},
        "tests_status": {
            "type": ["object", "null"],
            "properties": dict.fromkeys(_KINDS, _TESTS),
            "required": [*_KINDS],
        },
    },
    "required": ["resolved"],
}
_CHECK = SchemaCheck(REPORT)


def is_instance_report(data: Json) -> bool:
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    return isinstance(first, dict) and {"resolved", "patch_exists"} <= first.keys()


def read_reports(
    files: Iterable[Path], unreported: Iterable[Path], known_bad: frozenset[str], findings: Findings
) -> SourceVerdicts | None:
    """`unreported`: folders of instances without a report, which is how a patch that does not
    apply, a container that does not start and a time-out end. `known_bad`: instances whose report
    the harness could not read either.
    """
    verdicts: dict[str, InstanceVerdict] = {}
    versions: dict[bool, Path] = {}
    for path in files:
        for instance, found in _iterate_reports(path):
            if isinstance(found, Problem):
                if instance not in known_bad:
                    findings.take(found)
            elif instance in verdicts:
                findings.add(Place(path.as_posix()), f"{instance} has another report - keep one")
            else:
                versions.setdefault("infra_failure" in found, path)
                verdicts[instance] = _verdict(instance, found, path, findings)
    if len(versions) > 1:
        message = (
            f"written by swebench 5.0.0 or later, but {versions[False]} by an older "
            "version - use files of one run"
        )
        findings.add(Place(versions[True].as_posix()), message)
    for folder in unreported:
        verdicts.setdefault(folder.name, InstanceVerdict(outcome="error", codes=CODES["error"]))
    if not verdicts:
        return None
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
        yield own or "", Problem(Place(file), "not an object of reports - copy it again")
        return
    for instance, report in data.items():
        place = Place(file, key=one_line(instance, 80))
        if not is_id(instance):
            yield instance, Problem(place, "is not an instance id - copy the file again")
        elif len(data) == 1 and own not in (None, instance) and is_id(own) and "__" in own:
            yield (
                instance,
                Problem(place, f"is in the folder of {own[:80]} - move it to its own folder"),
            )
        elif wrong := _CHECK.list_problems(report, place):
            yield instance, wrong[0]
        else:
            yield instance, report


def _verdict(
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
        wrong = "resolved, and yet without " + ("test output" if patched else "a patch")
    elif tests is not None and resolved != (not failed):
        told = _format_tests(tests)
        wrong = (
            f"resolved is {str(resolved).lower()}, but {told} - the file was changed; copy it again"
        )
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
