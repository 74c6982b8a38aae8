"""The failing cases of a comment: the worst with their texts, then a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.analysis.metric_families import collapse
from gate.analysis.severity import by_severity, severity_of
from gate.records import CaseChange, CaseTexts, MetricFall, Report
from gate.report.wording import causes, metric_falls, patterns
from gate.report.wording.markdown import NAME, REASON, case_cell, table, why_failed
from gate.report.wording.sentences import rounds
from gate.text import figures
from gate.text.escaping import cell, inline

TEXT = 36  # characters of a question or answer: two lines of a comment
_METRICS = 4  # columns
NO_ANSWER, NOT_STORED = "no answer", "no stored answer"

Key = tuple[str, str]  # suite and case


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingCase:
    """A case that newly fails, or fails where nothing is compared."""

    suite: str
    case_id: str
    texts: CaseTexts | None
    change: CaseChange | None


def list_failing(report: Report) -> list[FailingCase]:
    """Newly failing cases, the worst first; where none does, those that fail: of a run that fails
    for another reason, or that has no baseline.
    """
    newly = [
        FailingCase(
            suite=change.suite,
            case_id=change.case_id,
            texts=_texts(report, change.suite).get(change.case_id),
            change=change,
        )
        for change in by_severity(report.cases.newly_failing)
    ]
    if newly:
        return sorted(newly, key=_rank)
    compared = any(comparison.n_paired for comparison in report.comparisons)
    if compared and report.outcome != "fail":
        return []
    return list(_failing(report))


def list_still_failing(report: Report) -> list[FailingCase]:
    """The failing cases that `list_failing` leaves out: nothing says that they newly fail."""
    listed = {(case.suite, case.case_id) for case in list_failing(report)}
    return [case for case in _failing(report) if (case.suite, case.case_id) not in listed]


def name_still_failing(report: Report, shown: Sequence[FailingCase]) -> str:
    """Their heading. What came anew or was flaky did not fail as it did before."""
    cases = report.cases
    others = {
        (change.suite, change.case_id)
        for changes in (cases.added, cases.changed, cases.errored, cases.flaky)
        for change in changes
    }
    as_before = all((case.suite, case.case_id) not in others for case in shown)
    return "Failing as before:" if as_before else "Also failing:"


def _failing(report: Report) -> Iterator[FailingCase]:
    """Every case with texts of which a round failed, newly or not."""
    for name in report.suites:
        for case_id, texts in _texts(report, name).items():
            if texts.failed is not False:  # the others made a metric worse, and pass
                yield FailingCase(suite=name, case_id=case_id, texts=texts, change=None)


def _rank(case: FailingCase) -> tuple[float, float, bool]:
    """Of equally bad cases those first whose answer has changed: they show what broke."""
    severity = severity_of(case.change) if case.change else (0.0, 0.0)
    same = case.texts is not None and bool(case.texts.now) and case.texts.now == case.texts.was
    return *severity, same


def answer_before(report: Report, case: FailingCase) -> str | None:
    """What the base branch answered to a case, that it is not stored of one that newly fails; None
    where nobody is to see it, or nothing was compared. Hostile.
    """
    was = case.texts.was if case.texts else None
    if not report.shows_answers:
        return None
    return NOT_STORED if was is None and case.change else was


def texts_table(report: Report, cases: Sequence[FailingCase]) -> str:
    """Case, what was asked and expected, what the baseline's agent answered, and this one."""
    suites = len(report.suites) > 1
    newly = any(case.change for case in cases)
    expected = any(case.texts and case.texts.expected for case in cases)
    before = any(answer_before(report, case) is not None for case in cases)
    head = [
        *(["Suite"] if suites else []),
        "Newly failing" if newly else "Failing",
        "asked",
        *(["expected"] if expected else []),
        *(["before"] if before else []),
        "now",
    ]
    rows = (
        [
            *_where(report, case, suites=suites),
            *_said(report, case, expected=expected, before=before),
        ]
        for case in cases
    )
    return table(head, "<" * len(head), rows)


