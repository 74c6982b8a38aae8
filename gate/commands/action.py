"""`gate action`: what the container runs. It reads INPUT_* and GITHUB_*, runs the gate, and
publishes comment, summary and outputs (gate/github/delivery.py), however the run ends.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gate.commands.merge import merge
from gate.commands.options.all import parse
from gate.commands.options.records import import_options, output_options, run_options
from gate.errors import GateError, UsageError
from gate.github.accept_reply import answer
from gate.github.context import Job, current_job, token
from gate.github.delivery import Delivery, FinishedRun, Means
from gate.github.earlier_heads import earlier_head
from gate.github.inputs import ActionInputs, read_inputs, without_wrong
from gate.github.outputs import stop_commands
from gate.github.payload import read_event
from gate.github.sessions import artifact_name, restore
from gate.github.upload import Uploaded, upload_folder
from gate.records.forge import StoredSession
from gate.run.earlier_head import FindEarlier, find_no_session
from gate.run.execute import execute
from gate.run.options import Host, ImportOptions
from gate.run.resume import OtherSession
from gate.system.signals import Stop
from gate.text.escaping import command
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_of

if TYPE_CHECKING:
    from gate.run.importing.run import ImportedSession
    from gate.run.judge import Outcome

FORGIVEN = (1, 3, 4, 5, 6)  # exit codes that `fail: false` turns into 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What the action needs from other commands and the terminal. `execute(argv, settings, env,
    find)` runs or merges, and prints as `gate run` does.
    """

    execute: Callable[
        [Sequence[str], Mapping[str, str], Mapping[str, str], FindEarlier], FinishedRun
    ]
    means: Means = field(default_factory=Means)
    store: Callable[[Path, str, Mapping[str, str]], Uploaded] = upload_folder


def run(options: argparse.Namespace, env: Mapping[str, str], hooks: Hooks | None = None) -> int:
    """Runs the action and returns the step's exit code. Outputs, comment and check are written also
    after an error.
    """
    if hooks is None:
        options.secrets.update(secrets_of(env, ()))  # of variables that inputs replace, too
        execute_here = partial(_run_or_merge, options.stop, options.secrets)
        redact = partial(_redact, options.secrets)
        hooks = Hooks(execute=execute_here, means=Means(redact=redact))
    job = current_job(env)
    if job.event == "issue_comment":
        return _answer(job, env, hooks)
    for note in (*job.notes, *job.hints, *([job.unsupported] if job.unsupported else [])):
        hooks.means.echo(command("notice", hooks.means.redact(note), {"title": "Agent Gate"}))
    if job.unsupported:
        return 0
    checked_inputs = read_inputs(without_wrong(env))
    delivery = Delivery(checked_inputs, job, env, hooks.means)
    try:
        wanted = read_inputs(env)
        delivery.begin()
        finished = _execute(wanted, job, env, hooks)
        delivery.verdict(finished)
        if wanted.upload:
            _store(finished.session_dir, wanted, job, env, hooks)
    except BaseException as error:
        code = delivery.no_verdict(error)
        if not isinstance(error, GateError):
            raise
        return _exit_code(code, checked_inputs)  # its annotation is in the log, too: told once
    return _exit_code(finished.report.exit_code, wanted)


def _exit_code(code: int, wanted: ActionInputs) -> int:
    return 0 if code in FORGIVEN and not wanted.fail else code


def _answer(job: Job, env: Mapping[str, str], hooks: Hooks) -> int:
    api = hooks.means.connect(job, token(env))
    try:
        notices: list[str] = []
        code = answer(read_event(env), api, notices.append)
    finally:
        if api is not None:
            api.close()
    for line in notices:
        hooks.means.echo(command("notice", hooks.means.redact(line), {"title": "Agent Gate"}))
    return code


def _redact(secrets: Set[str], text: str) -> str:
    """Without the secrets known by now: the run learns more of them from gate.yml."""
    return _make_redactor(frozenset(secrets)).redact(text)


@lru_cache(maxsize=2)
def _make_redactor(secrets: frozenset[str]) -> Redactor:
    return Redactor(secrets)


