"""`junit`: JUnit XML of a test runner (pytest, jest, surefire, promptfoo, ...)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product, repeat
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from gate.errors import Place, Problem, UsageError
from gate.files.plain import files_below, plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.files.timestamps import moment_of
from gate.files.xml import Begin, End, steps
from gate.importers.trials import build
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

    reads: ClassVar[str] = "a JUnit XML file, or a folder with one file for each round"

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
        tests = overview(files)
        suite = build.ToolSuite(TOOL, suite_name(self.suite or path.resolve().stem, "tests"))
        specs = _specs(tests, path)
        cases, rounds = tests.sizes(self.reruns)
        if not cases:
            raise UsageError(f"{path}: has no test that ran")
        imported = ImportedSuite(
            rounds=rounds,
            cases=cases,
            dataset=suite.name,
            metrics=specs,
            graders=build.name_judge(TOOL, *(spec.column for spec in specs)),
        )
        return Imported(
            files=files,
            created_at=tests.newest.isoformat() if tests.newest else None,
            provenance=build.provenance_of(TOOL, "tests"),
            suites={suite.name: imported},
            trials=lambda: (
                trial(run, suite, categories=len(tests.names) > 1)
                for run in tests.runs(self.reruns)
            ),
            notes=tuple(_notes(tests, self.reruns)),
        )


def _specs(tests: Overview, path: Path) -> tuple[MetricSpec, ...]:
    """Metrics of the properties that are numbers. Raises InvalidInput for two of one name."""
    problems, specs = Findings(), dict[str, MetricSpec]()
    for name, (low, high) in tests.ranges.items():
        column = metric_name(TOOL, name)
        if column in specs:
            what = (
                f"property '{name[:80]}' gets the same metric name as another property - rename one"
            )
            problems.add(Place(path.as_posix()), what)
        share = low >= 0.0 and high <= 1.0
        specs[column] = build.score_metric(
            column, share=share, about="mean of a property of the tests"
        )
    problems.refuse()
    return tuple(specs.values())


def _notes(tests: Overview, reruns: bool) -> Iterator[str]:
    if tests.skipped:
        yield f"skipped tests are left out: {tests.skipped}"
    several = sum(len(found) > 1 for results in tests.results for found in results.values())
    told = f"{several} tests have several results in one testsuite"
    if several and reruns:
        yield (
            f"{told}: after a failed "
            "result the next one is a rerun of it and counts; after a passed result the next one "
            "is a test of its own"
        )
    elif several:
        yield f"{told}; each counts as a test of its own"
    if shared := len(tests.shared):
        names = f"{shared} test names appear in several testsuites"
        yield f"{names}; each testsuite has a case of its own"


TOOL = "junit"
_MOST_RETRIES = 100
_NAMED = r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Failure|Timeout))\b"
_EXCEPTION = re.compile(rf"\s*(?:failed on \w+ with \")?{_NAMED}")  # as pytest tells of fixtures
_LAST_LINE = re.compile(rf":\d+: {_NAMED}\s*\Z")  # of what pytest tells of a test
_UNTOLD = "failed; its message is not in the file"


def trial(run: TestRun, suite: build.ToolSuite, *, categories: bool) -> Trial:
    """The last result counts that is not nobody's failure; the ones before it failed."""
    first = run.results[0]
    category = (first.group or None) if categories else None
    case = suite.case(run.case_id, category=category, place=Place(first.file, first.line))
    made = [_trial(result, case, suite, run.round) for result in run.results]
    if len(made) == 1 and not first.retries:
        return made[0]
    attempts: list[Attempt] = []
    for result, tried in zip(run.results, made, strict=True):
        attempts += [*repeat(_UNKEPT, min(result.retries, _MOST_RETRIES)), tried.attempt]
    whole = build.add_earlier(replace(made[-1], attempts=(attempts.pop(),)), attempts)
    answered = [n for n, one in enumerate(whole.attempts) if one.status != "infra_error"]
    return replace(whole, judged=answered[-1]) if answered else whole


_UNKEPT = build.unkept_attempt(_UNTOLD)


