"""The violation log: what an agent did that it must not do."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import LoggedViolation, Report
from gate.text import one_line
from gate.wording import figures
from gate.wording.spans import Line, code, join, say, strong

HEAD = ("Case", "step", "rule", "what")


def total(report: Report) -> int:
    return sum(suite.violations for suite in report.suites.values())


def logged(report: Report) -> tuple[LoggedViolation, ...]:
    """The most severe first, else in the order of the suites."""
    rank = {"high": 0, "medium": 1, "low": 2}
    found = [one for suite in report.suites.values() for one in suite.violation_log]
    return tuple(sorted(found, key=lambda one: rank[one.violation.severity]))


def title(report: Report, *, shown: int) -> Line:
    """`3 safety violations: write_attempt (2), personal_data (1)`."""
    number = total(report)
    if not number:
        return ()
    rules: dict[str, int] = {}
    for one in logged(report):
        rules[one.violation.rule] = rules.get(one.violation.rule, 0) + 1
    top = sorted(rules.items(), key=lambda item: (-item[1], item[0]))[:4]
    told = join(", ", (say("{} ({})", code(one_line(rule, 60)), f"{n:,}") for rule, n in top))
    first = f", the first {shown}" if shown < number else ""
    return join(
        "",
        [
            say("{}", strong(figures.count(number, "safety violation"))),
            say(first),
            say(": "),
            told,
        ],
    )


def rows(found: tuple[LoggedViolation, ...], *, suites: bool) -> Iterator[tuple[str, ...]]:
    """Case, step, rule, what; hostile text."""
    for one in found:
        case = f"{one.suite}: {one.case_id}" if suites else one.case_id
        what = ": ".join(filter(None, (one.violation.detail, one.violation.excerpt)))
        step = "answer" if one.violation.step is None else f"{one.violation.step}"
        if not one.by and one.violation.step is None:
            step = figures.ABSENT  # as the agent itself reports it
        yield case, f"{step}, round {one.round}", one.violation.rule, what or figures.ABSENT
