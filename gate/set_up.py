"""Everything that is read and checked before the agent is asked for the first time."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gate import __version__
from gate.baselines import source_names
from gate.codec import digest
from gate.config import select
from gate.config_lint import lint_with_data
from gate.config_options import for_release, override, settings
from gate.control import Control, control_of
from gate.errors import InvalidInput, UsageError
from gate.github.context import Job, current_job, token
from gate.github.opening import Opened, open_local
from gate.plugins import AGENTS, Agent, World, build
from gate.prepare import Selection, SuitePlan, prepare
from gate.records import Config, PluginSpec, Provenance
from gate.rules import Base, Rules, judging_rules, own_config
from gate.stopping import extends, stops_early, with_looks

if TYPE_CHECKING:
    from gate.lookup import Compared


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
    control: Control
    control_agent: Agent | None
    provenance: Provenance
    baselines: Mapping[str, Compared]
    notes: tuple[str, ...] = ()

    @property
    def world(self) -> World:
        stop = self.options.stop
        return World(env=self.env, root=self.rules.root, cancelled=stop.requested)


def set_up(
    options: argparse.Namespace,
    env: Mapping[str, str],
    more: Mapping[str, str],
    *,
    control: Control | None = None,
) -> Setup:
    """Reads and checks config, base rules, datasets and baselines; the agent is not asked yet.

    `control`: of a run that was made already; None: gate.yml decides.
    """
    _only_threads(options)
    now, job = datetime.now(UTC), current_job(env)
    root = _root(options)
    opened = _opened(job, token(env), root)
    rules = _rules(options, env, job, opened, now, alone=more.get("protect") == "false")
    config = _effective(options, rules, job, more)
    control = control or _control(options, rules, config, job)
    agent = build(AGENTS, config.agent, root)
    plans = prepare(config.suites, rules, _selection(options, job, more))
    config = _checked_with_data(config, plans)
    provenance = _provenance(job, opened, config, agent)
    stored = {} if control.fresh else _baselines(plans, config, opened, provenance, root, now)
    compared = frozenset(p.suite.name for p in plans if _has_partner(p, control, stored))
    return Setup(
        options=options,
        env=_with_key(options, config, env),
        now=now,
        job=job,
        opened=opened,
        rules=rules,
        config=config,
        plans=_looked_at(plans, compared, config, job, options, agent.concurrency),
        agent=agent,
        control=control,
        control_agent=build(AGENTS, control.agent, root) if control.agent else None,
        provenance=provenance,
        baselines=stored,
        notes=(*([more["note"]] if "note" in more else []), *control.notes),
    )


def _only_threads(options: argparse.Namespace) -> None:
    if options.executor != "threads" or options.scheduler:
        raise UsageError("--executor dask, --scheduler: not in this version; leave them out")


def _root(options: argparse.Namespace) -> Path:
    return Path(options.config).parent if options.config else Path()


def _selection(options: argparse.Namespace, job: Job, more: Mapping[str, str]) -> Selection:
    return Selection(
        sample=options.sample,
        event=None if more.get("sample") == "all" else job.sample_key,
        shard=options.shard,
        case_ids=frozenset(options.case or ()),
    )


def _control(options: argparse.Namespace, rules: Rules, config: Config, job: Job) -> Control:
    instead = "--replay" if options.replay else ""
    if options.baseline not in (None, "auto"):
        instead = f"--baseline {options.baseline}"
    return control_of(
        config,
        rules.base_agent,
        own_run=_measures_the_base(job, config),
        instead=instead,
        timeout=options.timeout,
        concurrency=options.concurrency,
    )


def _measures_the_base(job: Job, config: Config) -> bool:
    own = job.protect_ref is None or job.head_ref == config.baseline.branch
    return job.mode == "schedule" or (job.mode == "branch" and own)


def _has_partner(plan: SuitePlan, control: Control, baselines: Mapping[str, Compared]) -> bool:
    """Whether there is, or will be, something to compare the suite with."""
    if control.fresh:
        return bool(plan.chosen - plan.new_cases)
    found = baselines.get(plan.suite.name)
    return found is not None and found.table is not None


def _checked_with_data(config: Config, plans: tuple[SuitePlan, ...]) -> Config:
    """Raises InvalidInput for what only datasets show to be wrong; warnings join the others."""
    measured = {plan.suite.name: plan.specs for plan in plans}
    found = lint_with_data(config, measured, {p.suite.name: p.all_ids for p in plans})
    if found.problems:
        raise InvalidInput(found.problems)
    return replace(config, warnings=(*config.warnings, *found.warnings))


def _baselines(
    plans: tuple[SuitePlan, ...],
    config: Config,
    opened: Opened,
    made: Provenance,
    root: Path,
    now: datetime,
) -> dict[str, Compared]:
    """Found and read before the first call, so that a broken file costs nothing."""
    if config.baseline.source == "none":
        return {}
    lookup = importlib.import_module("gate.lookup")  # numpy: only where there is a baseline
    place = lookup.Place(
        root=root, forge=opened.forge, base_sha=made.base_commit, now=now, mode=made.mode
    )
    return {p.suite.name: lookup.find(p, config.baseline, place, made) for p in plans}


def _looked_at(
    plans: tuple[SuitePlan, ...],
    compared: frozenset[str],
    config: Config,
    job: Job,
    options: argparse.Namespace,
    concurrency: int,
) -> tuple[SuitePlan, ...]:
    """A part of the cases decides nothing, and one case by name is no measurement."""
    early = stops_early(config, job, options.stop_rule)
    looked_at = early or extends(config, job, options.stop_rule)
    if options.shard or options.case or not looked_at:
        return plans
    return with_looks(plans, compared, config, early=early, concurrency=concurrency)


def _opened(job: Job, key: str, root: Path) -> Opened:
    """The API's client costs 0.1 s to import: only where there is a token to use it with."""
    if not (job.api_url and job.repository and key):
        return open_local(root)
    forge = importlib.import_module("gate.github.forge")
    return cast("Opened", forge.open_forge(job, forge.connect(job, key), root))


def _rules(
    options: argparse.Namespace,
    env: Mapping[str, str],
    job: Job,
    opened: Opened,
    now: datetime,
    *,
    alone: bool,
) -> Rules:
    """`alone`: gate.yml as it stands here, for a plan."""
    root = _root(options)
    own = own_config(options.config, root, env, now.date())
    if alone:
        return Rules(config=own, own=own, root=root)
    sha = _base_sha(job, opened, own) if job.mode == "laptop" else job.protect_ref
    base, why = None, ""
    if job.mode == "laptop" or job.protect_ref is not None:
        if sha is None or opened.forge is None:
            why = "; ".join(opened.notes) or f"no commit of {own.baseline.branch} to compare with"
        else:
            base = Base(sha=sha, name=job.base_ref or own.baseline.branch, forge=opened.forge)
    return judging_rules(own, root=root, base=base, env=env, today=now.date(), why_no_base=why)


def _base_sha(job: Job, opened: Opened, config: Config) -> str | None:
    """docs/semantics.md 6: the event's base commit; on a laptop the merge base with the branch."""
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
        baseline=_source(options.baseline, rules.root),
        out=options.out,
    )
    if not options.replay:
        return config
    recorded = {"file": str(Path(options.replay).resolve())}
    return replace(config, agent=PluginSpec(name="replay", options=recorded))


def _source(given: str | None, root: Path) -> str | None:
    """A path on the command line starts where the command runs, one in gate.yml at its folder."""
    if given is None or source_names(given) != ("file",) or root == Path():
        return given
    return str(Path(given).resolve())


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
        agent_digest=digest(config.agent.options),
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
