"""Counts over one suite's rows that no table of floats holds: codes, statuses, calls, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.analysis.failures.clusters import Failures
from gate.analysis.outages import Transports
from gate.records import CheckedJson, EvidenceCounts, Json, TrialRow
from gate.stats.running_moments import RunningMoments
from gate.text.shortening import shorten

TOP = 5  # notes, and calls of each kind, that are told
_NOTES = 1_000  # different ones that are counted
_NOTE = 200  # characters

Call = tuple[str, str]  # case, tool


class FirstCalls:
    """The first (case, tool) pairs in alphabetical order, each once."""

    def __init__(self) -> None:
        self._first: set[Call] = set()

    def add(self, case_id: str, tools: list[str]) -> None:
        self._first.update((case_id, tool) for tool in tools)
        if len(self._first) > 1_000:
            self._first = set(self.list_first())

    def list_first(self) -> tuple[Call, ...]:
        return tuple(sorted(self._first)[:TOP])


class EvidenceTally:
    """Grows row by row; `counts` is None where no row has evidence."""

    def __init__(self) -> None:
        self._verdicts: Counter[str] = Counter()
        self._fabricated = 0
        self._why: Counter[str] = Counter()  # of unknown ones, the first note of each
        self._missing, self._made_up = FirstCalls(), FirstCalls()

    def add(self, row: TrialRow) -> None:
        evidence = row.get("evidence")
        if evidence is None:
            return
        self._verdicts[evidence["verdict"]] += 1
        self._missing.add(row["case_id"], evidence["missing"])
        self._made_up.add(row["case_id"], evidence["fabricated"])
        self._fabricated += bool(evidence["fabricated"])
        if evidence["verdict"] == "unknown" and evidence["notes"]:
            why = shorten(evidence["notes"][0], _NOTE)
            if why in self._why or len(self._why) < _NOTES:
                self._why[why] += 1

    def counts(self) -> EvidenceCounts | None:
        if not self._verdicts:
            return None
        notes = sorted(self._why.items(), key=lambda item: (-item[1], item[0]))
        return EvidenceCounts(
            complete=self._verdicts["complete"],
            incomplete=self._verdicts["incomplete"],
            unknown=self._verdicts["unknown"],
            fabricated=self._fabricated,
            notes=tuple(notes[:TOP]),
            missing_calls=self._missing.list_first(),
            fabricated_calls=self._made_up.list_first(),
        )


SHOWN = 50  # of a suite, in the reports


class FirstViolations:
    """How many there are, and the first of them by case and round, in whatever order rows come."""

    def __init__(self) -> None:
        self.total = 0
        self._first: list[tuple[tuple[str, int, int], Json]] = []

    def add(self, row: TrialRow) -> None:
        violations = row.get("violations") or ()
        self.total += len(violations)
        for number, violation in enumerate(violations[:SHOWN]):
            self._first.append(((row["case_id"], row["round"], number), violation))
        if len(self._first) > 2 * SHOWN:
            self._keep()

    def list_first(self) -> list[Json]:
        """At most SHOWN violations, as the rows have them."""
        self._keep()
        return [one for _, one in self._first]

    def _keep(self) -> None:
        self._first = sorted(self._first, key=lambda item: item[0])[:SHOWN]


TOP = 10
REASON = 300  # characters of one
REASONS = 50  # different ones that are counted for a grader


@dataclass(slots=True, kw_only=True)
class Tally:
    """Grows row by row, in any order."""

    trials: int = 0
    calls: int = 0  # tries, the retried ones too
    infra_errors: int = 0
    agent_errors: int = 0
    failed_latency: RunningMoments = field(
        default_factory=RunningMoments
    )  # ms, of trials without an answer
    codes: Counter[str] = field(default_factory=Counter)
    failures: Failures = field(default_factory=Failures)  # by mode and cluster
    violations: FirstViolations = field(default_factory=FirstViolations)
    evidence: EvidenceTally = field(default_factory=EvidenceTally)
    unscored: Counter[str] = field(default_factory=Counter)  # grader -> answers it could not judge
    why: dict[str, Counter[str]] = field(default_factory=dict)  # grader -> why it could not
    usd: float = 0.0
    priced: int = 0  # trials with a known cost
    unknown_models: Counter[str] = field(default_factory=Counter)
    transports: Transports = field(default_factory=Transports)
    errors: dict[str, Counter[str]] = field(default_factory=dict)  # status -> what was said of it
    judge_asked: int = 0  # gradings that needed a judge
    judge_scored: int = 0
    judge_failures: Counter[str] = field(default_factory=Counter)  # why votes failed
    judge_calls: int = 0  # of judges and verifiers
    judge_usd: float = 0.0  # as far as known
    judge_unknown: int = 0  # votes of unknown cost
    listed: set[str] = field(default_factory=set)  # models whose cost their providers' lists say

    def add(self, row: TrialRow) -> None:
        self.trials += 1
        self.calls += len(row["attempts"])
        self.infra_errors += row["status"] == "infra_error"
        self.agent_errors += row["status"] == "agent_error"
        if row["status"] != "completed" and row["latency_ms"] is not None:
            self.failed_latency.add(row["latency_ms"])
        for code in dict.fromkeys(row["failures"]):
            self.codes[code] += 1
        self.transports.add(row)
        self.failures.add(row)
        self.violations.add(row)
        self.evidence.add(row)
        for grader, reason in row["unscored"].items():
            self.unscored[grader] += 1
            self._count(self.why.setdefault(grader, Counter()), reason)
        if row["status"] != "completed" and row["error"]:
            self._count(self.errors.setdefault(row["status"], Counter()), row["error"])
        if judging := row.get("judging"):
            self._add_judging(judging)
            self.judge_calls += judging["calls"]
            self.judge_usd += judging["usd"]
            self.judge_unknown += judging["unknown"]
            self.listed.update(judging.get("listed", ()))
        if row["cost_usd"] is not None:
            self.usd += row["cost_usd"]
            self.priced += 1
            self.listed.update(row.get("listed", ()))
        elif row["status"] == "completed":
            self.unknown_models[row["model"] or "unnamed"] += 1

    def _add_judging(self, judging: Mapping[str, CheckedJson]) -> None:
        self.judge_asked += judging["asked"]
        self.judge_scored += judging["scored"]
        for failure in judging["failures"]:
            self._count(self.judge_failures, failure)

    @staticmethod
    def _count(counter: Counter[str], text: str) -> None:
        if text in counter or len(counter) < REASONS:
            counter[text] += 1

    @property
    def no_vote_reason(self) -> str:
        """That a judge scored none of the answers about which it was asked, and why; empty where it
        scored one, or nobody was asked.
        """
        if self.judge_scored or not self.judge_asked:
            return ""
        sentence = f"the judge scored no answer; it was called {self.judge_asked:,} times"
        return f"{sentence}{self.why_unjudged}"

    @property
    def why_unjudged(self) -> str:
        """The most frequent reason why a judge gave no vote, after a colon; empty without any."""
        return _mostly(self.judge_failures)

    @property
    def why_unanswered(self) -> str:
        """The most frequent reason why nobody answered, after a colon; empty without any."""
        return _mostly(self.errors.get("infra_error", Counter()))

    @property
    def error_reasons(self) -> dict[str, str]:
        """Status -> the most frequent of its errors, one line."""
        return {
            status: _mostly(errors).removeprefix(": ")
            for status, errors in sorted(self.errors.items())
        }

    def mostly(self) -> dict[str, str]:
        """Grader -> why it left most of its unscored answers unscored, one line."""
        return {
            grader: shorten(reasons.most_common(1)[0][0], REASON)
            for grader, reasons in sorted(self.why.items())
        }

    def top(self) -> tuple[tuple[str, int], ...]:
        """The ten most frequent failure codes; ties in alphabetical order."""
        ranked = sorted(self.codes.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ranked[:TOP])


def _mostly(counter: Counter[str]) -> str:
    """Ties go to the first in alphabetical order, whatever came first."""
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return f": {shorten(ranked[0][0], REASON)}" if ranked else ""
