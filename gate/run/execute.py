"""A complete run, from options to a written session: what `gate run` and the action do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from gate import __version__
from gate.agents.pricing import model_of, with_list_prices
from gate.agents.under_test import NOBODY, check_health, make_slots
from gate.errors import UsageError
from gate.registry import BackgroundImport
from gate.run.apply_options import tell_agent_line
from gate.run.control_session import control_of_shards, open_control_session
from gate.run.earlier_head import (
    FindEarlier,
    add_earlier_verdicts,
    agent_digest,
    continue_earlier_head,
    deployment_digest,
    find_no_session,
)
from gate.run.grade import ask_nobody
from gate.run.options import Host, RunOptions
from gate.run.parts import NO_PARTS
from gate.run.pipeline import Collected, Effects, measure
from gate.run.progress import ProgressListener, count_planned, progress, read_passed_shares
from gate.run.record_answers import record_end, recorder
from gate.run.resume import continue_looks, reopen
from gate.run.setup import GivenAgent, Setup, set_up
from gate.store.session import (
    Meta,
    Session,
    SessionWriter,
    earlier,
    new_session_id,
    newest_ended,
)
from gate.suites.config.check_provider_key import provider_key
from gate.suites.protection.digests import list_edited_columns
from gate.suites.protection.rules import with_late_sources
from gate.system.outlet import wants_color
from gate.user_code.hashes import Sources, merge_sources
from gate.user_code.processes import PROCESSES
from gate.verdict.course import Course

if TYPE_CHECKING:
    from gate.agents.judges.judge_panel import Panel
    from gate.run.cluster.pool import ClusterPool
    from gate.run.judge import Outcome


Measure = Callable[..., Collected]  # called as `measure` of gate/run/pipeline.py is


class Ended(Protocol):
    """The result of a run."""

    @property
    def outcome(self) -> str: ...


def execute(
    options: RunOptions,
    host: Host,
    shards: Sequence[Session] = (),
    find: FindEarlier = find_no_session,
    given: GivenAgent | None = None,
    measure: Measure = measure,
) -> Outcome:
    """Runs everything but printing and publishing. With `shards` no agent is asked: their trials
    are joined into one session and judged once. `find`: looks for the session of an earlier head
    with the same files. `given`: an agent in place of gate.yml's. Raises GateError.
    """
    control = control_of_shards(shards, options.baseline)
    if options.stage is None:
        asked = shards[0].meta.provenance if shards else None
        setup = set_up(options, host, control=control, given=given, asked=asked)
    else:
        from gate.run.stages import set_up_stage

        setup = set_up_stage(options, host, shards, control=control, given=given)
    setup = continue_earlier_head(setup, find)
    return cast("Outcome", finish(setup, shards, BackgroundImport("gate.run.judge"), measure))


def finish(
    setup: Setup,
    shards: Sequence[Session],
    judging: BackgroundImport,
    measure: Measure = measure,
) -> Ended:
    """Makes the trials and passes them to the module that `judging` loads."""
    options = setup.place.options
    setup, untold = _add_changed_defaults(setup)
    parts = NO_PARTS
    if shards:
        from gate.run.joined_parts import join_parts

        parts = join_parts(shards, setup.plans)
    with (
        _open_cluster(setup) as cluster,
        _open_session(setup, untold) as session,
        open_control_session(
            setup, session, parts.controls, setup.place.host.redactor()
        ) as control,
        _panel(setup, session, needed=not shards) as panel,
    ):
        if parts.health is not None:
            session.note_health(parts.health)
        if parts.look:
            session.log.append_look(parts.look)
        setup, course = continue_looks(setup, session)
        setup = add_earlier_verdicts(setup, session)
        for row in chain.from_iterable(part.rows() for part in parts.sessions):
            session.append(row)
        offline = bool(shards or options.offline)
        lost = "" if offline else _check_health(setup, session, cluster)
        who = "retriever" if setup.place.config.agent.name == NOBODY else "agent"
        unreachable = f"the {who} cannot be reached: {lost}" if lost else ""
        # Without its judge the run goes on: what the judge decides is missing, the rest is judged.
        unjudged = "" if unreachable else panel.unreachable()
        beside = setup.control_agent
        world = replace(setup.place.world, section="control_agent")
        silent = check_health(beside, world).error if beside and not cluster else ""
        ask = not (unreachable or silent or shards)
        if parts.whole:
            measure = partial(measure, joined=True)
        make = partial(_make_trials, setup, session, control, panel, course)
        collected = make(judging=judging, measure=measure, ask=ask, cluster=cluster)
        unreachable = unreachable or PROCESSES.give_up_reason()
        collected = replace(collected, control_unreachable=silent)
        if shards:
            collected = replace(collected, lost=parts.lost, ended_early=parts.ended_early)
        setup = replace(
            setup, notes=(*setup.notes, *collected.notes, *panel.notes(), *filter(None, [unjudged]))
        )
        session.note_sources(PROCESSES.sources(setup.place.rules.root))
        session.note_sources(cluster.sources() if cluster else {})
        before = merge_sources(session.meta.sources, *(shard.meta.sources for shard in shards))
        session.note_sources(before)
        setup = _add_late_sources(setup, before)
        session.write_details()
        if control is not None:
            control.write_details()
        ended: Ended = judging.load().judge(setup, session, collected, unreachable)
        session.log.append_verdict(ended.outcome, setup.provenance.commit)
        return ended


def _add_changed_defaults(setup: Setup) -> tuple[Setup, tuple[str, ...]]:
    """What changed since the version whose words were read here before is a note, once; the
    names of changes that do not concern this run are kept for a later one. What lies in a job's
    folder says nothing about its readers: there the baseline counts.
    """
    before = None
    if setup.resumed is not None:
        before = earlier(setup.resumed)
    elif setup.place.job.mode == "laptop":
        before = newest_ended(Path(setup.place.config.report.dir))
    versions = {before.version} if before else _versions_of_baselines(setup)
    untold = before.untold if before else ()
    if versions <= {__version__} and not untold:
        return setup, ()
    from gate.run.changed_defaults import tell_changed_defaults

    sentences, later = tell_changed_defaults(setup, versions, untold)
    return replace(setup, notes=(*sentences, *setup.notes)), later


def _versions_of_baselines(setup: Setup) -> set[str]:
    newest = (baseline.history[-1] for baseline in setup.baselines.values() if baseline.history)
    return {run.fingerprint["tool"] for run in newest if "tool" in run.fingerprint}


def _add_late_sources(setup: Setup, before: Sources) -> Setup:
    """With the edited files that graders imported only while they judged, in this run or `before`
    in what it goes on with.
    """
    rules = with_late_sources(setup.place.rules, before)
    if rules is setup.place.rules:
        return setup
    plans = tuple(
        replace(plan, edited=list_edited_columns(plan.suite, plan.graders, rules))
        for plan in setup.plans
    )
    return replace(setup, place=replace(setup.place, rules=rules), plans=plans)


def _check_health(setup: Setup, session: SessionWriter, cluster: ClusterPool | None) -> str:
    """Why the agent cannot be asked, empty when it can; what was found stands in meta.json."""
    place = setup.place
    with _discard_unasked(setup, session), tell_agent_line(place.config):
        health_found = cluster.health if cluster else check_health(setup.agent, place.world)
    session.note_health(health_found)
    return health_found.error


@contextmanager
def _discard_unasked(setup: Setup, session: SessionWriter) -> Iterator[None]:
    """Removes a new session that a mistake of the user's ends before a trial is finished."""
    try:
        yield
    except UsageError:
        if setup.resumed is None and next(iter(session.rows()), None) is None:
            session.discard()
        raise


