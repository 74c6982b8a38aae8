"""Which sessions may become a baseline, and how it is written (docs/semantics.md 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gate.analysis.table import last_rounds, take_rounds
from gate.errors import InfrastructureError, UsageError
from gate.files.plain_file import check_folder, check_target
from gate.github.context import Job
from gate.store.baseline.anchor import (
    RUNS,
    AnchorRules,
    MainRuns,
    anchor_of,
    follow_main,
    name_anchor,
)
from gate.store.baseline.file import BaselineFile, StoredAnchor, render
from gate.store.session import Session, refuse_debugging
from gate.text.suggestions import did_you_mean


def check_may_save(session: Session, job: Job) -> None:
    """Raises UsageError for a session of a pull request, in a job of one, and for a broken run. In
    the job of a release only what it measured itself may be saved, as an anchor.
    """
    refuse_debugging(session)
    provenance = session.meta.provenance
    if not job.may_save_baseline and job.mode != "release":
        raise UsageError(
            f"gate baseline save: not allowed for event '{job.event}', a change must not "
            "write its own baseline; save on push or schedule of the base branch"
        )
    if provenance.mode == "pull_request" or provenance.event.startswith("pull_request"):
        raise UsageError(
            f"{session.folder}: measured by a pull request, which must not become the baseline; "
            "save a session of the base branch"
        )
    if (provenance.mode == "release") != (job.mode == "release"):
        raise UsageError(
            f"{session.folder}: a release's session becomes an anchor, in the release's own job, "
            "and no other session does; save a session of the base branch on the base branch"
        )
    if session.report is None:
        raise UsageError(
            f"{session.folder}: the run did not finish; continue it with `gate run --resume "
            f"{session.folder}`"
        )


def choose_suites(session: Session, names: Sequence[str] | None) -> tuple[str, ...]:
    """The suites in `names`, or all. Raises UsageError if one of them was not measured
    completely.
    """
    suites_known = tuple(session.meta.suites)
    for name in names or ():
        if name not in suites_known and name != "all":
            raise UsageError(
                f"--suite {name}: not in this session{did_you_mean(name, suites_known)}"
            )
    chosen = tuple(n for n in suites_known if not names or n in names or "all" in names)
    reports = session.report.suites if session.report is not None else {}
    broken = [name for name in chosen if name in reports and reports[name].outcome == "error"]
    if broken:
        raise UsageError(
            f"{session.folder}: suite '{broken[0]}' ended in an error, so it cannot be a "
            "baseline; run it again"
        )
    _check_complete(session, chosen)
    return chosen


def _check_complete(session: Session, suites: Sequence[str]) -> None:
    """What ended once its verdict stood lacks rounds, and is off by what made it stand."""
    for name in suites:
        meta, report = session.meta.suites[name], session.report and session.report.suites.get(name)
        planned = meta.cases * meta.rounds
        if meta.looks is not None and report and report.trials < planned:
            raise UsageError(
                f"{session.folder}: suite '{name}' ended early, after {report.trials} of {planned} "
                "trials, so some rounds are missing; run all of them with `gate run --stop off`"
            )


def with_anchor(
    anchor: StoredAnchor | None, pool: BaselineFile, rules: AnchorRules
) -> BaselineFile:
    """The file with the anchor that follows its newest run. `anchor`: that of the file before."""
    run = pool.runs[-1]
    older = sum(one.kept for one in pool.runs[:-1])
    followed = follow_main(
        MainRuns(table=take_rounds(pool.table, 0, older), runs=pool.runs[:-1]),
        anchor,
        last_rounds(pool.table, run.kept),
        run,
        replace(rules, accepted=tuple(note.metrics for note in pool.accepted)),
    )
    return replace(pool, anchor=followed)


def anchor_file(pool: BaselineFile, rules: AnchorRules, tag: str) -> BaselineFile:
    """What a release measured, as the anchor that main takes over; `pool` has its run alone."""
    main = MainRuns(table=pool.table, runs=pool.runs)
    anchor = anchor_of(main, rules.columns)
    return replace(pool, anchor=name_anchor(anchor, "release", tag, pool.runs[-1].commit))


def anchor_at(ref: str, found: BaselineFile, rules: AnchorRules) -> StoredAnchor:
    """The newest five runs of the baseline that stood at a ref."""
    main = MainRuns(table=found.table, runs=found.runs)
    kept = len(main.kept)
    anchor = anchor_of(main, rules.columns, runs=range(max(0, kept - RUNS), kept))
    newest = main.kept[-1].commit if kept else None
    return name_anchor(anchor, "ref", ref, newest)


def write(folder: Path, baseline: BaselineFile) -> Path:
    """Writes the file completely or not at all, and returns its path."""
    path = folder / file_name(baseline.suite)
    check_folder(folder, "the baselines' folder")
    check_target(path, "baseline")
    part = path.with_suffix(".json.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(render(baseline).encode())
        part.replace(path)
    except OSError as error:
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def write_answers(folder: Path, suite: str, data: bytes | None) -> None:
    """Writes what was answered beside the baseline; None: nothing is kept there, nor what an older
    run answered.
    """
    path = folder / f"{file_name(suite).removesuffix('.json')}.answers.jsonl.gz"
    check_target(path, "answers of the baseline")
    try:
        if data is None:
            path.unlink(missing_ok=True)
        else:
            part = path.with_suffix(".gz.part")
            part.write_bytes(data)
            part.replace(path)
    except OSError as error:
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror}") from error


def file_name(suite: str) -> str:
    """The file name of a suite's baseline. The name may come from a foreign session, so it must not
    lead out of the folder.
    """
    if not suite or suite.startswith(".") or any(sign in suite for sign in '/\\:"<>|?*\0'):
        raise UsageError(f"suite '{suite[:80]}': not usable as a file name; rename the suite")
    return f"{suite}.json"
