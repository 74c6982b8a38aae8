"""The parts of one run, joined: whose options they have, and which cases were lost with a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gate.records import Json
from gate.run.options import RunOptions
from gate.run.parts import Parts
from gate.run.prepare import SuitePlan
from gate.store.session import Session, SuiteMeta
from gate.store.shards import Key, check_trials, is_look, shard_of, stage_of
from gate.suites.cases.sampling import in_shard

# Options of a part that are not those of the whole run.
_OF_A_PART = ("shard", "stage", "resume", "out", "config", "baseline", "record")
# Options of the parts that say what is measured, and how.
_OF_THE_RUN = (
    *("sample", "rounds", "dataset", "protect", "base_url", "model", "max_attempts", "timeout"),
    *("concurrency", "budget_usd", "replay", "stop_rule"),
)


def options_of_parts(options: RunOptions, parts: Sequence[Session]) -> RunOptions:
    """The options of a merge: those of the parts, with config, baseline, out and settings of
    `options`. The joined session stores what an undivided run would store.
    """
    stored = parts[0].meta.options
    stage = 2 if any(map(is_look, parts)) else stage_of(parts[0])
    kept = {name: value for name, value in stored.items() if name not in _OF_A_PART}
    if stage == 1:
        kept["stage"] = 1
    own = replace(options, stage=stage).as_stored()
    kept |= {name: own[name] for name in ("config", "baseline", "out") if name in own}
    suites = dict.fromkeys(name for part in parts for name in part.meta.suites)
    chosen = [part.meta.options.get("suite") for part in parts]
    kept.pop("suite", None)
    if all(chosen):
        kept["suite"] = list(suites)
    return replace(
        options,
        **{name: stored[name] for name in _OF_THE_RUN if name in stored},
        suite=tuple(suites),
        stage=stage,
        joins=kept,
    )


def join_parts(sessions: Sequence[Session], plans: Sequence[SuitePlan]) -> Parts:
    """Raises UsageError unless all sessions are parts of this run."""
    suites = {plan.name: plan.meta() for plan in plans}
    controls = [one for part in sessions if (one := part.control()) is not None]
    check_trials(controls, suites)
    made = check_trials(sessions, suites)
    look = look_of(sessions)
    return Parts(
        sessions=tuple(sessions),
        controls=tuple(controls),
        look=_state_after(look) if look else {},
        lost={plan.name: lost for plan in plans if (lost := _find_lost(plan, sessions, made))},
        ended_early=_tell_ended_early(sessions),
    )


def _find_lost(
    plan: SuitePlan, sessions: Sequence[Session], made: frozenset[Key]
) -> dict[str, frozenset[str]]:
    """Why -> cases of the suite that lack trials for it."""
    look, wanted = look_of(sessions), plan.suite.rounds
    if look is not None:  # only suites that it left open are in shards of stage 2
        wanted = most_rounds_of(look.meta.suites[plan.name])
    broken = dict(_find_broken(plan.name, sessions))
    trials = Counter(case for suite, case, _ in made if suite == plan.name) if broken else {}
    lost = {
        why: frozenset(
            case for case in plan.chosen if in_shard(case, *shard) and trials.get(case, 0) < wanted
        )
        for shard, why in broken.items()
    }
    return {why: cases for why, cases in lost.items() if cases}


def _find_broken(suite: str, sessions: Sequence[Session]) -> Iterator[tuple[tuple[int, int], str]]:
    """The shards of a suite that left no results, or not all, and why."""
    shards = {
        shard: part
        for part in sessions
        if suite in part.meta.suites and (shard := shard_of(part)) is not None
    }
    count = next((count for _, count in shards), 0)
    for index in range(1, count + 1):
        part, name = shards.get((index, count)), f"shard {index}/{count}"
        if part is None:
            yield (index, count), f"{name} is not among the merged sessions"
        elif part.report is None:
            yield (index, count), f"{name}: it was interrupted"
        elif part.report.outcome == "error":
            yield (index, count), f"{name}: {part.report.reason}"


def look_of(sessions: Sequence[Session]) -> Session | None:
    """The one that has all of stage 1."""
    return next((part for part in sessions if is_look(part)), None)


def _state_after(look: Session) -> Mapping[str, Json]:
    """What the look of stage 1 left, as the log of a session has it (gate/verdict/course.py)."""
    report = look.report
    if report is None:
        return {}
    suites = {name: one for name, one in report.suites.items() if one.looks}
    going = sorted(report.open_suites)
    ended: dict[str, Json] = {n: one.ended for n, one in suites.items() if n not in going}
    looks: dict[str, Json] = {name: one.look for name, one in suites.items()}
    return {"looks": looks, "going": list(going), "ended": ended}


def most_rounds_of(suite: SuiteMeta) -> int:
    """The rounds up to which a stored suite may come."""
    return suite.looks.cap // max(1, suite.cases) if suite.looks else suite.rounds


def _tell_ended_early(sessions: Sequence[Session]) -> str:
    """The shards that a budget ended; empty without one."""
    return ", ".join(_ended_early(sessions))


def _ended_early(sessions: Sequence[Session]) -> Iterator[str]:
    for part in sessions:
        shard, report = shard_of(part), part.report
        if shard is None or report is None or report.outcome == "error":
            continue
        if any(suite.not_run for suite in report.suites.values()):
            yield f"shard {shard[0]}/{shard[1]} ended early"
