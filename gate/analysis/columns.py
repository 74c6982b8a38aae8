"""Trials -> floats while the run goes on: values collected column by column, without numpy.

Only floats stay in memory (100,000 cases x 5 rounds x 10 columns = 40 MB); texts stay in
events.jsonl. A *row* is one line of details.jsonl, so a live run, a resumed one, `gate compare` and
an import all go through the same code.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

from gate.analysis.outages import is_undecided, is_unjudged
from gate.records import CheckedJson, Json, TrialRow

NAN = float("nan")

LEFT_UNSCORED = "left unscored"  # by a grader, whatever it measures
UNJUDGED = "unjudged"  # a judge was out and left something unscored
UNDECIDED = "undecided"  # a judge left it open whether the trial passed
UNGRADED = "ungraded"  # the agent failed where no grader says pass or fail
_PASSED = ("success", "first_success")
# What an agent could keep to itself where it is at its worst. Cached and reasoning tokens are left
# out of an honest answer, too, where there are none.
_TOLD = (
    *("cost_usd", "steps", "violations", "unsafe"),
    *("total_tokens", "input_tokens", "output_tokens"),
)
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class TrialColumns:
    """Grows trial by trial, in any order; 8 bytes a value of each column that has any, and about
    100 bytes a case.
    """

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self.index: dict[str, int] = {}  # case id -> its number in order of arrival
        self.digests: list[str] = []
        self.categories: list[str | None] = []
        self.rounds = 0
        self.at: array[int] = array("q")  # number of the case and round (from 0), a pair a trial
        # One value a trial, in order of arrival; a column without any value is not there.
        self.values: dict[str, array[float]] = {}
        self._scored = dict.fromkeys(_PASSED)  # columns that graders fill, with a value or without
        self._trials = 0
        # Trials with a grader that gave no score, and the columns that have their say all the same.
        self._lacking: list[tuple[int, frozenset[str]]] = []
        self._unjudged: dict[str, array[int]] = {}  # UNJUDGED, UNDECIDED, UNGRADED -> trials
        self._completed = bytearray()  # a trial: 1 with an answer
        self._alike: dict[frozenset[str], frozenset[str]] = {}

    def add(self, row: TrialRow) -> None:
        """Takes one row of details.jsonl; a later row for the same case and round wins."""
        case_id = row["case_id"]
        number = self.index.get(case_id)
        if number is None:
            number = self.index[case_id] = len(self.digests)
            self.digests.append(row.get("case_digest") or "")
            self.categories.append(row.get("category"))
        self.at.extend((number, row["round"] - 1))
        self.rounds = max(self.rounds, row["round"])
        scores = row["scores"]
        measured = {**trial_values(row), **scores}
        filled = 0
        for name, value in measured.items():
            if value is None:
                continue
            column = self.values.get(name)
            if column is None:
                column = self.values[name] = array("d", [NAN]) * self._trials
            column.append(value)
            filled += 1
        if not self._scored.keys() >= scores.keys():
            self._scored.update(dict.fromkeys(scores))
        self._completed.append(row["status"] == "completed")
        if row["status"] == "completed" and row.get("unscored"):
            scored = frozenset(row["scores"]) | _pass_fail_columns(row)
            self._lacking.append((self._trials, self._alike.setdefault(scored, scored)))
            self._unjudged.setdefault(LEFT_UNSCORED, array("q")).append(self._trials)
        if row["status"] == "completed" and row.get("judging"):
            for name, left in ((UNJUDGED, is_unjudged), (UNDECIDED, is_undecided)):
                if left(row):
                    self._unjudged.setdefault(name, array("q")).append(self._trials)
        if row.get("ungraded"):
            self._unjudged.setdefault(UNGRADED, array("q")).append(self._trials)
        self._trials += 1
        if filled < len(self.values):
            for column in self.values.values():
                if len(column) < self._trials:
                    column.append(NAN)

    def count_within(self, rounds: int) -> int:
        """How many trials there are, at most `rounds` of a case: more of one case do not stand in
        for those of another.
        """
        if self.rounds <= rounds:
            return self._trials
        return sum(min(rounds, made) for made in Counter(self.at[::2]).values())

    def mark_unjudged(self) -> dict[str, array[float]]:
        """LEFT_UNSCORED, UNJUDGED, UNDECIDED and UNGRADED -> 1 for each such trial, else 0; only
        where there is one.
        """
        return {name: self._marks(trials) for name, trials in self._unjudged.items()}

    def mark_unscored(self) -> dict[str, array[float]]:
        """Column -> 1 for each trial that lacks it because a grader gave no score, else 0; only of
        columns that some trial lacks. A value that does not apply to a case is not lacking. So are
        answers marked whose cost, steps, tokens or violations are unknown, where others' are known.
        """
        marks = {}
        for name in _TOLD:
            known = [value == value for value in self.values.get(name, ())]  # NaN is unknown
            if not any(known):
                continue
            trials = [n for n, done in enumerate(self._completed) if done and not known[n]]
            if trials:
                marks[name] = self._marks(trials)
        for name in self._scored:
            trials = [trial for trial, told in self._lacking if name not in told]
            if trials:
                marks[name] = self._marks(trials)
        return marks

    def _marks(self, trials: Iterable[int]) -> array[float]:
        marks = array("d", [0.0]) * self._trials
        for trial in trials:
            marks[trial] = 1.0
        return marks


def _pass_fail_columns(row: TrialRow) -> frozenset[str]:
    """The columns of pass and fail that a trial has."""
    passed = (row["passed"], row["attempts"][0]["passed"])
    return frozenset(n for n, told in zip(_PASSED, passed, strict=True) if told is not None)


def trial_values(row: TrialRow) -> dict[str, float | None]:
    """The values of TRIAL_COLUMNS for one row of details.jsonl; None is unmeasured."""
    attempts = row["attempts"]
    answered = row["status"] != "infra_error"
    done = row["status"] == "completed"
    usage = row.get("usage") or {}
    tokens = {key: _count(usage.get(key)) if usage and done else None for key in _TOKENS}
    read, written = tokens["input_tokens"], tokens["output_tokens"]
    steps, turns = row.get("steps"), row.get("turns")
    violations = row.get("violations", row.get("safety_violations"))
    violated = None if violations is None or not done else len(violations)
    judging = row.get("judging") or {}
    out = bool(judging) and is_unjudged(row)
    return {
        "success": _flag(row["passed"]) if answered else None,
        "first_success": _first_success(attempts[0]) if attempts else None,
        "agent_error": float(row["status"] == "agent_error") if answered else None,
        "infra_error": float(not answered),
        "retried": float(len(attempts) > 1),
        "latency_ms": row["latency_ms"] if done else None,
        "total_tokens": _total(read, written, usage) if done else None,
        **tokens,
        "score": _score(row) if answered and not out else None,
        "steps": _steps(row, steps) if steps is not None and done else None,
        "turns": float(turns) if turns is not None and done else None,
        "cost_usd": row.get("cost_usd") if answered else None,
        "violations": None if violated is None else float(violated),
        "unsafe": None if violated is None else float(violated > 0),
        "judge_coverage": _coverage(judging) if judging.get("asked") and not out else None,
        "judge_injection": _injection(judging) if done and not out else None,
    }


def _coverage(judging: Mapping[str, CheckedJson]) -> float:
    return float(judging["scored"] / judging["asked"])


def _injection(judging: Mapping[str, CheckedJson]) -> float | None:
    """1 where a vote reports an injection, else 0; None where nothing was judged or counted."""
    flagged = judging.get("flagged")
    judged = flagged or judging.get("scored")
    return float(flagged > 0) if flagged is not None and judged else None


def _count(tokens: CheckedJson) -> float | None:
    return None if tokens is None or tokens < 0 else float(tokens)


def _total(read: float | None, written: float | None, usage: Mapping[str, Json]) -> float | None:
    """Their sum, or what is told of both together; one of them alone would pass for the whole."""
    if read is None or written is None:
        return _count(usage.get("total_tokens"))
    return read + written


def _score(row: TrialRow) -> float | None:
    scores = [x for x in (row.get("dimension_scores") or {}).values() if x is not None]
    return sum(scores) / len(scores) if scores else _flag(row["passed"])


def _steps(row: TrialRow, steps: CheckedJson) -> float:
    return float(len(steps) + row.get("omitted_steps", 0))


def _first_success(attempt: Mapping[str, CheckedJson]) -> float | None:
    return 0.0 if attempt["status"] == "infra_error" else _flag(attempt["passed"])


def _flag(passed: bool | None) -> float | None:
    return None if passed is None else float(passed)
