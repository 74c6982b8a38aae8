"""What `gate calibrate` says: sentences and tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records.calibration import (
    AlarmRate,
    ByRun,
    Calibration,
    CalibrationShape,
    Flag,
    LeftOut,
    MetricRates,
)
from gate.report.wording.blocks import Block, Grid, Heading
from gate.text import figures
from gate.text.spans import Line, code, join, prose, say, strong

LISTED = 5  # runs that stand out


def blocks(calibration: Calibration) -> Iterator[Block]:
    """The page, for a terminal or as Markdown."""
    yield _headline(calibration)
    for note in calibration.notes:
        yield say("Note: {}", prose(note))
    yield Heading(line=say("Rounds dealt at random"))
    yield _how(calibration)
    for shape in calibration.shapes:
        yield _shape(shape, calibration)
    yield _rates(calibration)
    yield _spending(calibration)
    yield Heading(line=say("Run against run"))
    if calibration.by_run is None:
        yield _no_runs(calibration)
    else:
        yield from _by_run(calibration.by_run, calibration)


def _headline(calibration: Calibration) -> Line:
    blocked = calibration.splits.blocked
    line = say(
        "Of {} pull requests that changed nothing, {} would be blocked: {} ({}).",
        f"{blocked.of:,}",
        strong(f"{blocked.times:,}"),
        strong(figures.portion(blocked.share)),
        _interval(blocked, calibration.confidence),
    )
    return join(" ", (line, _allowed_line(calibration)))


def _allowed_line(calibration: Calibration) -> Line:
    blocked = calibration.splits.blocked
    promise = say(
        "{} promises {} at most", code("regression.alpha"), figures.percent(calibration.alpha)
    )
    if blocked.low > calibration.alpha:
        return say("{}: {}.", promise, strong("that is not kept"))
    if blocked.high <= calibration.alpha:
        return say("{}: kept.", promise)
    return say("{}: no sign of a problem; use more --reps for a sharper answer.", promise)


def _how(calibration: Calibration) -> Line:
    beside = "the control" if calibration.fresh else "main"
    return say(
        "The recorded rounds of each case are dealt at random to {} and to a pull "
        "request, {} times "
        "(seed {}), and judged as {} would. Both sides come from the same rounds, so this "
        "checks the test on your data, not whether your provider differs from day to day.",
        beside,
        f"{calibration.splits.blocked.of:,}",
        str(calibration.seed),
        code("gate run"),
    )


def _shape(shape: CalibrationShape, calibration: Calibration) -> Line:
    more = f" ({shape.planned} planned)" if shape.at_most > shape.planned else ""
    line = say(
        "{}: {} with {} from {}; {} go to {} and up to {} to the pull request{}.",
        code(shape.suite),
        figures.count(shape.cases, "case"),
        figures.count(shape.recorded, "recorded round"),
        figures.count(shape.runs, "run"),
        str(shape.baseline),
        "the control" if calibration.fresh else "main",
        str(shape.at_most),
        more,
    )
    if not shape.drawn:
        return line
    drawn = say(
        "They are drawn with replacement: to deal each round once takes {} recorded rounds.",
        str(shape.baseline + shape.at_most),
    )
    return join(" ", (line, drawn))


def _rates(calibration: Calibration) -> Grid:
    several = len(calibration.shapes) > 1
    splits = calibration.splits
    interval = f"{figures.percent(calibration.confidence)} interval"
    rows = [_row(rates, several=several) for rates in splits.metrics]
    if len(rows) > 1:
        rows.append(_cells(say("any of them"), splits.blocked, "", splits.untested))
    return Grid(
        head=("blocking metric", "blocked", interval, "tolerance", "beyond it, untested"),
        rows=tuple(rows),
    )


def _row(rates: MetricRates, *, several: bool) -> tuple[Line, ...]:
    allowed = figures.tolerance_in_words(rates.tolerance, rates.unit, relative=rates.relative)
    where = say("{}: ", rates.suite) if several else ()
    return _cells((*where, code(rates.metric)), rates.blocked, allowed, rates.untested)


def _cells(name: Line, blocked: AlarmRate, allowed: str, untested: AlarmRate) -> tuple[Line, ...]:
    limits = " … ".join(figures.portions(blocked.low, blocked.high))
    texts = (figures.portion(blocked.share), limits, allowed, figures.portion(untested.share))
    return (name, *(say("{}", text) for text in texts))


def _spending(calibration: Calibration) -> Line:
    splits = calibration.splits
    calls = say("Each of them makes {} calls", f"{splits.planned:,}")
    if splits.at_most > splits.planned or figures.value(splits.calls, "") != figures.value(
        splits.planned, ""
    ):
        calls = say(
            "They make {} calls on average ({} planned, {} at most)",
            figures.value(splits.calls, ""),
            f"{splits.planned:,}",
            f"{splits.at_most:,}",
        )
    return say(
        "{}; {} end inconclusive. Without a test, blocking whatever is worse by more than its "
        "tolerance, {} would be blocked.",
        calls,
        figures.portion(splits.undecided.share),
        figures.portion(splits.untested.share),
    )


# ------------------------------------------------------------------------------------------ by run


def _no_runs(calibration: Calibration) -> Line:
    if calibration.fresh:
        return say(
            "{} calls both agents in the same run, so day-to-day changes cancel out.",
            code("control: fresh"),
        )
    return say(
        "Whether runs differ from each other takes three recorded runs of the same agent or more, "
        "on different days if you have them; there are {} here.",
        str(max(shape.runs for shape in calibration.shapes)),
    )


def _by_run(by_run: ByRun, calibration: Calibration) -> Iterator[Block]:
    yield say(
        "Each of {} runs is judged as a pull request against the others: {} would be blocked "
        "({}). {}",
        str(len(by_run.runs)),
        strong(str(by_run.blocked.times)),
        _interval(by_run.blocked, calibration.confidence),
        _meaning(by_run),
    )
    stand_out = [run for run in by_run.runs if run.flags or run.blocked]
    if stand_out:
        rows = tuple(_run_row(run, calibration) for run in stand_out[:LISTED])
        yield Grid(head=("run that stands out", "from", "blocked", "change"), rows=rows)
    if len(stand_out) > LISTED:
        yield say("{} more also stand out.", str(len(stand_out) - LISTED))
    if calibration.one_day and not by_run.drifts:
        yield say("All runs are from one day, so day-to-day changes are not included.")


def _meaning(by_run: ByRun) -> Line:
    if by_run.drifts:
        return say(
            "{} Chance does not explain how far apart they are ({}): use {}, or more runs of main "
            "in the baseline (with five or more, the gate allows for the drift).",
            strong("Your agent or its provider drifts from run to run."),
            figures.p_value(by_run.p_value),
            code("control: fresh"),
        )
    if any(run.flags or run.blocked for run in by_run.runs):
        return say("That may be chance: record more runs to know whether your provider drifts.")
    return say("Nothing shows that runs differ by more than chance.")


def _run_row(run: LeftOut, calibration: Calibration) -> tuple[Line, ...]:
    several = len(calibration.shapes) > 1
    changes = join(", ", (_flag(flag, several=several) for flag in run.flags))
    blocked = say("{}", "yes" if run.blocked else "no")
    return (say("{}", code(run.run)), say("{}", run.created_at[:10]), blocked, changes)


def _flag(flag: Flag, *, several: bool) -> Line:
    where = say("{}: ", flag.suite) if several else ()
    delta = figures.change(flag.delta, flag.unit, relative=flag.relative)
    return (*where, *say("{} {}", code(flag.metric), delta))


def _interval(rate: AlarmRate, confidence: float) -> str:
    limits = " to ".join(figures.portions(rate.low, rate.high))
    return f"{figures.percent(confidence)} interval {limits}"
