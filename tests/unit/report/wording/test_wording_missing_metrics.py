"""Metrics without a value: told in one sentence, never as rows of dashes."""

from dataclasses import replace

from gate.records import Report
from gate.report.formats.html import Html
from gate.report.wording.checks import list_checks
from gate.report.wording.dimensions import describe_missing, list_missing
from gate.report.wording.markdown import metrics_table
from gate.text.spans import plain
from tests.support.reports import SUCCESS, comparison, estimate, passing

ROUNDS = "3 rounds of each case are needed"
SUITE = "analytics"


def report(*extra: str, **changes: object) -> Report:
    """A passing report with these metrics unmeasured, besides agent.pass^3."""
    made = passing()
    suite = made.suites[SUITE]
    more = {name: estimate(name, None, reason=ROUNDS) for name in extra}
    suites = {SUITE: replace(suite, metrics={**suite.metrics, **more})}
    return replace(made, suites=suites, **changes)


def test_equal_reasons_are_told_once() -> None:
    made = report("agent.pass@3")
    told = plain(describe_missing(made, SUITE))
    assert told == f"Not measured: agent.pass@3, agent.pass^3 ({ROUNDS})."
    table, _, below = metrics_table(made, SUITE, changed_only=False).partition("\n\n")
    assert "agent.pass" not in table
    assert below.endswith(f"\n\nNot measured: `agent.pass@3`, `agent.pass^3` ({ROUNDS}).")
    html = Html().render(made, lambda: iter(()))
    assert html.count("agent.pass^3") == 1


def test_nothing_is_said_where_everything_is_measured() -> None:
    made = passing()
    suite = made.suites[SUITE]
    known = {name: found for name, found in suite.metrics.items() if found.value is not None}
    made = replace(made, suites={SUITE: replace(suite, metrics=known)})
    assert describe_missing(made, SUITE) == ()
    assert "Not measured" not in metrics_table(made, SUITE, changed_only=False)


def test_what_the_baseline_has_keeps_its_row() -> None:
    lost = comparison("agent.pass^3", current=None, delta=None, status="missing", level="warn")
    made = report(comparisons=(lost,))
    assert list_missing(made, SUITE) == {}
    assert f"not measured: {ROUNDS}" in metrics_table(made, SUITE, changed_only=False)


def test_a_comparison_without_numbers_is_listed_only_if_it_blocks() -> None:
    nothing = comparison(
        "agent.pass^3", baseline=None, current=None, delta=None, status="inconclusive"
    )
    blocking = report(comparisons=(comparison(SUCCESS), nothing))
    shown = report(comparisons=(comparison(SUCCESS), replace(nothing, level="warn")))
    assert "agent.pass^3" in {check.metric for check in list_checks(blocking)}
    assert "agent.pass^3" not in {check.metric for check in list_checks(shown)}
