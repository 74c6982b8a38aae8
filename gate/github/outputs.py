"""What a step hands on: GITHUB_OUTPUT, the step summary, and raw text that must not be a command.

Limits and syntax: GitHub's "Workflow commands"; a malformed file fails the step.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from gate.errors import InfrastructureError
from gate.records import Report
from gate.records.codec import to_json
from gate.report.in_short import count_all, shorten_metrics
from gate.store.code_marks import take_marks

SUMMARY_BYTES = 1_048_576
# GitHub takes 1 MB for all outputs of a job, counted as UTF-16: 524,288 units. Four lists, the
# JSON, two sentences and paths stay below two thirds of it.
LIST_CHARACTERS = 50_000
JSON_CHARACTERS = 50_000
TEXT_CHARACTERS = 10_000

Token = Callable[[], str]


def random_token() -> str:
    return secrets.token_hex(16)


def report_outputs(report: Report, session: Path, workspace: Path) -> dict[str, str]:
    """The outputs that a report decides; paths are relative to the workspace, lists are JSON."""
    worse = [_pair(c.suite, c.metric) for c in report.comparisons if c.status == "regression"]
    better = [_pair(c.suite, c.metric) for c in report.comparisons if c.status == "improvement"]
    gates = [_pair(g.suite, g.metric) for g in report.gates if g.status in ("fail", "missing")]
    cases = [_pair(c.suite, c.case_id) for c in report.cases.newly_failing]
    folder = _relative(session, workspace)
    page, markdown = (_file(session, folder, f"report.{ext}") for ext in ("html", "md"))
    return {
        "outcome": report.outcome,
        "exit-code": str(report.exit_code),
        "passed": str(report.passed).lower(),
        "summary": _short(take_marks(report).reason),
        "deploy": str(report.decision is not None and report.decision.deploy).lower(),
        "open": str(bool(report.open_suites)).lower(),
        "regressions": _list(worse),
        "improvements": _list(better),
        "failed-gates": _list(gates),
        "newly-failing": _list(cases),
        "session-dir": folder,
        "report-html": page,
        "report-md": markdown,
        "junit": _file(session, folder, "junit.xml"),
        "json": _in_short(report),
        "report-path": page or markdown,
        "baseline-source": report.baseline.source,
        "baseline-sha": report.baseline.commit or "",
        "calls": str(report.calls.made),
        "calls-saved": str(report.calls.saved),
        "cost-usd": "" if report.cost.usd is None else f"{report.cost.usd:.6f}",
    }


def error_outputs(message: str, exit_code: int) -> dict[str, str]:
    """The outputs of a run that came to no verdict."""
    return {
        "outcome": "error",
        "exit-code": str(exit_code),
        "passed": "false",
        "summary": _short(message),
        "deploy": "false",
    }


def render_outputs(values: Mapping[str, str], token: Token = random_token) -> str:
    """The lines for GITHUB_OUTPUT, each value between delimiters that do not occur in it."""
    lines = []
    for name, value in values.items():
        delimiter = _unused_delimiter(value, token)
        lines.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    return "".join(lines)


def write_outputs(file: str | None, values: Mapping[str, str]) -> None:
    """Appends to the file that GITHUB_OUTPUT names; nothing without one."""
    _append(file, render_outputs(values))


def write_summary(file: str | None, render: Callable[[int], str]) -> bool:
    """Appends `render(limit)`, at most `limit` bytes, to the file that GITHUB_STEP_SUMMARY names.
    False when there is no file, or no room in it. Raises InfrastructureError.

    Over its limit GitHub drops the whole summary, so what stands there already is counted.
    """
    if not file:
        return False
    used = 0
    with suppress(OSError):
        used = Path(file).stat().st_size
    text = render(max(0, SUMMARY_BYTES - used - 1))
    _append(file, text)
    return bool(text.strip())


def stop_commands() -> tuple[str, str]:
    """The lines to print before and after text that others wrote, so that it is never a command."""
    word = _unused_delimiter("", random_token)
    return f"::stop-commands::{word}", f"::{word}::"


def _append(file: str | None, text: str) -> None:
    if not file:
        return
    try:
        with Path(file).open("ab") as out:
            out.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise InfrastructureError(f"{file}: cannot be written: {error.strerror}") from error


def _unused_delimiter(value: str, token: Token) -> str:
    while (word := f"gate_{token()}") in value:
        pass
    return word


def _short(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1] + "…"


def _list(items: list[str]) -> str:
    """As many items as fit, the last one says how many were left out."""
    kept: list[str] = []
    size = 0
    for item in items:
        size += len(json.dumps(item)) + 2
        if size > LIST_CHARACTERS:
            kept.append(f"... and {len(items) - len(kept)} more")
            break
        kept.append(item)
    return json.dumps(kept)


def _in_short(report: Report) -> str:
    """Outcome, counts and metrics on one line of JSON: metrics that block first, as many as fit."""
    blocking = {row.metric for row in report.comparisons if row.level == "block"}
    blocking |= {row.metric for row in report.gates if row.level == "block"}
    metrics = shorten_metrics(report)
    told = {
        "outcome": report.outcome,
        "passed": report.passed,
        "exit_code": report.exit_code,
        "counts": to_json(count_all(report)),
        "metrics": {},
        "metrics_left_out": 0,
    }
    size, kept = len(json.dumps(told)), {}
    for name in sorted(metrics, key=lambda name: name.rpartition("/")[2] not in blocking):
        one = to_json(metrics[name])
        size += len(json.dumps({name: one}))
        if size > JSON_CHARACTERS:
            break
        kept[name] = one
    told |= {"metrics": kept, "metrics_left_out": len(metrics) - len(kept)}
    return json.dumps(told, separators=(",", ":"))


def _pair(suite: str, name: str) -> str:
    return f"{suite}: {name}"


def _file(session: Path, folder: str, name: str) -> str:
    return f"{folder}/{name}" if (session / name).is_file() else ""


def _relative(path: Path, workspace: Path) -> str:
    try:
        return path.resolve().relative_to(workspace.resolve()).as_posix()
    except ValueError:
        return path.as_posix()
