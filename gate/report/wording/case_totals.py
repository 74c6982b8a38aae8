"""What the rows of details.jsonl add up to, suite by suite and case by case, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern

from gate.records import TrialRow
from gate.report.wording import evidence
from gate.stats.running_moments import RunningMoments

CHECKED = 1_000  # trials whose evidence is kept for a table


@dataclass(slots=True)
class Troubles:
    """What was said of a case's trials that did not pass; texts each once, in order of
    appearance.
    """

    codes: Counter[str] = field(default_factory=Counter)  # of all trials
    failures: dict[str, None] = field(default_factory=dict)  # codes of failed trials
    reasons: dict[str, None] = field(default_factory=dict)
    errors: dict[str, None] = field(default_factory=dict)  # of trials that nobody answered
    unscored: dict[str, None] = field(default_factory=dict)
    mode: str = ""  # of the first failed trial

    def add(self, row: TrialRow) -> None:
        self.codes.update(dict.fromkeys(row["failures"], 1))
        if row["status"] == "infra_error":
            self.errors[str(row["error"] or "no answer")] = None
        elif row["passed"] is False:
            self.failures |= dict.fromkeys(map(str, row["failures"]))
            self.mode = self.mode or str(row.get("mode") or "")
            texts = [f"{name}: {text}" for name, text in row["reasons"].items()]
            self.reasons |= dict.fromkeys([*texts, *([str(row["error"])] if row["error"] else [])])
        for grader, why in row["unscored"].items():
            self.unscored[f"{grader}: {why}"] = None


@dataclass(slots=True)
class CaseBook:
    """One case over its rounds."""

    suite: str
    case_id: str
    category: str | None
    passed: int = 0
    judged: int = 0
    infra: int = 0
    seconds: float = 0.0
    _troubles: Troubles | None = None  # most cases have none

    def add(self, row: TrialRow) -> None:
        passed, unanswered = row["passed"], row["status"] == "infra_error"
        self.judged += passed is not None
        self.passed += passed is True
        self.infra += unanswered
        self.seconds += (row["latency_ms"] or 0.0) / 1000
        if passed is False or unanswered or row["failures"] or row["unscored"]:
            self._troubles = self.troubles
            self._troubles.add(row)

    @property
    def troubles(self) -> Troubles:
        return self._troubles or Troubles()

    @property
    def failing(self) -> bool:
        return self.passed < self.judged or self.infra > 0


@dataclass(slots=True)
class SuiteBook:
    """One suite: successful answers apart from failed calls."""

    latency: RunningMoments = field(default_factory=RunningMoments)  # ms, completed trials
    tokens: RunningMoments = field(default_factory=RunningMoments)  # of completed trials that say
    failed_latency: RunningMoments = field(
        default_factory=RunningMoments
    )  # ms, of trials without an answer
    failed_calls: int = 0
    cases: dict[str, CaseBook] = field(default_factory=dict)
    checked: list[tuple[str, ...]] = field(default_factory=list)  # as evidence.HEAD has it
    unlisted: int = 0  # trials with evidence that are not in `checked`
    guarded: bool = False  # somebody looked for safety violations

    def add(self, row: TrialRow) -> None:
        case_id = str(row["case_id"])
        case = self.cases.get(case_id)
        if case is None:
            category = row.get("category")
            # One text for all cases: each row that was read has its own.
            category = None if category is None else intern(str(category))
            case = CaseBook(intern(str(row["suite"])), case_id, category)
            self.cases[case_id] = case
        case.add(row)
        self.guarded = self.guarded or row.get("violations") is not None
        if row.get("evidence") is not None:
            self._check(row)
        if row["status"] != "completed":
            self.failed_calls += 1
            if row["latency_ms"] is not None:
                self.failed_latency.add(row["latency_ms"])
            return
        if row["latency_ms"] is not None:
            self.latency.add(row["latency_ms"])
        tokens = total_tokens(row)
        if tokens is not None:
            self.tokens.add(tokens)

    def _check(self, row: TrialRow) -> None:
        cells = evidence.format_checked(row)
        if cells is not None and len(self.checked) < CHECKED:
            self.checked.append(cells)
        elif cells is not None:
            self.unlisted += 1

    def worst(self, most: int) -> list[CaseBook]:
        """Failing cases, the lowest share of passed rounds first."""
        failing = [case for case in self.cases.values() if case.failing]
        return sorted(failing, key=_share)[:most]


def read_totals(rows: Iterable[TrialRow]) -> dict[str, SuiteBook]:
    """Suite -> its book, in order of the rows."""
    books: dict[str, SuiteBook] = {}
    for row in rows:
        suite = str(row["suite"])
        if suite not in books:
            books[suite] = SuiteBook()
        books[suite].add(row)
    return books


def total_tokens(row: TrialRow) -> int | None:
    """The sum, or what is told of both together; None where one half is unknown: the other alone
    would pass for the whole.
    """
    usage = row.get("usage") or {}
    read, written = usage.get("input_tokens"), usage.get("output_tokens")
    return usage.get("total_tokens") if read is None or written is None else read + written


def _share(case: CaseBook) -> tuple[float, str]:
    return case.passed / case.judged if case.judged else -1.0, case.case_id
