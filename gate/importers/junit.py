"""`junit`: JUnit XML of a test runner (pytest, jest, surefire, promptfoo, ...)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, UsageError
from gate.files.plain import files_below, plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.junit import JUnitCase, Overview, TestRun, overview, runs
from gate.importers.trials.build import case_of, name_judge, provenance_of, score_metric, trial_of
from gate.importers.trials.names import metric_name, snake_case, suite_name
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.plugins import IMPORTERS
from gate.records import Attempt, Case, MetricSpec, Trial, TrialStatus
from gate.records.imported import Imported, ImportedSuite


@IMPORTERS.register("junit")
@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitXml:
    """One suite, `suite`, named after the file or folder; each file of a folder is a round.
    `reruns`: what follows a failed result of the same test in one testsuite is a rerun of it.
    """

    suite: str = ""
    reruns: bool = True

    reads: ClassVar[str] = "a JUnit XML file, or a folder of them, a file a round"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            return bool(found.names) and all(name.endswith(".xml") for name in found.names)
        head = found.head[:4096]
        return found.ends(".xml") and b"<testsuite" in head and b"<!DOCTYPE" not in head

    def read(self, path: Path) -> Imported:
        files = files_below(path, "*.xml", deep=False) if path.is_dir() else (plain(path),)
        if not files:
            raise UsageError(f"{path}: has no XML file; give a JUnit file or a folder of them")
        found, suite = overview(files), suite_name(self.suite or path.resolve().stem, "tests")
        specs = _specs(found, path)
        cases, rounds = found.sizes(self.reruns)
        if not cases:
            raise UsageError(f"{path}: has no test that ran")
        imported = ImportedSuite(
            rounds=rounds,
            cases=cases,
            dataset=suite,
            metrics=specs,
            graders=name_judge(TOOL, *(spec.column for spec in specs)),
        )
        return Imported(
            files=files,
            created_at=found.newest.isoformat() if found.newest else None,
            provenance=provenance_of(TOOL, "tests"),
            suites={suite: imported},
            trials=lambda: (
                trial(run, suite, categories=len(found.names) > 1)
                for run in runs(files, found, self.reruns)
            ),
            notes=tuple(_notes(found, self.reruns)),
        )


def _specs(found: Overview, path: Path) -> tuple[MetricSpec, ...]:
    """Metrics of the properties that are numbers. Raises InvalidInput for two of one name."""
    problems, specs = Findings(), dict[str, MetricSpec]()
    for name, (low, high) in found.ranges.items():
        column = metric_name(TOOL, name)
        if column in specs:
            what = (
                f"property '{name[:80]}' gets the same metric name as another property - rename one"
            )
            problems.add(Place(path.as_posix()), what)
        share = low >= 0.0 and high <= 1.0
        specs[column] = score_metric(column, share=share, about="mean of a property of the tests")
    problems.refuse()
    return tuple(specs.values())


def _notes(found: Overview, reruns: bool) -> Iterator[str]:
    if found.skipped:
        yield f"skipped tests are left out: {found.skipped}"
    if found.several and reruns:
        yield (
            f"{len(found.several)} tests have several results in one testsuite: a result "
            "after a failed one is its rerun and counts, a result after a passed one is "
            "another test"
        )
    elif found.several:
        yield (
            f"{len(found.several)} tests have several results in one testsuite; each counts "
            "as a test of its own"
        )
    if found.shared:
        yield f"{len(found.shared)} test names appear in several testsuites"


TOOL = "junit"
_MOST_RETRIES = 100
_NAMED = r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Failure|Timeout))\b"
_EXCEPTION = re.compile(rf"\s*(?:failed on \w+ with \")?{_NAMED}")  # as pytest tells of fixtures
_LAST_LINE = re.compile(rf":\d+: {_NAMED}\s*\Z")  # of what pytest tells of a test
_UNTOLD = "failed; its message is not in the file"


def trial(run: TestRun, suite: str, *, categories: bool) -> Trial:
    """The last result counts; the ones before it failed. Where it is nobody's, such as a teardown's
    without a connection, the one before it.
    """
    first = run.results[0]
    category = (first.group or None) if categories else None
    case = case_of(TOOL, suite, run.case_id, category=category, place=first.place)
    made = [_trial(one, case, suite, run.round) for one in run.results]
    if len(made) == 1 and not first.retries:
        return made[0]
    attempts = list(
        chain.from_iterable(
            (*repeat(_UNKEPT, min(one.retries, _MOST_RETRIES)), trial.attempt)
            for one, trial in zip(run.results, made, strict=True)
        )
    )
    numbered = tuple(replace(one, n=n) for n, one in enumerate(attempts, 1))
    answered = [n for n, one in enumerate(numbered) if one.status != "infra_error"]
    return replace(
        made[-1], attempts=numbered, judged=answered[-1] if answered else len(numbered) - 1
    )


_UNKEPT = Attempt(n=1, status="agent_error", latency_ms=None, passed=False, error=_UNTOLD)


def _trial(result: JUnitCase, case: Case, suite: str, round_: int) -> Trial:
    status = _status(result)
    told = "\n".join(filter(None, (result.message, result.text)))
    return trial_of(
        TOOL,
        suite,
        case,
        round=round_,
        status=status,
        passed=None if status == "infra_error" else result.outcome == "passed",
        failures=() if result.outcome == "passed" or status == "infra_error" else (_code(result),),
        values={metric_name(TOOL, name): value for name, value in result.properties.items()},
        reason=told if status == "completed" else "",
        latency_ms=None if result.seconds is None else result.seconds * 1000,
        error=None if status == "completed" else told or result.kind or "no message",
    )


def _status(result: JUnitCase) -> TrialStatus:
    """An `error` is the agent's, unless it tells that nobody answered."""
    if result.outcome != "error":
        return "completed"
    nobody = result.kind == "infra_error" or is_nobodys(f"{result.kind} {result.message}")
    return "infra_error" if nobody else "agent_error"


def _code(result: JUnitCase) -> str:
    """The type, or the exception that the message begins with: `assertion_error`."""
    named = _EXCEPTION.match(result.kind or result.message) or _LAST_LINE.search(result.text)
    if named:
        return snake_case(named[1])
    if result.kind:
        return snake_case(result.kind.rpartition(".")[2])
    return "failed" if result.outcome == "failed" else "agent_error"
