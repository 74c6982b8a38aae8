from dataclasses import replace

import pytest

from gate.records import CaseCounts, StoredRun
from gate.report.wording.trend import last_runs, sparkline, trends
from gate.text.spans import markdown, plain
from tests.support.reports import SUCCESS, metrics, passing, suite


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ((0.0, 0.5, 1.0), "▁▅█"),
        ((0.9, 0.9, 0.9), "▅▅▅"),
        ((0.90, 0.91, 0.90), "▄▅▄"),
        ((1.0, None, 0.0), "█·▁"),
        ((0.0, 0.0), "▅▅"),
        ((-4.0, -2.0), "▁█"),
        ((None, None), "··"),
        ((), ""),
    ],
)
def test_a_sign_a_run(values, bars):
    assert sparkline(values) == bars


def report(**history):
    known = {SUCCESS: history["values"]}
    return replace(passing(), suites={"analytics": suite(history=known)})


def test_a_trend_ends_with_this_run():
    (trend,) = trends(report(values=(0.5, None, 0.7)))
    assert (trend.suite, trend.metric, trend.runs) == ("analytics", SUCCESS, 3)
    assert (trend.first, trend.last, trend.bars[-1]) == ("0.50", "0.92", "█")


@pytest.mark.parametrize("values", [(), (0.5,), (None, 0.5, None)])
def test_fewer_than_two_known_values_are_no_trend(values):
    assert list(trends(report(values=values))) == []


def test_a_metric_without_a_value_now_has_no_trend():
    now = {name: found for name, found in metrics().items() if name != SUCCESS}
    gone = suite(history={SUCCESS: (0.5, 0.6)}, metrics=now)
    assert list(trends(replace(passing(), suites={"analytics": gone}))) == []


def of_runs(*runs, **changes):
    """The last of the values is that of the newest run."""
    values = tuple(0.9 + number / 1_000 for number in range(len(runs)))
    one = suite(history={SUCCESS: values}, history_runs=runs, **changes)
    return replace(passing(), suites={"analytics": one})


def stored(day, commit="c" * 40):
    return StoredRun(commit=commit, created_at=f"2026-01-{day:02}T04:00:00Z")


def test_the_last_runs_are_values_with_dates_and_links_to_their_commits():
    told = last_runs(of_runs(*(stored(day, f"{day:040}") for day in range(1, 13))))
    assert plain(told) == (
        "agent.success_rate in the baseline's last 8 runs, 2026-01-05 to 2026-01-12: "
        "0.90 0.91 0.91 0.91 0.91 0.91 0.91 0.91 → 0.92"
    )
    links = [span.url.rpartition("/")[2] for span in told if span.url]
    assert links == [f"{day:040}" for day in range(5, 13)]
    assert markdown(told).endswith(
        f"[0.91](https://github.com/acme/assistant/commit/{12:040}) → **0.92**"
    )


def test_runs_of_no_known_repository_or_commit_have_no_links():
    laptop = of_runs(stored(1), stored(2))
    laptop = replace(laptop, provenance=replace(laptop.provenance, run_url=None))
    assert not any(span.url for span in last_runs(laptop))
    told = last_runs(of_runs(stored(1, None), stored(2, "../../evil"), stored(3, "abcdef1")))
    assert [span.url for span in told if span.url] == [
        "https://github.com/acme/assistant/commit/abcdef1"
    ]


def test_dates_that_are_none_are_left_out():
    odd = StoredRun(commit=None, created_at="](javascript:x)")
    assert "last 2 runs: 0.90" in plain(last_runs(of_runs(odd, odd)))
    assert "last 2 runs, 2026-01-03: 0.90" in plain(last_runs(of_runs(stored(3), stored(3))))


def test_what_an_older_version_wrote_has_values_only():
    """And a file that somebody shortened is no reason to fail."""
    for runs in ((), (stored(1),)):
        one = suite(history={SUCCESS: (0.5, None, 0.7)}, history_runs=runs)
        told = last_runs(replace(passing(), suites={"analytics": one}))
        assert plain(told) == "agent.success_rate in the baseline's last 3 runs: 0.50 – 0.70 → 0.92"


def test_a_value_of_fewer_cases_says_so():
    counts = CaseCounts(asked=120, passing=100, flaky=0, failing=20)
    told = last_runs(of_runs(stored(1), stored(2), cases=200, counts=counts))
    assert plain(told).endswith("→ 0.92 in 120 cases")
    assert last_runs(passing()) == ()
