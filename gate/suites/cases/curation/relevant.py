"""Proposes relevant documents for existing cases. The case does not change: the proposal waits in
its metadata until a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gate.errors import UsageError
from gate.files.json_values import as_list, as_object
from gate.records import Json
from gate.suites.cases.curation.proposing import ProposedDocuments

KEY = "relevant_doc_ids"
_SAID_OTHERWISE = (KEY, "relevance_scores")


def metadata_of(case: Mapping[str, Json]) -> dict[str, Json]:
    """The metadata of a case. Raises UsageError if it is not a mapping."""
    metadata = case.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise UsageError(f"case '{case.get('id')}': metadata must be a mapping; correct it first")
    return metadata or {}


def find_lacking(cases: Sequence[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """The cases that run and say nothing about relevant documents. `[]` says that there are none; a
    waiting or rejected proposal counts, too.
    """
    for case in cases:
        runs = case.get("status", "approved") == "approved"
        silent = all(case.get(key) is None for key in _SAID_OTHERWISE)
        if runs and silent and KEY not in metadata_of(case):
            yield case


def add_proposal(case: Mapping[str, Json], found: ProposedDocuments) -> dict[str, Json]:
    """The case with documents that a person has to check."""
    proposal = {"status": "proposed", "ids": list(found.ids), "by": found.by, "read_by": None}
    return {**case, "metadata": {**metadata_of(case), KEY: proposal}}


def is_waiting(case: Mapping[str, Json]) -> bool:
    """Whether the case has a proposal of documents without a decision."""
    return _proposal(case).get("status") == "proposed"


def _proposal(case: Mapping[str, Json]) -> dict[str, Json]:
    return as_object(metadata_of(case).get(KEY))


def take_proposal(
    case: Mapping[str, Json], reader: str, ids: Sequence[str] | None
) -> dict[str, Json]:
    """The case with the documents as its own. `ids`: other documents than the proposed ones."""
    about = _proposal(case)
    kept = {"by": about.get("by"), "read_by": reader}
    taken = as_list(about.get("ids")) if ids is None else list(ids)
    return {**case, KEY: taken, "metadata": {**metadata_of(case), KEY: kept}}


def reject_proposal(case: Mapping[str, Json], reader: str) -> dict[str, Json]:
    """The case without the proposal; these documents are not proposed again."""
    about = {**_proposal(case), "status": "rejected", "read_by": reader}
    return {**case, "metadata": {**metadata_of(case), KEY: about}}
