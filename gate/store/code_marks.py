"""The texts of a report without Markdown: summary.json has plain sentences, and beside them the
names and commands that reports set as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from gate.records import BaselineInfo, Config, Policy, RegressionRules, Report, SuiteReport
from gate.text.late_pattern import late_pattern

T = TypeVar("T")
_MARKED = late_pattern(r"`([^`\n]+)`")
# Commands, options, keys with dots or a value, files: what sentences of ours name.
_SHAPES = late_pattern(
    r"(?:/?gate|git) .+|--?\w.*|\w+([./@^-][\w@^-]+)+(:\d+)?|[\w.]+: [\w./-]+|\./.+"
)
_KEYS = frozenset(
    field.name for record in (Config, Policy, RegressionRules) for field in fields(record)
)


def take_marks(report: Report) -> Report:
    """The report with plain texts; `code` has what stood between backticks, but for words such as
    `policy`, which are no code wherever they stand. Backticks around anything but a name, key, file
    or command are somebody else's words and stay.
    """
    taken = set[str]()

    def take(found: re.Match[str]) -> str:
        if not (found[1] in _KEYS or _SHAPES.fullmatch(found[1]) or _has_name(report, found[1])):
            return found[0]
        if not found[1].isalpha():
            taken.add(found[1])
        return found[1]

    plain = _change_texts(report, lambda text: _MARKED.sub(take, text) if "`" in text else text)
    return replace(plain, code=tuple(sorted(taken)))


def put_marks(report: Report) -> Report:
    """The report as `take_marks` was given it, but that a name is marked wherever it stands."""
    if not report.code:
        return report
    names = "|".join(map(re.escape, sorted(report.code, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w`./@-])(?:{names})(?![\w`@/-]|\.\w)")

    def put(text: str) -> str:
        if not pattern.search(text):
            return text
        parts = _MARKED.split(text)  # what is marked already is every second one
        return "".join(
            f"`{part}`" if n % 2 else pattern.sub(r"`\g<0>`", part) for n, part in enumerate(parts)
        )

    return replace(_change_texts(report, put), code=())


def _has_name(report: Report, text: str) -> bool:
    """Whether a suite, metric, grader or case is called so."""
    suites = report.suites.values()
    return (
        text in report.suites
        or any(text in suite.metrics or text in suite.graders_unscored for suite in suites)
        or any(text == row.metric for row in report.comparisons)
        or any(text == row.metric for row in report.gates)
        or any(
            text == change.case_id
            for field in fields(report.cases)
            for change in getattr(report.cases, field.name)
        )
    )


def _change_texts(report: Report, change: Callable[[str], str]) -> Report:
    """Of the sentences that are ours; what agents and graders said is none."""

    def reason(record: T) -> T:
        record_: Any = record
        new = change(record_.reason)
        return record if new == record_.reason else replace(record_, reason=new)

    def info(baseline: BaselineInfo) -> BaselineInfo:
        return replace(
            baseline,
            fingerprint_diff=tuple(map(change, baseline.fingerprint_diff)),
            notes=tuple(map(change, baseline.notes)),
            pooling=tuple(map(change, baseline.pooling)),
        )

    def one(suite: SuiteReport) -> SuiteReport:
        return replace(
            suite,
            reason=change(suite.reason),
            ended=change(suite.ended),
            baseline=info(suite.baseline),
            metrics={name: reason(estimate) for name, estimate in suite.metrics.items()},
        )

    return replace(
        report,
        reason=change(report.reason),
        notes=tuple(map(change, report.notes)),
        loosened=tuple(map(change, report.loosened)),
        lost=tuple(map(change, report.lost)),
        baseline=info(report.baseline),
        suites={name: one(suite) for name, suite in report.suites.items()},
        comparisons=tuple(map(reason, report.comparisons)),
        gates=tuple(map(reason, report.gates)),
        decision=None if report.decision is None else reason(report.decision),
    )
