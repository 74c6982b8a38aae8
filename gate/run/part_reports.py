"""Reports of parts of a run: of a shard, of a merge that lost one, and of stage 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.records import Report
from gate.run.options import RunOptions
from gate.run.pipeline import Collected
from gate.text.figures import join_words


def adapt_report(report: Report, options: RunOptions, collected: Collected) -> Report:
    """The report as it is for an undivided run, else what can be said of the part."""
    if options.shard:
        return _report_of_shard(report, options.shard)
    if collected.lost:
        reasons = dict.fromkeys(why for lost in collected.lost.values() for why in lost)
        return replace(report, lost=tuple(reasons), reproduce="")
    going = collected.course.going if options.stage == 1 else ()
    return _report_of_look(report, sorted(going)) if going else report


def _report_of_shard(report: Report, shard: tuple[int, int]) -> Report:
    """A part of the cases decides nothing, or N parts would each spend the run's alpha; only what
    kept it from being measured ends with its exit code.
    """
    note = (
        f"shard {shard[0]}/{shard[1]}: only a part of the cases; join the shards with `gate "
        "merge` for a verdict"
    )
    code = report.exit_code if report.outcome == "error" else 0
    return replace(report, exit_code=code, notes=(note, *report.notes), decision=None)


def _report_of_look(report: Report, going: Sequence[str]) -> Report:
    """The verdict waits for stage 2, which `going` suites need."""
    names = join_words([f"`{name}`" for name in going], most=5)
    reason = (
        f"stage 1 leaves {names} open; run `gate run --shard I/N --stage 2 --resume SESSION` for "
        "each shard with this session, then merge this session with those of stage 2"
    )
    suites = {
        name: replace(one, outcome="inconclusive", reason="open after stage 1")
        if name in going
        else one
        for name, one in report.suites.items()
    }
    return replace(
        report,
        outcome="inconclusive",
        exit_code=0,
        reason=reason,
        suites=suites,
        decision=None,
        reproduce="",
        open_suites=tuple(going),
    )
