"""What a reviewer said about one case, as the file has it: not checked against a sample yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_values import as_string
from gate.records import Json

FORM: Literal["agent-gate review labels"] = "agent-gate review labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A rating as it is written."""

    name: str  # of the criterion
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What one file says about one case."""

    place: Place
    period: str
    sample: str
    reviewer: str
    item: Json  # the case's number in the form
    answer_digest: str
    ratings: tuple[Stated, ...] = ()
    cannot_judge: bool = False
    note: str = ""
    labelled_at: str = ""  # ISO 8601; empty: the file does not say


def from_form(data: Json, file: str) -> Iterator[Spoken | Problem]:
    """The labels of a file that the form saved. Raises InvalidInput if it is not such a file."""
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise InvalidInput([Problem(Place(file), "not a file that the review form saved")])
    labels = data.get("labels")
    if not isinstance(labels, list):
        raise InvalidInput([Problem(Place(file, key="labels"), "must be a list; save it again")])
    head = {key: as_string(data.get(key)).strip() for key in ("period", "sample", "reviewer")}
    for number, entry in enumerate(labels):
        if isinstance(entry, dict):
            yield _read_entry(entry, head, Place(file, key=_place(entry, number)))
        else:
            yield Problem(Place(file, key=f"labels[{number}]"), "must be an object; save it again")


def _read_entry(
    entry: Mapping[str, Json], head: Mapping[str, str], place: Place
) -> Spoken | Problem:
    ratings = entry.get("ratings", {})
    if not isinstance(ratings, dict):
        return Problem(place, "ratings: must be an object; save it again")
    cannot_judge = entry.get("cannot_judge", False)
    if not isinstance(cannot_judge, bool):
        return Problem(place, "cannot_judge: must be true or false; save it again")
    return Spoken(
        place=place,
        **head,
        item=entry.get("item"),
        answer_digest=as_string(entry.get("answer_digest")),
        ratings=tuple(Stated(name=str(name), value=value) for name, value in ratings.items()),
        cannot_judge=cannot_judge,
        note=as_string(entry.get("note")).strip(),
        labelled_at=as_string(entry.get("labelled_at")),
    )


def _place(entry: Mapping[str, Json], number: int) -> str:
    case_id = entry.get("case_id")
    return f"case '{case_id[:80]}'" if isinstance(case_id, str) else f"labels[{number}]"
