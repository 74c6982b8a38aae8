"""Finds a suite's baseline, pools its runs and lists how its circumstances differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from gate.analysis.metric_names import describe_stored_names
from gate.errors import UsageError
from gate.files.plain_file import read_if_there
from gate.records import BaselineInfo, BaselineRules, Provenance
from gate.records.forge import BaselineRequest, FoundBaseline, Here
from gate.store.baseline.source_order import BaselineContext, find_baseline, source_names

if TYPE_CHECKING:
    from gate.analysis.pooling import Pool
    from gate.analysis.table import Table
    from gate.graders.trajectories.path import Path, PathsOf
    from gate.records.baseline import BaselineRun, StoredAnswer
    from gate.store.baseline.file import BaselineFile, StoredAnchor
    from gate.store.baseline.schema import AcceptanceNote

_HASHED = {
    "agent_digest": "agent options",
    "agent_options": "agent options",
    "config": "rules",
    "dataset": "dataset",
}


def _no_paths(case_ids: frozenset[str]) -> Mapping[str, Path]:
    return {}


def _no_answers() -> Iterator[StoredAnswer]:
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The baseline of one suite, ready to be compared with."""

    table: Table | None = None  # None: there is no baseline; the info says why
    info: BaselineInfo = field(default_factory=lambda: BaselineInfo(source="none"))
    not_comparable: str = ""
    not_looked_for: str = ""  # why a job could not even look where a baseline may be
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    runs: tuple[BaselineRun, ...] = ()  # whose rounds are in the table, oldest first
    history: tuple[BaselineRun, ...] = ()  # all that the file has, oldest first
    accepted: tuple[AcceptanceNote, ...] = ()  # changes that the file has taken in, oldest first
    anchor: StoredAnchor | None = None  # what main is compared with; None: the file has none
    stored: Table | None = None  # the rounds of all runs of `history`, in the pool or not
    here: Here = ""  # how the working tree's file differs from the base branch's
    text: bytes = field(default=b"", repr=False)  # the file itself, kept for a release's evidence
    paths_of: PathsOf = field(default=_no_paths, repr=False)  # what the agent did, by case
    # Of its newest run, by case. Raises GateError where they cannot be read.
    stored_answers: Callable[[], Iterator[StoredAnswer]] = field(default=_no_answers, repr=False)


def find(
    suite: str, dataset_digest: str, rules: BaselineRules, place: BaselineContext, now: Provenance
) -> Compared:
    """The pooled baseline of a suite; without one `Compared.table` is None and the info says why.

    `dataset_digest`, `now`: what this run is like; differences to the baseline's newest run are
    listed. Raises UsageError (unreadable file) and InfrastructureError (host out of reach).
    """
    why: list[str] = []
    unasked: list[str] = []
    todo: list[str] = []
    named = source_names(rules.source) == ("file",)
    if place.no_base and not named:
        return Compared(info=BaselineInfo(source="none", detail=place.no_base))
    request = BaselineRequest(
        suite=suite,
        path=rules.source if named else rules.path,
        branch=rules.branch,
        base_sha=place.base_sha,
        base_name=place.base_name,
        artifact=rules.artifact,
        workflow=rules.workflow,
        max_age_days=rules.max_age_days,
        now=place.now,
        explain=why.append,
        unasked=unasked.append,
        advise=todo.append,
        head=now.commit if place.mode == "laptop" else None,
        why_no_base=place.why_no_base,
        no_branch=place.mode == "laptop" and place.forge is None,
    )
    baseline = find_baseline(rules.source, request, place.forge, place.root)
    if baseline is None:
        info = BaselineInfo(source="none", detail="; ".join(why), todo="; ".join(todo))
        lost = "; ".join(unasked) if place.in_job else ""
        here = _judge_added_file(request, rules, place)
        return Compared(info=info, here=here, not_looked_for=lost)
    from gate.store.baseline.schema import fingerprint

    facts = fingerprint(now, dataset_digest)
    compared = _pool_runs(baseline, rules, place, facts)
    repo = baseline.source == "repo"
    here = (
        _judge_changed_file(baseline, compared.history, place)
        if repo
        else _judge_added_file(request, rules, place)
    )
    compared = replace(compared, here=here)
    if keeps_answers(rules, baseline):
        compared = replace(compared, stored_answers=partial(read_answers, baseline))
    return replace(compared, text=baseline.text) if place.mode == "release" else compared


def keeps_answers(rules: BaselineRules, baseline: FoundBaseline) -> bool:
    """Whether the file of answers may lie beside this one: what nobody wrote is not looked for."""
    return rules.answers == "repo" or (rules.answers == "artifact" and baseline.source != "repo")


