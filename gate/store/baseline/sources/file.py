"""A baseline that somebody named by its path: a file, a folder of them, or a session folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gate.analysis.metric_names import describe_stored_names
from gate.analysis.table import tabulate
from gate.errors import UsageError
from gate.files.plain_file import is_there, read_bytes, read_if_there
from gate.graders.trajectories.path import choose_representatives
from gate.plugins import BASELINES
from gate.records import SuiteReport, TrialRow
from gate.records.baseline import BaselineRun
from gate.records.forge import BaselineRequest, Forge, FoundBaseline
from gate.store.baseline.answers import choose_answers, pack
from gate.store.baseline.file import BaselineFile, render
from gate.store.baseline.pool import append
from gate.store.baseline.schema import MODES, fingerprint
from gate.store.session import Session, is_session, load_session, refuse_debugging
from gate.store.session_check import check_rows


@BASELINES.register("file")
@dataclass(frozen=True, slots=True, kw_only=True)
class FromFile:
    """`request.path` itself; a session becomes the baseline file that `save` would write."""

    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        path = root / request.path
        if is_session(path):
            return _from_session(path, request)
        if path.is_dir() and path.suffix != ".json":
            path = path / f"{request.suite}.json"
            if not is_there(path):
                request.explain(f"file: no {path}")
                return None
        return FoundBaseline(
            text=_bytes(path),
            source="file",
            detail=request.path,
            file=str(path),
            answers=partial(read_if_there, path.with_name(request.answers_file)),
        )


def session_baseline(
    session: Session,
    suite: str,
    *,
    onto: BaselineFile | None = None,
    keep_rounds: int | None = None,
) -> BaselineFile:
    """The pool `onto` with the session's rounds of one of its suites; all rounds are kept when
    `keep_rounds` is None.
    """
    meta = session.meta.suites[suite]
    table = tabulate(suite, _rows(session, suite), meta.specs, meta.graders)
    return append(
        onto,
        table,
        run_of(session, suite),
        keep_rounds=table.rounds if keep_rounds is None else keep_rounds,
        partial=meta.not_selected > 0,
        paths=choose_representatives(_rows(session, suite)),
    )


def _rows(session: Session, suite: str) -> Iterator[TrialRow]:
    rows = check_rows(session.rows(), session.meta.suites, session.folder)
    return (row for row in rows if row["suite"] == suite)


def run_of(session: Session, suite: str) -> BaselineRun:
    """What the header says about the session as one run of the suite."""
    meta, provenance = session.meta, session.meta.provenance
    suite_report = session.report.suites[suite] if session.report is not None else None
    metrics = suite_report.metrics if suite_report else {}
    return BaselineRun(
        session_id=meta.session_id,
        commit=provenance.commit,
        created_at=meta.created_at,
        means={
            name: None if estimate.value is None else float(f"{estimate.value:.6g}")
            for name, estimate in sorted(metrics.items())
        },
        fingerprint=fingerprint(provenance, meta.suites[suite].dataset_digest),
        trials=suite_report.trials if suite_report else None,
        modes=_modes(suite_report) if suite_report else None,
    )


def _modes(suite_report: SuiteReport) -> dict[str, int] | None:
    """None where it is unknown: reports of older versions name no modes."""
    if suite_report.modes:
        return {mode.mode: mode.cases for mode in suite_report.modes[:MODES]}
    success = suite_report.metrics.get("agent.success_rate")
    return {} if success is not None and success.value == 1.0 else None


def _from_session(path: Path, request: BaselineRequest) -> FoundBaseline | None:
    session = load_session(path)
    refuse_debugging(session)
    if request.suite not in session.meta.suites:
        request.explain(f"session: {path} did not run '{request.suite}'")
        return None
    text = render(session_baseline(session, request.suite)).encode()
    return FoundBaseline(
        text=text,
        source="session",
        detail=request.path,
        file=str(path),
        notes=describe_stored_names(session.renamed[request.suite]),
        answers=lambda: pack(choose_answers(_rows(session, request.suite)), str)[0],
    )


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise UsageError(
            f"--baseline {path}: {error.strerror}; give a baseline file, a folder of them, a "
            "session, or auto, repo, artifact, none"
        ) from error