def _run_or_merge(
    stop: Stop,
    secrets: set[str],
    argv: Sequence[str],
    settings: Mapping[str, str],
    env: Mapping[str, str],
    find: FindEarlier,
) -> FinishedRun:
    parsed, host = parse(argv), Host(env=env, stop=stop, secrets=secrets)
    outcome: Outcome | ImportedSession
    if parsed.command == "import":
        outcome = _import(import_options(parsed, settings), host)
    elif parsed.command == "merge":
        outcome = merge(parsed.sessions, run_options(parsed, settings), host)
    else:
        outcome = execute(run_options(parsed, settings), host, find=find)
    for line in outcome.words(output_options(parsed), env):
        print(line)
    return outcome


def _import(options: ImportOptions, host: Host) -> ImportedSession:
    from gate.run.importing.run import import_results

    written = import_results(options, host, datetime.now(UTC))
    if written.session is None:
        raise UsageError(f"import-path: {options.path}: has cases but no results; give the results")
    return written.session


def _looks_for_earlier_runs(wanted: ActionInputs, job: Job) -> bool:
    """Whether a session may be gone on with; a shard's is half of one, and `resume` names one."""
    if wanted.shard or any(word.startswith("--resume=") for word in wanted.argv):
        return False
    return wanted.argv[0] == "run" and job.mode in ("pull_request", "branch")


def _find_stored_session(
    wanted: ActionInputs, job: Job, env: Mapping[str, str], hooks: Hooks
) -> StoredSession:
    """What an earlier run at this head commit left."""
    if not _looks_for_earlier_runs(wanted, job):
        return StoredSession()
    out = Path(env.get("INPUT_RESULTS-DIR", "").strip() or "results")
    api = hooks.means.connect(job, token(env))
    try:
        return restore(api, job, out, wanted.comment_id)
    finally:
        if api is not None:
            api.close()


def _make_finder(
    wanted: ActionInputs,
    job: Job,
    env: Mapping[str, str],
    hooks: Hooks,
    *,
    otherwise: StoredSession,
) -> FindEarlier:
    """Who looks for an earlier head with the same files, once it is known which files count."""
    if not _looks_for_earlier_runs(wanted, job) or job.mode != "pull_request":
        return lambda paths, out: otherwise

    def find(paths: Sequence[str], out: Path) -> StoredSession:
        api = hooks.means.connect(job, token(env))
        try:
            earlier = earlier_head(api, job, out, wanted.comment_id, paths)
        finally:
            if api is not None:
                api.close()
        return earlier if earlier.folder or earlier.note else otherwise

    return find


def _execute(wanted: ActionInputs, job: Job, env: Mapping[str, str], hooks: Hooks) -> FinishedRun:
    """Whatever the run prints is text of agents and datasets: the runner must not obey it."""
    stored = _find_stored_session(wanted, job, env, hooks)
    argv, settings = wanted.argv, wanted.settings
    find: FindEarlier = find_no_session
    if stored.folder is not None:
        argv, settings = (*argv, f"--resume={stored.folder}"), _add_note(wanted, stored.note)
    else:
        find = _make_finder(wanted, job, env, hooks, otherwise=stored)
    before, after = stop_commands()
    hooks.means.echo(before)
    try:
        return hooks.execute(argv, settings, wanted.env, find)
    except OtherSession as error:
        of = "this commit" if stored.folder else "an earlier commit with the same files"
        note = f"the stored session of {of} was not used: {error}"
        return hooks.execute(wanted.argv, _add_note(wanted, note), wanted.env, find_no_session)
    finally:
        hooks.means.echo(after)


def _store(
    session: Path, wanted: ActionInputs, job: Job, env: Mapping[str, str], hooks: Hooks
) -> None:
    """The session as the artifact that a re-run of this commit goes on with."""
    shard, stage = (env.get(f"INPUT_{name}", "").strip() for name in ("SHARD", "STAGE"))
    part = f"{shard}-stage-{stage}" if stage else shard
    name = artifact_name(job.head_sha or "unknown", part, wanted.comment_id)
    stored = hooks.store(session, name, env)
    kind, text = "notice", f"artifact {stored.name}: {stored.size:,} bytes, {stored.digest}"
    if not stored.artifact_id:
        kind, text = "warning", f"The session was not stored: {stored.note}"
    hooks.means.echo(command(kind, hooks.means.redact(text), {"title": "Agent Gate"}))


def _add_note(wanted: ActionInputs, note: str) -> Mapping[str, str]:
    return {**wanted.settings, "note": note} if note else wanted.settings