def read_answers(baseline: FoundBaseline) -> Iterator[StoredAnswer]:
    """What the base branch answered, without those of a broken file before its fault. Raises
    GateError.
    """
    from gate.store.baseline.answers import unpack

    data = baseline.answers()
    return unpack(data, f"the answers beside {baseline.file}") if data else iter(())


def _judge_added_file(
    request: BaselineRequest, rules: BaselineRules, place: BaselineContext
) -> Here:
    """A file that the base branch has not is what the branch is judged by once it has landed."""
    asks_repository = place.forge is not None and "repo" in source_names(rules.source)
    return "added" if asks_repository and (place.root / request.file).is_file() else ""


def _judge_changed_file(
    baseline: FoundBaseline, runs: Sequence[BaselineRun], place: BaselineContext
) -> Here:
    """An older state of the file, which a branch has that is behind, is no change."""
    own_file = place.root / baseline.file
    if place.forge is None:
        return ""
    text = read_if_there(own_file, baseline.file)
    if text is None:
        return "gone"
    if _lines(text) == _lines(baseline.text):
        return ""
    from gate.store.baseline.file import newest_run

    try:
        newest_here = newest_run(text, baseline.file)
    except UsageError:
        return "edited"
    session_ids = {run.session_id for run in runs[:-1]}
    return "" if newest_here is not None and newest_here.session_id in session_ids else "edited"


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines()  # a checkout may have other line ends


def _pool_runs(
    baseline: FoundBaseline,
    rules: BaselineRules,
    place: BaselineContext,
    facts: Mapping[str, str],
) -> Compared:
    from gate.analysis.pooling import pool
    from gate.store.baseline.file import newest, parse, without_run

    now = place.now
    stored = newest(parse(baseline.text, baseline.file), rules.keep_rounds)
    if any(run.session_id == place.own for run in stored.runs):
        stored = without_run(stored, place.own)
        if not stored.runs:
            why = f"{baseline.detail} has this session alone, which is not compared with itself"
            return Compared(info=BaselineInfo(source="none", detail=why))
    pooled = pool(stored.table, stored.runs, stored.changed_at)
    last = stored.runs[-1] if stored.runs else None
    info = BaselineInfo(
        source=baseline.source,
        detail=baseline.detail,
        commit=last.commit if last else None,
        created_at=last.created_at if last else None,
        age_days=age_days(last.created_at, now) if last else None,
        rounds=pooled.rounds,
        runs=len(pooled.runs),
        fingerprint_diff=differences(last.fingerprint if last else {}, facts),
        notes=(*baseline.notes, *describe_stored_names(stored.renamed)),
        pooling=pooled.notes,
    )
    return compare_with(stored, pooled, info)


def compare_with(stored: BaselineFile, pooled: Pool, info: BaselineInfo) -> Compared:
    """A baseline file and the pool of its runs, as a run or `gate verify` is compared with it."""
    return Compared(
        table=pooled.table,
        info=info,
        drift=pooled.drift,
        runs=pooled.headers,
        history=stored.runs,
        accepted=stored.accepted,
        anchor=stored.anchor,
        stored=stored.table,
        paths_of=paths_among(stored.paths),
    )


def paths_among(paths: Mapping[str, Path]) -> PathsOf:
    """A function that looks up the paths of cases in `paths`, which a baseline file holds."""
    return lambda case_ids: {case: paths[case] for case in case_ids if case in paths}


def age_days(created_at: str, now: datetime) -> float | None:
    """Days; None when the moment cannot be read."""
    try:
        created = datetime.fromisoformat(created_at)
    except ValueError:
        return None
    created = created if created.tzinfo else created.replace(tzinfo=UTC)
    return max(0.0, (now - created).total_seconds() / 86_400)


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """`what: before -> now` for all that is known on both sides; hashes by name only. Of an agent
    that is reached elsewhere the address alone, which is part of `agent`.
    """
    options_known = before.get("agent_options") and now.get("agent_options")
    left_out = (
        "agent_digest" if options_known else "agent_options"
    )  # older versions have the first alone
    shared = [key for key in sorted(before.keys() & now.keys()) if before[key] != now[key]]
    unsure = not options_known and before.get("agent") != now.get("agent")
    words = {**_HASHED, **({"agent_digest": "agent options or address"} if unsure else {})}
    return tuple(
        words[key] if key in words else _difference(key, before[key], now[key])
        for key in shared
        if key != left_out
    )


def _difference(key: str, before: str, now: str) -> str:
    """`agent: a -> b`; of an agent elsewhere `agent address: http://a -> http://b`."""
    was, at, address = before.rpartition(" at ")
    if at and now.startswith(was + at):
        return f"{key} address: {address} -> {now.removeprefix(was + at)}"
    return f"{key}: {before} -> {now}"
