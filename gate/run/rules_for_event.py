"""From an event to the rules that judge it, and the commit that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gate.errors import UsageError
from gate.files import yaml
from gate.github.context import NO_TOKEN, Job, current_job, token
from gate.github.git import NoBase
from gate.github.local_repository import Opened, open_local
from gate.records import Config
from gate.records.forge import Here
from gate.run.home import Home
from gate.run.laptop_rules import choose_laptop_rules
from gate.store.baseline.source_order import BaselineContext, source_names
from gate.suites.config.variables import NOTHING
from gate.suites.protection.rules import Rules, RulesBase, judging_rules, load_own_config

DEFAULT_BRANCH = "main"  # where there is no git to tell
TOOTHLESS = "the step always passes, whatever the verdict (`fail: false` in the workflow)"

KEPT = (
    "the checkout stores the workflow's token, where the agent's code can read it; set "
    "`persist-credentials: false` for actions/checkout"
)


@dataclass(frozen=True, slots=True)
class Where:
    """The circumstances of a run that decide whose rules judge it."""

    job: Job
    opened: Opened
    env: Mapping[str, str]
    now: datetime


def choose_rules(
    where: Where,
    home: Home,
    *,
    protect: str | bool | None = None,
    recorded: bool = False,
    alone: bool = False,
    instead: Mapping[yaml.Path, str] = NOTHING,
) -> Rules:
    """The rules that judge a run of the gate.yml in `home`. `protect`: the ref whose rules judge,
    True for the base branch, None if not asked for. `recorded`: the answers come from a file.
    `alone`: gate.yml judges as it is here, for a plan. `instead`: texts for those of gate.yml that
    have variables. Raises InvalidInput, UsageError.
    """
    job, opened, env, today = where.job, where.opened, where.env, where.now.date()
    file, root = home.file, home.root
    if not alone and job.mode not in ("laptop", "release"):
        _refuse_link(root)
    if job.untrusted_head:
        base = _base(job.protect_ref, job.base_ref, opened)
        from gate.run.untrusted import rules_of_base

        rules = rules_of_base(
            file, root, base, event=job.event, env=env, today=today, recorded=recorded
        )
        return _note_compared_commit(rules, job, opened)
    own_config = load_own_config(file, root, env, today, home.written, instead)
    if alone:
        return _note_compared_commit(
            Rules(config=own_config, own=own_config, root=root), job, opened
        )
    return choose_judging_rules(own_config, root, where, "" if protect is True else protect or None)


def choose_judging_rules(
    own_config: Config, root: Path, where: Where, protect: str | None
) -> Rules:
    """The rules that judge a run of `own_config`, the gate.yml in `root`. `protect`: a ref, empty
    for the base branch, None if not asked for. Raises InvalidInput, UsageError.
    """
    job, opened = where.job, where.opened
    if job.mode == "laptop":
        return _rules_outside_github(own_config, root, where, protect)
    if protect is not None:
        raise UsageError(
            f"--protect: event {job.event} already decides whose rules apply "
            "(docs/events.md); leave out the option"
        )
    base, why = None, _unknown_base(job)
    if job.protect_ref is not None:
        base = _base(job.protect_ref, job.base_ref or job.default_branch, opened)
        why = "" if base else "; ".join(opened.notes) or f"{job.protect_ref} cannot be read"
    return _note_compared_commit(_apply_base_rules(own_config, root, base, why, where), job, opened)


def _rules_outside_github(
    own_config: Config, root: Path, where: Where, protect: str | None
) -> Rules:
    """On a laptop the files as they are; in another CI, and for --protect, those of the commit
    where HEAD left the base branch or the ref that is named.
    """
    job, opened, git = where.job, where.opened, where.opened.git
    branch = _branch(own_config, job, opened)
    ref = protect or branch
    base_found = _find_base(opened, ref)
    base, why = None, ""
    if isinstance(base_found, NoBase):
        why = base_found.reason
        if protect is not None and not job.other_ci:
            raise UsageError(f"--protect: {why}")
    elif git is not None:
        base = RulesBase(sha=base_found, name=ref, forge=opened.forge or git)
    if protect is None and not job.other_ci:
        rules = Rules(config=own_config, own=own_config, root=root)
        if base is not None and git is not None:
            rules = choose_laptop_rules(own_config, root, where.env, base, git)
    else:
        if base is not None and git is not None and protect is None and base.sha == git.head():
            base, why = None, f"HEAD is a commit of {ref} itself"
        rules = _apply_base_rules(own_config, root, base, why, where)
    if own_config.baseline.branch:  # the base may name none
        branch = _branch(rules.config, job, opened)
    return _note_base(rules, base_found, branch)


def _apply_base_rules(
    own_config: Config, root: Path, base: RulesBase | None, why: str, where: Where
) -> Rules:
    rules = judging_rules(own_config, root=root, base=base, env=where.env, why_no_base=why)
    return _note_workflow(rules, base, where.job, where.opened, where.env)


def _find_base(opened: Opened, ref: str) -> str | NoBase:
    if opened.git is None:
        return NoBase(reason="; ".join(opened.notes))
    return opened.git.base(ref)


def _note_compared_commit(rules: Rules, job: Job, opened: Opened) -> Rules:
    """With the base branch's name, and the commit that is compared with."""
    config = name_branch(rules.config, job, opened)
    return _note_base(rules, commit_to_compare(job, opened, config), config.baseline.branch)


