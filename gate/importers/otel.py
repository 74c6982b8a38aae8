"""`otel`: OpenTelemetry traces of agents, as OTLP JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from gate.agents.traces.otel_sdk import is_span
from gate.errors import UsageError
from gate.files.plain import source_files
from gate.files.sniff import FirstLook
from gate.importers.formats.otel import runs
from gate.importers.formats.otel.group_spans import Group, Spool, Traces, group_spans
from gate.importers.formats.otel.span_filter import SUFFIXES
from gate.importers.formats.otel.worker_pool import Crew
from gate.importers.trials.build import provenance_of
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count
from gate.text.shortening import tidy

_LARGE = 48 << 20  # bytes of source from which on several processes read
_MOST_PROCESSES = 4
_BATCH = 2 << 20  # bytes of what is kept of traces, that go to a process at once
_NOTES = {  # what was counted -> how a note tells it
    "twice": "spans that appear twice with the same content and count once",
    "odd ids": "spans whose traceId is not 32 hexadecimal digits; it is used as it is",
    "lines without spans": "lines of JSON without a span, left out",
    "events without a trace": "logged events without a trace id, left out",
    "without content": "results without question and answer, because no content was recorded",
    "too long": "results with too many spans to read them all; their usage is unknown",
    "two conversations": (
        "spans whose conversation id differs from that of the first span of their trace; "
        "that of the first one is used"
    ),
}


@IMPORTERS.register("otel")
@dataclass(frozen=True, slots=True, kw_only=True)
class OtelTraces:
    """`case`: the attribute that names the case, or `question`, or `trace`. `suite`: instead of the
    service's name. `by`: what is one result.
    """

    case: str = "gate.case_id"
    suite: str = ""
    by: Literal["trace", "conversation"] = "trace"

    reads: ClassVar[str] = (
        "OTLP JSON or JSON Lines, spans of the SDK, or a folder of such files (.gz too)"
    )

    def __post_init__(self) -> None:
        if self.suite and suite_name(self.suite) != self.suite:
            raise UsageError(
                f"--option suite={tidy(self.suite, 80)}: a suite name may only have "
                f"letters, digits, `.`, `_` and `-`; use suite={suite_name(self.suite)}"
            )
        if not self.case:
            raise UsageError("--option case: must be an attribute, question or trace")

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Whether it begins as an export or a bare span; of a folder by a file in it."""
        found = found.inside or found
        spans = found.has("resourceSpans") or found.has("resource_spans")
        item = found.item
        return (
            spans
            or found.has("traceId", "spanId")
            or found.has("scopeSpans")
            or (isinstance(item, dict) and is_span(item))
        )

    def read(self, path: Path) -> Imported:
        files = source_files(path, SUFFIXES)
        naming = runs.Naming(case=self.case, suite=self.suite)
        traces = Traces(files=files, by_conversation=self.by == "conversation")
        with Crew(_processes(files)) as crew:
            group_spans(traces, naming.also, crew)
            ledger = _ledger(traces, naming, crew, path)
        suites = ledger.suites()
        agent = ", ".join(sorted(suites)[:3]) + (", ..." if len(suites) > 3 else "")
        return Imported(
            files=files,
            created_at=None if ledger.start is None else f"{runs.moment(ledger.start)[:19]}Z",
            provenance=provenance_of(runs.TOOL, agent),
            suites=suites,
            trials=ledger.trials,
            options={"case": self.case, "by": self.by},
            notes=tuple(_notes(traces, ledger, self)),
        )


def _processes(files: Sequence[Path]) -> int:
    """Beside this one: what is small is read sooner than another one is started."""
    size = sum(file.stat().st_size for file in files)
    return min(_MOST_PROCESSES, os.cpu_count() or 1) if size > _LARGE else 0


def _ledger(traces: Traces, naming: runs.Naming, crew: Crew, path: Path) -> Ledger:
    """Raises InvalidInput with everything that is wrong, UsageError where there is nothing."""
    ledger = Ledger()
    traces.findings.refuse()
    batches = ((naming.case, naming.suite, batch) for batch in _batches(traces.groups()))
    for found, wrong, counted in crew.map(runs.runs_of, batches):
        for entry, data in found:
            ledger.add(entry, data)
        for file, line, message in wrong:
            traces.findings.add(traces.place(file, line), message)
        traces.counted.update(counted)
    traces.findings.refuse()
    if not len(ledger):
        what = "has traces, but none of an agent" if traces.counted["spans"] else "has no spans"
        raise UsageError(
            f"{path}: {what}; export spans with gen_ai.operation.name or "
            "openinference.span.kind as OTLP JSON"
        )
    traces.close()
    ledger.close()
    return ledger


