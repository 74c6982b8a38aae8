"""From an event to the rules that judge it, and the commit that it is compared with."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gate.errors import UsageError
from gate.github.context import NO_TOKEN, Job
from gate.github.local_repository import Opened, open_local
from gate.records import Config, Provenance
from gate.records.forge import Here
from gate.store.baseline.source_order import Place, source_names
from gate.suites.protection.rules import Base, Rules, judging_rules, own_config

TOOTHLESS = "the exit code is off (`fail: false` in the workflow): the step is green on any verdict"

KEPT = (
    "the checkout keeps the workflow's token, and the agent's program can read it there; set "
    "`persist-credentials: false` for actions/checkout"
)


def rules_for(
    job: Job,
    opened: Opened,
    options: argparse.Namespace,
    env: Mapping[str, str],
    now: datetime,
    *,
    alone: bool,
) -> Rules:
    """`options`: config (the file, in its folder), replay. `alone`: gate.yml judges as it stands
    here, for a plan. Raises InvalidInput, UsageError.
    """
    file, today = options.config, now.date()
    root = Path(file).parent if file else Path()
    if not alone and job.mode not in ("laptop", "release"):
        _is_no_link(root)
    if job.untrusted_head:
        base = _base(job.protect_ref, job.base_ref, opened)
        recorded = bool(options.replay)
        from gate.run.untrusted import rules_of_base

        return rules_of_base(
            file, root, base, event=job.event, env=env, today=today, recorded=recorded
        )
    own = own_config(file, root, env, today)
    if alone:
        return Rules(config=own, own=own, root=root)
    sha = base_sha(job, opened, own) if job.mode == "laptop" else job.protect_ref
    base, why = None, _unknown_base(job)
    if job.mode == "laptop" or job.protect_ref is not None:
        base = _base(sha, job.base_ref or own.baseline.branch, opened)
        if base is None:
            why = "; ".join(opened.notes) or f"no commit of {own.baseline.branch} to compare with"
    laptop = job.mode == "laptop" and not env.get("CI")
    rules = judging_rules(
        own, root=root, base=base, env=env, today=today, why_no_base=why, laptop=laptop
    )
    return _as_started(rules, base, job, opened, env)


def _is_toothless(env: Mapping[str, str]) -> bool:
    if "INPUT_FAIL" not in env:
        return False
    from gate.github.inputs import flag

    return flag(env, "fail") is False


def _as_started(
    rules: Rules, base: Base | None, job: Job, opened: Opened, env: Mapping[str, str]
) -> Rules:
    """With what the workflow may make of the rules, whoever they are from."""
    top = opened.git.top if opened.git else Path.cwd()
    if _is_toothless(env):
        rules = replace(rules, notes=(*rules.notes, TOOTHLESS))
    if job.mode != "pull_request":
        return rules
    from gate.run.untrusted import RUNS_CODE
    from gate.suites.protection.workflow_file import changed_workflow, kept_token

    if rules.own.agent.name in RUNS_CODE and kept_token(top):
        rules = replace(rules, notes=(*rules.notes, KEPT))
    if base is None or not rules.compared:
        return rules
    told = changed_workflow(env, base, rules.root, top, job.base_ref)
    return replace(rules, loosened=(told, *rules.loosened)) if told else rules


def _unknown_base(job: Job) -> str:
    """Why an event that others' rules should judge names none; empty where its own should."""
    if job.mode == "pull_request":
        return f"the payload of {job.event} names no base commit"
    if job.mode == "branch" and job.default_branch is None:
        return f"the payload of {job.event} names no default branch"
    return ""


def _is_no_link(root: Path) -> None:
    """A folder that the change made a link would lead to another gate.yml of the base, or none."""
    here = Path.cwd()
    within = root.relative_to(here) if root.is_relative_to(here) else root
    if any(folder.is_symlink() for folder in (within, *within.parents) if not folder.is_absolute()):
        raise UsageError(
            f"--config: the way to {root} is a link, so what the base has there is not known; name "
            "the folder itself"
        )


def base_sha(job: Job, opened: Opened, config: Config) -> str | None:
    """docs/semantics.md 6: the event's base commit; on a laptop the merge base with the branch."""
    if job.mode != "laptop":
        return job.base_sha or job.protect_ref
    found = opened.git.base(config.baseline.branch) if opened.git else None
    return found.sha if found else None


def with_base(job: Job, key: str, config: Config) -> Job:
    """The job with the release before it, where it is compared with that and no path is named;
    `key` is for GitHub's API. Raises InfrastructureError.
    """
    if not job.previous_release or source_names(config.baseline.source) in (("file",), ("none",)):
        return job
    from gate.github.releases import with_previous
    from gate.github.remote_repository import connect

    api = connect(job, key)
    try:
        return with_previous(replace(job, previous_release=False), api)
    finally:
        if api is not None:
            api.close()


def place_of(job: Job, opened: Opened, root: Path, made: Provenance, now: datetime) -> Place:
    """Where baselines are looked for. `made` knows the commit to compare with."""
    return Place(
        root=root,
        forge=opened.forge,
        base_sha=made.base_commit,
        base_name=job.base_name,
        no_base=job.no_base,
        now=now,
        mode=made.mode,
    )


def _base(sha: str | None, name: str | None, opened: Opened) -> Base | None:
    if sha is None or opened.forge is None:
        return None
    return Base(sha=sha, name=name or sha[:7], forge=opened.forge)


def opened_for(job: Job, key: str, root: Path) -> Opened:
    """How this process reads the repository: `key` is for GitHub's API, without one git does."""
    if not (job.api_url and job.repository and key):
        opened = open_local(root)
        without = opened.forge is None and job.repository and not key
        return replace(opened, notes=(NO_TOKEN,)) if without else opened
    from gate.github.remote_repository import connect, open_forge

    return open_forge(job, connect(job, key), root)


def source_from(given: str | None, root: Path) -> str | None:
    """A path on the command line starts where the command runs, one in gate.yml at its folder."""
    if given is None or source_names(given) != ("file",) or root == Path():
        return given
    return str(Path(given).absolute())


def told_of_baseline(suite: str, here: Here) -> str:
    """What a change is told whose baseline file is not the base branch's; empty where it is."""
    return {
        "": "",
        "edited": f"edits the baseline of `{suite}`; the base branch's was used",
        "gone": f"has no baseline file of `{suite}`; the base branch's was used",
        "added": f"adds a baseline of `{suite}`, which the base branch has not; it was not used",
    }[here]
