"""Everything that is read and checked before the agent is asked for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from gate import __version__
from gate.agents.pricing import price_of
from gate.agents.under_test import begin, settings_digest, subject, subject_digest
from gate.errors import InvalidInput, UsageError
from gate.github.context import Job, token
from gate.plugins import Agent, AgentTraits, World, read_traits
from gate.records import AcceptedChange, Config, PluginSpec, Provenance
from gate.records.forge import StoredSession
from gate.run.accepted_changes import Accepted, find_accepted_changes
from gate.run.added_rounds import read_begun_rounds, set_rounds
from gate.run.apply_options import (
    add_key,
    apply_options,
    ask_without_agent,
    find_secrets,
    replace_dataset,
)
from gate.run.control_agent import Control, choose_control
from gate.run.early_stopping import asks_again, extends, plan_looks, stops_early
from gate.run.home import check_has_config, find_home, tell_unused_datasets
from gate.run.judge_labels import LabelReview, review_plans
from gate.run.options import Host, RunOptions
from gate.run.prepare import Selection, SuitePlan, prepare
from gate.run.record_answers import check_record
from gate.run.recorded_looks import take_recorded_looks
from gate.run.rules_for_event import (
    Where,
    base_sha,
    choose_rules,
    find_release_before,
    measures_the_base,
    place_of,
    where_of,
)
from gate.store.baseline.source_order import BaselineContext
from gate.suites.config.lint import lint_with_data
from gate.suites.protection.rules import Rules
from gate.system.sealing import nameable
from gate.user_code.processes import PROCESSES

if TYPE_CHECKING:
    from gate.store.baseline.find import Compared

_TELL_NO_COST = ("api.anthropic.com", "api.openai.com")


class GivenAgent(Protocol):
    """An agent of the caller's own, which no section of gate.yml could describe."""

    @property
    def spec(self) -> PluginSpec:
        """What stands for it where gate.yml's agent would be told."""
        ...

    def made(self, spec: PluginSpec) -> Agent:
        """With the options of the command line, which `spec` has by now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that is known and checked before the agent is asked for the first time."""

    options: RunOptions
    host: Host
    where: Where
    rules: Rules
    config: Config  # what judges, options applied
    plans: tuple[SuitePlan, ...]
    agent: Agent
    control: Control
    control_agent: Agent | None
    provenance: Provenance
    baselines: Mapping[str, Compared]
    accepted: tuple[AcceptedChange, ...] = ()
    reviewed: LabelReview = field(default_factory=LabelReview)  # what people said of the judge
    earlier: StoredSession = field(
        default_factory=StoredSession
    )  # of an earlier head with the same files
    seed: str | None = None  # of the order of the cases; None: the commit
    more_rounds: int | None = None  # that a session which ended is to have
    notes: tuple[str, ...] = ()

    @property
    def resumed(self) -> Path | None:
        """The session that is gone on with."""
        given = self.options.resume
        return Path(given) if given else self.earlier.folder

    @property
    def world(self) -> World:
        stopped = self.host.stop.is_requested
        return World(env=nameable(self.host.env), root=self.rules.root, cancelled=stopped)


