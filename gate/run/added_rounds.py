"""`gate run --resume SESSION --rounds N`: adds rounds to a session with a verdict, up to N for each
case. The later verdict counts the looks before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.errors import UsageError
from gate.records import Config, Looks, RegressionRules
from gate.records.verdict import MOST_LOOKS
from gate.run.early_stopping import most_rounds
from gate.run.prepare import SuitePlan
from gate.store.session import SessionWriter, read_meta
from gate.verdict.course import Course


def read_begun_rounds(resume: str | None, rounds: int | None) -> Mapping[str, int]:
    """Suite -> the rounds with which the resumed session began, if `rounds` asks for another
    number. Empty if no rounds are asked for, or there is no such session.
    """
    if resume is None or rounds is None:
        return {}
    try:
        meta = read_meta(Path(resume))
    except UsageError:
        return {}
    if meta.debugging or meta.options.get("rounds") == rounds:
        return {}
    return {name: suite.rounds for name, suite in meta.suites.items()}


def set_rounds(config: Config, rounds: Mapping[str, int]) -> Config:
    """The config with the given number of rounds for each suite."""
    if not rounds:
        return config
    suites = (replace(one, rounds=rounds.get(one.name, one.rounds)) for one in config.suites)
    return replace(config, suites=tuple(suites))


def add_rounds(
    session: SessionWriter, plans: tuple[SuitePlan, ...], rounds: int, rules: RegressionRules
) -> tuple[tuple[SuitePlan, ...], Course]:
    """The plans with looks up to `rounds` rounds, and the course at that point; both are stored in
    the session. Raises UsageError if the session has these rounds already or may not have them.
    """
    trials_made = Counter(str(row["suite"]) for row in session.rows())
    short = [plan for plan in plans if trials_made[plan.name] < len(plan.chosen) * rounds]
    if not short:
        has = min(trials_made[p.name] // len(p.chosen) for p in plans if p.chosen)
        raise UsageError(
            f"--rounds {rounds}: the session {session.folder} has {has} rounds per case; "
            "give a larger number to add rounds, or leave out --rounds"
        )
    for plan in short:
        if (most := most_rounds(plan, rules)) < rounds:
            raise UsageError(
                f"--rounds {rounds}: suite '{plan.name}' has regression.max_rounds: {most}; "
                f"give at most {most}, or start a new run with a higher max_rounds"
            )
    names = {plan.name for plan in short}
    plans = tuple(
        _extend_looks(plan, trials_made[plan.name], rounds) if plan.name in names else plan
        for plan in plans
    )
    looks = {plan.name: plan.looks for plan in plans}
    session.note_rounds(rounds, looks)
    there = {name: plan for name, plan in looks.items() if plan is not None}
    last = {plan.name: len(plan.chosen) * rounds for plan in short}
    course = Course(
        plans=there,
        seed=session.meta.order_seed,
        made={name: _count_looks(plan, trials_made[name]) for name, plan in there.items()},
        going=frozenset(names),
        ended=dict.fromkeys(there.keys() - names, "it has these rounds"),
        again=True,
        until={name: _count_looks(there[name], trials - 1) + 1 for name, trials in last.items()},
    )
    session.log.append_look(course.state())
    return plans, course


def _extend_looks(plan: SuitePlan, trials_made: int, rounds: int) -> SuitePlan:
    """With looks up to so many rounds. Of a suite that had none its verdict was one, at the trials
    that it had.
    """
    trials = len(plan.chosen) * rounds
    calls = plan.looks.calls if plan.looks else tuple(filter(None, [trials_made]))
    if calls and calls[-1] >= trials:
        return plan
    # Of too many looks one is left out that is not the last: at that one a verdict may stand.
    earlier = calls if len(calls) < MOST_LOOKS else (*calls[: MOST_LOOKS - 2], calls[-1])
    return replace(plan, looks=Looks(calls=(*earlier, trials)))


def _count_looks(looks: Looks, trials: int) -> int:
    """Looks that come after no more than these trials."""
    return sum(calls <= trials for calls in looks.calls)
