"""`gate run`: runs the suites, compares, decides, writes the session, prints the verdict."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gate import __version__
from gate.archive import Meta, SessionWriter, new_session_id
from gate.conclude import Compared, Measured, Setting, conclude
from gate.config import digest_of, select
from gate.config_options import for_release, override, settings
from gate.errors import UsageError
from gate.github.context import Job, current_job, token
from gate.github.forge import Opened, connect, open_forge
from gate.lookup import Place, find
from gate.pipeline import Collected, Effects, health, measure
from gate.plugins import AGENTS, Agent, World, build
from gate.prepare import Selection, SuitePlan, prepare
from gate.progress import progress
from gate.publish import announce, redactor, write_reports
from gate.records import Config, PluginSpec, Provenance, Report
from gate.recording import recorder
from gate.rules import Base, Rules, judging_rules, own_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to."""

    report: Report
    session_dir: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that is known and checked before the agent is asked for the first time."""

    options: argparse.Namespace
    env: Mapping[str, str]
    now: datetime
    job: Job
    opened: Opened
    rules: Rules
    config: Config  # what judges, options applied
    plans: tuple[SuitePlan, ...]
    agent: Agent
    provenance: Provenance
    baselines: Mapping[str, Compared]

    @property
    def world(self) -> World:
        stop = self.options.stop
        return World(env=self.env, root=self.rules.root, cancelled=stop.requested)


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict."""
    outcome = execute(options, env)
    announce(outcome.report, outcome.session_dir, options, env)
    return outcome.report.exit_code


def execute(
    options: argparse.Namespace, env: Mapping[str, str], more: Mapping[str, str] | None = None
) -> Outcome:
    """Everything but printing and publishing. `more`: dotted keys over gate.yml. Raises GateError."""
    setup = set_up(options, env, more or {})
    with _session(setup) as session:
        unreachable = "" if options.replay else health(setup.agent, setup.world)
        collected = _trials(setup, session, unreachable)
        session.write_details()
        report = _report(setup, session, collected, unreachable)
        write_reports(session, report, setup.config.report)
        return Outcome(report=report, session_dir=session.folder)


def set_up(options: argparse.Namespace, env: Mapping[str, str], more: Mapping[str, str]) -> Setup:
    """Reads and checks config, base rules, datasets and baselines; the agent is not asked yet."""
    now = datetime.now(UTC)
    job = current_job(env)
    root = Path(options.config).parent if options.config else Path()
    opened = open_forge(job, connect(job, token(env)), root)
    rules = _rules(options, env, job, opened, root, now)
    config = _effective(options, rules, job, more)
    agent = build(AGENTS, config.agent, root)
    selection = Selection(
        sample=options.sample,
        event=None if more.get("sample") == "all" else job.sample_key,
        shard=options.shard,
        case_ids=frozenset(options.case or ()),
    )
    plans = prepare(config.suites, rules, selection)
    provenance = _provenance(job, opened, config, agent)
    place = Place(root=root, forge=opened.forge, base_sha=provenance.base_commit, now=now)
    return Setup(
        options=options,
        env=_with_key(options, config, env),
        now=now,
        job=job,
        opened=opened,
        rules=rules,
        config=config,
        plans=plans,
        agent=agent,
        provenance=provenance,
        baselines={
            plan.suite.name: find(plan, config.baseline, place, provenance) for plan in plans
        },
    )


def _rules(
    options: argparse.Namespace,
    env: Mapping[str, str],
    job: Job,
    opened: Opened,
    root: Path,
    now: datetime,
) -> Rules:
    own = own_config(options.config, root, env, now.date())
    sha = _base_sha(job, opened, own)
    base, why = None, ""
    if job.mode == "laptop" or job.protect_ref is not None:
        if sha is None or opened.forge is None:
            why = "; ".join(opened.notes) or f"no commit of {own.baseline.branch} to compare with"
        else:
            base = Base(sha=sha, name=job.base_ref or own.baseline.branch, forge=opened.forge)
    return judging_rules(own, root=root, base=base, env=env, today=now.date(), why_no_base=why)


def _base_sha(job: Job, opened: Opened, config: Config) -> str | None:
    """Contract 9.6: the event's base commit; on a laptop the merge base with the branch."""
    if job.mode != "laptop":
        return job.base_sha or job.protect_ref
    found = opened.git.base(config.baseline.branch) if opened.git else None
    return found.sha if found else None


