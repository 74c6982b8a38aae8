"""Cases in full on a terminal, or as JSON: question, expected, answers, scores, reasons, steps."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gate.graders.trajectories.path import path_of_row
from gate.records import CheckedJson, TrialRow
from gate.records.settings import OutputOptions
from gate.records.shown_case import ShownCase, is_failed_round
from gate.report.console import Screen, in_words
from gate.system.outlet import wants_color
from gate.text import figures
from gate.text.escaping import fence

ANSWER, LINES = 1_000, 40  # characters and lines of one text
STEPS = 40
_VERDICTS = {True: ("passed", "green"), False: ("failed", "bold red")}
_ROW = (  # what JSON says of a round, as details.jsonl does
    *("round", "status", "passed", "error", "failures", "scores", "reasons", "failed_by"),
    *("unscored", "latency_ms", "cost_usd", "model", "steps", "omitted_steps", "attempts"),
)


def render(
    cases: Sequence[ShownCase],
    notes: Sequence[str],
    exit_code: int,
    session: Path,
    options: OutputOptions,
    env: Mapping[str, str],
) -> list[str]:
    """What `gate run --case` prints; the last line of text is where the whole answers are."""
    where = f"Session written to: {session}"
    if options.format == "json":
        sys.stderr.write(where + "\n")
        return [json.dumps(as_data(cases, notes, exit_code, session), indent=2)]
    encoding = getattr(sys.stdout, "encoding", "") or ""
    as_block = options.format == "github"
    screen = Screen(
        color=not as_block and wants_color(sys.stdout, env, no_color=options.colorless),
        unicode="utf" in encoding.lower(),
        width=shutil.get_terminal_size((100, 24)).columns,
    )
    for case in () if options.quiet else cases:
        _case(screen, case)
    for note in () if options.quiet else notes:
        screen.line(f"Note: {note}", "yellow", wrap=False)
    good = sum(case.rows != () and case.passed == case.planned for case in cases)
    summary = f"{good} of {figures.count(len(cases), 'case')} passed every round"
    screen.line(f"{summary}; nothing was compared.", "bold", wrap=False)
    text = screen.text().rstrip("\n")
    if as_block:
        sys.stderr.write(where + "\n")
        return [fence(text)]
    return [text, where]


def none_failed(options: OutputOptions) -> str:
    """The text for a session without a failed case."""
    if options.format == "json":
        return json.dumps({"session": None, "exit_code": 0, "notes": [], "cases": []}, indent=2)
    return "No case of that session failed, so none was run."


def as_data(
    cases: Sequence[ShownCase], notes: Sequence[str], exit_code: int, session: Path
) -> dict[str, CheckedJson]:
    """The same, nothing cut."""
    return {
        "session": str(session),
        "exit_code": exit_code,
        "notes": list(notes),
        "cases": [
            {
                "suite": case.suite,
                "case_id": case.case_id,
                "question": case.question,
                "expected": dict(case.expected),
                "rounds": [
                    {**{key: row.get(key) for key in _ROW}, "answer": row.get("output")}
                    for row in case.rows
                ],
            }
            for case in cases
        ],
    }


def _case(screen: Screen, case: ShownCase) -> None:
    rounds = f"{case.passed} of {figures.count(case.planned, 'round')} passed"
    screen.line(f"{case.suite}: {case.case_id}: {rounds}", "bold", wrap=False)
    _text(screen, "question", case.question, indent=2)
    for name, value in case.expected.items():
        _text(screen, name, in_words(value), indent=2)
    for row in case.rows:
        _round(screen, case, row)
    if missing := case.planned - len(case.rows):
        screen.line(f"{figures.count(missing, 'round')} not run", "yellow", indent=2)
    screen.line("")


def _round(screen: Screen, case: ShownCase, row: TrialRow) -> None:
    word, style = verdict(row)
    facts = [figures.value(row["latency_ms"], "ms")] if row["latency_ms"] is not None else []
    facts += [figures.money(row["cost_usd"])] if row["cost_usd"] is not None else []
    tries = len(row["attempts"])
    facts += [f"{tries} tries"] if tries > 1 else []
    screen.line(f"round {row['round']}: {', '.join([word, *facts])}", style, indent=2, wrap=False)
    if row["error"]:
        _text(screen, "error", str(row["error"]), indent=4)
    if row["output"] is not None:
        _text(screen, "answer", str(row["output"]), indent=4)
    for name, reason in reasons(row):
        _text(screen, name, reason, indent=4)
    scores = ", ".join(
        f"{name} {figures.value(value, case.units.get(name, ''))}"
        for name, value in row["scores"].items()
        if value is not None
    )
    if scores:
        _text(screen, "scores", scores, indent=4)
    steps = list(_steps(row))
    if steps:
        screen.line("steps:", indent=4)
    for step in steps:
        screen.line(step, "dim", indent=6, wrap=False)


def verdict(row: TrialRow) -> tuple[str, str]:
    """A word for the round, and its colour."""
    if row["status"] == "infra_error":
        return "not answered", "yellow"
    if row["passed"] is None:
        return ("not scored", "yellow") if is_failed_round(row) else ("no pass or fail", "")
    return _VERDICTS[row["passed"]]


def reasons(row: TrialRow) -> Iterator[tuple[str, str]]:
    """Grader and what it said; those that failed the answer first."""
    failed, said = row.get("failed_by") or (), dict(row["reasons"])
    for name in failed:
        yield f"{name} failed it", str(said.pop(name, "no reason given"))
    for name, why in row["unscored"].items():
        said.pop(name, None)
        yield f"{name} gave no score", str(why)
    yield from ((name, str(reason)) for name, reason in said.items())


def _steps(row: TrialRow) -> Iterator[str]:
    path = path_of_row(row, STEPS)
    if path is None:
        return
    for number, step in enumerate(path.steps, start=1):
        yield f"{number}. {step.text}"
    if path.omitted:
        yield f"... {figures.count(path.omitted, 'more step')} in details.jsonl"


def _text(screen: Screen, name: str, text: str, *, indent: int) -> None:
    """One line where it is one, else a block; a cut has its mark, and says where the rest is."""
    whole = text.rstrip("\n")
    lines = whole[:ANSWER].split("\n")[:LINES]
    kept = sum(map(len, lines)) + len(lines) - 1
    more = len(whole) - kept
    mark = [f"... cut: {more:,} more characters in details.jsonl"] if more > 0 else []
    if len(lines) == 1 and not mark:
        screen.line(f"{name}: {lines[0]}", indent=indent, wrap=False)
        return
    screen.line(f"{name}:", indent=indent, wrap=False)
    for line in (*lines, *mark):
        screen.line(line, indent=indent + 2, wrap=False)
