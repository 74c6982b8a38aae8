"""The two stages of a run in shards: stage 1 makes the planned rounds, `gate merge` looks at them
once, and stage 2 makes the rounds up to `max_rounds` of the suites that the look left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gate.errors import UsageError
from gate.records import Config
from gate.run.control_agent import Control
from gate.run.joined_parts import look_of, most_rounds_of
from gate.run.options import Host, RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import GivenAgent, Setup, set_up
from gate.store.session import Meta, Session, load_session
from gate.store.shards import is_look


def set_up_stage(
    options: RunOptions,
    host: Host,
    parts: Sequence[Session],
    *,
    control: Control | None,
    given: GivenAgent | None,
) -> Setup:
    """As `set_up` for a stage of a run or the merge of its `parts`: what comes after stage 1 is as
    the look after it asks for. Raises GateError.
    """
    look, options = follow_look(options, parts)
    asked = parts[0].meta.provenance if parts else None
    setup = set_up(options, host, control=control, given=given, asked=asked)
    _refuse_recorded(setup.place.config)
    return plan_from_look(setup, look) if look else setup


def follow_look(options: RunOptions, parts: Sequence[Session]) -> tuple[Session | None, RunOptions]:
    """The joined session of stage 1 that a run or merge of stage 2 goes on with, None in stage 1;
    and the options: in a shard of stage 2 the suites are the open ones, with the cases of stage 1.
    Raises UsageError for options that make no sense with --stage.
    """
    if options.joins is not None:
        return look_of(parts), options
    _check(options)
    if options.stage == 1:
        return None, options
    look = _read_look(options.resume)
    stored = look.meta.options
    return look, replace(
        options,
        resume=None,
        suite=look.report.open_suites if look.report else (),
        sample=options.sample or stored.get("sample"),
        rounds=options.rounds or stored.get("rounds"),
    )


def _check(options: RunOptions) -> None:
    if options.shard is None:
        raise UsageError(
            f"--stage {options.stage}: works for shards only; give --shard I/N, or leave out "
            "--stage: an undivided run looks at its results by itself"
        )
    if options.stop_rule is not None:
        raise UsageError(
            f"--stop {options.stop_rule}: has no effect with --stage {options.stage}; leave out "
            "one of the two"
        )


def _read_look(resume: str | None) -> Session:
    """Raises UsageError if it is none, or leaves nothing to do."""
    if resume is None:
        raise UsageError(
            "--stage 2: give --resume SESSION, the session that `gate merge` made of the shards "
            "of stage 1"
        )
    look = load_session(Path(resume))
    if not is_look(look) or look.report is None:
        raise UsageError(
            f"--stage 2: {resume} is not the joined session of stage 1; give the session that "
            "`gate merge` made of its shards"
        )
    if not look.report.open_suites:
        outcome = look.report.outcome.replace("_", " ")
        raise UsageError(
            f"--stage 2: {resume} leaves no suite open, its verdict is {outcome}; leave out stage 2"
        )
    return look


def _refuse_recorded(config: Config) -> None:
    """Raises UsageError for recorded answers: those of stage 2 would be those of stage 1 again."""
    if config.agent.name == "replay":
        raise UsageError(
            "--stage: recorded answers are replayed in one piece; leave out --stage, and --shard "
            "too if they are few"
        )


def plan_from_look(setup: Setup, look: Session) -> Setup:
    """The setup of a merge, with the looks that were planned after stage 1: the error probabilities
    belong to them. In a shard of stage 2, with its rounds. Raises UsageError if it measures
    something else than stage 1 did.
    """
    if setup.place.options.joins is None:
        if what := next(_find_changes(look, setup), ""):
            raise UsageError(
                f"--stage 2: the {what} differs from that of stage 1 in {look.folder}; run stage 2 "
                "with the files and options of stage 1, or start again with stage 1"
            )
        plans = tuple(_add_rounds(plan, look.meta) for plan in setup.plans)
        return replace(setup, plans=plans, look=look.meta.session_id)
    stored = look.meta.suites
    plans = tuple(
        replace(plan, looks=stored[plan.name].looks if plan.name in stored else None)
        for plan in setup.plans
    )
    return replace(setup, plans=plans)


def _find_changes(look: Session, setup: Setup) -> Iterator[str]:
    before, now = look.meta.provenance, setup.provenance
    pairs = {
        "commit": (before.commit, now.commit),
        "workflow run": (before.run_id, now.run_id),
        "agent": (before.agent_options, now.agent_options),
        "gate.yml": (before.config_digest, now.config_digest),
    }
    for plan in setup.plans:
        was, is_now = look.meta.suites[plan.name], plan.meta()
        pairs[f"dataset of {plan.name}"] = (was.dataset_digest, is_now.dataset_digest)
        pairs[f"number of rounds of {plan.name}"] = (str(was.rounds), str(is_now.rounds))
        if was.graders != is_now.graders:
            yield f"graders of {plan.name}"
    yield from (what for what, (was_so, is_so) in pairs.items() if was_so != is_so)


def _add_rounds(plan: SuitePlan, meta: Meta) -> SuitePlan:
    most = most_rounds_of(meta.suites[plan.name])
    return replace(plan, rounds=range(plan.suite.rounds + 1, most + 1))
