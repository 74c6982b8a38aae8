import io

import pytest

from gate.records import Looks
from gate.run.progress import Lines, RunSoFar, progress, trial_line
from gate.verdict.course import course
from tests.support.reports import comparison


def row(**more):
    return {
        "suite": "s",
        "case_id": "c",
        "round": 1,
        "status": "completed",
        "passed": True,
        "failures": [],
        "error": None,
        "latency_ms": 12.3,
        "cost_usd": None,
        **more,
    }


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_every_ten_seconds_and_at_the_end():
    out = io.StringIO()
    now = iter([0, 1, 11, 11, 12, 13, 13])
    so_far = RunSoFar(4, {}, {}, seconds=lambda: 0.0)
    lines = Lines(out, so_far, verbose=False, seconds=lambda: next(now))
    lines.row(row())
    lines.row(row(passed=False))
    lines.row(row(status="infra_error", passed=None))
    lines.row(row())
    lines.end()
    lines.end()
    assert out.getvalue().splitlines() == [
        "2/4 trials, 1 failed; at most 0 s left",
        "4/4 trials, 1 failed, 1 not answered",
    ]


def test_a_run_that_goes_beyond_its_plan_or_ends_before_it_is_counted_right():
    out = io.StringIO()
    with progress(out, planned=1, quiet=False, verbose=False, color=False) as told:
        told.row(row())
        told.row(row())
    with progress(out, planned=9, quiet=False, verbose=False, color=False) as told:
        told.row(row())
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["2/2", "1/9"]


def test_verbose_says_what_each_look_left():
    looks = Looks(calls=(10, 20))
    now = course({"s": looks, "t": looks}, "", None).after({"s"}, "")
    out = io.StringIO()
    with progress(out, planned=5, quiet=False, verbose=True, color=True) as told:
        told.look(now, ())
    assert out.getvalue().splitlines() == [
        "[s] look 1 of 2: goes on",
        "[t] look 1 of 2: every blocking metric of it is settled",
    ]


def test_verbose_says_each_trial_and_no_text_can_be_a_command():
    out = io.StringIO()
    with progress(out, planned=5, quiet=False, verbose=True, color=True) as told:
        told.row(row(passed=False, failures=["fact_missing:4"], case_id="::error::x"))
    said = out.getvalue()
    assert "failed 12.3 ms - fact_missing:4" in said
    assert not any(line.lstrip().startswith("::") for line in said.splitlines())


def test_the_controls_trials_count_but_its_failures_are_not_the_changes():
    out = io.StringIO()
    with progress(out, planned=3, quiet=False, verbose=True, color=True) as told:
        told.beside(row(passed=False, case_id="::error::x"))
        told.beside(row(status="infra_error", passed=None))
        told.row(row(passed=False))
    lines = out.getvalue().splitlines()
    assert "round 1 of the control: failed" in lines[0]
    assert not lines[0].lstrip().startswith("::")
    assert lines[-1] == "3/3 trials, 1 failed, 1 not answered"
    terminal = Terminal()
    with progress(terminal, planned=2, quiet=False, verbose=False, color=True) as told:
        told.beside(row(passed=False))
    assert "1 failed" not in terminal.getvalue()


def test_quiet_says_nothing():
    out = io.StringIO()
    with progress(out, planned=5, quiet=True, verbose=True, color=True) as told:
        told.row(row())
    assert out.getvalue() == ""


def test_a_terminal_gets_a_bar():
    out = Terminal()
    with progress(out, planned=2, quiet=False, verbose=False, color=True) as told:
        told.row(row(passed=False))
        told.row(row(status="infra_error", passed=None))
    assert "2/2 trials, 1 failed, 1 not answered" in out.getvalue()