def _open_session(setup: Setup, untold: tuple[str, ...]) -> SessionWriter:
    """A new session folder, or the one to go on with. Raises UsageError when that one ran other
    cases or graders.
    """
    place = setup.place
    redact = place.host.redactor()
    meta = Meta(
        session_id=new_session_id(place.where.now),
        created_at=place.where.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        provenance=setup.provenance,
        suites={plan.name: plan.meta() for plan in setup.plans},
        options=place.options.as_stored(),
        untold=untold,
        same_agent=agent_digest(place.config),
        deployment=deployment_digest(setup),
        seed=setup.seed,
        look=setup.look,
    )
    if setup.resumed is None:
        return SessionWriter.create(Path(place.config.report.dir), meta, redact)
    return reopen(setup.resumed, meta, redact, head=setup.earlier.head, rounds=setup.more_rounds)


def _make_trials(
    setup: Setup,
    session: SessionWriter,
    control: SessionWriter | None,
    panel: Panel | _NoPanel,
    course: Course,
    *,
    judging: BackgroundImport,
    measure: Measure,
    ask: bool,
    cluster: ClusterPool | None,
) -> Collected:
    place = setup.place
    slots = make_slots([setup.agent, *filter(None, [setup.control_agent])])
    with (
        _discard_unasked(setup, session),
        recorder(place.options.record, place.host.redactor()) as record,
        _progress(setup, ask, slots.describe, session, control) as listener,
    ):
        effects = Effects(
            world=replace(place.world, session=session.folder),
            session=session,
            stop=place.host.stop,
            progress=listener.row,
            control=control,
            beside=listener.beside,
            record=record,
            scrub=place.host.redactor().scrub,
            idle=judging.start,
            looked=listener.look,
            ask=panel.ask,
            judge_model=model_of(place.config.judge),
            beyond=panel.concurrency,
            sources=partial(PROCESSES.last_sources, place.rules.root.resolve()),
            broken=PROCESSES.give_up_reason,
            slots=slots,
            pool=cluster,
        )
        collected = measure(
            setup.plans,
            setup.agent if ask else None,
            effects,
            budget=place.config.budget,
            prices=with_list_prices(place.config.pricing),
            control=setup.control_agent if ask else None,
            course=course,
            undecided=lambda so_far: judging.load().undecided(setup, session, so_far),
        )
        if ask:
            done = {name: tally.trials for name, tally in collected.tallies.items()}
            record_end(place.options.record, setup.plans, session.meta, done, place.host.redactor())
        return collected


