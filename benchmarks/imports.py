"""What imports cost: user seconds and peak memory of a whole `gate import`, and how both grow.

    python benchmarks/imports.py [FORMAT ...] [--runs 3] [--full]

Each format is imported in two sizes, one twice the other, in turns; what a further case takes is
the difference, and the figure of the full size lies on the straight line through both. `--full`
imports the full size as well (once, several minutes and 4 GB of disk) and holds the bounds against
what that took. The files are those of tests/support/import_files.py; of OpenTelemetry those of
import_otel.py, timed by the clock, as several processes read them.

Bounds: half of the processor seconds that version 9f810e2 was measured with (JUnit 117 s, TREC
20 s, promptfoo 77 s, OpenAgent 51 s), its peak memory (459 and 767 MB), and 30 MB of
OpenTelemetry's lines a second. Exits with 1 and names what misses its bound.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from figures import Figure
from import_otel import make

from tests.support.import_files import write_source

OTEL = "otel"
OTEL_MB = 60  # of a file


@dataclass(frozen=True)
class Aim:
    """Of a format: the full size in cases, the smaller one of the two sizes that are measured, and
    the most user seconds and MB at the full size.
    """

    full: int
    small: int
    seconds: float
    megabytes: float | None = None


AIMS = {
    "junit": Aim(1_000_000, 20_000, 58, 459),
    "trec": Aim(10_000, 500, 10),
    "promptfoo": Aim(30_000, 1_500, 38, 767),
    "openagent": Aim(100_000, 10_000, 25),
}


@dataclass(frozen=True)
class Cost:
    """Of one import: user seconds, wall seconds, MB at the peak."""

    user: float
    wall: float
    peak: float


def measure(folder: Path, words: list[str]) -> Cost:
    """Raises SystemExit if the import fails. What it wrote is taken away."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        start = time.perf_counter()
        command = [sys.executable, "-m", "gate", "import", *words, "--out", out, "--quiet"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"gate import {' '.join(words)}: failed")
    return Cost(used.ru_utime, wall, used.ru_maxrss / 1024)


def measure_sizes(tool: str, aim: Aim, folder: Path, runs: int) -> tuple[Cost, Cost]:
    """Medians of the small size and of twice that, in turns."""
    sizes = (aim.small, 2 * aim.small)
    words = [write_source(tool, folder / f"{tool}{size}", size) for size in sizes]
    costs = [[measure(folder, one) for one in words] for _ in range(runs)]
    small, large = (_take_median([pair[n] for pair in costs]) for n in (0, 1))
    return small, large


def _take_median(costs: list[Cost]) -> Cost:
    kinds = ([cost.user for cost in costs], [cost.wall for cost in costs], [c.peak for c in costs])
    return Cost(*map(statistics.median, kinds))


def measure_imports(formats: Sequence[str], *, runs: int, full: bool) -> Iterator[Figure]:
    """Prints a row for each format, and gives its figures."""
    with tempfile.TemporaryDirectory() as name:
        print("| format | cases | user s, peak | twice as many | µs a case | full size | s | MB |")
        print("|:--|--:|--:|--:|--:|--:|--:|--:|")
        for tool in [one for one in formats if one != OTEL]:
            yield from _measure_format(tool, AIMS[tool], Path(name), runs, full)
        if OTEL in formats:
            yield _measure_otel(Path(name), runs)


def _measure_format(tool: str, aim: Aim, folder: Path, runs: int, full: bool) -> Iterator[Figure]:
    small, large = measure_sizes(tool, aim, folder, runs)
    further = aim.full / aim.small - 2  # times the small size, beyond the large one
    user = large.user + further * (large.user - small.user)
    peak = large.peak + further * max(0.0, large.peak - small.peak)
    if full:
        whole = measure(folder, write_source(tool, folder / f"{tool}{aim.full}", aim.full))
        user, peak = whole.user, whole.peak
    each = (large.user - small.user) / aim.small * 1e6
    print(
        f"| {tool} | {aim.small:,} | {small.user:.2f}, {small.peak:.0f} MB | {large.user:.2f}, "
        f"{large.peak:.0f} MB | {each:,.0f} | {aim.full:,} | {user:.1f} | {peak:.0f} |",
        flush=True,
    )
    what = f"import of {aim.full:,} cases of {tool}"
    yield Figure(what, "s", aim.seconds, user)
    if aim.megabytes is not None:
        yield Figure(f"{what}, memory", "MB", aim.megabytes, peak)


def _measure_otel(folder: Path, runs: int) -> Figure:
    """Of OpenTelemetry's lines: what two sizes of a file differ by, by the clock."""
    walls: Mapping[int, list[float]] = {OTEL_MB: [], 2 * OTEL_MB: []}
    peaks = []
    for size in walls:
        make(folder / f"{size}.jsonl", size * 1_000_000)
    for _ in range(runs):
        for size, taken in walls.items():
            cost = measure(folder, [OTEL, str(folder / f"{size}.jsonl")])
            taken.append(cost.wall)
            peaks.append(cost.peak)
    small, large = (statistics.median(taken) for taken in walls.values())
    speed = OTEL_MB / (large - small)
    print(
        f"\n{OTEL}: {OTEL_MB} MB in {small:.2f} s, {2 * OTEL_MB} MB in {large:.2f} s: "
        f"{speed:.0f} MB/s, {max(peaks):.0f} MB at the peak"
    )
    return Figure("import of 100 MB of OpenTelemetry, beside the start", "s", 3.3, 100 / speed)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("formats", nargs="*", metavar="FORMAT", default=[*AIMS, OTEL])
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--full", action="store_true")
    given = options.parse_args()
    figures = measure_imports(given.formats, runs=given.runs, full=given.full)
    missed = [figure for figure in figures if not figure.is_met]
    if missed:
        told = (f"{one.what}: {one.here:.1f} {one.unit}, bound {one.most:g}" for one in missed)
        raise SystemExit("missed: " + "; ".join(told))


if __name__ == "__main__":
    main()
