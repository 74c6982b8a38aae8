"""`gate baseline save | pull | show | accept | verdict`: writes, fetches, prints and replaces
baselines, and says whether main is as good as its anchor.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gate.analysis.metric_names import current_name, describe_renamed
from gate.commands.baseline_sources import Desk, find_baselines, open_desk, request
from gate.errors import GateError, InfrastructureError, UsageError
from gate.files.plain_file import is_there, read_bytes, read_if_there
from gate.github.api import ApiError
from gate.github.context import is_ci, token
from gate.github.issues import close_issue, tell_issue
from gate.github.remote_repository import connect
from gate.records import Report, TrialRow
from gate.records.baseline import AnchorHeader
from gate.records.forge import RELEASE_ANCHOR, FoundBaseline
from gate.report.baseline_listing import listing
from gate.report.issue import render_issue
from gate.run.save_baseline import (
    anchor_at,
    anchor_file,
    check_may_save,
    choose_suites,
    file_name,
    with_anchor,
    write,
    write_answers,
)
from gate.store.baseline.anchor import RUNS, AnchorRules
from gate.store.baseline.answers import choose_answers, pack
from gate.store.baseline.file import BaselineFile, StoredAnchor, newest, parse
from gate.store.baseline.find import keeps_answers, read_answers
from gate.store.baseline.pool import accept, with_accepted
from gate.store.baseline.source_order import find_baseline
from gate.store.baseline.sources.file import session_baseline
from gate.store.baseline.sources.repo import commit_command
from gate.store.session import Session, find_session, load_session, refuse_debugging
from gate.text.escaping import plain
from gate.text.figures import count
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_of
from gate.text.suggestions import did_you_mean
from gate.verdict.anchor import list_watched

NO_BASELINE = 4


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Runs the sub-command and returns its exit code. `options`: action, config, suite, out and
    those of the sub-command.
    """
    return COMMANDS[options.action](options, open_desk(options, env))


def save(options: argparse.Namespace, desk: Desk) -> int:
    """Adds a session to the baselines, all of its suites or none. Raises UsageError for what a pull
    request measured.
    """
    session = load_session(find_session(options.session, desk.results))
    check_may_save(session, desk.job)
    if desk.job.mode == "release":
        return _save_anchor(session, options, desk)
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    pools = [_add(session, suite, folder, desk) for suite in choose_suites(session, options.suite)]
    if session.report is not None and session.report.outcome == "fail":
        desk.echo(f"note: the verdict of {session.folder} was FAIL; it is saved all the same")
    redact = Redactor(secrets_of(desk.env, ()))
    for pool in pools:
        kept = _keeps_answers(folder / file_name(pool.suite), options, desk)
        path = write(folder, pool)
        answers = choose_answers(_rows(session, pool.suite)) if kept else ()
        data, left_out = pack(answers, redact)
        write_answers(folder, pool.suite, data if kept else None)
        if left_out:
            desk.echo(f"{path}: answers of {count(left_out, 'case')} are too large to be kept")
        desk.echo(f"{path}: {count(pool.table.rounds, 'round')} of {_runs(pool)}, {_cases(pool)}")
    if options.upload_artifact:
        _upload(folder, desk.rules.artifact, desk)
    elif not options.out and desk.opened.git is not None and not is_ci(desk.env):
        commit = commit_command(desk.rules.path)
        desk.echo(f"Next: {commit} - runs compare with the committed file")
    return 0


def _add(session: Session, suite: str, folder: Path, desk: Desk) -> BaselineFile:
    """The suite's baseline with the session, and with the anchor that follows it."""
    before = _pool(suite, folder, session, desk)
    planned = session.meta.suites[suite]
    kept = desk.rules.rounds_to_keep(cases=planned.cases, rounds=planned.rounds)
    after = session_baseline(session, suite, onto=before, keep_rounds=kept)
    rules = _anchor_rules(after, desk)
    header = before.anchor.header if before and before.anchor else None
    rules = replace(rules, given=_find_given(rules, header, suite, desk))
    return with_anchor(before.anchor if before else None, after, rules)


def _anchor_rules(pool: BaselineFile, desk: Desk) -> AnchorRules:
    """Which anchor gate.yml wants, and of which metrics."""
    own = next((one.gates for one in desk.config.suites if one.name == pool.suite), ())
    gates = (*own, *desk.config.gates)
    watched = list_watched(pool.table.specs, gates, desk.config.regression)
    return AnchorRules(wanted=desk.rules.anchor, watched=watched)


def _find_given(
    rules: AnchorRules, known: AnchorHeader | None, suite: str, desk: Desk
) -> StoredAnchor | None:
    """What a release measured since the known anchor, or what stood at the ref that gate.yml names;
    None where the runs of main make the anchor.
    """
    forge = desk.opened.forge
    if rules.wanted == "release" and forge is not None and forge.has_artifacts:
        since = known.created_at if known and known.kind == "release" else ""
        artifact = forge.release_anchor(request(suite, desk), since)
        text = artifact.files.get(file_name(suite)) if artifact else None
        return parse(text, f"{RELEASE_ANCHOR}/{suite}.json").anchor if text is not None else None
    if rules.wanted in ("release", "best") or (known is not None and rules.fits(known)):
        return None
    return _read_anchor_at(rules, suite, desk)


