"""`beir`: a collection's queries and judgements as cases, with a run as results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, UsageError
from gate.files.json_values import as_object
from gate.files.plain import json_lines
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.trec import Qrels, Ranking, check_cutoffs, qrels_of, run_of
from gate.importers.trials.build import ToolSuite, import_cases, provenance_of
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import Case
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
            raise UsageError(f"{path}: not a folder; give one with {CORPUS}, {QUERIES} and qrels/")
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
        ranking = Ranking(
            suite=ToolSuite("beir", collection.name),
            qrels=collection.qrels,
            run=run,
            k=self.k,
            mrr_k=self.mrr_k,
            complete=self.complete,
            drop_same_id=self.drop_same_id,
            questions=collection.texts,
        )
        return Imported(
            files=(*collection.files, run_file),
            provenance=provenance_of("BEIR run", run.name or run_file.stem[:100]),
            suites={collection.name: ranking.imported_suite()},
            trials=ranking.trials,
            cases=lambda: _cases(collection),
            options={"split": self.split, "complete": self.complete},
            notes=tuple(ranking.notes()),
        )


def _cases(collection: Collection) -> Iterator[Case]:
    """Cases as the grader `retrieval` reads them."""
    suite = ToolSuite("beir", collection.name)
    for query, judged in collection.qrels.items():
        keys = {"relevance_scores": judged.grades}
        yield suite.case(query, input=collection.texts[query], keys=keys)


CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """`texts`: of the judged queries, by id, in the order of the judgements."""

    name: str
    qrels: Qrels
    texts: Mapping[str, str]
    files: tuple[Path, ...]


def collection_of(folder: Path, split: str, findings: Findings) -> Collection:
    """Raises UsageError for what is no such folder."""
    if not _NAME.fullmatch(split):
        raise UsageError(f"--option split: '{split[:80]}' is not a split; use test, dev or train")
    queries, judgements = folder / QUERIES, folder / "qrels" / f"{split}.tsv"
    for one in (folder, folder / "qrels"):
        if one.is_symlink():
            raise UsageError(f"{one}: symbolic links are not followed; give the real folder")
    if not judgements.exists():
        others = sorted(one.stem for one in (folder / "qrels").glob("*.tsv"))[:10]
        known = f"choose one of {', '.join(others)} with --option split=NAME"
        hint = known if others else "give a folder with qrels/"
        raise UsageError(f"{judgements}: not found; {hint}")
    qrels = qrels_of(judgements, findings)
    texts = _texts(queries, qrels, findings)
    return Collection(
        name=suite_name(f"beir-{folder.resolve().name}"),
        qrels=qrels,
        texts={query: texts[query] for query in qrels if query in texts},
        files=(queries, judgements),
    )


def _texts(path: Path, qrels: Qrels, findings: Findings) -> dict[str, str]:
    texts: dict[str, str] = {}
    for line in findings.keep_good(json_lines(path)):
        data = as_object(line.data)
        query, text = data.get("_id"), data.get("text")
        if not isinstance(query, str) or not isinstance(text, str):
            findings.add(line.place, "`_id` and `text` must both be strings")
        elif query in texts:
            findings.add(line.place, f"query {query[:80]!r} appears twice - keep one")
        elif query in qrels:
            texts[query] = text
    absent = [query for query in qrels if query not in texts]
    if absent and not findings:
        some = ", ".join(repr(query[:80]) for query in absent[:3])
        findings.add(
            Place(path.as_posix()),
            f"has no text for {len(absent)} judged queries ({some}) - use the queries and "
            "judgements of the same version",
        )
    return texts