def _trial(result: JUnitCase, case: Case, suite: build.ToolSuite, round_: int) -> Trial:
    status = _status(result)
    message = "\n".join(filter(None, (result.message, result.text)))
    return suite.trial(
        case,
        round=round_,
        status=status,
        passed=None if status == "infra_error" else result.outcome == "passed",
        failures=() if result.outcome == "passed" or status == "infra_error" else (_code(result),),
        values={metric_name(TOOL, name): value for name, value in result.properties},
        reason=message if status == "completed" else "",
        latency_ms=None if result.seconds is None else result.seconds * 1000,
        error=None if status == "completed" else message or result.kind or "no message",
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


# -------------------------------------------------------------------------------------------- files


Outcome = Literal["passed", "failed", "error", "skipped"]
KEPT = 4_000  # characters of what a failure says
LONGEST = 500  # of an id
MOST_PROPERTIES = 50  # of a case
_OUTCOMES: dict[str, Outcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_WORST: tuple[Outcome, ...] = ("error", "failed", "skipped", "passed")
_COUNTS = {"tests": None, "failures": "failed", "errors": "error", "skipped": "skipped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitCase:
    """`group`, `number`: its testsuite. `retries`: earlier results that are inside it."""

    __test__ = False  # for pytest, which would take it for a test

    file: str
    line: int
    group: str
    number: int
    id: str  # of the test in its testsuite
    seconds: float | None = None
    outcome: Outcome = "passed"
    kind: str = ""  # the failure's type
    message: str = ""
    text: str = ""
    retries: int = 0
    properties: tuple[tuple[str, float], ...] = ()  # that are numbers


@dataclass(slots=True, kw_only=True)
class _Suite:
    """A testsuite that is open; `told`: its own counts."""

    name: str
    number: int
    place: Place
    told: Mapping[str, int]
    found: dict[Outcome, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSuite:
    """A testsuite that has ended. `timestamp`: when it ran, UTC; None: it does not say."""

    name: str
    timestamp: datetime | None


class _Walk:
    """Over one file: which testsuites and which case are open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.as_posix()
        self._suites: list[_Suite] = []
        self._case: JUnitCase | None = None
        self._number = 0

    def all(self) -> Iterator[JUnitCase | TestSuite | Problem]:
        """Cases in order, each testsuite where it begins. Raises InvalidInput if it is no JUnit."""
        for n, step in enumerate(steps(self._path, keep=KEPT)):
            if isinstance(step, End):
                yield from self._end(step)
            elif n == 0 and step.name not in ("testsuites", "testsuite"):
                message = f"the root element is <{step.name[:40]}>"
                known = "in JUnit XML it is <testsuites> or <testsuite>"
                yield Problem(self._place(step), f"{message} - {known}")
            elif step.name == "testcase":
                yield from self._open(step)
            elif step.name == "testsuite":
                yield self._open_suite(step)
            elif self._case is not None:
                self._case = _look_inside(self._case, step)

    def _place(self, step: Begin) -> Place:
        return Place(self._file, step.line)

    def _open_suite(self, step: Begin) -> TestSuite:
        self._number += 1
        name = step.attributes.get("name", "")[:LONGEST]
        counts = _counts(step.attributes)
        suite = _Suite(name=name, number=self._number, place=self._place(step), told=counts)
        self._suites.append(suite)
        return TestSuite(name=name, timestamp=moment_of(step.attributes.get("timestamp")))

    def _open(self, step: Begin) -> Sequence[Problem]:
        case_id, problems = _identify(step.attributes), []
        if self._case is not None:
            message = "a testcase contains another one - separate them"
            problems.append(Problem(self._place(step), message))
        if not case_id:
            problems.append(Problem(self._place(step), "a testcase has no name - add one"))
        suite = self._suites[-1] if self._suites else None
        self._case = JUnitCase(
            file=self._file,
            line=step.line,
            group=suite.name if suite else "",
            number=suite.number if suite else 0,
            id=case_id,
            seconds=_seconds(step.attributes.get("time")),
        )
        return problems

    def _end(self, step: End) -> Iterable[JUnitCase | Problem]:
        case = self._case
        if step.name == "testcase" and case is not None:
            self._case = None
            for suite in self._suites:
                suite.found[case.outcome] = suite.found.get(case.outcome, 0) + 1
            return (case,)
        if step.name == "testsuite" and self._suites:
            return _contradictions(self._suites.pop())
        if case is not None and _OUTCOMES.get(step.name) == case.outcome and not case.text:
            self._case = replace(case, text=step.text.strip())
        return ()


def _identify(attributes: Mapping[str, str]) -> str:
    """`tests.test_a.TestB::test_c[1]`; the name alone where the class is part of it. Empty where
    there is neither.
    """
    name, classname = attributes.get("name", ""), attributes.get("classname", "")
    inside = not classname or name.startswith(classname)
    return (name if inside else f"{classname}::{name}")[:LONGEST]


def _look_inside(case: JUnitCase, step: Begin) -> JUnitCase:
    """The case with what an element in it tells. The worst of several outcomes counts: pytest also
    tells of a failed teardown.
    """
    if step.name in ("rerunFailure", "rerunError", "flakyFailure", "flakyError"):  # surefire
        case = replace(case, retries=case.retries + 1)
    if step.name == "property" and len(case.properties) < MOST_PROPERTIES:
        told = {**dict(case.properties), **_number(step.attributes)}
        case = replace(case, properties=tuple(told.items()))
    outcome = _OUTCOMES.get(step.name)
    if outcome and _WORST.index(outcome) < _WORST.index(case.outcome):
        kind, message = (step.attributes.get(key, "")[:KEPT] for key in ("type", "message"))
        case = replace(case, outcome=outcome, kind=kind, message=message, text="")
    return case


def _contradictions(suite: _Suite) -> Iterator[Problem]:
    """Cases that were lost, and failures that are not there; a runner may count more."""
    stated, own = suite.told.get("tests"), sum(suite.found.values())
    if stated is not None and own < stated and own + suite.told.get("errors", 0) < stated:
        message = f"says tests={stated}, but has {own} test cases - part of the file is missing"
        yield Problem(suite.place, message)
    bad = suite.told.get("failures", 0) + suite.told.get("errors", 0)
    failed = suite.found.get("failed", 0) + suite.found.get("error", 0)
    if bad and not failed:
        yield Problem(
            suite.place,
            f"says that {bad} tests failed, but none of its test cases did - run the tests again",
        )


def _counts(attributes: Mapping[str, str]) -> dict[str, int]:
    texts = {key: attributes.get(key, "") for key in _COUNTS}
    return {key: int(text) for key, text in texts.items() if text.isdecimal() and len(text) < 10}


def _number(attributes: Mapping[str, str]) -> dict[str, float]:
    """What `record_property` kept, where it is a number."""
    name, text = attributes.get("name", ""), attributes.get("value", "")
    try:
        number = float(text) if name and len(text) < 40 else math.nan
    except ValueError:
        return {}
    return {name[:LONGEST]: number} if math.isfinite(number) else {}


def _seconds(text: str | None) -> float | None:
    """Some write thousands with a comma."""
    try:
        seconds = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0.0 <= seconds < 1e9 else None


MOST_METRICS = 200


class TestElement(NamedTuple):
    """A name's results of one testsuite element, which is the `number`th of its file."""

    number: int
    group: str
    id: str


class TestRun(NamedTuple):
    """One result: of the test `case_id` in a round, with the failed ones before it."""

    case_id: str
    round: int
    results: Sequence[JUnitCase]


@dataclass(slots=True, kw_only=True)
class Overview:
    """What the files hold, in their order."""

    results: list[dict[TestElement, list[JUnitCase]]] = field(default_factory=list)  # by file
    groups: dict[str, str] = field(default_factory=dict)  # id -> its first testsuite
    shared: set[str] = field(default_factory=set)  # ids that several testsuites have
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # of properties
    names: set[str] = field(default_factory=set)  # of testsuites
    newest: datetime | None = None
    skipped: int = 0
    counted: int = 0  # results that were not skipped

    def add(self, case: JUnitCase) -> None:
        """Takes a case of the newest file."""
        if case.outcome == "skipped":
            self.skipped += 1
            return
        self.counted += 1
        element = TestElement(case.number, case.group, case.id)
        results = self.results[-1].get(element)
        if results is None:
            self.results[-1][element] = [case]
        else:
            results.append(case)
        if self.groups.setdefault(case.id, case.group) != case.group:
            self.shared.add(case.id)
        for name, value in case.properties:
            if name in self.ranges or len(self.ranges) < MOST_METRICS:
                low, high = self.ranges.get(name, (math.inf, -math.inf))
                self.ranges[name] = (min(low, value), max(high, value))

    def sizes(self, reruns: bool) -> tuple[int, int]:
        """Cases and rounds."""
        ids = {run.case_id: run.round for run in self.runs(reruns)}
        return len(ids), max(ids.values(), default=1)

    def runs(self, reruns: bool) -> Iterator[TestRun]:
        """Each test with its results, file by file; tests with several results come last."""
        rounds: Counter[tuple[str, str]] = Counter()
        for results, several in product(self.results, (False, True)):
            for element, found in results.items():
                if (len(found) > 1) is not several:
                    continue
                rounds[element[1:]] += 1
                shared = element.id in self.shared
                name = f"{element.group} {element.id}".strip() if shared else element.id
                for n, run in enumerate(split_reruns(found, reruns), 1):
                    case_id = name if n == 1 else f"{name} #{n}"
                    yield TestRun(case_id=case_id, round=rounds[element[1:]], results=run)


def split_reruns(results: Sequence[JUnitCase], reruns: bool) -> list[list[JUnitCase]]:
    """Results of one name, test by test: what follows a failure is its rerun."""
    parts: list[list[JUnitCase]] = []
    for result in results:
        if parts and reruns and parts[-1][-1].outcome != "passed":
            parts[-1].append(result)
        else:
            parts.append([result])
    return parts


def overview(files: Sequence[Path], most: int = build.MOST_TRIALS) -> Overview:
    """Raises InvalidInput with everything that is wrong, UsageError for more results than that."""
    tests, problems = Overview(), Findings()
    for file in files:
        name = file.as_posix()
        tests.results.append({})
        for element in _Walk(file).all():
            if isinstance(element, Problem):
                problems.take(element)
            elif isinstance(element, TestSuite):
                tests.names.add(element.name)
                if element.timestamp is not None:
                    tests.newest = max(filter(None, (tests.newest, element.timestamp)))
            else:
                tests.add(element)
                build.check_number(tests.counted, name, most)
    problems.refuse()
    return tests
