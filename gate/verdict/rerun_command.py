"""The command that runs a case again: what a reader of the report copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from gate.records import MetricFall, Verdict
from gate.suites.protection.rules import CONFIG
from gate.verdict.measured import Measured


def same_run(file: str | None, asked_with: Mapping[str, str]) -> str:
    """The command of a run that asks the same agent by the same file."""
    given = {**({} if file in (None, CONFIG) else {"--config": file}), **asked_with}
    return " ".join(["gate run", *(f"{name} {quote(str(of))}" for name, of in given.items())])


def rerun(
    verdict: Verdict, worse: Sequence[MetricFall], measured: Sequence[Measured], run: str
) -> str:
    """The command that runs the worst case again on a laptop; `run`: its beginning."""
    worst = [(one.suite, one.case_id) for one in verdict.cases.newly_failing]
    worst += [(fall.suite, fall.worst[0].case_id) for fall in worse if fall.blocks]
    worst += [(one.suite, one.case_id) for one in verdict.cases.errored]
    if worst:
        suite, case_id = (quote(name) for name in worst[0])
        return f"{run} --suite {suite} --case {case_id} --baseline auto"
    suites = " ".join(f"--suite {quote(one.name)}" for one in measured)
    return f"{run} {suites} --baseline auto"
