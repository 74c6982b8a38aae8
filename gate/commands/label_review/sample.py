"""Draws the sample of a period from a stored session."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gate.commands.label_review.criteria import Asked, judge_metrics
from gate.commands.label_review.manifest import Manifest, Shown
from gate.commands.label_review.rotation import Candidate, Key, Pick, Place, choose, rank
from gate.errors import UsageError
from gate.plugins import Rows
from gate.records import TrialRow
from gate.store.session import Meta
from gate.text.suggestions import did_you_mean


@dataclass(slots=True, kw_only=True)
class _SampledCase:
    """One case: the rounds that can be shown, and why others cannot."""

    rounds: dict[int, float | None] = field(default_factory=dict)  # -> the judge's uncertainty
    why_not: str = ""


def choose_suite(meta: Meta, name: str | None) -> str:
    """The named suite; without a name the only one, or the only one with a judge. Raises
    UsageError.
    """
    if name is not None:
        if name not in meta.suites:
            near = did_you_mean(name, tuple(meta.suites))
            raise UsageError(f"--suite {name}: not in this session{near}")
        return name
    names_of_suites = list(meta.suites)
    if len(names_of_suites) > 1:
        names_of_suites = [
            suite for suite in names_of_suites if judge_metrics(meta.suites[suite])
        ] or names_of_suites
    if len(names_of_suites) != 1:
        names = ", ".join(names_of_suites) or "none"
        raise UsageError(f"a form holds one suite; choose it with --suite: {names}")
    return names_of_suites[0]


def period_of(created_at: str) -> str:
    """The ISO week in which a session was made, such as 2026-W47. Raises UsageError."""
    try:
        year, week, _ = datetime.fromisoformat(created_at).isocalendar()
    except ValueError as error:
        message = f"created_at '{created_at[:40]}' is not a time; give the period with --period"
        raise UsageError(message) from error
    return f"{year}-W{week:02d}"


def draw(
    meta: Meta,
    rows: Rows,
    *,
    suite: str,
    period: str,
    asked: Asked,
    seen: Mapping[Key, int],
    size: int,
) -> Manifest:
    """The manifest of the sample. Raises UsageError if there is nothing to show. `rows` reads the
    session's trials, which must have been checked; `seen`: as in `rotation.choose`.
    """
    columns = {name: spec.column for name, spec in judge_metrics(meta.suites[suite]).items()}
    cases = _gather_cases(rows(), suite, tuple(columns.values()))
    candidates = [
        _candidate(key, case, suite, period) for key, case in cases.items() if case.rounds
    ]
    if not candidates:
        raise UsageError(
            f"suite '{suite}': no case has an answer to review ({_format_left_out(cases)})"
        )
    choice = choose(candidates, suite, seen, size)
    picks = sorted(choice.picks, key=lambda pick: rank(suite, period, *pick.candidate.key))
    trials = _trials(rows(), suite, {pick.candidate.place for pick in picks})
    return Manifest(
        suite=suite,
        period=period,
        session_id=meta.session_id,
        created_at=meta.created_at,
        commit=meta.provenance.commit,
        size=size,
        criteria=asked.criteria,
        about=asked.about,
        strata=choice.strata,
        left_out=dict(sorted(_count_left_out(cases).items())),
        cases=tuple(_show_case(pick, trials[pick.candidate.place], columns) for pick in picks),
    )


def _show_case(pick: Pick, row: TrialRow, columns: Mapping[str, str]) -> Shown:
    values = {name: row["scores"].get(column) for name, column in sorted(columns.items())}
    return Shown(
        case_id=pick.candidate.case_id,
        case_digest=pick.candidate.case_digest,
        round=row["round"],
        answer_digest=answer_digest(row["output"] or ""),
        cycle=pick.cycle,
        stratum=pick.stratum,
        weight=pick.weight,
        judge={name: float(value) for name, value in values.items() if value is not None},
        uncertainty=pick.candidate.uncertainty,
    )


def trials_of(manifest: Manifest, rows: Iterable[TrialRow]) -> tuple[TrialRow, ...]:
    """The shown trials in the order of the sample. Raises UsageError if the session has others."""
    wanted = {(case.case_id, case.case_digest, case.round): case for case in manifest.cases}
    rows_of_cases = {
        place: row
        for place, row in _trials(rows, manifest.suite, set(wanted)).items()
        if answer_digest(row["output"] or "") == wanted[place].answer_digest
    }
    if len(rows_of_cases) < len(wanted):
        raise UsageError(
            f"{len(wanted) - len(rows_of_cases)} answers of the sample are missing from "
            f"this session; give the session {manifest.session_id} that it was drawn from"
        )
    return tuple(rows_of_cases[place] for place in wanted)


def answer_digest(text: str) -> str:
    """sha256 of the answer's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _gather_cases(
    rows: Iterable[TrialRow], suite: str, columns: Sequence[str]
) -> dict[Key, _SampledCase]:
    cases: dict[Key, _SampledCase] = {}
    for row in rows:
        if row["suite"] != suite:
            continue
        case = cases.setdefault((row["case_id"], row["case_digest"]), _SampledCase())
        if row["status"] != "completed" or not (row["output"] or "").strip():
            case.why_not = case.why_not or "no answer"
        elif columns and all(row["scores"].get(column) is None for column in columns):
            case.why_not = "no judgement"
        else:
            doubts = [x for x in (row.get("uncertain") or {}).values() if x is not None]
            case.rounds[row["round"]] = max(doubts, default=None)
    return cases


def _candidate(key: Key, case: _SampledCase, suite: str, period: str) -> Candidate:
    """With one of its rounds, each as likely as the others."""
    numbers = sorted(case.rounds)
    number = numbers[int(rank(suite, *key, period)[:16], 16) % len(numbers)]
    case_id, case_digest = key
    return Candidate(
        case_id=case_id, case_digest=case_digest, round=number, uncertainty=case.rounds[number]
    )


def _place(row: TrialRow) -> Place:
    return row["case_id"], row["case_digest"], row["round"]


def _trials(rows: Iterable[TrialRow], suite: str, wanted: set[Place]) -> dict[Place, TrialRow]:
    placed = ((_place(row), row) for row in rows if row["suite"] == suite)
    return {place: row for place, row in placed if place in wanted}


def _count_left_out(cases: Mapping[Key, _SampledCase]) -> Counter[str]:
    return Counter(case.why_not for case in cases.values() if not case.rounds)


def _format_left_out(cases: Mapping[Key, _SampledCase]) -> str:
    reasons = _count_left_out(cases)
    return ", ".join(f"{n} have {why}" for why, n in reasons.items()) or "it has no trials"