def _read_anchor_at(rules: AnchorRules, suite: str, desk: Desk) -> StoredAnchor:
    """Raises UsageError where no baseline stands at the ref."""
    ref = rules.wanted
    git = desk.opened.git
    commit = (git.resolve(ref) if git else None) or ref
    wanted = replace(request(suite, desk), base_sha=commit, base_name=ref, why_no_base="")
    there = find_baseline(desk.rules.source, wanted, desk.opened.forge, desk.root)
    if there is None:
        raise UsageError(
            f"baseline.anchor: {ref}: no baseline of '{suite}' stands there; name a branch, tag or "
            "commit that has one, or write `release` or `best`"
        )
    return anchor_at(ref, parse(there.text, there.file), rules)


def _save_anchor(session: Session, options: argparse.Namespace, desk: Desk) -> int:
    """What a release measured goes where main's next run finds it, and into no baseline."""
    folder = Path(options.out or RELEASE_ANCHOR)
    tag = desk.job.head_ref or "a release"
    for suite in choose_suites(session, options.suite):
        pool = session_baseline(session, suite)
        path = write(folder, anchor_file(pool, _anchor_rules(pool, desk), tag))
        rounds = pool.table.rounds
        few = f"; main's runs tell more with {RUNS * rounds} (--rounds)" if rounds < RUNS else ""
        desk.echo(f"{path}: the anchor of {tag}, {count(rounds, 'round')}{few}")
    if options.upload_artifact:
        _upload(folder, RELEASE_ANCHOR, desk)
    return 0


def _keeps_answers(file: Path, options: argparse.Namespace, desk: Desk) -> bool:
    """By `baseline.answers`: `artifact` keeps them where the baseline goes elsewhere, and not where
    it lies in the repository.
    """
    if desk.rules.answers != "artifact":
        return desk.rules.answers == "repo"
    elsewhere = options.out or options.upload_artifact or desk.opened.forge is None
    return bool(elsewhere) or (is_ci(desk.env) and not is_there(file))


def _rows(session: Session, suite: str) -> Iterator[TrialRow]:
    return (row for row in session.rows() if row["suite"] == suite)  # checked when it was pooled


def _upload(folder: Path, name: str, desk: Desk) -> None:
    """Raises InfrastructureError: a baseline that nobody finds must not look saved."""
    stored = desk.store(folder, name)
    if not stored.artifact_id:
        raise InfrastructureError(f"artifact '{stored.name}' was not stored: {stored.note}")
    desk.echo(f"artifact '{stored.name}': {stored.size:,} bytes, {stored.digest}")


def pull(options: argparse.Namespace, desk: Desk) -> int:
    """Writes the baselines that a run would be compared with; returns 4 if there is none."""
    folder = Path(options.out) if options.out else desk.root / desk.rules.path
    got = 0
    for baseline in find_baselines(options, desk):
        stored = parse(baseline.text, baseline.file)
        path = write(folder, stored)
        write_answers(folder, stored.suite, _answers(baseline, desk))
        desk.echo(f"{path}: from {baseline.detail}")
        got += 1
    return 0 if got else NO_BASELINE


def _answers(baseline: FoundBaseline, desk: Desk) -> bytes | None:
    """What was answered, checked; None where nothing is kept, or where it is broken."""
    try:
        answers = [*read_answers(baseline)] if keeps_answers(desk.rules, baseline) else []
    except GateError as error:
        desk.echo(f"no stored answers: {error}")
        return None
    return pack(answers, str)[0] if answers else None


def show(options: argparse.Namespace, desk: Desk) -> int:
    """Prints what is stored and which part is used; returns 4 if there is nothing."""
    got = 0
    for baseline in find_baselines(options, desk):
        stored = newest(parse(baseline.text, baseline.file), desk.rules.keep_rounds)
        desk.echo(plain("\n".join(listing(stored, baseline.detail, baseline.notes))))
        got += 1
    return 0 if got else NO_BASELINE


def accept_change(options: argparse.Namespace, desk: Desk) -> int:
    """Writes into the working tree's files that a change is intended, with who says so and why."""
    if desk.job.event.startswith("pull_request"):
        raise UsageError(
            "gate baseline accept: a pull request's run cannot accept its own change; run "
            "this on your machine and commit the file"
        )
    if not options.reason.strip():
        raise UsageError("gate baseline accept: --reason is empty; say why the change is intended")
    folder = desk.root / desk.rules.path
    given, renamed = tuple(options.metric or ()), dict[str, str]()
    for file in _files(folder, options.suite):
        before = parse(read_bytes(file), str(file))
        metrics = _find_metrics(before, given)
        renamed |= {old: new for old, new in zip(given, metrics, strict=True) if old != new}
        after = accept(
            before,
            who=_who(desk),
            when=f"{desk.now:%Y-%m-%dT%H:%M:%SZ}",
            why=options.reason.strip(),
            metrics=metrics,
        )
        if options.anchor:
            after = replace(after, anchor=None)
        path = write(folder, after)
        what = "a new baseline and a new anchor" if options.anchor else "a new baseline"
        desk.echo(f"{path}: accepted by {after.accepted[-1].who}; the next run starts {what}")
    for old, new in renamed.items():
        desk.echo(f"--metric {old}: {describe_renamed(old, new)} - write the new name")
    return 0