class _NoPanel:
    """Where no grader asks a model."""

    concurrency = 0
    ask = staticmethod(ask_nobody)

    def unreachable(self) -> str:
        return ""

    def notes(self) -> tuple[str, ...]:
        return ()


def _open_cluster(setup: Setup) -> AbstractContextManager[ClusterPool | None]:
    if setup.place.options.executor != "dask" or setup.place.options.answers:
        return nullcontext()
    from gate.run.cluster.pool import open_pool

    return open_pool(setup)


@contextmanager
def _panel(setup: Setup, session: SessionWriter, *, needed: bool) -> Iterator[Panel | _NoPanel]:
    """The judge and the verifier; nobody where no grader asks one. What a resumed session has
    spent on them counts against their budgets.
    """
    place = setup.place
    graders = [grader for plan in setup.plans for grader in plan.graders.values()]
    if not needed or not any(hasattr(grader, "questions") for grader in graders):
        yield _NoPanel()
        return
    from gate.agents.judges.judge_panel import panel_of, without_open_caches

    config = place.config if place.rules.base is None else without_open_caches(place.config)
    spent = sum((row.get("judging") or {}).get("usd", 0.0) for row in session.rows())
    panel = panel_of(config, place.world, spend_before=spent, hidden=place.host.secrets)
    try:
        yield panel
    finally:
        panel.close()


def _progress(
    setup: Setup,
    ask: bool,
    describe_pace: Callable[[], str],
    session: SessionWriter,
    control: SessionWriter | None,
) -> AbstractContextManager[ProgressListener]:
    """What may make the answers worthless is told before they are paid for."""
    place, options = setup.place, setup.place.options
    warned = provider_key(place.config, given=bool(options.provider_key)).warnings if ask else ()
    return progress(
        sys.stderr,
        planned=sum(count_planned(setup.plans, fresh_control=setup.control.fresh).values()),
        quiet=options.quiet,
        verbose=options.verbose,
        color=wants_color(sys.stderr, place.host.env, no_color=options.colorless),
        redact=place.host.redactor(),
        warnings=warned,
        describe_pace=describe_pace,
        planned_of=count_planned(setup.plans),
        read_shares=partial(read_passed_shares, setup.baselines),
        begun=session.rows() if setup.resumed else (),
        begun_beside=control.rows() if control and setup.resumed else (),
    )
