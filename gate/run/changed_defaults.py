"""Defaults that a later version changed. The first run that meets a change reports it. Loaded only
if a run follows one of an older version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gate.agents.protocols.python import PythonAgent
from gate.errors import AgentFailure, GateError, InfraFailure
from gate.text.late_pattern import late_pattern

if TYPE_CHECKING:
    from gate.run.setup import Setup

_NUMBERS = late_pattern(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedDefault:
    """A default that was changed; `since`: the first version with the new one."""

    name: str
    since: str
    sentence: str
    concerns: Callable[[Setup], bool]


def _has_a_limit(setup: Setup) -> bool:
    config = setup.place.config
    gates = [*config.gates, *(gate for suite in config.suites for gate in suite.gates)]
    return any(
        gate.rule is None and not gate.by_default and (gate.min, gate.max) != (None, None)
        for gate in gates
    )


def _grades_with(setup: Setup, *names: str) -> bool:
    """Whether a suite has one of these graders, and more than single cases is asked."""
    suites = setup.place.config.suites
    used = any(grader.name in names for suite in suites for grader in suite.graders)
    return used and not _runs_single_cases(setup)


def _runs_single_cases(setup: Setup) -> bool:
    return bool(setup.place.options.case)


def _is_on_laptop(setup: Setup) -> bool:
    """Outside a repository there was never a base branch to take the rules from."""
    return (
        setup.place.job.mode == "laptop"
        and setup.place.where.opened.git is not None
        and setup.place.config.protect
    )


def _asks_by_text(setup: Setup) -> bool:
    """Whether a function is asked that gets the question alone. What is wrong with it is told where
    it is checked.
    """
    if not isinstance(setup.agent, PythonAgent):
        return False
    with suppress(GateError, InfraFailure, AgentFailure):
        return setup.agent.load(setup.place.world)[1]
    return False


CHANGED = (
    ChangedDefault(
        name="the-question-for-who-takes-a-text",
        since="0.2.0",
        sentence=(
            "an agent that is a Python function gets the question alone where its first parameter "
            "is annotated `str`, or has no annotation and is called `query`, `question` or "
            "`prompt`; before, it got the case. Annotate it `dict` to get the case"
        ),
        concerns=_asks_by_text,
    ),
    ChangedDefault(
        name="numbers-as-people-read-them",
        since="0.2.0",
        sentence=(
            "the graders `facts` and `numeric` now read numbers written as words, "
            "fractions, ranges and in other countries' formats, compare units, and accept "
            "a rounded answer if it is right to the digits shown; `rounding: false` and "
            "`number_words: false` switch two of these off. Scores may "
            "therefore differ from older baselines"
        ),
        concerns=lambda setup: _grades_with(setup, "facts", "numeric"),
    ),
    ChangedDefault(
        name="hallucination-compares-what-is-counted",
        since="0.2.0",
        sentence=(
            "the grader `hallucination` also compares units, what a number refers to, and which "
            "way a change goes, and an answer with a number that could not be checked has no "
            "rate; `unverified: count` counts such numbers as unsupported, as before. Scores may "
            "therefore differ from older baselines"
        ),
        concerns=lambda setup: _grades_with(setup, "hallucination"),
    ),
    ChangedDefault(
        name="efficiency-keeps-failed-trials",
        since="0.2.0",
        sentence=(
            "`agent.trajectory_efficiency` counts trials that failed with more steps than needed; "
            "before, it left out every failed one. It may therefore be worse than in "
            "older baselines"
        ),
        concerns=lambda setup: _grades_with(setup, "trajectory"),
    ),
    ChangedDefault(
        name="gates-by-value",
        since="0.2.0",
        sentence=(
            "a measured value beyond its limit now fails (`rule: point`); before, the whole "
            "interval had to be beyond the limit, and at a release within it. `rule: convicted` "
            "and `rule: proven` in gate.yml judge as before"
        ),
        concerns=lambda setup: _has_a_limit(setup) and not _runs_single_cases(setup),
    ),
    ChangedDefault(
        name="laptop-as-is",
        since="0.2.0",
        sentence=(
            "on a laptop gate.yml, datasets and graders now count as they are in this folder; "
            "before, those of the base branch did. `gate run --protect` judges by the base "
            "branch's, as a pull request is judged"
        ),
        concerns=_is_on_laptop,
    ),
    ChangedDefault(
        name="case-compares-nothing",
        since="0.2.0",
        sentence=(
            "`gate run --case` now compares nothing with a baseline: it shows what the agent "
            "answered, and passes where every round passed"
        ),
        concerns=_runs_single_cases,
    ),
)


def tell_changed_defaults(
    setup: Setup,
    versions: Iterable[str],
    untold: Sequence[str] = (),
    changed: Sequence[ChangedDefault] = CHANGED,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences for this run, and the names of the changes that matter to a later one.
    `versions`: those that wrote the data that this run continues; the oldest counts. `untold`:
    changes that an earlier run left for later.
    """
    versions_known = [numbers for version in versions if (numbers := _numbers(version))]
    oldest = min(versions_known, default=None)
    new = [
        change
        for change in changed
        if change.name in untold or (oldest is not None and oldest < (_numbers(change.since) or ()))
    ]
    told_now = [change for change in new if change.concerns(setup)]
    sentences = tuple(f"since version {change.since} {change.sentence}" for change in told_now)
    return sentences, tuple(change.name for change in new if change not in told_now)


def _numbers(version: str) -> tuple[int, ...]:
    """Empty for what is no version of ours, such as that of another tool."""
    match = _NUMBERS.match(version)
    return tuple(int(part) for part in match.groups()) if match else ()
