"""All cases of a session as blocks of report.html that a browser opens when it needs them: one of
columns, which the list shows, sorts and filters by, and many with questions, answers and steps. A
block is JSON, compressed by gzip, in base64: no sign of it can end the element that it stands in.
"""

from __future__ import annotations

import base64
import shlex
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gate.records import CaseChange, CheckedJson, Json, Report, TrialRow
from gate.records.baseline import StoredAnswer
from gate.records.codec import json_line
from gate.report.wording import case_totals, evidence, patterns, steps
from gate.report.wording.case_overview import NOT_STORED
from gate.text.hidden import show_hidden

BLOCK = 524_288  # characters of JSON in a block, about
CASES = 128  # in a block, at most: their rows are in memory at once
MOST = 48_000_000  # characters of all blocks as they stand in the page: what did not fail ends here
MOST_OF_FAILING = 64_000_000  # and here what fails or changed
LONG = 65_536  # characters of JSON of one case, above which its texts are cut
TEXT = 20_000  # characters of a question or an answer that is cut
VALUE = 2_000  # characters of any other text
STEPS = 100  # calls of a trace that is cut
SCORES = 6  # metrics that the list has a column for
LATENCY, COST, TOKENS, SCORE = range(4)  # columns of a case; SCORE: the first of the scores
_LEVEL = 5  # of gzip: with 6 a page takes a quarter more time, and is 1 % smaller
_NUMBERS = (bool, int, float)  # which say something when they are 0
_GZIP = 31  # zlib's number for: with the head of gzip

Key = tuple[str, str]  # suite, case id
Detail = dict[str, CheckedJson]  # all of a case that its page shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a verdict says of a case."""

    kind: str = ""  # in words; empty: nothing of note
    change: CaseChange | None = None
    worse: tuple[str, ...] = ()  # metrics that it made worse, and how


NOTHING_TOLD = Change()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseBlocks:
    """`index` and `details` as they stand in the page."""

    index: str
    details: tuple[str, ...]
    left_out: int = 0  # cases that only the index has
    cut: int = 0  # cases with texts that were cut


@dataclass(slots=True)
class _Means:
    """The columns of a case: sums and numbers of LATENCY, COST, TOKENS, and of each score behind
    them. Arrays, because there may be a million cases.
    """

    sums: array[float]
    numbers: array[int]
    failed_by: frozenset[str] = frozenset()
    places: list[tuple[int, int]] = field(default_factory=list)

    def mean(self, column: int, digits: int) -> float | None:
        number = self.numbers[column]
        return round(self.sums[column] / number, digits) if number else None


class _Case(NamedTuple):
    """What a block gets of a case."""

    means: _Means
    texts: CheckedJson
    facts: CheckedJson


