"""`swebench`: what SWE-bench's harness and its leaderboard say of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.files.sniff import FirstLook
from gate.importers.formats.swebench.files import is_ours
from gate.importers.formats.swebench.reading import SweBenchOptions, import_run
from gate.importers.trials.names import repository_of
from gate.plugins import IMPORTERS
from gate.records.imported import Imported

_REPORT = re.compile(
    r"[^/]+__[^/]+-\d+/report\.json|logs/run_evaluation|per_instance_details\.json"
)
_LEADERBOARD = frozenset({"results/results.json", "metadata.yaml"})


@IMPORTERS.register("swebench")
@dataclass(frozen=True, slots=True, kw_only=True)
class SweBench(SweBenchOptions):
    """One trial an instance. `instances`: a file with the ids of all that count; `declared`: the
    published score in percent, which is checked; `trajectories`: the run folder of mini-SWE-agent.
    """

    reads: ClassVar[str] = "a run report, a folder with reports, a leaderboard folder"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            reported = any(_REPORT.fullmatch(name) for name in found.names)
            return reported or found.names >= _LEADERBOARD
        if found.ends(".traj.json"):
            return False
        if found.first is not None:
            return is_ours(found.first)
        ids = [key for key in found.keys if repository_of(key)]
        return found.has("total_instances") or (bool(ids) and len(ids) == len(found.keys))

    def read(self, path: Path) -> Imported:
        return import_run(path, self)
