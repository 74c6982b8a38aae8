"""From a stored session to the sample of a period: what can be shown, and what is drawn of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gate.commands.label_review.criteria import Asked, judged
from gate.commands.label_review.manifest import Manifest, Shown
from gate.commands.label_review.rotation import Candidate, Key, Pick, Place, choose, rank
from gate.errors import UsageError
from gate.records import TrialRow
from gate.store.session import Meta
from gate.text.suggestions import did_you_mean

Rows = Callable[[], Iterator[TrialRow]]


@dataclass(slots=True, kw_only=True)
class _Found:
    """One case: the rounds that can be shown, and why others cannot."""

    rounds: dict[int, float | None] = field(default_factory=dict)  # -> the judge's uncertainty
    why_not: str = ""


def suite_of(meta: Meta, name: str | None) -> str:
    """The named suite; without a name the only one, or the only one with a judge. UsageError."""
    if name is not None:
        if name not in meta.suites:
            near = did_you_mean(name, tuple(meta.suites))
            raise UsageError(f"--suite {name}: not in this session{near}")
        return name
    known = list(meta.suites)
    if len(known) > 1:
        known = [one for one in known if judged(meta.suites[one])] or known
    if len(known) != 1:
        names = ", ".join(known) or "none"
        raise UsageError(f"one suite a form; choose it with --suite: {names}")
    return known[0]


def period_of(created_at: str) -> str:
    """The ISO week in which a session was made, e.g. 2026-W47. Raises UsageError."""
    try:
        year, week, _ = datetime.fromisoformat(created_at).isocalendar()
    except ValueError as error:
        message = f"created_at '{created_at[:40]}' is no time; name the period with --period"
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
    """The sample; raises UsageError when there is nothing to show.

    `rows` reads the session's trials; they must have been checked. `seen`: as in `choose`.
    """
    columns = {name: spec.column for name, spec in judged(meta.suites[suite]).items()}
    found = _found(rows(), suite, tuple(columns.values()))
    candidates = [_candidate(key, one, suite, period) for key, one in found.items() if one.rounds]
    if not candidates:
        raise UsageError(f"suite '{suite}': no case has an answer to review ({_why(found)})")
    choice = choose(candidates, suite, seen, size)
    picks = sorted(choice.picks, key=lambda one: rank(suite, period, *one.candidate.key))
    trials = _trials(rows(), suite, {one.candidate.place for one in picks})
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
        left_out=dict(sorted(_left_out(found).items())),
        cases=tuple(_shown(one, trials[one.candidate.place], columns) for one in picks),
    )


def _shown(pick: Pick, row: TrialRow, columns: Mapping[str, str]) -> Shown:
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
    """The shown trials in the order of the sample; UsageError when the session has others."""
    wanted = {(one.case_id, one.case_digest, one.round): one for one in manifest.cases}
    found = {
        place: row
        for place, row in _trials(rows, manifest.suite, set(wanted)).items()
        if answer_digest(row["output"] or "") == wanted[place].answer_digest
    }
    if len(found) < len(wanted):
        raise UsageError(
            f"{len(wanted) - len(found)} answers of the sample are not in this session; "
            f"give the session {manifest.session_id} that it was drawn from"
        )
    return tuple(found[place] for place in wanted)


def answer_digest(text: str) -> str:
    """sha256 of the answer's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _found(rows: Iterable[TrialRow], suite: str, columns: Sequence[str]) -> dict[Key, _Found]:
    found: dict[Key, _Found] = {}
    for row in rows:
        if row["suite"] != suite:
            continue
        one = found.setdefault((row["case_id"], row["case_digest"]), _Found())
        if row["status"] != "completed" or not (row["output"] or "").strip():
            one.why_not = one.why_not or "no answer"
        elif columns and all(row["scores"].get(column) is None for column in columns):
            one.why_not = "no judgement"
        else:
            doubts = [x for x in (row.get("uncertain") or {}).values() if x is not None]
            one.rounds[row["round"]] = max(doubts, default=None)
    return found


def _candidate(key: Key, one: _Found, suite: str, period: str) -> Candidate:
    """With one of its rounds, each as likely as the others."""
    numbers = sorted(one.rounds)
    number = numbers[int(rank(suite, *key, period)[:16], 16) % len(numbers)]
    case_id, case_digest = key
    return Candidate(
        case_id=case_id, case_digest=case_digest, round=number, uncertainty=one.rounds[number]
    )


def _place(row: TrialRow) -> Place:
    return row["case_id"], row["case_digest"], row["round"]


def _trials(rows: Iterable[TrialRow], suite: str, wanted: set[Place]) -> dict[Place, TrialRow]:
    found = ((_place(row), row) for row in rows if row["suite"] == suite)
    return {place: row for place, row in found if place in wanted}


def _left_out(found: Mapping[Key, _Found]) -> Counter[str]:
    return Counter(one.why_not for one in found.values() if not one.rounds)


def _why(found: Mapping[Key, _Found]) -> str:
    reasons = _left_out(found)
    return ", ".join(f"{n} have {why}" for why, n in reasons.items()) or "it has no trials"
