"""A baseline that somebody named by its path: a file, a folder of them, or a session folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.archive import Session, is_session, load_session
from gate.baseline_file import BaselineFile, render
from gate.baseline_pool import append
from gate.baseline_schema import Run, fingerprint
from gate.errors import UsageError
from gate.hosting import BaselineRequest, Forge, FoundBaseline
from gate.plugins import BASELINES
from gate.table import tabulate


@BASELINES.register("file")
@dataclass(frozen=True, slots=True, kw_only=True)
class FromFile:
    """`request.path` itself; a session becomes the baseline file that `save` would write."""

    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        path = root / request.path
        if is_session(path):
            return _of_session(path, request)
        if path.is_dir():
            path = path / f"{request.suite}.json"
            if not path.is_file():
                request.explain(f"file: no {path}")
                return None
        return FoundBaseline(text=_bytes(path), source="file", detail=request.path, file=str(path))


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
    rows = (row for row in session.rows() if row["suite"] == suite)
    table = tabulate(suite, rows, meta.specs, meta.graders)
    limit = table.rounds if keep_rounds is None else keep_rounds
    partial = meta.not_selected > 0
    return append(onto, table, run_of(session, suite), keep_rounds=limit, partial=partial)


def run_of(session: Session, suite: str) -> Run:
    """What the header says about the session as one run of the suite."""
    meta, made = session.meta, session.meta.provenance
    metrics = session.report.suites[suite].metrics if session.report is not None else {}
    return Run(
        session_id=meta.session_id,
        commit=made.commit,
        created_at=meta.created_at,
        means={
            name: None if estimate.value is None else float(f"{estimate.value:.6g}")
            for name, estimate in sorted(metrics.items())
        },
        fingerprint=fingerprint(made, meta.suites[suite].dataset_digest),
    )


def _of_session(path: Path, request: BaselineRequest) -> FoundBaseline | None:
    session = load_session(path)
    if request.suite not in session.meta.suites:
        request.explain(f"session: {path} did not run '{request.suite}'")
        return None
    text = render(session_baseline(session, request.suite)).encode()
    return FoundBaseline(text=text, source="session", detail=request.path, file=str(path))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"--baseline {path}: {error.strerror}; give a baseline file, a folder of them, a "
            "session, or auto, repo, artifact, none"
        ) from error
