"""`gate baseline save | pull | show | accept`: writes, fetches, prints and replaces baselines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from gate import config
from gate.archive import Session, load_session
from gate.baseline_file import BaselineFile, newest, parse
from gate.baseline_listing import listing
from gate.baseline_pool import accept, with_accepted
from gate.baselines import find_baseline, source_names
from gate.baselines.file import session_baseline
from gate.errors import InfrastructureError, UsageError
from gate.github.context import Job, current_job, token
from gate.github.forge import connect, open_forge
from gate.github.opening import Opened
from gate.github.upload import Uploaded, upload_folder
from gate.hosting import BaselineRequest, FoundBaseline
from gate.records import BaselineRules, Config
from gate.registry import did_you_mean
from gate.rules_for import with_base
from gate.saving import file_name, may_save, suites_of, write
from gate.text import plain
from gate.wording.figures import count

NO_BASELINE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every sub-command needs. `root` is the folder of gate.yml."""

    job: Job
    config: Config
    opened: Opened
    root: Path
    now: datetime
    echo: Callable[[str], None] = print
    store: Callable[[Path, str], Uploaded]  # a folder as an artifact

    @property
    def rules(self) -> BaselineRules:
        return self.config.baseline


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """`options`: action, config, suite, out and what the sub-command adds."""
    return COMMANDS[options.action](options, _desk(options, env))


def save(options: argparse.Namespace, desk: Desk) -> int:
    """Appends a session to the pool; refuses what a pull request measured. All suites or none."""
    session = load_session(Path(options.session))
    may_save(session, desk.job)
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    pools = [
        session_baseline(
            session,
            suite,
            onto=_pool(suite, folder, session, desk),
            keep_rounds=desk.rules.keep_rounds,
        )
        for suite in suites_of(session, options.suite)
    ]
    for pool in pools:
        path = write(folder, pool)
        desk.echo(f"{path}: {count(pool.table.rounds, 'round')} of {_runs(pool)}, {_cases(pool)}")
    if options.upload_artifact:
        _upload(folder, desk)
    return 0


def _upload(folder: Path, desk: Desk) -> None:
    """Raises InfrastructureError: a baseline that nobody finds must not look saved."""
    stored = desk.store(folder, desk.rules.artifact)
    if not stored.artifact_id:
        raise InfrastructureError(f"artifact '{stored.name}' was not stored: {stored.note}")
    desk.echo(f"artifact '{stored.name}': {stored.size:,} bytes, {stored.digest}")


def pull(options: argparse.Namespace, desk: Desk) -> int:
    """Writes the baselines that a run would compare with; exit 4 when there is none at all."""
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    got = 0
    for found in _found(options, desk):
        path = write(folder, parse(found.text, found.file))
        desk.echo(f"{path}: from {found.detail}")
        got += 1
    return 0 if got else NO_BASELINE


def show(options: argparse.Namespace, desk: Desk) -> int:
    """Prints what is stored and what of it counts; exit 4 when there is none at all."""
    got = 0
    for found in _found(options, desk):
        stored = newest(parse(found.text, found.file), desk.rules.keep_rounds)
        desk.echo(plain("\n".join(listing(stored, found.detail, found.notes))))
        got += 1
    return 0 if got else NO_BASELINE


def accept_change(options: argparse.Namespace, desk: Desk) -> int:
    """Records in the working tree's files that a change is meant, who says so and why."""
    if desk.job.event.startswith("pull_request"):
        raise UsageError(
            "gate baseline accept: a pull request's own run cannot accept its change; run it on a "
            "laptop and commit the file"
        )
    if not options.reason.strip():
        raise UsageError("gate baseline accept: --reason is empty; say why the change is meant")
    folder = desk.root / desk.rules.path
    for file in _files(folder, options.suite):
        before = parse(file.read_bytes(), str(file))
        _known_metrics(before, options.metric or ())
        after = accept(
            before,
            who=_who(desk),
            when=f"{desk.now:%Y-%m-%dT%H:%M:%SZ}",
            why=options.reason.strip(),
            metrics=options.metric or (),
        )
        path = write(folder, after)
        desk.echo(f"{path}: accepted by {after.accepted[-1].who}; the next run starts a new pool")
    return 0


