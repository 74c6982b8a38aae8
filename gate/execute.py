"""A whole run from options to a written session: what `gate run` and the action do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.announce import wants_color
from gate.archive import Meta, Session, SessionWriter, new_session_id
from gate.errors import UsageError
from gate.pipeline import Collected, Effects, health, measure
from gate.progress import progress
from gate.recorder import recorder
from gate.records import Report
from gate.redact import Redactor
from gate.registry import import_meanwhile
from gate.secret_names import secrets_of
from gate.set_up import Setup, set_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to."""

    report: Report
    session_dir: Path


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
    judging = import_meanwhile("gate.judging")
    with _session(setup) as session:
        for shard in shards:
            _join(session, shard)
        offline = bool(shards or options.replay)
        unreachable = "" if offline else health(setup.agent, setup.world)
        collected = _trials(setup, session, ask=not (unreachable or shards))
        session.write_details()
        report = judging().judge(setup, session, collected, unreachable)
        return Outcome(report=report, session_dir=session.folder)


def _join(session: SessionWriter, shard: Session) -> None:
    """Raises UsageError for a shard that measured something else, or a trial that comes twice."""
    for name, suite in shard.meta.suites.items():
        whole = session.meta.suites.get(name)
        if whole is None or (whole.graders, whole.rounds) != (suite.graders, suite.rounds):
            raise UsageError(
                f"{shard.folder}: '{name}' had other graders or rounds than gate.yml has now; "
                "merge shards of one run with the files of that run"
            )
    for row in shard.rows():
        if (row["suite"], row["case_id"], row["round"]) in session.done():
            raise UsageError(
                f"{shard.folder}: case '{row['case_id']}' round {row['round']} is in another shard "
                "too; merge each shard once"
            )
        session.append(row)


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
            f"--resume {folder}: the suites, datasets or graders have changed since; "
            "start a new run, or go on with the files as they were"
        )
    return session


def _given(options: argparse.Namespace) -> dict[str, object]:
    """The options as meta.json keeps them: what was given, no key."""
    kept = {k: v for k, v in vars(options).items() if k not in ("stop", "provider_key", "command")}
    return {key: value for key, value in kept.items() if value not in (None, False)}


def _trials(setup: Setup, session: SessionWriter, *, ask: bool) -> Collected:
    options = setup.options
    with (
        recorder(options.record, _redactor(setup)) as record,
        progress(
            sys.stderr,
            planned=sum(len(plan.chosen) * plan.suite.rounds for plan in setup.plans),
            quiet=options.quiet,
            verbose=options.verbose,
            color=wants_color(sys.stderr, setup.env, no_color=options.no_color),
        ) as told,
    ):
        effects = Effects(
            world=setup.world, session=session, stop=options.stop, progress=told, record=record
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
