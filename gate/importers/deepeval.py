"""`deepeval`: the test run that deepeval keeps, or its results dumped from Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.files.sniff import FirstLook
from gate.importers.formats.deepeval.results import results
from gate.plugins import IMPORTERS
from gate.records.imported import Imported


@IMPORTERS.register("deepeval")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEval:
    """`suite`: its name; without it that of the dataset, or `deepeval`."""

    suite: str = ""

    reads: ClassVar[str] = "a test run (test_run_*.json), or a folder with one"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            runs = [name for name in found.names if name.startswith("test_run_")]
            return any(name.endswith(".json") for name in runs) or (
                ".latest_run_full.json" in found.names
            )
        dumped = found.has("metrics_data", "conversational") or found.has("test_results")
        return found.has("testCases") or found.has("testRunData") or dumped

    def read(self, path: Path) -> Imported:
        return results(path, self.suite)
