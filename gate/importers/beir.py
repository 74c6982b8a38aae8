"""`beir`: a collection's queries and judgements as cases, with a run as results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.beir.collection import CORPUS, QUERIES, Collection, collection_of
from gate.importers.formats.trec.ranking import Ranking, check_cutoffs
from gate.importers.formats.trec.runs import RankedRun, run_of
from gate.importers.trials.build import case_of, import_cases
from gate.plugins import IMPORTERS
from gate.records import Case, Provenance
from gate.records.imported import Imported


@IMPORTERS.register("beir")
@dataclass(frozen=True, slots=True, kw_only=True)
class Beir:
    """`split`: which judgements; `run`: a file of results, JSON or TREC text; without one there are
    cases alone. `drop_same_id`: a document with the id of its query is not counted.
    """

    split: str = "test"
    run: str | None = None
    k: tuple[int, ...] = (1, 3, 5, 10, 100, 1000)
    mrr_k: tuple[int, ...] = ()
    complete: bool = True
    drop_same_id: bool = True

    reads: ClassVar[str] = "a collection's folder: corpus.jsonl, queries.jsonl, qrels/"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        judged = any(name.startswith("qrels/") and name.endswith(".tsv") for name in found.names)
        return judged and QUERIES in found.names

    def read(self, path: Path) -> Imported:
        check_cutoffs(self.k, self.mrr_k)
        if not path.is_dir():
            raise UsageError(f"{path}: no folder; name one with {CORPUS}, {QUERIES} and qrels/")
        findings = Findings()
        collection = collection_of(path, self.split, findings)
        run_file = Path(self.run) if self.run is not None else None
        run = run_of(run_file, findings) if run_file else None
        findings.refuse()
        if run is None or run_file is None:
            return import_cases(
                collection.files,
                lambda: _cases(collection),
                tool="BEIR collection",
                options={"split": self.split},
            )
        ranking = self._ranking(collection, run)
        return Imported(
            files=(*collection.files, run_file),
            created_at=None,
            provenance=Provenance(
                agent=run.name or run_file.stem[:100], tool_version="BEIR run", event="import"
            ),
            suites={collection.name: ranking.imported_suite()},
            trials=ranking.trials,
            cases=lambda: _cases(collection),
            options={"split": self.split, "complete": self.complete},
            notes=tuple(ranking.notes()),
        )

    def _ranking(self, collection: Collection, run: RankedRun) -> Ranking:
        return Ranking(
            tool="beir",
            suite=collection.name,
            qrels=collection.qrels,
            run=run,
            k=self.k,
            mrr_k=self.mrr_k,
            complete=self.complete,
            drop_same_id=self.drop_same_id,
            questions=collection.texts,
        )


def _cases(collection: Collection) -> Iterator[Case]:
    """As the grader `retrieval` reads them."""
    for query, judged in collection.qrels.items():
        keys = {"relevance_scores": judged.grades}
        asked = collection.texts[query]
        yield case_of("beir", collection.name, query, input=asked, keys=keys)
