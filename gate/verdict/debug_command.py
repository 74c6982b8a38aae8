"""The command that shows a failing case on a laptop, and which case that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from shlex import quote

import numpy as np

from gate.analysis.severity import by_severity
from gate.records import CaseChanges, Config, MetricFall, Outcome, Verdict
from gate.records.settings import WRITTEN
from gate.suites.protection.rules import CONFIG
from gate.text.escaping import one_line
from gate.verdict.suite_data import Setting, SuiteData

Named = tuple[str, str]  # suite, case id
_LONGEST = 200  # characters of a name that is pasted
_CHANGED = ("<!--", "##[")  # what reports do not show as it is


def reproduce(
    verdict: Verdict,
    worse: Sequence[MetricFall],
    measured: Sequence[SuiteData],
    config: Config,
    setting: Setting,
) -> str:
    """The command that shows the worst case of a verdict again; empty where nobody can be asked."""
    if setting.asked_with is None or setting.provenance.event == "import":
        return ""
    if config.file == WRITTEN:
        return ""  # its case is asked again where it was asked
    # A class that the command line named is in no file by its name.
    in_config = {
        one.name: one.suite for one in config.suites if one.suite and one.place.line is None
    }
    worst = worst_failing(verdict.cases, worse, verdict.outcome, measured, config.quarantined)
    return debug_command(
        [(in_config.get(suite) or suite, case_id) for suite, case_id in worst],
        [in_config.get(one.name) or one.name for one in measured],
        same_run(config.file, setting.asked_with),
        stored_here=setting.mode == "laptop",
    )


def same_run(file: str | None, asked_with: Mapping[str, str]) -> str:
    """The command of a run that asks the same agent by the same file."""
    given = {**({} if file in (None, CONFIG) else {"--config": file}), **asked_with}
    return " ".join(["gate run", *(f"{name} {quote(str(of))}" for name, of in given.items())])


def debug_command(
    worst: Sequence[Named], suites: Sequence[str], run: str, *, stored_here: bool
) -> str:
    """Shows the first of the `worst` cases; without one, the command that runs the suites again.
    `run`: its beginning. What cannot be pasted stands for itself: the session that is `stored_here`
    knows its failing cases.
    """
    if not worst:
        named = [_option("--suite", name) for name in suites if _is_shown(name)]
        suites_to_name = named if len(named) == len(suites) else []
        return " ".join([run, *suites_to_name, "--baseline auto"])
    suite, case_id = worst[0]
    of_suite = [_option("--suite", suite)] if _is_shown(suite) else []
    if of_suite and _is_found(case_id):
        return " ".join([run, *of_suite, _option("--case", case_id)])
    return " ".join([run, *of_suite, *(["--failed"] if stored_here else [])])


def worst_failing(
    cases: CaseChanges,
    worse: Sequence[MetricFall],
    outcome: Outcome,
    measured: Sequence[SuiteData],
    spared: Set[str] = frozenset(),
) -> tuple[Named, ...]:
    """The cases that newly fail, then those that made a blocking metric worse; of a run that failed
    also the others that did, but for the `spared`: these do not gate. Last those in error.
    """
    cases_found = [(one.suite, one.case_id) for one in by_severity(cases.newly_failing)]
    cases_found += [
        (fall.suite, one.case_id) for fall in worse if fall.blocks for one in fall.worst
    ]
    if outcome == "fail":
        cases_found += _lowest(measured, spared)
    cases_found += [(one.suite, one.case_id) for one in cases.errored]
    return tuple(dict.fromkeys(cases_found))


def _lowest(measured: Sequence[SuiteData], spared: Set[str]) -> Iterator[Named]:
    """Cases of which a round failed, those that passed the fewest first."""
    lowest = []
    for measured_suite in measured:
        success = measured_suite.current.column("success")
        rounds, passed = (~np.isnan(success)).sum(axis=1), np.nansum(success, axis=1)
        lowest += [
            (float(passed[row] / rounds[row]), measured_suite.name, case_id)
            for row, case_id in enumerate(measured_suite.current.cases)
            if passed[row] < rounds[row] and case_id not in spared
        ]
    yield from ((suite, case_id) for _, suite, case_id in sorted(lowest))


def _option(option: str, value: str) -> str:
    """A value that begins with a dash would be taken for an option."""
    return f"{option}={quote(value)}" if value.startswith("-") else f"{option} {quote(value)}"


def _is_shown(name: str) -> bool:
    """Whether every report shows it as it is."""
    return _is_found(name) and one_line(name, None) == name


def _is_found(case_id: str) -> bool:
    """Whether `--case` finds it by what every report shows of it."""
    is_short = 0 < len(one_line(case_id, None)) <= _LONGEST
    return is_short and not any(sign in case_id for sign in _CHANGED)