def _effective(
    options: argparse.Namespace, rules: Rules, job: Job, more: Mapping[str, str]
) -> Config:
    config = select(rules.config, options.suite or ())
    if job.mode == "release":
        config = for_release(config)
    config = override(
        settings(config, more),
        base_url=options.base_url,
        model=options.model,
        timeout=options.timeout,
        concurrency=options.concurrency,
        rounds=options.rounds,
        max_attempts=options.max_attempts,
        budget_usd=options.budget_usd,
        baseline=options.baseline,
        out=options.out,
    )
    if not options.replay:
        return config
    recorded = {"file": str(Path(options.replay).resolve())}
    return replace(config, agent=PluginSpec(name="replay", options=recorded))


def _with_key(
    options: argparse.Namespace, config: Config, env: Mapping[str, str]
) -> Mapping[str, str]:
    """--provider-key stands for the variable that the agent's key comes from."""
    name = str(config.agent.options.get("api_key_env") or "OPENAGENT_PROVIDER_KEY")
    return {**env, name: options.provider_key} if options.provider_key else env


def _provenance(job: Job, opened: Opened, config: Config, agent: Agent) -> Provenance:
    return Provenance(
        commit=job.head_sha or (opened.git.head() if opened.git else None),
        base_commit=_base_sha(job, opened, config),
        config_digest=config.digest,
        agent_digest=digest_of(config.agent.options),
        agent=agent.describe(),
        judge=config.judge.name if config.judge else None,
        tool_version=__version__,
        event=job.event,
        mode=job.mode,
        repository=job.repository,
        run_url=job.run_url,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        pull_request=job.pull_request,
    )


def _session(setup: Setup) -> SessionWriter:
    """A new session folder, or the one to go on with. Raises UsageError when that one ran other
    cases or graders.
    """
    redact = redactor(setup.env, setup.config)
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


def _trials(setup: Setup, session: SessionWriter, unreachable: str) -> Collected:
    with recorder(setup.options.record, redactor(setup.env, setup.config)) as record:
        effects = Effects(
            world=setup.world,
            session=session,
            stop=setup.options.stop,
            progress=progress(setup.options, setup.env, planned=_planned(setup)),
            record=record,
        )
        return measure(
            setup.plans,
            None if unreachable else setup.agent,
            effects,
            budget=setup.config.budget,
            prices=setup.config.pricing,
        )


def _planned(setup: Setup) -> int:
    return sum(len(plan.chosen) * plan.suite.rounds for plan in setup.plans)


def _report(setup: Setup, session: SessionWriter, collected: Collected, unreachable: str) -> Report:
    notes = [*setup.config.warnings, *setup.rules.notes, *setup.job.notes]
    notes += [warning for plan in setup.plans for warning in plan.warnings]
    if collected.ended_early:
        notes.append(f"{collected.ended_early}: not every trial was made")
    setting = Setting(
        session_id=session.meta.session_id,
        created_at=session.meta.created_at,
        duration_s=round((datetime.now(UTC) - setup.now).total_seconds(), 1),
        mode=setup.job.mode,
        provenance=setup.provenance,
        loosened=(*setup.rules.loosened, *(x for plan in setup.plans for x in plan.loosened)),
        notes=tuple(dict.fromkeys(notes)),
        comment_id=setup.env.get("INPUT_COMMENT-ID") or "gate",
    )
    measured = [_measured(setup, plan, collected, unreachable) for plan in setup.plans]
    return conclude(measured, setup.config, setting, session.rows_of)


def _measured(setup: Setup, plan: SuitePlan, collected: Collected, unreachable: str) -> Measured:
    name = plan.suite.name
    table = collected.builders[name].table(plan.specs, plan.grader_digests)
    tally = collected.tallies[name]
    return Measured(
        name=name,
        meta=plan.meta(),
        table=table,
        tally=tally,
        baseline=setup.baselines[name],
        gates=plan.suite.gates,
        new_cases=plan.new_cases,
        unreachable=unreachable,
        not_run=len(plan.chosen) * plan.suite.rounds - tally.trials,
        unasked=len(plan.chosen) - len(table.cases),
    )
