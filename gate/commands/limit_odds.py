"""How often noise alone would break each limit, for `gate validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from gate.records import Config
from gate.report.wording.plan_advice import limit_of, risk
from gate.store.baseline.schema import CheckedBaseline
from gate.store.measurements import find_newest_suites, summarise_baseline
from gate.text import spans
from gate.verdict.planning.plan import limit_outlooks, suite_from_baseline


def tell_limit_odds(
    config: Config, baselines: Mapping[str, CheckedBaseline], results: Path, now: datetime
) -> Iterator[tuple[bool, str]]:
    """Pairs, for each blocking limit: whether it is a warning, and the sentence. `baselines`:
    of the suites that have one; the others use the newest session in `results`.
    """
    newest = find_newest_suites(results, now)
    subjects = []
    for suite in config.suites:
        if suite.name in baselines:
            stored = summarise_baseline(baselines[suite.name], now)
        elif suite.name in newest:
            stored = newest[suite.name]
        else:
            continue
        rounds = suite.rounds or stored.meta.rounds
        subjects.append(suite_from_baseline(suite.name, stored, suite, config, rounds))
    for name, outlook in limit_outlooks(subjects, config):
        metric, limits, frequency = limit_of(outlook)
        why = "" if not outlook.odds.why else f" ({outlook.odds.why})"
        share = (
            f"in {frequency.removesuffix(' *')} of runs" if outlook.odds.chance is not None else ""
        )
        message = f"an unchanged agent would break it {share or 'an unknown share of the time'}"
        yield False, f"suite '{name}': {metric} {limits}: {message} by chance{why}"
        if outlook.risky:
            warning = spans.plain(risk(outlook)).removeprefix("Warning: ")
            yield True, f"suite '{name}': {warning}"