def judge_main_branch(options: argparse.Namespace, desk: Desk) -> int:
    """Says what main's session came to, keeps the issue about main's level up to date, and returns
    the session's exit code.
    """
    session = load_session(find_session(options.session, desk.results))
    refuse_debugging(session)
    report = session.report
    if report is None:
        raise UsageError(f"{session.folder}: the run did not finish; run it again")
    if desk.job.mode == "pull_request" or report.provenance.mode == "pull_request":
        raise UsageError(
            "gate baseline verdict: this is about main; a pull request's verdict is that of "
            "`gate run` or `gate comment`"
        )
    desk.echo(plain(f"{report.outcome}: {report.reason}"))
    _keep_issue(report, desk)
    return report.exit_code


def _keep_issue(report: Report, desk: Desk) -> None:
    """Of a run that judged nothing it stays as it is."""
    if report.outcome == "error":
        return
    api = connect(desk.job, token(desk.env))
    if api is None:
        return
    try:
        content = render_issue(report)
        if content is None:
            url = report.provenance.run_url or ""
            news = close_issue(api, run_url=url, job=report.comment_id)
        else:
            title, body = content
            news = tell_issue(api, title=title, body=body, job=report.comment_id)
        if news.action != "none":
            desk.echo(f"issue {news.action}: {news.url}")
    except ApiError as error:
        desk.echo(plain(f"the issue about main was not written: {error}"))
    finally:
        api.close()


COMMANDS: Mapping[str, Callable[[argparse.Namespace, Desk], int]] = {
    "save": save,
    "pull": pull,
    "show": show,
    "accept": accept_change,
    "verdict": judge_main_branch,
}


def _pool(suite: str, folder: Path, session: Session, desk: Desk) -> BaselineFile | None:
    """The file that is there, else what a run here would compare with."""
    file = folder / file_name(suite)
    pool, content = None, read_if_there(file)
    if content is not None:
        pool = parse(content, str(file))
    elif desk.rules.source in ("auto", "repo", "artifact"):
        pool = _fetch_pool(suite, desk)
    if pool is not None and session.meta.session_id in [run.session_id for run in pool.runs]:
        raise UsageError(f"{session.folder}: this session is already in the baseline")
    accepted = session.report.accepted if session.report is not None else ()
    return with_accepted(pool, accepted) if pool is not None else None


def _fetch_pool(suite: str, desk: Desk) -> BaselineFile | None:
    """The newest pool up to the commit itself: a job that ran again adds to what its first attempt
    saved. With the base commit's pool it would replace that, and whoever runs a job again until
    main looks good would choose the best of the runs.
    """
    wanted, reasons = request(suite, desk), list[str]()
    wanted = replace(wanted, base_sha=desk.job.head_sha or wanted.base_sha, explain=reasons.append)
    there = find_baseline(desk.rules.source, wanted, desk.opened.forge, desk.root)
    if there is None:
        desk.echo(f"{suite}: a new baseline begins ({'; '.join(reasons)})")
        return None
    return parse(there.text, there.file)


def _files(folder: Path, suites: Sequence[str] | None) -> list[Path]:
    names = suites or ("all",)
    chosen = [folder / file_name(name) for name in names]
    files = sorted(folder.glob("*.json")) if "all" in names else chosen
    missing = [file for file in files if not is_there(file)]
    if missing or not files:
        raise UsageError(
            f"{missing[0] if missing else folder}: there is no baseline file to update; "
            "fetch one with `gate baseline pull`"
        )
    return files


def _find_metrics(baseline: BaselineFile, metrics: Sequence[str]) -> tuple[str, ...]:
    """Those that are meant: an old name stands for the one of now."""
    known = tuple(baseline.table.specs)
    for metric in metrics:
        name = current_name(metric, known)
        if name not in known:
            where = f"not in the baseline of '{baseline.suite}'"
            raise UsageError(f"--metric {metric}: {where}{did_you_mean(metric, known)}")
    return tuple(current_name(metric, known) for metric in metrics)


def _who(desk: Desk) -> str:
    who = desk.job.actor or (desk.opened.git.identity() if desk.opened.git else None)
    if not who:
        raise UsageError(
            "gate baseline accept: your name is unknown; set it with `git config user.name`"
        )
    return who


def _runs(baseline: BaselineFile) -> str:
    return count(sum(run.kept > 0 for run in baseline.runs), "run")


def _cases(baseline: BaselineFile) -> str:
    return count(len(baseline.table.cases), "case")
