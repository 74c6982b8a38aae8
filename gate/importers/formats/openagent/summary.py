"""summary.json of an OpenAgent session against its records: what does not agree is told.

Versions differ in the standard deviation (population, sample) and readers in whether a missing
number counts as 0: any of these readings will do.
"""

from __future__ import annotations

import math
import statistics
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.errors import Place, Problem
from gate.files.json_values import as_list, is_number
from gate.importers.formats.openagent.files import BenchmarkRecord
from gate.records import Json

ROUNDED = 0.5e-4 + 1e-9  # of shares, written with four digits
_CLOSE = 0.005  # relative, of milliseconds and tokens, whatever their rounding
_NEAR = 0.51  # absolute


@dataclass(slots=True, kw_only=True)
class SuiteTotals:
    """What one suite's records come to, in any order."""

    records: int = 0
    passed: int = 0
    recovered: int = 0  # passed at a later attempt
    rounds: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    tasks: set[str] = field(default_factory=set)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    tokens: array[float] = field(default_factory=lambda: array("d"))

    def add(self, record: BenchmarkRecord) -> None:
        data = record.data
        self.records += 1
        self.passed += data["ok"]
        self.recovered += data["ok"] and data["attempt"] > 1
        self.rounds = max(self.rounds, data["round"])
        self.codes.update(record.codes)
        self.tasks.add(data["task_id"])
        for values, name in ((self.latencies, "latency_ms"), (self.tokens, "total_tokens")):
            value = data.get(name)
            if value is not None:
                values.append(value)


def contradictions(
    summary: Mapping[str, Json], found: Mapping[str, SuiteTotals], file: str
) -> Iterator[Problem]:
    """One problem for each figure that the records do not bear out."""
    suites = summary.get("suites")
    if not isinstance(suites, dict):
        yield Problem(Place(file, key="suites"), "is missing, or no mapping by suite")
        return
    total = sum(one.records for one in found.values())
    yield from _count(summary, "total_records", total, file, "")
    for name in sorted({*map(str, suites), *found}):
        told = suites.get(name)
        where = f"suites.{name[:80]}"
        if not isinstance(told, dict):
            yield Problem(Place(file, key=where), "the records have it, the summary does not")
        elif name not in found:
            yield Problem(Place(file, key=where), "the summary has it, no record does")
        else:
            yield from _suite(told, found[name], file, f"{where}.")


def _suite(told: Mapping[str, Json], own: SuiteTotals, file: str, where: str) -> Iterator[Problem]:
    yield from _count(told, "rounds", own.records, file, where)
    rate = own.passed / own.records
    stated = told.get("success_rate")
    if stated is not None and not (is_number(stated) and abs(stated - rate) <= ROUNDED):
        counts = f"{own.passed} of {own.records} records are ok, {rate:.4f}"
        yield _differs(file, f"{where}success_rate", stated, counts)
    for prefix, values in (("latency_ms", own.latencies), ("tokens", own.tokens)):
        readings = [values, array("d", [*values, *[0.0] * (own.records - len(values))])]
        means = [statistics.fmean(reading) for reading in readings if reading]
        yield from _amount(told, f"{prefix}_mean", means, file, where)
        yield from _amount(told, f"{prefix}_std", _spreads(readings), file, where)
    worst = [max(own.latencies)] if own.latencies else []
    yield from _amount(told, "worst_latency_ms", worst, file, where)
    yield from _failures(told.get("failures_top"), own, file, f"{where}failures_top")


def _spreads(readings: Sequence[Sequence[float]]) -> list[float]:
    """Standard deviations of the population and of a sample; of one value 0."""
    found = [statistics.pstdev(reading) for reading in readings if reading]
    return found + [statistics.stdev(reading) for reading in readings if len(reading) > 1]


def _count(
    told: Mapping[str, Json], key: str, own: int, file: str, where: str
) -> Iterator[Problem]:
    stated = told.get(key)
    if stated is not None and stated != own:
        yield _differs(file, where + key, stated, f"there are {own} records")


def _amount(
    told: Mapping[str, Json], key: str, own: Sequence[float], file: str, where: str
) -> Iterator[Problem]:
    """A figure that is null or 0 where nothing was measured says nothing."""
    stated = told.get(key)
    if stated is None or (stated == 0 and not own):
        return
    readings = own or [0.0]
    close = is_number(stated) and any(
        math.isclose(stated, reading, rel_tol=_CLOSE, abs_tol=_NEAR) for reading in readings
    )
    if not close:
        yield _differs(file, where + key, stated, f"the records give {readings[0]:.2f}")


def _failures(top: Json, own: SuiteTotals, file: str, where: str) -> Iterator[Problem]:
    for entry in as_list(top):
        pair = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)
        if not pair:
            yield Problem(Place(file, key=where), "an entry is no pair of a code and a number")
        elif own.codes[entry[0]] != entry[1]:
            counts = f"{own.codes[entry[0]]} records have it"
            yield _differs(file, f"{where}: {entry[0][:80]!r}", entry[1], counts)


def _differs(file: str, key: str, stated: Json, own: str) -> Problem:
    message = f"says {str(stated)[:40]}, but {own} - one of the two files was changed or cut off"
    return Problem(Place(file, key=key), message)
