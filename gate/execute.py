"""A whole run from options to a written session: what `gate run` and the action do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gate.archive import Meta, Session, SessionWriter, new_session_id
from gate.errors import UsageError
from gate.joining import absent, check
from gate.pipeline import Collected, Effects, health, measure
from gate.progress import progress, wants_color
from gate.recorder import recorder
from gate.redact import Redactor
from gate.registry import Meanwhile
from gate.secret_names import secrets_of
from gate.set_up import Setup, set_up

if TYPE_CHECKING:
    from gate.judging import Outcome


def execute(
    options: argparse.Namespace,
    env: Mapping[str, str],
    more: Mapping[str, str] | None = None,
    shards: Sequence[Session] = (),
) -> Outcome:
    """Everything but printing and publishing. `more`: dotted keys over gate.yml. Raises GateError.

    With `shards` no agent is asked: their trials are joined into one session and judged once.
    """
    setup = set_up(options, env, more or {})
    judging = Meanwhile("gate.judging")
    check(shards, {plan.suite.name: plan.meta() for plan in setup.plans})
    with _session(setup) as session:
        for row in chain.from_iterable(shard.rows() for shard in shards):
            session.append(row)
        offline = bool(shards or options.replay)
        unreachable = "" if offline else health(setup.agent, setup.world)
        collected = _trials(setup, session, ask=not (unreachable or shards), idle=judging.start)
        if shards:
            collected = replace(collected, ended_early=absent(shards))
        session.write_details()
        return cast("Outcome", judging.loaded().judge(setup, session, collected, unreachable))


def _session(setup: Setup) -> SessionWriter:
    """A new session folder, or the one to go on with. Raises UsageError when that one ran other
    cases or graders.
    """
    redact = _redactor(setup)
    meta = Meta(
        session_id=new_session_id(setup.now),
        created_at=setup.now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        provenance=setup.provenance,
        suites={plan.suite.name: plan.meta() for plan in setup.plans},
        options=_given(setup.options),
    )
    if not setup.options.resume:
        return SessionWriter.create(Path(setup.config.report.dir), meta, redact)
    folder = Path(setup.options.resume)
    session = SessionWriter.resume(folder, redact)
    if session.meta.suites != meta.suites:
        session.close()
        raise UsageError(
            f"--resume {folder}: the suites, the choice of cases, datasets or graders have changed "
            "since; start a new run, or go on with the options and files as they were"
        )
    return session


def _given(options: argparse.Namespace) -> dict[str, object]:
    """The options as meta.json keeps them: what was given, no key."""
    kept = {k: v for k, v in vars(options).items() if k not in ("stop", "provider_key", "command")}
    return {key: value for key, value in kept.items() if value not in (None, False)}


def _trials(
    setup: Setup, session: SessionWriter, *, ask: bool, idle: Callable[[], None]
) -> Collected:
    options = setup.options
    with (
        recorder(options.record, _redactor(setup)) as record,
        progress(
            sys.stderr,
            planned=sum(len(plan.chosen) * plan.suite.rounds for plan in setup.plans),
            quiet=options.quiet,
            verbose=options.verbose,
            color=wants_color(sys.stderr, setup.env, no_color=options.no_color),
            redact=_redactor(setup),
        ) as told,
    ):
        effects = Effects(
            world=setup.world,
            session=session,
            stop=options.stop,
            progress=told,
            record=record,
            idle=idle,
        )
        return measure(
            setup.plans,
            setup.agent if ask else None,
            effects,
            budget=setup.config.budget,
            prices=setup.config.pricing,
        )


def _redactor(setup: Setup) -> Redactor:
    """Takes out the values of every variable that is named as a key, and of those that look it."""
    named = {str(setup.config.agent.options.get("api_key_env") or "")}
    if setup.config.judge is not None:
        named.add(str(setup.config.judge.options.get("api_key_env") or ""))
    return Redactor(secrets_of(setup.env, named))