def commit_to_compare(job: Job, opened: Opened, config: Config) -> str | NoBase:
    """The commit of the base (docs/semantics.md 6): that of the event; on a laptop and in another
    CI, where HEAD left the base branch. Or why it is not known.
    """
    if job.mode == "laptop":
        return _find_base(opened, config.baseline.branch)
    return job.base_sha or job.protect_ref or NoBase(reason="")


def name_branch(config: Config, job: Job, opened: Opened) -> Config:
    """The config with the name of its base branch, which is looked up if gate.yml has none."""
    return _name_branch_of(config, _branch(config, job, opened))


def _branch(config: Config, job: Job, opened: Opened) -> str:
    """The base branch: as gate.yml names it, else the default one of the repository."""
    branch = config.baseline.branch or job.default_branch
    return branch or (opened.git.default_branch() if opened.git else DEFAULT_BRANCH)


def _name_branch_of(config: Config, branch: str) -> Config:
    if config.baseline.branch:
        return config
    return replace(config, baseline=replace(config.baseline, branch=branch))


def _note_base(rules: Rules, base: str | NoBase, branch: str) -> Rules:
    return replace(
        rules,
        config=_name_branch_of(rules.config, branch),
        base_sha=None if isinstance(base, NoBase) else base,
        why_no_base=base.reason if isinstance(base, NoBase) else "",
    )


def _is_toothless(env: Mapping[str, str]) -> bool:
    if "INPUT_FAIL" not in env:
        return False
    from gate.github.inputs import flag

    return flag(env, "fail") is False


def _note_workflow(
    rules: Rules, base: RulesBase | None, job: Job, opened: Opened, env: Mapping[str, str]
) -> Rules:
    """With what the workflow may make of the rules, whoever they are from."""
    top = opened.git.top if opened.git else Path.cwd()
    if _is_toothless(env):
        rules = replace(rules, notes=(*rules.notes, TOOTHLESS))
    if job.mode != "pull_request":
        return rules
    from gate.run.untrusted import RUNS_CODE
    from gate.suites.protection.workflow_file import explain_changed_workflow, has_kept_token

    if rules.own.agent.name in RUNS_CODE and has_kept_token(top):
        rules = replace(rules, notes=(*rules.notes, KEPT))
    if base is None or not rules.has_base:
        return rules
    warning = explain_changed_workflow(env, base, rules.root, top, job.base_ref)
    return replace(rules, loosened=(warning, *rules.loosened)) if warning else rules


