"""Opens the baselines of gate.yml's suites, for `gate baseline` and `gate history`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from gate.commands.options.records import home_of
from gate.github.context import Job, current_job, token
from gate.github.local_repository import Opened
from gate.github.remote_repository import connect, open_forge
from gate.github.upload import Uploaded, upload_folder
from gate.records import BaselineRules, Config
from gate.records.forge import BaselineRequest, FoundBaseline
from gate.run.home import check_has_config, sessions_folder
from gate.run.rules_for_event import commit_to_compare, find_release_before, name_branch
from gate.run.save_baseline import file_name
from gate.store.baseline.source_order import find_baseline, source_names
from gate.suites.config.load import select
from gate.suites.protection.rules import load_own_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the commands about baselines share. `root`: the folder of gate.yml; `results`: that of
    the sessions.
    """

    job: Job
    config: Config
    opened: Opened
    root: Path
    results: Path
    now: datetime
    base_sha: str | None = None  # the commit to compare with
    why_no_base: str = ""  # why it is not known, where git was to tell it
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    echo: Callable[[str], None] = print
    store: Callable[[Path, str], Uploaded]  # a folder as an artifact

    @property
    def rules(self) -> BaselineRules:
        return self.config.baseline


def open_desk(
    options: argparse.Namespace, env: Mapping[str, str], echo: Callable[[str], None] = print
) -> Desk:
    """The Desk of this process. `options`: config, which may be left out. `echo`: is called with
    the reason why a source has no baseline.
    """
    job, now = current_job(env), datetime.now(UTC)
    home = home_of(options)
    root = home.root
    loaded = load_own_config(home.file, root, env, date.today())
    opened = open_forge(job, connect(job, token(env)), root)
    loaded = name_branch(loaded, job, opened)
    job = find_release_before(job, token(env), loaded)
    base = commit_to_compare(job, opened, loaded)
    return Desk(
        job=job,
        config=loaded,
        base_sha=base if isinstance(base, str) else None,
        why_no_base="" if isinstance(base, str) else base.reason,
        opened=opened,
        root=root,
        results=Path(sessions_folder(home, loaded) or loaded.report.dir),
        now=now,
        env=env,
        echo=echo,
        store=lambda folder, name: upload_folder(folder, name, env),
    )


def find_baselines(options: argparse.Namespace, desk: Desk) -> Iterator[FoundBaseline]:
    """The suites' baselines, by --baseline or gate.yml's source; a missing one is reported."""
    source = options.baseline or desk.rules.source
    named = source_names(source) == ("file",)
    if desk.job.no_base and not named:
        desk.echo(desk.job.no_base)
        return
    check_has_config(desk.config, desk.env, bundled_wanted=bool(options.suite))
    for suite in [one.name for one in select(desk.config, options.suite or ()).suites]:
        wanted = request(suite, desk, path=source if named else desk.rules.path)
        baseline = find_baseline(source, wanted, desk.opened.forge, desk.root)
        if baseline is not None:
            yield baseline


def request(suite: str, desk: Desk, path: str | None = None) -> BaselineRequest:
    file_name(suite)
    rules = desk.rules
    return BaselineRequest(
        suite=suite,
        path=path or rules.path,
        branch=rules.branch,
        base_sha=desk.base_sha,
        why_no_base=desk.why_no_base,
        base_name=desk.job.base_name,
        artifact=rules.artifact,
        workflow=rules.workflow,
        max_age_days=rules.max_age_days,
        now=desk.now,
        explain=lambda reason: desk.echo(f"{suite}: {reason}"),
        no_branch=desk.job.mode == "laptop" and desk.opened.forge is None,
    )