def set_up(
    options: RunOptions,
    host: Host,
    *,
    control: Control | None = None,
    given: GivenAgent | None = None,
) -> Setup:
    """Reads and checks all before the first call; `control`: of a run that was made already;
    `given`: an agent that is asked instead of gate.yml's.
    """
    PROCESSES.allow(options.timeout or 0.0)
    env, home = host.env, options.home or find_home(options.config, host.log)
    where = where_of(env, home.root)
    rules = choose_rules(
        where,
        home,
        protect=options.protect,
        recorded=bool(options.replay),
        alone=options.own_rules,
    )
    if given is not None:
        rules = replace(rules, config=replace(rules.config, agent=given.spec))
    rules = ask_without_agent(rules, options, where)
    wanted = options.suite or options.base_url or options.provider_key
    check_has_config(rules.config, env, bundled_wanted=bool(wanted))
    rules = replace_dataset(rules, options)
    began = read_begun_rounds(options.resume, options.rounds)
    config = set_rounds(apply_options(options, rules, where.job, home), began)
    where = replace(where, job=find_release_before(where.job, token(env), config))
    job = where.job
    control = control or _control(options, rules, config, job)
    host.secrets.update(find_secrets(options, config, control, env))
    host = replace(host, env=add_key(options, config, env))
    world = World(env=nameable(host.env), root=rules.root)
    agent = _agent_of(options, config, world, given)
    _check_money(config, agent)
    plans = prepare(config.suites, rules, _selection(options, job))
    config = _check_with_data(config, plans)
    provenance = _provenance(where, rules, config, agent)
    place = place_of(where, rules)
    stored = {} if control.fresh else _find_baselines(plans, config, place, provenance)
    meant, people = _find_accepted(options, where, plans), review_plans(rules, config, plans)
    plans = _plan_looks(plans, control, stored, config, job, options, at_once=agent.concurrency)
    looked = take_recorded_looks(plans, agent, world, config, job, options)
    return Setup(
        options=options,
        host=host,
        where=where,
        rules=rules,
        config=config,
        plans=looked.plans,
        agent=agent,
        control=control,
        control_agent=subject(control.agent, control.retriever, home.root)
        if control.agent
        else None,
        provenance=provenance,
        baselines=stored,
        accepted=meant.changes,
        reviewed=people,
        seed=looked.seed,
        more_rounds=options.rounds if began else None,
        notes=(
            *tell_unused_datasets(config.suites),
            *_tell_failed_searches(stored),
            *_tell_unused_baselines(stored, rules),
            *_notes(config, options.note),
            *looked.notes,
            *control.notes,
            *meant.notes,
        ),
    )


def _tell_failed_searches(baselines: Mapping[str, Compared]) -> list[str]:
    """A job without a baseline that nobody could look for must not pass for one that has none."""
    reasons = dict.fromkeys(b.not_looked_for for b in baselines.values() if b.not_looked_for)
    return [f"the search for the baseline failed: {why}" for why in reasons]


def _tell_unused_baselines(baselines: Mapping[str, Compared], rules: Rules) -> list[str]:
    """Where the own rules judge, the baseline is the base branch's all the same."""
    branch, folder = rules.config.baseline.branch, rules.config.baseline.path
    return [
        f"{folder}/{name}.json differs from the one on {branch}; the one on {branch} was used"
        for name, baseline in baselines.items()
        if baseline.here == "edited" and not rules.has_base
    ]


def _notes(config: Config, note: str) -> list[str]:
    """Who reads that an agent is as good as before must know that none was asked."""
    given = [note] if note else []
    if config.agent.name != "replay":
        return given
    name = Path(str(config.agent.options["file"])).name
    return [f"recorded answers were judged (`{name}`): no agent was called", *given]


def _agent_of(options: RunOptions, config: Config, world: World, given: GivenAgent | None) -> Agent:
    """Who is asked. Files that options name are looked at before anything is written. Raises
    UsageError.
    """
    given_agent = given.made(config.agent) if given else None
    agent = subject(config.agent, config.retriever, world.root, given=given_agent)
    if options.record:
        check_record(options.record)
    if options.replay:
        agent.check(world)
    begin(agent, world)
    return agent


def _check_money(config: Config, agent: Agent) -> None:
    """Raises UsageError for a budget of money that cannot hold, where that is known before the
    first call: at an address that tells tokens and no costs. Others may tell what they cost.
    """
    traits = read_traits(AgentTraits, agent)
    host = urlsplit(str(traits.base_url or "")).hostname
    model = str(traits.model or "")
    if config.budget.usd is None or host not in _TELL_NO_COST or price_of(model, config.pricing):
        return
    raise UsageError(
        f"budget.usd, --budget-usd: the price of the model '{model[:80]}' is unknown, and {host} "
        "does not report what an answer costs, so a budget in USD cannot be enforced: set "
        "the price under "
        "`pricing:` in gate.yml, or limit `budget: {calls: N}` instead"
    )