def test_a_run_stands_beside_the_baseline_on_the_trials_that_both_have():
    clock = iter([0.0, 60.0])
    shares = {("s", "a"): 1.0, ("s", "b"): 0.75, ("s", "c"): 0.0}
    so_far = RunSoFar(10, {}, shares, seconds=lambda: next(clock))
    for case, passed in (("a", False), ("a", False), ("b", True), ("c", False), ("new", False)):
        so_far.add(row(case_id=case, passed=passed, cost_usd=0.28))
    so_far.add_beside(row(case_id="b", passed=False))
    assert so_far.line() == (
        "6/10 trials, 4 failed; 1 newly fails (0.69 → 0.25); $1.40; at most 40 s left"
    )


def looked_at(**more):
    """A run of two suites whose second has ended after 50 of its 120 trials."""
    looks = Looks(calls=(60, 120, 240))
    seen = comparison("agent.success_rate", suite="s", delta=-0.267, ci_low=-0.351, ci_high=-0.183)
    aside = comparison("m", suite="s", level="warn")
    so_far = RunSoFar(240, {"s": 120, "t": 120}, {("s", "c"): 1.0}, **more)
    for _ in range(60):
        so_far.add(row(passed=False, cost_usd=0.1))
    for _ in range(50):
        so_far.add(row(suite="t"))
    so_far.look(course({"s": looks, "t": looks}, "", None).after({"s"}, ""), (aside, seen))
    return so_far


def test_what_the_last_look_saw_stands_in_the_line():
    clock = iter([0.0, 110.0])
    assert looked_at(seconds=lambda: next(clock)).line() == (
        "110/240 trials, 60 failed; 1 newly fails (1.00 → 0.00); agent.success_rate "
        "−26.7 pt (−35.1 … −18.3); look 1 of 3; 70 calls saved; $6.00; at most 2 min 10 s left"
    )


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "110/240 trials, 60 failed; 1 newly fails (1.00 → 0.00)"),
        (
            80,
            "110/240 trials, 60 failed; 1 newly fails (1.00 → 0.00); at most 2 min 10 s left",
        ),
        (
            120,
            "110/240 trials, 60 failed; 1 newly fails (1.00 → 0.00); 70 calls saved; $6.00; "
            "look 1 of 3; at most 2 min 10 s left",
        ),
    ],
)
def test_a_narrow_line_leaves_out_what_matters_least(width, shown):
    clock = iter([0.0, 110.0])
    line = looked_at(seconds=lambda: next(clock)).line(width)
    assert len(line) <= width
    assert set(line.split("; ")) == set(shown.split("; "))


def test_a_resumed_run_counts_what_it_had_and_times_only_what_it_makes():
    clock = iter([0.0, 10.0])
    begun = [row(passed=False)] * 6
    shares = {("s", "c"): 1.0}
    so_far = RunSoFar(
        12, {}, shares, begun=begun, begun_beside=[row()], seconds=lambda: next(clock)
    )
    so_far.add(row())
    assert so_far.line() == (
        "8/12 trials, 6 failed; 1 newly fails (1.00 → 0.14); at most 40 s left"
    )
    out = io.StringIO()
    with progress(out, planned=10, quiet=False, verbose=False, color=False, begun=begun):
        pass
    assert out.getvalue() == "", "nothing was asked"


def test_what_a_trial_line_says():
    assert trial_line(row()) == "[s] c round 1: passed 12.3 ms"
    assert "not answered - refused" in trial_line(
        row(status="infra_error", passed=None, latency_ms=None, error="refused")
    )
    assert "agent error" in trial_line(row(status="agent_error", passed=False))
    assert "unscored" in trial_line(row(passed=None))


def test_a_trial_that_nobody_answered_says_why_and_not_only_its_code():
    lost = row(status="infra_error", passed=None, failures=["api_error"], error="refused")
    assert trial_line(lost) == "[s] c round 1: not answered 12.3 ms - refused"


def test_warnings_are_told_before_the_first_row():
    out = io.StringIO()
    with progress(
        out, planned=1, quiet=False, verbose=True, color=False, warnings=["no \x1b[31mtool"]
    ) as told:
        told.row(row())
    assert out.getvalue().splitlines()[0] == "warning: no ␛[31mtool"