def _where(report: Report, case: FailingCase, *, suites: bool) -> Iterator[str]:
    if suites:
        yield inline(case.suite, NAME)
    moved = f" {figures.tight(rounds(case.change))}" if case.change else ""
    yield case_cell(report, case.suite, case.case_id) + moved


def _said(report: Report, case: FailingCase, *, expected: bool, before: bool) -> Iterator[str]:
    texts = case.texts
    yield cell(texts.asked, TEXT) if texts else figures.ABSENT
    if expected:
        wanted = texts.expected if texts else ""
        yield cell(_whole_parts(wanted), TEXT) if wanted else figures.ABSENT
    if before:
        was = answer_before(report, case)
        plain = was is None or was == NOT_STORED
        yield (was or figures.ABSENT) if plain else cell(was or "", TEXT)
    now = texts.now if texts else None
    if case.change and texts and now and now == texts.was and not now.endswith("…"):
        why = patterns.words(case.change.mode) or why_failed(case.change, evidence=False)
        yield f"the same; {why}"
    else:
        yield NO_ANSWER if now is None else cell(now, TEXT)


def _whole_parts(expected: str) -> str:
    """Of several expectations those that fit as they are; the first in any case."""
    parts = expected.split("; ")
    fitting = [
        number
        for number in range(1, len(parts) + 1)
        if len("; ".join(parts[:number])) <= TEXT - 2 * (number < len(parts))
    ]
    kept = max(fitting, default=0)
    return expected if kept in (0, len(parts)) else f"{'; '.join(parts[:kept])} …"


def worse_overview(report: Report, *, most: int) -> str:
    """A row a case that newly fails or made a metric worse: its rounds, the leading metrics, the
    causes that it is of, or why it failed. Empty where none got worse.
    """
    newly = {(c.suite, c.case_id): c for c in by_severity(report.cases.newly_failing)}
    leads = [lead for lead, _ in collapse(report.worse, _name, _size)]
    names = list(dict.fromkeys(fall.metric for fall in leads))[:_METRICS]
    moved = _moves([fall for fall in leads if fall.metric in names])
    said = {(f.suite, case.case_id): case.reason for f in leads for case in f.worst}
    numbers = causes.numbers_of(report)
    keys = list(dict.fromkeys((*newly, *moved)))
    if not keys:
        return ""
    suites, caused = len(report.suites) > 1, bool(numbers)
    head = [
        *(["Suite"] if suites else []),
        *("Case", "passed"),
        *(cell(name.partition(".")[2] or name, NAME) for name in names),
        *(["cause"] if caused else []),
        *([] if caused else ["why"]),
    ]
    rows = (
        [
            *([inline(key[0], NAME)] if suites else []),
            case_cell(report, *key),
            figures.tight(rounds(newly[key])) if key in newly else figures.ABSENT,
            *(moved.get(key, {}).get(name, figures.ABSENT) for name in names),
            *([", ".join(map(str, numbers.get(key, ()))) or figures.ABSENT] if caused else []),
            *([] if caused else [_why(newly.get(key), said.get(key, ""))]),
        ]
        for key in keys[:most]
    )
    more = len(keys) - most
    rest = f"\n\n{more:,} more in `report.md`." if more > 0 else ""
    return table(head, "<" * len(head), rows) + rest


def _why(change: CaseChange | None, said: str) -> str:
    return why_failed(change, evidence=False) if change else cell(said, REASON) or figures.ABSENT


def _name(fall: MetricFall) -> Key:
    return fall.suite, fall.metric


def _size(fall: MetricFall) -> int:
    return fall.cases + len(fall.failing)


def _moves(falls: Sequence[MetricFall]) -> dict[Key, dict[str, str]]:
    """Case -> metric -> `1.00 → 0.33`."""
    moves: dict[Key, dict[str, str]] = {}
    for fall in falls:
        for case in (*fall.failing, *fall.worst):
            told = figures.tight(metric_falls.change(fall, case))
            moves.setdefault((fall.suite, case.case_id), {})[fall.metric] = told
    return moves


def _texts(report: Report, suite: str) -> Mapping[str, CaseTexts]:
    return report.suites[suite].texts if suite in report.suites else {}
