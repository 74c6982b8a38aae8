"""Everything that is read and checked before the agent is asked for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gate import __version__
from gate.agents.under_test import begin, settings_digest, subject, subject_digest
from gate.errors import InvalidInput, UsageError
from gate.github.context import Job, token
from gate.plugins import Agent, World
from gate.records import AcceptedChange, Config, PluginSpec, Provenance
from gate.records.forge import StoredSession
from gate.run.accepted_changes import Accepted, find_accepted_changes
from gate.run.added_rounds import read_begun_rounds, set_rounds
from gate.run.apply_options import (
    add_key,
    apply_options,
    ask_without_agent,
    check_sent_keys,
    find_secrets,
    replace_dataset,
    tell_agent_line,
)
from gate.run.budget import check_price
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
from gate.store.session import read_meta
from gate.suites.config.lint import lint_with_data
from gate.suites.config.overrides import list_replaced
from gate.suites.protection.rules import Rules
from gate.system.sealing import nameable
from gate.user_code.processes import PROCESSES

if TYPE_CHECKING:
    from gate.store.baseline.find import Compared


class GivenAgent(Protocol):
    """An agent of the caller, which gate.yml cannot describe."""

    @property
    def spec(self) -> PluginSpec:
        """The PluginSpec that stands for it in reports."""
        ...

    def made(self, spec: PluginSpec) -> Agent:
        """The agent with the options of the command line, which are in `spec`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """The place of a run, and the rules that judge it."""

    options: RunOptions
    host: Host
    where: Where
    rules: Rules
    config: Config  # what judges, options applied

    @property
    def job(self) -> Job:
        return self.where.job

    @property
    def world(self) -> World:
        env, stopped = nameable(self.host.env), self.host.stop.is_requested
        given = bool(self.options.base_url)
        return World(env=env, root=self.rules.root, cancelled=stopped, base_url_given=given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything that is known and checked before the agent is asked for the first time."""

    place: RunPlace
    plans: tuple[SuitePlan, ...]
    agent: Agent
    control: Control
    control_agent: Agent | None
    provenance: Provenance
    baselines: Mapping[str, Compared]
    accepted: tuple[AcceptedChange, ...] = ()
    reviewed: LabelReview = field(default_factory=LabelReview)  # what people said of the judge
    earlier: StoredSession = field(default_factory=StoredSession)  # of a head with the same files
    seed: str | None = None  # of the order of the cases; None: the commit
    more_rounds: int | None = None  # that a session which ended is to have
    look: str = ""  # of a shard of stage 2: the id of the session that it goes on with
    notes: tuple[str, ...] = ()

    @property
    def resumed(self) -> Path | None:
        """The session that is continued; None for a new one."""
        given = self.place.options.resume
        return Path(given) if given else self.earlier.folder


def set_up(
    options: RunOptions,
    host: Host,
    *,
    control: Control | None = None,
    given: GivenAgent | None = None,
    asked: Provenance | None = None,
) -> Setup:
    """Reads and checks everything before the first call. `control`, `asked`: the control and the
    provenance of a run that was made already; `given`: an agent that replaces that of gate.yml.
    """
    began = read_begun_rounds(options.resume, options.rounds)
    place, control, agent = _set_up_agent(options, host, control, given, began)
    if options.joins is None:
        check_price(place.config, agent)
    plans = prepare(place.config.suites, place.rules, _selection(place))
    if options.failed is None:  # which chooses its cases itself
        check_sent_keys(place.rules, options, place.config, plans, control)
    place = replace(place, config=_check_with_data(place.config, plans))
    provenance = _provenance(place, agent).take_agent(asked)
    stored = {} if control.fresh else _find_baselines(plans, place, provenance)
    accepted = _find_accepted(place, plans)
    plans = _plan_looks(plans, control, stored, place, at_once=agent.concurrency)
    looked = take_recorded_looks(plans, agent, place.world, place.config, place.job, options)
    return Setup(
        place=place,
        plans=looked.plans,
        agent=agent,
        control=control,
        control_agent=subject(control.agent, control.retriever, place.rules.root)
        if control.agent
        else None,
        provenance=provenance,
        baselines=stored,
        accepted=accepted.changes,
        reviewed=review_plans(place.rules, place.config, plans),
        seed=looked.seed,
        more_rounds=options.rounds if began else None,
        notes=(
            *tell_unused_datasets(place.config.suites),
            *_tell_failed_searches(stored),
            *_tell_unused_baselines(stored, place.rules),
            *_notes(place.config, options.note),
            *looked.notes,
            *control.notes,
            *accepted.notes,
        ),
    )


def set_up_agent(options: RunOptions, host: Host) -> tuple[RunPlace, Agent]:
    """As `set_up`, as far as it goes without a dataset. Raises GateError."""
    place, _, agent = _set_up_agent(options, host, None, None, {})
    return place, agent


def _set_up_agent(
    options: RunOptions,
    host: Host,
    control: Control | None,
    given: GivenAgent | None,
    began: Mapping[str, int],
) -> tuple[RunPlace, Control, Agent]:
    PROCESSES.allow(options.timeout or 0.0)
    place = _choose_place(options, host, given, began)
    control = control or _control(place)
    place = _add_key(place, control)
    return place, control, _agent_of(place, given)


def _choose_place(
    options: RunOptions, host: Host, given: GivenAgent | None, began: Mapping[str, int]
) -> RunPlace:
    """Finds gate.yml and decides whose rules judge. Raises InvalidInput, UsageError."""
    home = options.home or find_home(options.config, host.log)
    where = where_of(host.env, home.root)
    rules = choose_rules(
        where,
        home,
        protect=options.protect,
        recorded=options.offline,
        alone=options.own_rules,
        instead=list_replaced(options.base_url),
    )
    if given is not None:
        rules = replace(rules, config=replace(rules.config, agent=given.spec))
    rules = ask_without_agent(rules, options, where)
    wanted = options.suite or options.base_url or options.provider_key
    check_has_config(rules.config, host.env, bundled_wanted=bool(wanted))
    rules = replace_dataset(rules, options)
    config = set_rounds(apply_options(options, rules, where.job, home), began)
    where = replace(where, job=find_release_before(where.job, token(host.env), config))
    return RunPlace(options=options, host=host, where=where, rules=rules, config=config)


def _add_key(place: RunPlace, control: Control) -> RunPlace:
    """With --provider-key in the environment; from here on no output shows a secret of theirs."""
    options, config, host = place.options, place.config, place.host
    host.secrets.update(find_secrets(options, config, control, host.env))
    return replace(place, host=replace(host, env=add_key(options, config, host.env)))


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


def _agent_of(place: RunPlace, given: GivenAgent | None) -> Agent:
    """Who is asked. Files that options name are looked at before anything is written. Raises
    UsageError.
    """
    options, config, world = place.options, place.config, place.world
    given_agent = given.made(config.agent) if given else None
    agent = subject(config.agent, config.retriever, world.root, given=given_agent)
    if options.record:
        check_record(options.record)
    if options.joins is not None:  # nobody is asked
        return agent
    with tell_agent_line(config):
        if options.offline:
            agent.check(world)
        begin(agent, world)
    return agent


def _selection(place: RunPlace) -> Selection:
    options = place.options
    return Selection(
        sample=options.sample,
        event=None if options.all_cases else place.job.sample_key,
        shard=options.shard,
        case_ids=frozenset(options.case),
        timeout_s=options.timeout,
    )


def _control(place: RunPlace) -> Control:
    options, rules, config = place.options, place.rules, place.config
    instead = "--replay" if options.replay else "gate grade" if options.answers else ""
    if options.baseline not in (None, "auto"):
        instead = f"--baseline {options.baseline}"
    return choose_control(
        config,
        rules.base_agent,
        base_retriever=rules.theirs.retriever if rules.theirs else None,
        own_run=measures_the_base(place.job, config),
        instead=instead,
        timeout=options.timeout,
        concurrency=options.concurrency,
    )


def _has_partner(plan: SuitePlan, control: Control, baselines: Mapping[str, Compared]) -> bool:
    """Whether there is, or will be, something to compare the suite with."""
    if control.fresh:
        return bool(plan.chosen - plan.new_cases)
    baseline = baselines.get(plan.name)
    return baseline is not None and baseline.table is not None


def _check_with_data(config: Config, plans: tuple[SuitePlan, ...]) -> Config:
    """Raises InvalidInput for what only datasets show to be wrong; warnings join the others."""
    measured = {plan.name: plan.specs for plan in plans}
    findings = lint_with_data(config, measured, {p.name: p.all_ids for p in plans})
    if findings.problems:
        raise InvalidInput(findings.problems)
    return replace(config, warnings=(*config.warnings, *findings.warnings))


def _find_baselines(
    plans: tuple[SuitePlan, ...], place: RunPlace, provenance: Provenance
) -> dict[str, Compared]:
    """Found and read before the first call, so that a broken file costs nothing."""
    rules = place.config.baseline
    if rules.source == "none":
        return {}
    from gate.store.baseline.find import find

    context = replace(place_of(place.where, place.rules), own=_read_own_id(place.options.resume))
    return {p.name: find(p.name, p.dataset_digest, rules, context, provenance) for p in plans}


def _read_own_id(resumed: str | None) -> str:
    """The id of the session that is continued; what is wrong with it is told when it is opened."""
    try:
        return read_meta(Path(resumed)).session_id if resumed else ""
    except UsageError:
        return ""


def _plan_looks(
    plans: tuple[SuitePlan, ...],
    control: Control,
    baselines: Mapping[str, Compared],
    place: RunPlace,
    *,
    at_once: int,
) -> tuple[SuitePlan, ...]:
    """A part of the cases decides nothing, and one case by name is no measurement."""
    options, config, job = place.options, place.config, place.job
    if options.shard or options.case or (options.joins is not None and options.stage is None):
        return plans
    partners = frozenset(p.name for p in plans if _has_partner(p, control, baselines))
    if options.stage:
        return plan_looks(plans, partners, config, early=False, concurrency=at_once)
    early = stops_early(config, job, options.stop_rule)
    looked_at = early or extends(config, job, options.stop_rule)
    if not (looked_at or asks_again(config, job, options.stop_rule)):
        return plans
    compared = partners if looked_at else frozenset()
    return plan_looks(plans, compared, config, early=early, concurrency=at_once)


def _find_accepted(place: RunPlace, plans: tuple[SuitePlan, ...]) -> Accepted:
    options, where = place.options, place.where
    has_named_cases = options.case or options.failed
    if options.shard or has_named_cases or options.own_rules:  # none of them decides anything
        return Accepted()
    return find_accepted_changes(where.job, token(where.env), {m for p in plans for m in p.specs})


def _provenance(place: RunPlace, agent: Agent) -> Provenance:
    config, job, opened = place.config, place.job, place.where.opened
    return Provenance(
        commit=job.head_sha or (opened.git.head() if opened.git else None),
        base_commit=base_sha(job, place.rules),
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