def _unknown_base(job: Job) -> str:
    """Why an event that others' rules should judge names none; empty where its own should."""
    if job.mode == "pull_request":
        return f"the payload of {job.event} names no base commit"
    if job.mode == "branch" and job.default_branch is None:
        return f"the payload of {job.event} names no default branch"
    return ""


def _refuse_link(root: Path) -> None:
    """A folder that the change made a link would lead to another gate.yml of the base, or none."""
    here = Path.cwd()
    within = root.relative_to(here) if root.is_relative_to(here) else root
    if any(folder.is_symlink() for folder in (within, *within.parents) if not folder.is_absolute()):
        raise UsageError(
            f"--config: the path {root} goes through a symbolic link, so the base "
            "branch's file cannot be found; give the real folder"
        )


def find_release_before(job: Job, key: str, config: Config) -> Job:
    """The job with the release before this one, if the run is compared with that and no path is
    given. `key`: for GitHub's API. Raises InfrastructureError.
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


def where_of(env: Mapping[str, str], root: Path) -> Where:
    """The circumstances of this process. `root`: the folder of gate.yml."""
    now, job = datetime.now(UTC), current_job(env)
    return Where(job, open_repository(job, token(env), root), env, now)


def place_of(where: Where, rules: Rules) -> BaselineContext:
    """The context in which baselines are searched."""
    job = where.job
    return BaselineContext(
        root=rules.root,
        forge=where.opened.forge,
        base_sha=base_sha(job, rules),
        base_name=job.base_name,
        why_no_base=rules.why_no_base,
        no_base=job.no_base,
        now=where.now,
        mode=job.mode,
        in_job=job.mode != "laptop" or job.other_ci,
    )


def shows_answers(config: Config, job: Job) -> bool:
    """Whether reports may say what was expected, and what the base branch answered. A fork's author
    need not see either of a repository that is not public.
    """
    return config.report.answers and (not job.is_fork or job.is_public)


def measures_the_base(job: Job, config: Config) -> bool:
    """Whether this is a run of the base branch itself, not of a change to it."""
    is_base_branch = job.protect_ref is None or job.head_ref == config.baseline.branch
    return job.mode == "schedule" or (job.mode == "branch" and is_base_branch)


def base_sha(job: Job, rules: Rules) -> str | None:
    """The commit to compare with; None as long as a release has not found the one before it."""
    return job.base_sha or rules.base_sha


def _base(sha: str | None, name: str | None, opened: Opened) -> RulesBase | None:
    if sha is None or opened.forge is None:
        return None
    return RulesBase(sha=sha, name=name or sha[:7], forge=opened.forge)


def open_repository(job: Job, key: str, root: Path) -> Opened:
    """How this process reads the repository: through GitHub's API with `key`, else through git."""
    if not (job.api_url and job.repository and key):
        opened = open_local(root)
        without = opened.forge is None and job.repository and not key
        return replace(opened, notes=(NO_TOKEN,)) if without else opened
    from gate.github.remote_repository import connect, open_forge

    return open_forge(job, connect(job, key), root)


def locate_source(given: str | None, root: Path) -> str | None:
    """The path of a baseline source: one from the command line is relative to the working folder,
    one from gate.yml to its folder.
    """
    if given is None or source_names(given) != ("file",) or root == Path():
        return given
    return str(Path(given).absolute())


def tell_edited_baseline(suite: str, here: Here) -> str:
    """A sentence if the change's baseline file differs from the base branch's; else empty."""
    return {
        "": "",
        "edited": f"edits the baseline of `{suite}`; the base branch's was used",
        "gone": f"has no baseline file of `{suite}`; the base branch's was used",
        "added": f"adds a baseline of `{suite}`, which the base branch does not have; it was not "
        "used",
    }[here]
