"""`gate baseline save | pull | show | accept`: writes, fetches, prints and replaces baselines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from gate import config
from gate.archive import Session, load_session
from gate.baseline_file import BaselineFile, newest, parse, render
from gate.baseline_listing import listing
from gate.baseline_pool import accept
from gate.baselines import find_baseline, source_names
from gate.baselines.file import session_baseline
from gate.errors import InfrastructureError, UsageError
from gate.github.context import Job, current_job, token
from gate.github.forge import connect, open_forge
from gate.github.opening import Opened
from gate.plugins import BaselineRequest, FoundBaseline
from gate.records import BaselineRules, Config
from gate.registry import did_you_mean
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

    @property
    def rules(self) -> BaselineRules:
        return self.config.baseline


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """`options`: action, config, suite, out and what the sub-command adds."""
    return COMMANDS[options.action](options, _desk(options, env))


def save(options: argparse.Namespace, desk: Desk) -> int:
    """Appends a session to the pool; refuses what a pull request measured. All suites or none."""
    session = load_session(Path(options.session))
    _may_save(session, desk.job)
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    pools = [
        session_baseline(
            session,
            suite,
            onto=_pool(suite, folder, session, desk),
            keep_rounds=desk.rules.keep_rounds,
        )
        for suite in _suites(session, options.suite)
    ]
    for pool in pools:
        path = _write(folder, pool)
        runs = sum(run.kept > 0 for run in pool.runs)
        desk.echo(
            f"{path}: {pool.table.rounds} rounds of {runs} run{'s' * (runs != 1)}, {_cases(pool)}"
        )
    return 0


def pull(options: argparse.Namespace, desk: Desk) -> int:
    """Writes the baselines that a run would compare with; exit 4 when there is none at all."""
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    got = 0
    for found in _found(options, desk):
        path = _write(folder, parse(found.text, found.file))
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
        path = _write(folder, after)
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
    return Desk(job=job, config=loaded, opened=opened, root=root, now=now)


def _reader(root: Path) -> config.Read:
    def read(path: str) -> bytes | None:
        try:
            return (root / path).read_bytes()
        except OSError:
            return None

    return read


def _may_save(session: Session, job: Job) -> None:
    made = session.meta.provenance
    if not job.may_save_baseline:
        raise UsageError(
            f"gate baseline save: not under event '{job.event}', a change must not write its own "
            "baseline; save on push or schedule of the base branch"
        )
    if made.mode == "pull_request" or made.event.startswith("pull_request"):
        raise UsageError(
            f"{session.folder}: measured by a pull request, which must not become the baseline; "
            "save a session of the base branch"
        )
    if session.report is None:
        raise UsageError(
            f"{session.folder}: the run never ended; go on with `gate run --resume "
            f"{session.folder}`"
        )


def _suites(session: Session, names: Sequence[str] | None) -> tuple[str, ...]:
    known = tuple(session.meta.suites)
    for name in names or ():
        if name not in known and name != "all":
            raise UsageError(f"--suite {name}: not in this session{did_you_mean(name, known)}")
    chosen = tuple(n for n in known if not names or n in names or "all" in names)
    reports = session.report.suites if session.report is not None else {}
    broken = [name for name in chosen if name in reports and reports[name].outcome == "error"]
    if broken:
        raise UsageError(
            f"{session.folder}: suite '{broken[0]}' ended in an error, which is no "
            "baseline; run it again"
        )
    _whole(session, chosen)
    return chosen


def _whole(session: Session, suites: Sequence[str]) -> None:
    """What ended once its verdict stood lacks rounds, and is off by what made it stand."""
    for name in suites:
        meta, told = session.meta.suites[name], session.report and session.report.suites.get(name)
        planned = meta.cases * meta.rounds
        if meta.looks is not None and told and told.trials < planned:
            raise UsageError(
                f"{session.folder}: suite '{name}' ended early, after {told.trials} of {planned} "
                "trials, so its rounds are not all there; measure them with `gate run --stop off`"
            )


def _pool(suite: str, folder: Path, session: Session, desk: Desk) -> BaselineFile | None:
    """The file that is there, else what a run here would compare with."""
    file = folder / _file_name(suite)
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
    return pool


def _found(options: argparse.Namespace, desk: Desk) -> Iterator[FoundBaseline]:
    """The suites' baselines by --baseline or gate.yml's source; a missing one is told."""
    source = options.baseline or desk.rules.source
    named = source_names(source) == ("file",)
    for suite in [one.name for one in config.select(desk.config, options.suite or ()).suites]:
        request = _request(suite, desk, path=source if named else desk.rules.path)
        found = find_baseline(source, request, desk.opened.forge, desk.root)
        if found is not None:
            yield found


def _request(suite: str, desk: Desk, path: str | None = None) -> BaselineRequest:
    _file_name(suite)
    rules = desk.rules
    return BaselineRequest(
        suite=suite,
        path=path or rules.path,
        branch=rules.branch,
        base_sha=desk.job.base_sha,
        artifact=rules.artifact,
        workflow=rules.workflow,
        max_age_days=rules.max_age_days,
        now=desk.now,
        explain=lambda reason: desk.echo(f"{suite}: {reason}"),
        no_branch=desk.job.mode == "laptop" and desk.opened.forge is None,
    )


def _files(folder: Path, suites: Sequence[str] | None) -> list[Path]:
    names = suites or ("all",)
    chosen = [folder / _file_name(name) for name in names]
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


def _write(folder: Path, baseline: BaselineFile) -> Path:
    """The file appears whole or not at all."""
    path = folder / _file_name(baseline.suite)
    part = path.with_suffix(".json.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(render(baseline).encode())
        part.replace(path)
    except OSError as error:
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def _file_name(suite: str) -> str:
    """A suite's name may come from a foreign session, so it must not lead elsewhere."""
    if not suite or suite.startswith(".") or any(sign in suite for sign in '/\\:"<>|?*\0'):
        raise UsageError(f"suite '{suite[:80]}': no name for a file; rename the suite")
    return f"{suite}.json"


def _cases(baseline: BaselineFile) -> str:
    return count(len(baseline.table.cases), "case")