def _batches(groups: Iterator[Group]) -> Iterator[list[tuple[object, ...]]]:
    """Groups in batches, each large enough to keep a process busy for a while."""
    batch: list[tuple[object, ...]] = []
    size = 0
    for group in groups:
        batch.append(tuple(group))
        size += sum(len(data) for _, _, data in group.kept)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _notes(traces: Traces, ledger: Ledger, options: OtelTraces) -> Iterator[str]:
    counts: Counter[str] = traces.counted
    if traces.others:
        yield f"traces without any span of an agent or a model, left out: {traces.others:,}"
    if lacking := counts["without the attribute"]:
        yield (
            f"{lacking:,} of {len(ledger):,} results have no attribute "
            f"{tidy(options.case, 80)}; their case is the question, or the {options.by} if "
            "there is no question"
        )
    if ledger.reworded:
        yield (
            f"{count(ledger.reworded, 'result')} with a different question than the first result "
            "of the case, whose question is used"
        )
    for what, told in _NOTES.items():
        if counts[what]:
            yield f"{told}: {counts[what]:,}"


MOST_METRICS = 200  # of a suite
_SPARSE = 10  # times as many places for results as there are results, ...
_FEW = 100_000  # ... unless there are no more places than this
_LATE = 1 << 63  # of a run that does not say when it began


class _Entry(NamedTuple):
    suite: str
    case: str
    start: int
    key: str
    at: int  # in the spool


@dataclass(slots=True)
class _Suite:
    cases: int = 0
    rounds: int = 0
    trials: int = 0
    metrics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, None] = field(default_factory=dict)  # metrics that say pass or fail


@dataclass(slots=True)
class Ledger:
    """Bounded: a few words a run. Call `close` after the last `add`, then read."""

    start: int | None = None  # of the earliest run, ns
    reworded: int = 0  # runs whose case was asked with other words before
    _spool: Spool = field(default_factory=Spool)
    _entries: list[_Entry] = field(default_factory=list)
    _suites: dict[str, _Suite] = field(default_factory=dict)
    _questions: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def add(self, entry: runs.RunEntry, data: bytes) -> None:
        """Adds what `runs_of` gives. Raises UsageError for too many kinds of evaluations."""
        name, case, start, key, asked, metrics = entry
        at = self._spool.put(data)
        self._entries.append(_Entry(name, case, _LATE if start is None else start, key, at))
        if start is not None:
            self.start = start if self.start is None else min(self.start, start)
        self.reworded += self._questions.setdefault((name, case), asked) != asked
        suite = self._suites.setdefault(name, _Suite())
        for metric, decides in metrics:
            suite.metrics[metric] = None
            if decides:
                suite.judges[metric] = None
        if len(suite.metrics) > MOST_METRICS:
            raise UsageError(
                f"{name}: more than {MOST_METRICS} names of evaluations; use one "
                "gen_ai.evaluation.name for results of one kind"
            )

    def close(self) -> None:
        """Numbers the rounds. Raises UsageError where cases were asked too unevenly for a table."""
        self._entries.sort()
        for (name, case), entries in groupby(self._entries, key=lambda one: one[:2]):
            suite, times = self._suites[name], sum(1 for _ in entries)
            suite.cases += 1
            suite.trials += times
            suite.rounds = max(suite.rounds, times)
            if times > MOST_ROUNDS:
                raise UsageError(_often(name, case, times))
        for name, suite in self._suites.items():
            places = suite.cases * suite.rounds
            if places > _FEW and places > _SPARSE * suite.trials:
                counted = Counter(entry.case for entry in self._entries if entry.suite == name)
                raise UsageError(_often(name, *counted.most_common(1)[0]))

    def __len__(self) -> int:
        return len(self._entries)

    def suites(self) -> dict[str, ImportedSuite]:
        return {name: _describe_suite(self._suites[name]) for name in sorted(self._suites)}

    def trials(self) -> Iterator[Trial]:
        """Trials by suite, case and time."""
        for _, entries in groupby(self._entries, key=lambda one: one[:2]):
            for number, entry in enumerate(entries, 1):
                yield runs.trial(runs.unpack_run(self._spool.get(entry.at)), number)


def _describe_suite(suite: _Suite) -> ImportedSuite:
    metrics = sorted(suite.metrics)
    judges = ", ".join(sorted(suite.judges))
    success = (
        dict.fromkeys(("success", "first_success"), f"{runs.TOOL}: {judges}") if judges else {}
    )
    return ImportedSuite(
        rounds=suite.rounds,
        cases=suite.cases,
        dataset="traces",
        metrics=tuple(map(runs.spec, metrics)),
        graders={**success, **dict.fromkeys(metrics, runs.TOOL)},
    )


def _often(suite: str, case: str, times: int) -> str:
    return (
        f"{suite}: case '{tidy(case, 80)}' has {times:,} results, others have few, so they are "
        "not rounds of one test; use --option case=trace to make each trace a case"
    )
