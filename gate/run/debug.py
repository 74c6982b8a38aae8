"""`gate run --case` and `--failed`: what the agent answers to some cases. Compares nothing, posts
nothing, decides nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gate.errors import UsageError
from gate.records.shown_case import is_failed_round
from gate.registry import BackgroundImport
from gate.run.apply_options import check_sent_keys
from gate.run.execute import finish
from gate.run.options import Host, RunOptions
from gate.run.setup import Setup, set_up
from gate.store.session import find_session, load_session, refuse_debugging
from gate.store.session_check import check_rows
from gate.text.figures import count, join_words

if TYPE_CHECKING:
    from gate.run.show_cases import ShownCases

# Options of a measurement, which this is none of.
_MEASURING = {
    "baseline": "--baseline",
    "sample": "--sample",
    "shard": "--shard",
    "stage": "--stage",
    "stop_rule": "--stop",
}


def debug(options: RunOptions, host: Host) -> ShownCases | None:
    """The chosen cases with the agent's answers; None if no case of the session failed. Raises
    GateError.
    """
    _check(options)
    setup = set_up(replace(options, baseline="none"), host)
    place = replace(setup.place, options=options)
    setup = replace(setup, place=place, plans=tuple(replace(p, looks=None) for p in setup.plans))
    if options.failed is not None:
        setup = _choose_failed_cases(setup, options.failed)
        check_sent_keys(place.rules, options, place.config, setup.plans, setup.control)
    chosen = tuple(plan for plan in setup.plans if plan.chosen)
    if not chosen:
        return None
    setup = replace(setup, plans=chosen)
    return cast("ShownCases", finish(setup, (), BackgroundImport("gate.run.show_cases")))


def _check(options: RunOptions) -> None:
    used_option = "--failed" if options.failed is not None else "--case"
    if options.failed is not None and options.case:
        raise UsageError("--failed: cannot be combined with --case; use one of the two")
    for name, option in _MEASURING.items():
        if getattr(options, name) is not None:
            raise UsageError(
                f"{option}: cannot be combined with {used_option}, which only shows answers and "
                "compares nothing; use one of the two"
            )


def _choose_failed_cases(setup: Setup, session: str) -> Setup:
    """With the cases that failed in the session. Raises UsageError where none of them can run."""
    folder = find_session(session, Path(setup.place.config.report.dir))
    failed = find_failed_cases(folder)
    chosen = {p.name: failed.get(p.name, frozenset()) & p.all_ids for p in setup.plans}
    number_chosen = sum(map(len, chosen.values()))
    lost = sum(map(len, failed.values())) - number_chosen
    if lost and not number_chosen:
        names = join_words(sorted(failed))
        raise UsageError(
            f"--failed {folder}: none of its {count(lost, 'failing case')} (suites {names}) is "
            "among the suites of this run; select them with --suite, or give another session"
        )
    heading = f"asked again: the failing cases of {folder}"
    notes = [
        heading,
        *([f"{count(lost, 'failing case')} of that session not in these suites"] if lost else []),
    ]
    plans = (replace(plan, chosen=chosen[plan.name]) for plan in setup.plans)
    return replace(setup, plans=tuple(plans), notes=(*setup.notes, *notes))


def find_failed_cases(folder: Path) -> dict[str, frozenset[str]]:
    """Suite -> its cases with a round that failed, was not answered or not judged. Raises
    UsageError.
    """
    session = load_session(folder)
    refuse_debugging(session)
    failed: dict[str, set[str]] = {}
    for row in check_rows(session.rows(), session.meta.suites, folder):
        if is_failed_round(row):
            failed.setdefault(row["suite"], set()).add(row["case_id"])
    return {suite: frozenset(ids) for suite, ids in failed.items()}
