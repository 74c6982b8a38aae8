"""A report that a pull request's own run made: anybody may have written it, so what it claims about
other things than its numbers is replaced by what is known, or left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gate.records import BaselineInfo, CaseTexts, Report

MOST_BYTES = 8 << 20  # of meta.json and of summary.json: 20,000 changed cases, 200 MB in memory
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_RUN = re.compile(
    r"https?://[\w.-]+(?::\d+)?/[\w.-]+/[\w.-]+/actions/runs/\d+(?:/attempts/\d+)?", re.A
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The run that measured. None is unknown."""

    commit: str | None
    run_id: str | None
    run_attempt: str | None
    run_url: str | None


def origin_of(report: Report) -> Origin:
    """The origin as the report has it, where nobody else can say."""
    p = report.provenance
    return Origin(
        commit=_commit(p.commit),
        run_id=p.run_id,
        run_attempt=p.run_attempt,
        run_url=p.run_url if p.run_url and _RUN.fullmatch(p.run_url) else None,
    )


def strip_report(report: Report, origin: Origin, *, shows_answers: bool) -> Report:
    """The report with its numbers and texts, and nothing that leads elsewhere or speaks for
    somebody: no command to copy, no acceptance, no word on deploying (a pull request's run has
    none), no link but to the run of `origin`. Not `shows_answers`: nor what the cases expect, and
    what the base branch answered.
    """
    shown = report.shows_answers and shows_answers
    return replace(
        report,
        provenance=replace(
            report.provenance,
            commit=origin.commit,
            base_commit=_commit(report.provenance.base_commit),
            run_id=origin.run_id,
            run_attempt=origin.run_attempt,
            run_url=origin.run_url,
        ),
        baseline=_baseline(report.baseline),
        suites={
            name: replace(
                suite,
                baseline=_baseline(suite.baseline),
                texts=suite.texts if shown else _without_answers(suite.texts),
            )
            for name, suite in report.suites.items()
        },
        accepted=(),
        shows_answers=shown,
        page_url="",
        reproduce="",
        next_command="",
        decision=None,
    )


def _without_answers(texts: Mapping[str, CaseTexts]) -> dict[str, CaseTexts]:
    return {case_id: replace(one, expected="", was=None, why="") for case_id, one in texts.items()}


def _baseline(info: BaselineInfo) -> BaselineInfo:
    return replace(info, commit=_commit(info.commit))


def _commit(text: str | None) -> str | None:
    return text if text and _COMMIT.fullmatch(text) else None
