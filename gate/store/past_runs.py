"""Reads the runs that are kept on disk: sessions, folders of them, baseline files, folders of them.

What cannot be read in a folder of sessions is told and left out; a file that somebody named must be
readable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from gate.analysis.table import Table
from gate.errors import UsageError
from gate.files.plain_file import read_bytes
from gate.records import MetricSpec, Report
from gate.records.baseline import BaselineRun
from gate.store.baseline.anchor import measure_anchor
from gate.store.baseline.file import BaselineFile, StoredAnchor, parse
from gate.store.baseline.schema import AcceptanceNote
from gate.store.baseline.sources.file import run_of
from gate.store.history import Chain, Rounds, RunDetail
from gate.store.session import Session, is_session, load_session
from gate.store.session_check import check_rows
from gate.text.main_level import name_level

SESSION = "session-*"  # the folders that `gate run` makes


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRuns:
    """What was found, a chain a suite, and what had to be left out."""

    chains: tuple[Chain, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Found:
    """Grows place by place; a run that is found twice counts once."""

    runs: dict[str, dict[str, BaselineRun]] = field(
        default_factory=dict
    )  # suite -> session id -> run
    accepted: dict[str, dict[tuple[str, str], AcceptanceNote]] = field(default_factory=dict)
    places: dict[str, dict[str, None]] = field(default_factory=dict)
    details: dict[str, dict[str, RunDetail]] = field(default_factory=dict)
    specs: dict[str, dict[str, MetricSpec]] = field(default_factory=dict)
    blocking: dict[str, set[str]] = field(default_factory=dict)
    anchors: dict[str, StoredAnchor] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(
        self,
        suite: str,
        place: str,
        runs: Iterable[BaselineRun],
        accepted: Iterable[AcceptanceNote] = (),
    ) -> None:
        known_runs = self.runs.setdefault(suite, {})
        for run in runs:
            # Both a session and a baseline may have it; the file of an older version knows less.
            if run.session_id not in known_runs or known_runs[run.session_id].modes is None:
                known_runs[run.session_id] = run
        consents = self.accepted.setdefault(suite, {})
        consents.update({(one.who, one.when): one for one in accepted})
        self.places.setdefault(suite, {})[place] = None

    def describe(
        self, suite: str, details: Mapping[str, RunDetail], specs: Mapping[str, MetricSpec]
    ) -> None:
        """What a place knows beside the runs; a session tells more than a baseline file."""
        known_details = self.details.setdefault(suite, {})
        for session_id, detail in details.items():
            if detail.provenance is not None or session_id not in known_details:
                known_details[session_id] = detail
        self.specs.setdefault(suite, {}).update(specs)


def read_past_runs(paths: Sequence[Path]) -> PastRuns:
    """Raises UsageError for a path that is not there, and for a file that is no baseline."""
    collected = _Found()
    for path in paths:
        _read_path(path, collected)
    chains = (
        _with_anchor(
            Chain(
                suite=suite,
                source=", ".join(collected.places[suite]),
                runs=tuple(runs.values()),
                accepted=tuple(collected.accepted[suite].values()),
                specs=collected.specs.get(suite, {}),
                blocking=frozenset(collected.blocking.get(suite, ())),
                details=collected.details.get(suite, {}),
            ),
            collected.anchors.get(suite),
        )
        for suite, runs in collected.runs.items()
    )
    return PastRuns(chains=tuple(chains), notes=tuple(collected.notes))


def chain_of(baseline: BaselineFile, source: str, notes: Sequence[str] = ()) -> Chain:
    chain = Chain(
        suite=baseline.suite,
        source=source,
        runs=baseline.runs,
        accepted=baseline.accepted,
        notes=(*notes, *_tell_falls(baseline.anchor)),
        specs=baseline.table.specs,
        details=_details_of(baseline),
    )
    return _with_anchor(chain, baseline.anchor)


def _tell_falls(anchor: StoredAnchor | None) -> Iterator[str]:
    for metric, seen in anchor.header.falls.items() if anchor else ():
        yield f"{metric} has fallen below main's anchor, first seen on {seen.at[:10]}"


def _with_anchor(chain: Chain, anchor: StoredAnchor | None) -> Chain:
    """With the level of each metric that the anchor has values of."""
    if anchor is None:
        return chain
    header = anchor.header
    name = name_level(header.kind, header.name, len(header.runs), header.created_at)
    return replace(chain, anchor=measure_anchor(anchor), anchor_name=name)


def _details_of(baseline: BaselineFile) -> dict[str, RunDetail]:
    """The rounds that are still kept of each run."""
    details, start = {}, 0
    for run in baseline.runs:
        if run.kept:
            rounds = slice(start, start + run.kept)
            read = partial(_rounds_in, baseline.table, rounds)
            details[run.session_id] = RunDetail(read_cases=read)
        start += run.kept
    return details


def _rounds_in(table: Table, rounds: slice) -> dict[str, Rounds]:
    """By case, of those that were judged in these rounds of the table."""
    found = {}
    for case, values in zip(table.cases, table.column("success")[:, rounds].tolist(), strict=True):
        judged = [value for value in values if value == value]
        if judged:
            found[case] = (sum(value == 1.0 for value in judged), len(judged))
    return found


def _read_path(path: Path, collected: _Found) -> None:
    if is_session(path):
        _session(path, str(path), collected)
    elif path.is_dir():
        _folder(path, collected)
    else:
        _baseline(path, collected)


def _folder(path: Path, collected: _Found) -> None:
    """The sessions right inside it; where there is none, the baseline files."""
    inside = sorted(one for one in path.iterdir() if one.is_dir())
    sessions = [one for one in inside if is_session(one) or one.match(SESSION)]
    for folder in sessions:
        _session(folder, str(path), collected)
    if not sessions:
        for file in sorted(path.glob("*.json")):
            _baseline(file, collected)


def _baseline(file: Path, collected: _Found) -> None:
    try:
        text = read_bytes(file)
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror}; give a session, a baseline file or a folder of them"
        ) from error
    stored = parse(text, str(file))
    collected.add(stored.suite, str(file), stored.runs, stored.accepted)
    collected.describe(stored.suite, _details_of(stored), stored.table.specs)
    collected.notes += _tell_falls(stored.anchor)
    if stored.anchor is not None:
        collected.anchors[stored.suite] = stored.anchor


def _session(folder: Path, place: str, collected: _Found) -> None:
    try:
        session = load_session(folder)
    except UsageError as error:
        collected.notes.append(f"left out: {error}")
        return
    if session.meta.debugging:
        return  # measures nothing, and is no news to who typed it
    if why := _no_measurement(session):
        collected.notes.append(f"left out: {folder}: {why}")
        return
    for suite, run in _runs(session, collected.notes):
        collected.add(suite, place, [run])
        detail = RunDetail(
            provenance=session.meta.provenance,
            estimates=session.report.suites[suite].metrics if session.report else {},
            read_cases=partial(_read_rounds, session, suite),
        )
        specs = session.meta.suites[suite].specs
        collected.describe(suite, {session.meta.session_id: detail}, specs)
        if session.report:
            collected.blocking.setdefault(suite, set()).update(_blocking(session.report, suite))


def _blocking(report: Report, suite: str) -> Iterator[str]:
    """Metrics that may block, by the rules of that run."""
    rows = [(row.suite, row.level, row.metric) for row in report.comparisons]
    rows += [(row.suite, row.level, row.metric) for row in report.gates]
    return (metric for name, level, metric in rows if name == suite and level == "block")


def _read_rounds(session: Session, suite: str) -> dict[str, Rounds]:
    """By case; of a session whose rows cannot be read none."""
    found: dict[str, Rounds] = {}
    try:
        for row in check_rows(session.rows(), session.meta.suites, session.folder):
            if row["suite"] == suite and row["passed"] is not None:
                passed, judged = found.get(row["case_id"], (0, 0))
                found[row["case_id"]] = (passed + row["passed"], judged + 1)
    except UsageError:
        return {}
    return found


def _no_measurement(session: Session) -> str:
    """Why none of its suites is a run; empty when they are."""
    if session.report is None:
        return f"the run did not finish; continue it with `gate run --resume {session.folder}`"
    if "shard" in session.meta.options:
        return "only a part of the cases (--shard); use the session of `gate merge`"
    return ""


def _runs(session: Session, notes: list[str]) -> Iterator[tuple[str, BaselineRun]]:
    suites = session.report.suites if session.report is not None else {}
    for suite, meta in session.meta.suites.items():
        suite_report = suites.get(suite)
        if suite_report is None:
            notes.append(f"left out: {session.folder}: its report has no suite '{suite}'")
        elif suite_report.outcome == "error":
            notes.append(f"left out: {session.folder}: '{suite}' ended in an error")
        else:
            run = run_of(session, suite)
            yield suite, replace(run, cases=suite_report.cases, rounds=meta.rounds)
