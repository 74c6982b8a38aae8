"""The end of a debugging run: the cases are shown, nothing is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.records.settings import OutputOptions
from gate.records.shown_case import ShownCase, is_failed_round
from gate.report.debugging import render
from gate.run.pipeline import Collected
from gate.run.setup import Setup
from gate.run.shown_cases import show_cases
from gate.store.session import SessionWriter

FAILED, INFRASTRUCTURE = 1, 6  # exit codes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCases:
    """The result of a debugging run; it has no verdict."""

    cases: tuple[ShownCase, ...]
    notes: tuple[str, ...]
    exit_code: int
    session_dir: Path

    outcome = "shown"  # as the session's log has it

    def words(self, options: OutputOptions, env: Mapping[str, str]) -> list[str]:
        """The last lines that the command prints."""
        return render(self.cases, self.notes, self.exit_code, self.session_dir, options, env)


def judge(
    setup: Setup, session: SessionWriter, collected: Collected, unreachable: str
) -> ShownCases:
    """Shows the cases instead of judging them."""
    redactor = setup.place.host.redactor()
    cases = tuple(
        case for plan in setup.plans for case in show_cases(plan, plan.chosen, session, redactor)
    )
    return ShownCases(
        cases=cases,
        notes=tuple(map(redactor.redact, _notes(setup, collected, unreachable))),
        exit_code=INFRASTRUCTURE if unreachable else exit_code(cases),
        session_dir=session.folder,
    )


def exit_code(cases: tuple[ShownCase, ...]) -> int:
    """1 if an answer failed; else 6 if the agent could not be reached; else 1 if an answer is
    missing or was not judged; else 0.
    """
    rows = [row for case in cases for row in case.rows]
    if any(row["passed"] is False for row in rows):
        return FAILED
    if any(row["status"] == "infra_error" for row in rows):
        return INFRASTRUCTURE
    unasked = any(len(case.rows) < case.planned for case in cases)
    return FAILED if unasked or any(map(is_failed_round, rows)) else 0


def _notes(setup: Setup, collected: Collected, unreachable: str) -> Iterator[str]:
    if unreachable:
        yield unreachable
    yield from setup.place.config.warnings
    yield from setup.notes
    if collected.ended_early:
        yield f"{collected.ended_early}: some rounds were not run"
