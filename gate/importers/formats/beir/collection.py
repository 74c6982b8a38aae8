"""A collection of BEIR: its judged queries with their texts. The corpus is never opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, UsageError
from gate.files.json_values import as_object
from gate.files.plain import json_lines
from gate.files.problems import Findings
from gate.importers.formats.trec.qrels import Qrels, qrels_of
from gate.importers.trials.names import suite_name

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
        raise UsageError(f"--option split: '{split[:80]}' is no name; write test, dev or train")
    queries, judgements = folder / QUERIES, folder / "qrels" / f"{split}.tsv"
    for one in (folder, folder / "qrels"):
        if one.is_symlink():
            raise UsageError(f"{one}: a link, which is not followed; name the folder itself")
    if not judgements.exists():
        others = sorted(one.stem for one in (folder / "qrels").glob("*.tsv"))[:10]
        hint = f"it has {', '.join(others)} (--option split=NAME)" if others else "name another"
        raise UsageError(f"{judgements}: not there; a collection has it, or {hint}")
    qrels = qrels_of(judgements, findings)
    texts = _texts(queries, qrels, findings)
    return Collection(
        name=suite_name(f"beir-{folder.resolve().name}"),
        qrels=qrels,
        texts={query: texts[query] for query in qrels if query in texts},
        files=(queries, judgements),
    )


def _texts(path: Path, qrels: Qrels, findings: Findings) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in findings.keep_good(json_lines(path)):
        data = as_object(line.data)
        query, text = data.get("_id"), data.get("text")
        if not isinstance(query, str) or not isinstance(text, str):
            findings.add(line.place, "no `_id` and `text`, both texts")
        elif query in found:
            findings.add(line.place, f"the query {query[:80]!r} is there twice - keep one")
        elif query in qrels:
            found[query] = text
    absent = [query for query in qrels if query not in found]
    if absent and not findings:
        some = ", ".join(repr(query[:80]) for query in absent[:3])
        findings.add(
            Place(path.as_posix()),
            f"{len(absent)} judged queries are not in it ({some}) - take both files of one version",
        )
    return found
