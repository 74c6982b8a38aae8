import io

from gate.progress import Lines, progress, trial_line


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
        **more,
    }


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_every_ten_seconds_and_at_the_end():
    out = io.StringIO()
    now = iter([0, 1, 11, 12, 13])
    lines = Lines(out, 4, verbose=False, seconds=lambda: next(now))
    lines.take(row())
    lines.take(row(passed=False))
    lines.take(row(status="infra_error", passed=None))
    lines.take(row())
    assert out.getvalue().splitlines() == [
        "2/4 trials, 1 failed, 0 not answered",
        "4/4 trials, 1 failed, 1 not answered",
    ]


def test_verbose_says_each_trial_and_no_text_can_be_a_command():
    out = io.StringIO()
    with progress(out, planned=5, quiet=False, verbose=True, color=True) as take:
        take(row(passed=False, failures=["fact_missing:4"], case_id="::error::x"))
    said = out.getvalue()
    assert "failed 12 ms - fact_missing:4" in said
    assert not any(line.lstrip().startswith("::") for line in said.splitlines())


def test_quiet_says_nothing():
    out = io.StringIO()
    with progress(out, planned=5, quiet=True, verbose=True, color=True) as take:
        take(row())
    assert out.getvalue() == ""


def test_a_terminal_gets_a_bar():
    out = Terminal()
    with progress(out, planned=2, quiet=False, verbose=False, color=True) as take:
        take(row(passed=False))
        take(row(status="infra_error", passed=None))
    assert "trials" in out.getvalue()


def test_what_a_trial_line_says():
    assert trial_line(row()) == "[s] c round 1: passed 12 ms"
    assert "not answered - refused" in trial_line(
        row(status="infra_error", passed=None, latency_ms=None, error="refused")
    )
    assert "agent error" in trial_line(row(status="agent_error", passed=False))
    assert "unscored" in trial_line(row(passed=None))
