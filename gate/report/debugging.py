"""Cases in full on a terminal, or as JSON: question, expected, answers, scores, reasons, steps."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.analysis.expected import describe_key
from gate.graders.trajectories.path import path_of_row
from gate.records import CheckedJson, TrialRow
from gate.records.settings import OutputOptions
from gate.records.shown_case import ShownCase, is_failed_round
from gate.report.console import Screen
from gate.system.outlet import wants_color
from gate.text import figures
from gate.text.escaping import fence

ANSWER, LINES = 1_000, 40  # characters and lines of one text
MOST = 10_000_000  # the same for `gate show`
STEPS = 40
_ROOM = 200  # characters for the name before a text
_VERDICTS = {True: ("passed", "green"), False: ("failed", "bold red")}
_ROW = (  # what JSON says of a round, as details.jsonl does
    *("round", "status", "passed", "error", "failures", "scores", "reasons", "failed_by"),
    *("unscored", "latency_ms", "cost_usd", "model", "steps", "omitted_steps", "attempts"),
    "retrieved_ids",
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
    screen = _screen_for(options, env)
    for case in () if options.quiet else cases:
        _Printer(screen).case(case)
    for note in () if options.quiet else notes:
        screen.line(f"Note: {note}", "yellow", wrap=False)
    good, undecided = sum(c.passed_always for c in cases), sum(c.undecided for c in cases)
    summary = f"{good} of {figures.count(len(cases) - undecided, 'case')} passed every round"
    if undecided:
        summary += f", {undecided:,} without a verdict"
    screen.line(f"{summary}; nothing was compared.", "bold", wrap=False)
    text = screen.text().rstrip("\n")
    if options.format == "github":
        sys.stderr.write(where + "\n")
        return [fence(text)]
    return [text, where]


def show(
    cases: Sequence[ShownCase], session: Path, options: OutputOptions, env: Mapping[str, str]
) -> list[str]:
    """What `gate show` prints: the cases with their texts whole."""
    if options.format == "json":
        return [json.dumps({"session": str(session), "cases": _cases(cases)}, indent=2)]
    screen = _screen_for(options, env)
    for case in cases:
        _Printer(screen, characters=MOST, lines=MOST).case(case)
    text = screen.text().rstrip("\n")
    return [fence(text) if options.format == "github" else text]


def _screen_for(options: OutputOptions, env: Mapping[str, str]) -> Screen:
    encoding = getattr(sys.stdout, "encoding", "") or ""
    as_block = options.format == "github"
    return Screen(
        color=not as_block and wants_color(sys.stdout, env, no_color=options.colorless),
        unicode="utf" in encoding.lower(),
        width=shutil.get_terminal_size((100, 24)).columns,
    )


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
        "cases": _cases(cases),
    }


def _cases(cases: Sequence[ShownCase]) -> list[CheckedJson]:
    return [
        {
            "suite": case.suite,
            "case_id": case.case_id,
            "question": case.question,
            "expected": dict(case.expected),
            "was": case.before.text if case.before is not None else None,
            "rounds": [
                {**{key: row.get(key) for key in _ROW}, "answer": row.get("output")}
                for row in case.rows
            ],
        }
        for case in cases
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Printer:
    """Prints cases; of each text so many characters and lines at most."""

    screen: Screen = field(kw_only=False)
    characters: int = ANSWER
    lines: int = LINES

    def case(self, case: ShownCase) -> None:
        rounds = f"{case.passed} of {figures.count(case.planned, 'round')} passed"
        if case.undecided:
            rounds = "no grader has an opinion on its answers"
        self.screen.line(f"{case.suite}: {case.case_id}: {rounds}", "bold", wrap=False)
        self._text("question", case.question, indent=2)
        for name, value in case.expected.items():
            self._text(name, describe_key(name, value), indent=2)
        if case.before is not None and case.before.text is not None:
            self._text("baseline answered", case.before.text, indent=2)
        for row in case.rows:
            self._round(case, row)
        if missing := case.planned - len(case.rows):
            self.screen.line(f"{figures.count(missing, 'round')} not run", "yellow", indent=2)
        self.screen.line("")

    def _round(self, case: ShownCase, row: TrialRow) -> None:
        word, style = verdict(row)
        facts = [figures.value(row["latency_ms"], "ms")] if row["latency_ms"] is not None else []
        facts += [figures.money(row["cost_usd"])] if row["cost_usd"] is not None else []
        tries = len(row["attempts"])
        facts += [f"{tries} tries"] if tries > 1 else []
        about = f"round {row['round']}: {', '.join([word, *facts])}"
        self.screen.line(about, style, indent=2, wrap=False)
        if row["error"]:
            self._text("error", str(row["error"]), indent=4)
        if row["output"] is not None:
            self._text("answer", str(row["output"]), indent=4)
        for name, reason in reasons(row):
            self._text(name, reason, indent=4)
        scores = ", ".join(
            f"{name} {figures.value(value, case.units.get(name, ''))}"
            for name, value in row["scores"].items()
            if value is not None
        )
        if scores:
            self._text("scores", scores, indent=4)
        if row["retrieved_ids"]:
            self._text("retrieved", ", ".join(map(str, row["retrieved_ids"])), indent=4)
        steps = list(_steps(row))
        if steps:
            self.screen.line("steps:", indent=4)
        for step in steps:
            self.screen.line(step, "dim", indent=6, wrap=False)

    def _text(self, name: str, text: str, *, indent: int) -> None:
        """A line, or a block; a cut has its mark, and says where the rest is."""
        whole = text.rstrip("\n")
        lines = whole[: self.characters].split("\n")[: self.lines]
        kept = sum(map(len, lines)) + len(lines) - 1
        more = len(whole) - kept
        mark = [f"... cut: {more:,} more characters in details.jsonl"] if more > 0 else []
        if len(lines) == 1 and not mark:
            self._line(f"{name}: {lines[0]}", indent)
            return
        self._line(f"{name}:", indent)
        for line in (*lines, *mark):
            self._line(line, indent + 2)

    def _line(self, text: str, indent: int) -> None:
        self.screen.line(text, indent=indent, wrap=False, limit=self.characters + _ROOM)


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
        yield f"failed by {name}", str(said.pop(name, "no reason given"))
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
