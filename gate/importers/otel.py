"""`otel`: OpenTelemetry traces of agents, as OTLP JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from gate.agents.traces.otel_sdk import is_span
from gate.errors import UsageError
from gate.files.sniff import FirstLook
from gate.importers.formats.otel.evaluations import TOOL
from gate.importers.formats.otel.group_spans import Group, Traces, group_spans
from gate.importers.formats.otel.lines import source_files
from gate.importers.formats.otel.run_index import Ledger
from gate.importers.formats.otel.runs import Naming
from gate.importers.formats.otel.trials import moment, runs_of
from gate.importers.formats.otel.worker_pool import Crew
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import Provenance
from gate.records.imported import Imported
from gate.text.escaping import one_line

_LARGE = 48 << 20  # bytes of source from which on several processes read
_MOST_PROCESSES = 4
_BATCH = 2 << 20  # bytes of what is kept of traces, that go to a process at once
_NOTES = {  # what was counted -> how a note tells it
    "twice": "spans that are there twice, alike, and count once",
    "odd ids": "spans whose traceId is not 32 hexadecimal digits: it is taken as it is",
    "lines without spans": "lines of JSON without any span, left out",
    "events without a trace": "logged events that name no trace, left out",
    "without content": "results without question and answer, since no content was recorded",
    "too long": "results with more spans than are read of one: their usage is unknown",
    "two conversations": "spans that name another conversation than their trace, which counts",
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
                f"--option suite={one_line(self.suite, 80)}: a suite's name has letters, digits, "
                f"`.`, `_` and `-`; write suite={suite_name(self.suite)}"
            )
        if not self.case:
            raise UsageError("--option case=: name an attribute, or write question or trace")

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """By the first key of an export, or the ids of a bare span; of a folder in a file of it."""
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
        files = source_files(path)
        naming = Naming(case=self.case, suite=self.suite)
        traces = Traces(files=files, by_conversation=self.by == "conversation")
        with Crew(_processes(files)) as crew:
            group_spans(traces, naming.also, crew)
            ledger = _ledger(traces, naming, crew, path)
        suites = ledger.suites()
        agent = ", ".join(sorted(suites)[:3]) + (", ..." if len(suites) > 3 else "")
        return Imported(
            files=files,
            created_at=None if ledger.start is None else f"{moment(ledger.start)[:19]}Z",
            provenance=Provenance(agent=agent, tool_version=TOOL, event="import"),
            suites=suites,
            trials=ledger.trials,
            options={"case": self.case, "by": self.by},
            notes=tuple(_notes(traces, ledger, self)),
        )


def _processes(files: Sequence[Path]) -> int:
    """Beside this one: what is small is read sooner than another one is started."""
    size = sum(file.stat().st_size for file in files)
    return min(_MOST_PROCESSES, os.cpu_count() or 1) if size > _LARGE else 0


def _ledger(traces: Traces, naming: Naming, crew: Crew, path: Path) -> Ledger:
    """Raises InvalidInput with everything that is wrong, UsageError where there is nothing."""
    ledger = Ledger()
    traces.findings.refuse()
    batches = ((naming.case, naming.suite, batch) for batch in _batches(traces.groups()))
    for found, wrong, counted in crew.map(runs_of, batches):
        for entry, data in found:
            ledger.add(entry, data)
        for file, line, message in wrong:
            traces.findings.add(traces.place(file, line), message)
        traces.counted.update(counted)
    traces.findings.refuse()
    if not len(ledger):
        what = "traces, but none of an agent" if traces.counted["spans"] else "no spans of OTLP"
        raise UsageError(
            f"{path}: {what} in it; export spans with gen_ai.operation.name or "
            "openinference.span.kind as OTLP JSON"
        )
    traces.close()
    ledger.close()
    return ledger


def _batches(groups: Iterator[Group]) -> Iterator[list[list[Any]]]:
    """As much at once as keeps a process busy for a while."""
    batch: list[list[Any]] = []
    size = 0
    for group in groups:
        batch.append([*group])
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
            f"results without the attribute {one_line(options.case, 80)}, whose case is their "
            f"question, or without one their {options.by}: {lacking:,} of {len(ledger):,}"
        )
    if ledger.reworded:
        yield (
            "results that ask another question than the first one of their case, by which it is "
            f"compared: {ledger.reworded:,}"
        )
    for what, told in _NOTES.items():
        if counts[what]:
            yield f"{told}: {counts[what]:,}"