COMMANDS: Mapping[str, Callable[[argparse.Namespace, Desk], int]] = {
    "save": save,
    "pull": pull,
    "show": show,
    "accept": accept_change,
}


def _desk(options: argparse.Namespace, env: Mapping[str, str]) -> Desk:
    job, now = current_job(env), datetime.now(UTC)
    file = Path(options.config or "gate.yml")
    root = file.parent
    loaded = config.defaults()
    if options.config or file.is_file():
        loaded = config.load(_reader(root), file.name, env=env, root=root, today=date.today())
    opened = open_forge(job, connect(job, token(env)), root)
    job = with_base(job, token(env), loaded)
    return Desk(
        job=job,
        config=loaded,
        opened=opened,
        root=root,
        now=now,
        store=lambda folder, name: upload_folder(folder, name, env),
    )


def _reader(root: Path) -> config.Read:
    def read(path: str) -> bytes | None:
        try:
            return (root / path).read_bytes()
        except OSError:
            return None

    return read


def _pool(suite: str, folder: Path, session: Session, desk: Desk) -> BaselineFile | None:
    """The file that is there, else what a run here would compare with."""
    file = folder / file_name(suite)
    pool = None
    if file.is_file():
        pool = parse(file.read_bytes(), str(file))
    elif desk.rules.source in ("auto", "repo", "artifact"):
        found = find_baseline(
            desk.rules.source, _request(suite, desk), desk.opened.forge, desk.root
        )
        pool = parse(found.text, found.file) if found else None
    if pool is not None and session.meta.session_id in [run.session_id for run in pool.runs]:
        raise UsageError(f"{session.folder}: this session is in the baseline already")
    accepted = session.report.accepted if session.report is not None else ()
    return with_accepted(pool, accepted) if pool is not None else None


def _found(options: argparse.Namespace, desk: Desk) -> Iterator[FoundBaseline]:
    """The suites' baselines by --baseline or gate.yml's source; a missing one is told."""
    source = options.baseline or desk.rules.source
    named = source_names(source) == ("file",)
    if desk.job.no_base and not named:
        desk.echo(desk.job.no_base)
        return
    for suite in [one.name for one in config.select(desk.config, options.suite or ()).suites]:
        request = _request(suite, desk, path=source if named else desk.rules.path)
        found = find_baseline(source, request, desk.opened.forge, desk.root)
        if found is not None:
            yield found


def _request(suite: str, desk: Desk, path: str | None = None) -> BaselineRequest:
    file_name(suite)
    rules = desk.rules
    return BaselineRequest(
        suite=suite,
        path=path or rules.path,
        branch=rules.branch,
        base_sha=desk.job.base_sha,
        base_name=desk.job.base_name,
        artifact=rules.artifact,
        workflow=rules.workflow,
        max_age_days=rules.max_age_days,
        now=desk.now,
        explain=lambda reason: desk.echo(f"{suite}: {reason}"),
        no_branch=desk.job.mode == "laptop" and desk.opened.forge is None,
    )


def _files(folder: Path, suites: Sequence[str] | None) -> list[Path]:
    names = suites or ("all",)
    chosen = [folder / file_name(name) for name in names]
    files = sorted(folder.glob("*.json")) if "all" in names else chosen
    missing = [file for file in files if not file.is_file()]
    if missing or not files:
        raise UsageError(
            f"{missing[0] if missing else folder}: no baseline file to accept for; "
            "`gate baseline pull` fetches one"
        )
    return files


def _known_metrics(baseline: BaselineFile, metrics: Sequence[str]) -> None:
    known = tuple(baseline.table.specs)
    for metric in metrics:
        if metric not in known:
            where = f"not in the baseline of '{baseline.suite}'"
            raise UsageError(f"--metric {metric}: {where}{did_you_mean(metric, known)}")


def _who(desk: Desk) -> str:
    who = desk.job.actor or (desk.opened.git.identity() if desk.opened.git else None)
    if not who:
        raise UsageError("gate baseline accept: who accepts is unknown; set git config user.name")
    return who


def _runs(baseline: BaselineFile) -> str:
    return count(sum(run.kept > 0 for run in baseline.runs), "run")


def _cases(baseline: BaselineFile) -> str:
    return count(len(baseline.table.cases), "case")
