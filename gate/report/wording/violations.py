"""The violation log: what an agent did that it must not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.records import LoggedViolation, Report
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, say, strong

HEAD = ("Case", "step", "rule", "what")
_RULES = 4  # that a title names
_RANK = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same violation in some rounds of a case."""

    first: LoggedViolation
    rounds: tuple[int, ...]


def total(report: Report) -> int:
    return sum(suite.violations for suite in report.suites.values())


def merge_log(report: Report) -> tuple[Repeated, ...]:
    """The most severe first, what a grader found before what the agent only reports."""
    groups: dict[object, list[LoggedViolation]] = {}
    for suite in report.suites.values():
        for violation in suite.violation_log:
            groups.setdefault(
                (violation.suite, violation.case_id, violation.by, violation.violation), []
            ).append(violation)
    same = [
        Repeated(first=some[0], rounds=tuple(dict.fromkeys(violation.round for violation in some)))
        for some in groups.values()
    ]
    return tuple(
        sorted(
            same,
            key=lambda violation: (
                _RANK[violation.first.violation.severity],
                not violation.first.by,
            ),
        )
    )


def title(report: Report, *, shown: int) -> Line:
    """`9 safety violations: canary (6), personal_data (3)`; `shown`: lines of the log."""
    number = total(report)
    if not number:
        return ()
    log = [one for suite in report.suites.values() for one in suite.violation_log]
    rules = Counter(one.violation.rule for one in log)
    top = sorted(rules.items(), key=lambda item: (-item[1], item[0]))[:_RULES]
    kinds = join(", ", (say("{} ({})", code(shorten(rule, 60)), f"{n:,}") for rule, n in top))
    complete = len(log) == number and shown >= len(merge_log(report))
    rest = "" if complete else "; the full list is in violations.jsonl"
    head = say("{}: ", strong(figures.count(number, "safety violation")))
    return join("", [head, kinds, say(rest)])


def rows(log: Sequence[Repeated], *, suites: bool) -> Iterator[tuple[str, ...]]:
    """Case, step, rule, what; hostile text."""
    for line in log:
        seen = line.first
        case = f"{seen.suite}: {seen.case_id}" if suites else seen.case_id
        what = ": ".join(filter(None, (seen.violation.detail, seen.violation.excerpt)))
        step = "answer" if seen.violation.step is None else f"{seen.violation.step}"
        if not seen.by and seen.violation.step is None:
            step = "reported"  # by the agent itself, which does not say where
        rounds = figures.join_words(map(str, line.rounds))
        word = "round" if len(line.rounds) == 1 else "rounds"
        yield case, f"{step}, {word} {rounds}", seen.violation.rule, what or figures.ABSENT
