"""Where an import takes place: the rules that judge it, and its baseline. On a laptop without a
baseline neither git nor a clock is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from gate.github.context import Job, current_job, token
from gate.records import BaselineInfo, Config, Provenance
from gate.run.accepted_changes import Accepted, find_accepted_changes
from gate.run.home import Home
from gate.run.options import ImportOptions
from gate.run.rules_for_event import (
    Where,
    base_sha,
    choose_rules,
    find_release_before,
    locate_source,
    open_repository,
    place_of,
)
from gate.store.baseline.find import Compared, find
from gate.store.baseline.source_order import BaselineContext
from gate.suites.config.overrides import for_release, override, settings
from gate.suites.config.variables import fill_in
from gate.suites.protection.rules import Rules, load_own_config

NONE_WANTED = Compared(info=BaselineInfo(source="none", detail="imported, not compared"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlace:
    """`config`: the rules that judge; `facts`: what the job adds to Provenance."""

    job: Job
    rules: Rules
    config: Config
    facts: Mapping[str, Any] = field(default_factory=dict)
    comment_id: str = "gate"
    page_url: str = ""  # where report.html will be found
    key: str = field(default="", repr=False)  # for GitHub's API
    baselines: BaselineContext | None = None  # None: nothing is compared

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.rules.notes, *self.job.notes)

    def describe_provenance(self, source: Provenance) -> Provenance:
        """What the source says about itself, with the job's commit if there is a job."""
        return replace(source, mode=self.job.mode, **self.facts)

    def find_accepted(self, metrics: set[str]) -> Accepted:
        """The changes that were accepted on the pull request. Raises InfrastructureError."""
        if self.baselines is None:
            return Accepted()
        return find_accepted_changes(self.job, self.key, metrics)

    def compared(self, suite: str, dataset_digest: str, provenance: Provenance) -> Compared:
        """The suite's baseline. Raises UsageError (the file cannot be read) or InfrastructureError
        (a host cannot be reached).
        """
        if self.baselines is None:
            return NONE_WANTED
        return find(suite, dataset_digest, self.config.baseline, self.baselines, provenance)


def import_place(
    options: ImportOptions, home: Home, env: Mapping[str, str], now: datetime
) -> ImportPlace:
    """The place of an import in this process. `home`: where gate.yml is. Raises InvalidInput,
    UsageError, InfrastructureError.
    """
    root, job = home.root, current_job(env)
    if job.mode == "laptop" and not options.baseline:
        own_config = load_own_config(home.file, root, env, now.date())
        return ImportPlace(
            job=Job(),
            rules=Rules(config=own_config, own=own_config, root=root),
            config=own_config,
            page_url=fill_in(own_config.report.url, env),
        )
    where = Where(job, open_repository(job, token(env), root), env, now)
    rules = choose_rules(where, home)
    config = for_release(rules.config) if job.mode == "release" else rules.config
    config = override(
        settings(config, options.settings), baseline=locate_source(options.baseline or "none", root)
    )
    job = find_release_before(job, token(env), config)
    where = replace(where, job=job)
    return ImportPlace(
        job=job,
        rules=rules,
        config=config,
        facts=_facts(where, rules, config),
        comment_id=env.get("INPUT_COMMENT-ID") or "gate",
        page_url=fill_in(config.report.url, env),
        key=token(env),
        baselines=place_of(where, rules) if options.baseline else None,
    )


def _facts(where: Where, rules: Rules, config: Config) -> dict[str, Any]:  # of Provenance
    job, opened = where.job, where.opened
    return {
        "commit": job.head_sha or (opened.git.head() if opened.git else None),
        "base_commit": base_sha(job, rules),
        "config_digest": config.digest,
        "repository": job.repository,
        "run_url": job.run_url,
        "run_id": job.run_id,
        "run_attempt": job.run_attempt,
        "pull_request": job.pull_request,
    }
