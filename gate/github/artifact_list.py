"""The repository's artifacts of one name, listed at once, by the run that each is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice

from gate.github.api import Api
from gate.github.payload import id_of
from gate.records import Json

NEEDS = "actions: read"
LISTED = 300
RUNS_ASKED = 20  # one by one, when there are more artifacts than are listed

Artifact = Mapping[str, Json]


class ArtifactList:
    """Every run of the repository, of every branch and fork, puts its own here: which run to trust
    is the caller's to know. Nothing is asked before the first question. Raises ApiError.
    """

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._name = name
        self._asked = 0

    def artifacts_of(self, run: int) -> Sequence[Artifact]:
        """The run's unexpired ones, newest first (a job that is run again makes a second one)."""
        if run in self._artifacts_by_run or len(self._first) < LISTED or self._asked == RUNS_ASKED:
            return self._artifacts_by_run.get(run, ())
        # Forks may have filled the list on purpose.
        self._asked += 1
        return self._usable(self._pages(f"actions/runs/{run}/artifacts"))

    def runs(self) -> Sequence[int]:
        """The runs that are known to have one."""
        return tuple(self._artifacts_by_run)

    @cached_property
    def _first(self) -> list[Artifact]:
        return self._pages("actions/artifacts")

    @cached_property
    def _artifacts_by_run(self) -> Mapping[int, Sequence[Artifact]]:
        by_run: dict[int, list[Artifact]] = {}
        for artifact in self._usable(self._first):
            run = artifact.get("workflow_run")
            number = run.get("id") if isinstance(run, dict) else None
            if isinstance(number, int):
                by_run.setdefault(number, []).append(artifact)
        return by_run

    def _pages(self, path: str) -> list[Artifact]:
        query = {"name": self._name}
        return list(islice(self._api.pages(path, query, key="artifacts", needs=NEEDS), LISTED))

    def _usable(self, listed: Sequence[Artifact]) -> list[Artifact]:
        fit = [a for a in listed if a.get("name") == self._name and not a.get("expired")]
        return sorted(fit, key=id_of, reverse=True)