class CasePacker:
    """Takes the rows one after the other, and holds no more than a block of them."""

    def __init__(
        self,
        report: Report,
        books: Mapping[str, case_totals.SuiteBook],
        changes: Mapping[Key, Change],
        *,
        before: Callable[[str], Iterable[StoredAnswer]],
        most: int = MOST,
        most_of_failing: int = MOST_OF_FAILING,
    ) -> None:
        self._report = report
        self._books = books
        self._changes = changes
        self._most, self._most_of_failing = most, most_of_failing
        self._before = before
        self._was: tuple[str, dict[str, StoredAnswer]] = ("", {})  # of the suite being packed
        self._answered = False  # whether any of them is an answer
        self._scores = _list_scores(report)
        self._means: dict[Key, _Means] = {}
        self._waiting: list[_Case] = []  # for the block that is being filled
        self._length = 0  # of their answers
        self._blocks: list[str] = []
        self._total = 0
        self._left_out = self._cut = 0

    def pack(self, rows: Iterable[TrialRow], ranked: Sequence[Key]) -> CaseBlocks:
        """Every case. `ranked`: all of them, those to look at first in front."""
        key, rounds = ("", ""), list[TrialRow]()
        for row in rows:
            this = (row["suite"], row["case_id"])
            if this != key and rounds:
                self._add(key, rounds)
                rounds = []
            key = this
            rounds.append(row)
        if rounds:
            self._add(key, rounds)
        self._close()
        return CaseBlocks(
            index=compress(json_line(self._index(ranked))),
            details=tuple(self._blocks),
            left_out=self._left_out,
            cut=self._cut,
        )

    def _add(self, key: Key, rounds: Sequence[TrialRow]) -> None:
        means = self._means.get(key)
        if means is None:
            columns = SCORE + len(self._scores)
            sums, numbers = array("d", [0.0]) * columns, array("l", [0]) * columns
            means = self._means[key] = _Means(sums, numbers)
        sums, numbers = means.sums, means.numbers
        for row in rounds:
            figures = [row["latency_ms"], row["cost_usd"], case_totals.total_tokens(row)]
            for column, value in enumerate([*figures, *map(row["scores"].get, self._scores)]):
                if value is not None:
                    sums[column] += value
                    numbers[column] += 1
            if failed_by := row.get("failed_by"):
                means.failed_by = means.failed_by.union(failed_by)
        change = self._changes.get(key)
        failing = change is not None or self._books[key[0]].cases[key[1]].failing
        if self._total > (self._most_of_failing if failing else self._most):
            self._left_out += not means.places
            return
        was = self._stored(key[0]).get(key[1])
        facts = _facts(rounds, change or NOTHING_TOLD, was)
        texts = _texts(rounds, self._answer_before(was, change.change if change else None))
        self._waiting.append(_Case(means, texts, facts))
        self._length += sum([len(row["output"] or "") for row in rounds])
        if self._length > BLOCK or len(self._waiting) == CASES:
            self._close()

    def _answer_before(self, was: StoredAnswer | None, change: CaseChange | None) -> Detail | None:
        """That it is not stored is said of what changed, beside others that are."""
        if was is not None and was.text is not None:
            return {"passed": was.passed, "text": was.text}
        return {"passed": None, "text": NOT_STORED} if change and self._answered else None

    def _stored(self, suite: str) -> Mapping[str, StoredAnswer]:
        if self._was[0] != suite:
            self._was = (suite, {one.case_id: one for one in self._before(suite)})
            self._answered = any(one.text is not None for one in self._was[1].values())
        return self._was[1]

    def _close(self) -> None:
        """Encoded at once, but where something long is among them."""
        waiting, self._waiting, self._length = self._waiting, [], 0
        text = _encode(waiting)
        if len(text) <= 4 * BLOCK:
            self._store(waiting, text)
            return
        part, length = list[_Case](), 0
        for case in waiting:
            if len(_encode([case])) > LONG:
                self._cut += 1
                case = _Case(case.means, cut_texts(case.texts, TEXT), cut_texts(case.facts, VALUE))
            part.append(case)
            length += len(_encode([case]))
            if length > BLOCK:
                self._store(part, _encode(part))
                part, length = [], 0
        self._store(part, _encode(part))

    def _store(self, cases: Sequence[_Case], text: str) -> None:
        if not cases:
            return
        for place, case in enumerate(cases):
            case.means.places.append((len(self._blocks), place))
        self._blocks.append(compress(text))
        self._total += len(self._blocks[-1])

    def _index(self, ranked: Sequence[Key]) -> dict[str, Json]:
        cases = [
            (case, self._changes.get((case.suite, case.case_id)) or Change())
            for book in self._books.values()
            for case in book.cases.values()
        ]
        means = [self._means[case.suite, case.case_id] for case, _ in cases]
        was = [told.change for _, told in cases]
        rank = {key: place for place, key in enumerate(ranked)}
        modes = [_mode(case, told) for case, told in cases]
        graders = sorted({name for one in means for name in one.failed_by})
        suites, suite = _number([case.suite for case, _ in cases])
        categories, category = _number([str(case.category or "") for case, _ in cases])
        kinds, kind = _number([told.kind or "worse" * bool(told.worse) for _, told in cases])
        all_modes, mode = _number(modes)
        units = {metric: found.unit for one in self._report.suites.values()
                 for metric, found in one.metrics.items()}  # fmt: skip
        measured = [
            column
            for column in range(SCORE, SCORE + len(self._scores))
            if any(one.numbers[column] for one in means)
        ]
        shown = measured[:SCORES]
        names = [self._scores[column - SCORE] for column in shown]
        place_of = {name: place for place, name in enumerate(graders)}
        return {
            "suites": suites,
            "categories": categories,
            "kinds": kinds,
            "modes": all_modes,
            "graders": graders,
            "scores": [{"name": name, "unit": units.get(name, "")} for name in names],
            "command": _command(self._report),
            "id": [case.case_id for case, _ in cases],
            "suite": suite,
            "category": category,
            "kind": kind,
            "mode": mode,
            "failed_by": [[place_of[name] for name in sorted(one.failed_by)] for one in means],
            "codes": [", ".join(_codes(case, told)) for case, told in cases],
            "passed": [case.passed for case, _ in cases],
            "judged": [case.judged for case, _ in cases],
            "unanswered": [case.infra for case, _ in cases],
            "was_passed": [one.baseline_passed if one else None for one in was],
            "was_rounds": [one.baseline_rounds if one else None for one in was],
            "latency": [one.mean(LATENCY, 1) for one in means],
            "cost": [one.mean(COST, 8) for one in means],
            "tokens": [one.mean(TOKENS, 0) for one in means],
            "values": [[one.mean(column, 4) for one in means] for column in shown],
            "places": [one.places for one in means],
            "rank": [rank[case.suite, case.case_id] for case, _ in cases],
        }


