"""`trec`: a run and relevance judgements, measured by trec_eval's definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.plain import files_below
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.trec import Ranking, check_cutoffs, qrels_of, run_of
from gate.importers.trials.build import ToolSuite, provenance_of
from gate.plugins import IMPORTERS
from gate.records.imported import Imported

_LINE = re.compile(rb"\S+[ \t]+Q0[ \t]+\S+[ \t]+-?\d+[ \t]+[-+.\deE]+[ \t]+\S+[ \t]*\r?\n?")
_JUDGEMENTS = "qrel"
_ENDS = (".txt", ".trec", ".run", ".res", ".qrels", ".json", ".jsonl", ".tsv", "")


@IMPORTERS.register("trec")
@dataclass(frozen=True, slots=True, kw_only=True)
class Trec:
    """One trial a query. `qrels`: the judgements; `k`: cut-offs; `mrr_k`: cut-offs of the
    reciprocal rank; `complete`: judged queries that the run does not have count as 0.
    """

    qrels: str | None = None
    k: tuple[int, ...] = (1, 3, 5, 10)
    mrr_k: tuple[int, ...] = ()
    complete: bool = True

    reads: ClassVar[str] = "a run file, or a folder with a run and its qrels"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Text with `Q0`. JSON of this form could be anything."""
        if found.is_folder:
            return any(name == "qrels.txt" or name.endswith(".qrels") for name in found.names)
        lines = [line for line in found.head.split(b"\n", 3)[:2] if line.strip()]
        return bool(lines) and all(_LINE.fullmatch(line) for line in lines)

    def read(self, path: Path) -> Imported:
        check_cutoffs(self.k, self.mrr_k)
        run_file, judgements = self._files(path)
        findings = Findings()
        qrels, run = qrels_of(judgements, findings), run_of(run_file, findings)
        findings.refuse()
        ranking = Ranking(
            suite=ToolSuite("trec", "trec"),
            qrels=qrels,
            run=run,
            k=self.k,
            mrr_k=self.mrr_k,
            complete=self.complete,
        )
        return Imported(
            files=(run_file, judgements),
            provenance=provenance_of("TREC run", run.name or run_file.stem[:100]),
            suites={"trec": ranking.imported_suite()},
            trials=ranking.trials,
            options={"complete": self.complete},
            notes=tuple(ranking.notes()),
        )

    def _files(self, path: Path) -> tuple[Path, Path]:
        """The run and its judgements. Raises UsageError."""
        if not path.is_dir():
            if self.qrels is None:
                raise UsageError(f"{path}: has no relevance judgements; add --option qrels=FILE")
            return path, Path(self.qrels)
        files = [one for one in files_below(path, deep=False) if one.suffix.lower() in _ENDS]
        judged = [file for file in files if _JUDGEMENTS in file.name.lower()]
        runs = [one for one in files if one not in judged]
        if self.qrels is not None:
            judged = [Path(self.qrels)]
        if len(runs) != 1 or len(judged) != 1:
            raise UsageError(
                f"{path}: has {len(runs)} runs and {len(judged)} files of judgements (with `qrel` "
                "in their name); give the run as PATH and add --option qrels=FILE"
            )
        return runs[0], judged[0]