def _selection(options: RunOptions, job: Job) -> Selection:
    return Selection(
        sample=options.sample,
        event=None if options.all_cases else job.sample_key,
        shard=options.shard,
        case_ids=frozenset(options.case),
        timeout_s=options.timeout,
    )


def _control(options: RunOptions, rules: Rules, config: Config, job: Job) -> Control:
    instead = "--replay" if options.replay else ""
    if options.baseline not in (None, "auto"):
        instead = f"--baseline {options.baseline}"
    return choose_control(
        config,
        rules.base_agent,
        base_retriever=rules.theirs.retriever if rules.theirs else None,
        own_run=measures_the_base(job, config),
        instead=instead,
        timeout=options.timeout,
        concurrency=options.concurrency,
    )


def _has_partner(plan: SuitePlan, control: Control, baselines: Mapping[str, Compared]) -> bool:
    """Whether there is, or will be, something to compare the suite with."""
    if control.fresh:
        return bool(plan.chosen - plan.new_cases)
    baseline = baselines.get(plan.suite.name)
    return baseline is not None and baseline.table is not None


def _check_with_data(config: Config, plans: tuple[SuitePlan, ...]) -> Config:
    """Raises InvalidInput for what only datasets show to be wrong; warnings join the others."""
    measured = {plan.suite.name: plan.specs for plan in plans}
    findings = lint_with_data(config, measured, {p.suite.name: p.all_ids for p in plans})
    if findings.problems:
        raise InvalidInput(findings.problems)
    return replace(config, warnings=(*config.warnings, *findings.warnings))


def _find_baselines(
    plans: tuple[SuitePlan, ...], config: Config, place: BaselineContext, provenance: Provenance
) -> dict[str, Compared]:
    """Found and read before the first call, so that a broken file costs nothing."""
    if config.baseline.source == "none":
        return {}
    from gate.store.baseline.find import find

    return {
        p.suite.name: find(p.suite.name, p.dataset_digest, config.baseline, place, provenance)
        for p in plans
    }


def _plan_looks(
    plans: tuple[SuitePlan, ...],
    control: Control,
    baselines: Mapping[str, Compared],
    config: Config,
    job: Job,
    options: RunOptions,
    *,
    at_once: int,
) -> tuple[SuitePlan, ...]:
    """A part of the cases decides nothing, and one case by name is no measurement."""
    early = stops_early(config, job, options.stop_rule)
    looked_at = early or extends(config, job, options.stop_rule)
    again = looked_at or asks_again(config, job, options.stop_rule)
    if options.shard or options.case or not again:
        return plans
    partners = frozenset(p.suite.name for p in plans if _has_partner(p, control, baselines))
    compared = partners if looked_at else frozenset()
    return plan_looks(plans, compared, config, early=early, concurrency=at_once)


def _find_accepted(options: RunOptions, where: Where, plans: tuple[SuitePlan, ...]) -> Accepted:
    has_named_cases = options.case or options.failed
    if options.shard or has_named_cases or options.own_rules:  # none of them decides anything
        return Accepted()
    return find_accepted_changes(where.job, token(where.env), {m for p in plans for m in p.specs})


def _provenance(where: Where, rules: Rules, config: Config, agent: Agent) -> Provenance:
    job, opened = where.job, where.opened
    return Provenance(
        commit=job.head_sha or (opened.git.head() if opened.git else None),
        base_commit=base_sha(job, rules),
        config_digest=config.digest,
        agent_digest=subject_digest(config.agent, config.retriever),
        agent_options=settings_digest(config.agent, config.retriever),
        agent=agent.describe(),
        judge=_format_model(config.judge) if config.judge else None,
        verifier=_format_model(config.verifier) if config.verifier else None,
        concurrency=agent.concurrency,
        tool_version=__version__,
        event=job.event,
        mode=job.mode,
        repository=job.repository,
        run_url=job.run_url,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        pull_request=job.pull_request,
    )


def _format_model(model: PluginSpec) -> str:
    """Type and model."""
    return " ".join(str(part) for part in (model.name, model.options.get("model")) if part)
