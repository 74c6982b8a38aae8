"""`junit`: JUnit XML of a test runner (pytest, jest, surefire, promptfoo, ...)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, UsageError
from gate.files.plain import files_below, plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.junit.runs import Overview, overview, runs
from gate.importers.formats.junit.trials import TOOL, trial
from gate.importers.trials.build import name_judge, score_metric
from gate.importers.trials.names import metric_name, suite_name
from gate.plugins import IMPORTERS
from gate.records import MetricSpec, Provenance
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
            raise UsageError(f"{path}: no XML file in it; name a JUnit file or a folder of them")
        found, suite = overview(files), suite_name(self.suite or path.resolve().stem, "tests")
        specs = _specs(found, path)
        cases, rounds = found.sizes(self.reruns)
        if not cases:
            raise UsageError(f"{path}: no test in it that ran")
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
            provenance=Provenance(agent="tests", tool_version=TOOL, event="import"),
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
            what = f"the property '{name[:80]}' has the name of another one here - rename one"
            problems.add(Place(path.as_posix()), what)
        share = low >= 0.0 and high <= 1.0
        specs[column] = score_metric(column, share=share, about="mean of a property of the tests")
    problems.refuse()
    return tuple(specs.values())


def _notes(found: Overview, reruns: bool) -> Iterator[str]:
    if found.skipped:
        yield f"skipped tests, which are left out: {found.skipped}"
    if found.several and reruns:
        yield (
            f"{len(found.several)} tests have several results in one testsuite: what follows a "
            "failed one is its rerun and counts, what follows a passed one is another test"
        )
    elif found.several:
        yield f"{len(found.several)} tests have several results in one testsuite, each a test"
    if found.shared:
        yield f"{len(found.shared)} tests of several testsuites have the same name"