def compress(text: str) -> str:
    """In base64, with signs for hidden characters: those that JSON escapes get theirs in the page,
    where they can be told from a text that only looks like an escape.
    """
    data = show_hidden(text).encode()
    return base64.b64encode(zlib.compress(data, _LEVEL, wbits=_GZIP)).decode()


def _encode(cases: Sequence[_Case]) -> str:
    """A line of texts for each case, all that a search opens, which pack better beside each other;
    and one of the rest.
    """
    return "\n".join(
        [*[json_line(case.texts) for case in cases], json_line([case.facts for case in cases])]
    )


def cut_texts(value: CheckedJson, limit: int) -> CheckedJson:
    """The same with texts of at most `limit` characters, an ellipsis at the end of what was cut,
    and shorter lists.
    """
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[: limit - 1]}…"
    if isinstance(value, dict):
        return {str(cut_texts(key, VALUE)): cut_texts(item, limit) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [cut_texts(item, limit) for item in value[:STEPS]]
    return value


def _texts(rounds: Sequence[TrialRow], was: Detail | None) -> Detail:
    """What a search looks through."""
    return {
        "question": rounds[0]["question"],
        "expected": next((row["expected"] for row in rounds if row.get("expected")), {}),
        "was": was,
        "answers": [[row["output"], row["error"]] for row in rounds],
    }


def _facts(rounds: Sequence[TrialRow], told: Change, was: StoredAnswer | None) -> Detail:
    """The rest; what is empty is left out."""
    facts: Detail = {"rounds": [_round(row) for row in rounds]}
    if told is NOTHING_TOLD and was is None:
        return facts
    change = told.change
    diff = change.steps if change else None
    return facts | {
        "history": [pair for pair in change.history if pair[1]] if change else [],
        "title": steps.summary(change, diff) if change and diff else "",
        "steps": [[step.kind, step.was, step.now] for step in diff.steps] if diff else [],
        "worse": told.worse,
        "means": was.means if was else {},
    }


def _round(row: TrialRow) -> Detail:
    latency, calls = row["latency_ms"], row["steps"] or ()
    facts = {
        "round": row["round"],
        "status": row["status"],
        "passed": row["passed"],
        "failures": row["failures"],
        "failed_by": row.get("failed_by"),
        "scores": row["scores"],
        "reasons": row["reasons"],
        "unscored": row["unscored"],
        "retrieved_ids": row["retrieved_ids"],
        "latency_ms": None if latency is None else round(latency, 1),
        "cost_usd": row["cost_usd"],
        "tokens": case_totals.total_tokens(row),
        "steps": calls[:STEPS],
        "more_steps": max(0, len(calls) - STEPS) + row.get("omitted_steps", 0),
        "faults": row.get("trace_faults"),
        "logged": _logged(row) if row.get("evidence") else None,
    }
    return {name: fact for name, fact in facts.items() if fact or fact.__class__ in _NUMBERS}


def _logged(row: TrialRow) -> list[str]:
    """What the server's logs say of the trial, a sentence each."""
    _, _, verdict, missing, made_up = evidence.format_checked(row) or ("",) * 5
    said = [f"Server logs: {verdict}"]
    said += [f"not logged: {missing}"] if missing else []
    return [*said, *([f"claimed but not in the log: {made_up}"] if made_up else [])]


def _list_scores(report: Report) -> tuple[str, ...]:
    """The metrics that are judged, those that block first."""
    judged = [(one.level, one.metric) for one in report.gates]
    judged += [(one.level, one.metric) for one in report.comparisons]
    judged.sort(key=lambda one: one[0] != "block")
    return tuple(dict.fromkeys(metric for _, metric in judged))


def _command(report: Report) -> str:
    """That asks a case again; empty where nobody can be asked."""
    try:
        words = shlex.split(report.reproduce)
    except ValueError:  # it is no command
        return ""
    for option in ("--case", "--suite"):
        while option in words:
            del words[words.index(option) : words.index(option) + 2]
    return shlex.join(words)


def _mode(case: case_totals.CaseBook, told: Change) -> str:
    mode = told.change.mode if told.change else None
    return patterns.words(mode) or patterns.WORDS.get(case.troubles.mode, "")  # type: ignore[call-overload]


def _codes(case: case_totals.CaseBook, told: Change) -> list[str]:
    codes = case.troubles.codes
    return (
        [*told.worse[:2], *(code for code, _ in codes.most_common(2))]
        if codes
        else [*told.worse[:2]]
    )


def _number(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Each different text once, and for each text its place there."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(text, len(places)) for text in texts]
    return [*places], numbers
