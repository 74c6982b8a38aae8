"""Finds a suite's baseline, pools its runs and lists how its circumstances differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gate.analysis import pool
from gate.baseline_file import newest, parse
from gate.baseline_schema import Run, fingerprint
from gate.baselines import find_baseline, source_names
from gate.plugins import BaselineRequest, Forge, FoundBaseline
from gate.prepare import SuitePlan
from gate.records import BaselineInfo, BaselineRules, Mode, Provenance
from gate.table import Table

_HASHED = {"agent_digest": "agent options", "config": "rules", "dataset": "dataset"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The baseline of one suite, ready to be compared with."""

    table: Table | None
    info: BaselineInfo
    not_comparable: str = ""
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    runs: tuple[Run, ...] = ()  # whose rounds are in the table, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to look: the folder of gate.yml, the host, the base commit; and the time now."""

    root: Path
    forge: Forge | None
    base_sha: str | None
    now: datetime
    mode: Mode = "laptop"


def find(plan: SuitePlan, rules: BaselineRules, place: Place, now: Provenance) -> Compared:
    """The pooled baseline of a suite; without one `Compared.table` is None and the info says why.

    `now`: what this run is like; differences to the baseline's newest run are listed. Raises
    UsageError (unreadable file) and InfrastructureError (host out of reach).
    """
    why: list[str] = []
    named = source_names(rules.source) == ("file",)
    request = BaselineRequest(
        suite=plan.suite.name,
        path=rules.source if named else rules.path,
        branch=rules.branch,
        base_sha=place.base_sha,
        artifact=rules.artifact,
        workflow=rules.workflow,
        max_age_days=rules.max_age_days,
        now=place.now,
        explain=why.append,
        no_branch=place.mode == "laptop" and place.forge is None,
    )
    found = find_baseline(rules.source, request, place.forge, place.root)
    if found is None:
        return Compared(table=None, info=BaselineInfo(source="none", detail="; ".join(why)))
    facts = fingerprint(now, plan.dataset_digest)
    return _pooled(found, rules, place.now, facts)


def _pooled(
    found: FoundBaseline, rules: BaselineRules, now: datetime, facts: Mapping[str, str]
) -> Compared:
    stored = newest(parse(found.text, found.file), rules.keep_rounds)
    pooled = pool(stored.table, stored.runs)
    last = stored.runs[-1] if stored.runs else None
    info = BaselineInfo(
        source=found.source,
        detail=found.detail,
        commit=last.commit if last else None,
        created_at=last.created_at if last else None,
        age_days=age_days(last.created_at, now) if last else None,
        rounds=pooled.rounds,
        runs=len(pooled.runs),
        fingerprint_diff=differences(last.fingerprint if last else {}, facts),
        notes=found.notes,
        pooling=pooled.notes,
    )
    return Compared(table=pooled.table, info=info, drift=pooled.drift, runs=pooled.headers)


def age_days(created_at: str, now: datetime) -> float | None:
    """Days; None when the moment cannot be read."""
    try:
        created = datetime.fromisoformat(created_at)
    except ValueError:
        return None
    created = created if created.tzinfo else created.replace(tzinfo=UTC)
    return max(0.0, (now - created).total_seconds() / 86_400)


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """`what: before -> now` for all that is known on both sides; hashes by name only."""
    shared = [key for key in sorted(before.keys() & now.keys()) if before[key] != now[key]]
    return tuple(
        _HASHED[key] if key in _HASHED else f"{key}: {before[key]} -> {now[key]}" for key in shared
    )
