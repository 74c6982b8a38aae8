"""gate.sarif: the findings for GitHub code scanning and everything else that reads SARIF 2.1.0.

The standard: OASIS, Static Analysis Results Interchange Format, version 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from gate.errors import Place
from gate.plugins import REPORTERS, Rows
from gate.records import CheckedJson, Json, Report
from gate.records.codec import json_text
from gate.report.wording.notes import LOOSENED, NEWLY_FAILING, OUTCOME, Note, notes
from gate.text.escaping import clean, one_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 1_000  # results; code scanning shows 5,000 and takes 10 MB
_KINDS = {"error": "error", "warning": "warning", "notice": "note"}


@REPORTERS.register("sarif")
@dataclass(frozen=True, slots=True, kw_only=True)
class Sarif:
    """A result for what blocks and for each newly failing case; loosened rules are told beside."""

    filename: ClassVar[str] = "gate.sarif"

    def render(self, report: Report, rows: Rows) -> str:
        findings = list(notes(report))
        results = [note for note in findings if note.blocks or _newly_fails(note)][:MOST]
        rules = list(dict.fromkeys(_rule_id(note) for note in results))
        home = _home(report)
        run = {
            "tool": {"driver": _driver(report, rules)},
            # Two jobs of one commit do not replace each other's results.
            "automationDetails": {"id": f"agent-gate/{one_line(report.comment_id)}/"},
            "invocations": [_invocation(report, findings)],
            "columnKind": "utf16CodeUnits",
            "results": [_result(note, rules, home) for note in results],
        }
        log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
        return json_text(log)


def _newly_fails(note: Note) -> bool:
    return note.rule.startswith(f"{NEWLY_FAILING}/")


def _driver(report: Report, rules: Sequence[str]) -> dict[str, CheckedJson]:
    described = [
        {"id": rule, "name": rule, "shortDescription": {"text": _title(rule)}} for rule in rules
    ]
    version = {"version": v} if (v := one_line(report.provenance.tool_version)) else {}
    return {"name": "Agent Gate", **version, "rules": described}


def _title(rule: str) -> str:
    kind, _, what = rule.partition("/")
    if kind == NEWLY_FAILING:
        return f"A case newly fails: {what}"
    return f"{rule} got worse or is outside its limits"


def _invocation(report: Report, findings: Sequence[Note]) -> dict[str, Json]:
    # These are of the run, not of a line that got worse.
    told = [note for note in findings if note.rule in (OUTCOME, LOOSENED)]
    return {
        "executionSuccessful": report.outcome != "error",
        "exitCode": report.exit_code,
        "exitCodeDescription": report.outcome,
        "toolExecutionNotifications": [
            {"level": _KINDS[note.level], "message": {"text": clean(note.message or note.title)}}
            for note in told
        ],
    }


def _result(note: Note, rules: Sequence[str], home: Place) -> dict[str, Json]:
    rule = _rule_id(note)
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": _KINDS[note.level],
        "message": {"text": clean(f"{note.title}: {note.message}".rstrip(": "))},
        "locations": [{"physicalLocation": _location(note.place or home)}],
        "partialFingerprints": {"agentGate/v1": _fingerprint(note)},
    }


def _location(place: Place) -> dict[str, Json]:
    # A path may hold what an address may not: blanks, percent signs, colons.
    uri = {"uri": quote(one_line(place.file), safe="/"), "uriBaseId": "%SRCROOT%"}
    return {"artifactLocation": uri, "region": {"startLine": place.line or 1}}


def _home(report: Report) -> Place:
    """Where a finding without a place of its own is shown: code scanning refuses one without."""
    return next((gate.place for gate in report.gates if gate.place), Place("gate.yml", 1))


def _rule_id(note: Note) -> str:
    return one_line(note.rule, 100)


def _fingerprint(note: Note) -> str:
    """The same for the same finding of the next run, whatever its numbers and its line."""
    named = json.dumps([note.rule, *note.subject])
    return hashlib.sha256(named.encode()).hexdigest()[:32]
