"""Adds new labels to the stored ones: each rating once; contradictions are reported, never
guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.commands.label_review.checking import Answer, Filled, Given, answer_of, of_case
from gate.errors import Problem
from gate.records import Label
from gate.records.codec import to_json

_Rating = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """All labels in the order of the file, and the result for those that were read."""

    rows: tuple[Label, ...]
    added: int
    replaced: int
    unchanged: int
    taken_back: int  # their reviewer cannot judge the answer after all
    problems: tuple[Problem, ...]


def merge(stored: Sequence[Label], filled: Filled, *, replace: bool) -> Merged:
    """The stored labels with the new ones. `replace`: a different rating replaces the reviewer's
    earlier one. Otherwise contradictions with a stored label, and between the files, are reported
    and left out.
    """
    rows = {_rating(label): label for label in stored}
    dropped = [key for key, label in rows.items() if answer_of(label) in filled.skipped]
    problems = [] if replace else list(_list_withdrawn(dropped, filled))
    if replace:
        for key in dropped:
            del rows[key]
    counts = {"added": 0, "replaced": 0, "unchanged": 0}
    groups: dict[_Rating, list[Given]] = {}
    for given in filled.given:
        groups.setdefault(_rating(given.label), []).append(given)
    for key, group in groups.items():
        fault = _contradiction(group, rows.get(key), replace=replace)
        if fault is not None:
            problems.append(fault)
            continue
        new, old = group[-1].label, rows.get(key)
        same = old is not None and old.human == new.human
        counts["unchanged" if same else "replaced" if old else "added"] += 1
        rows[key] = old if same and old is not None else new
    return Merged(
        rows=tuple(sorted(rows.values(), key=_order)),
        taken_back=len(dropped) if replace else 0,
        problems=tuple(problems),
        **counts,
    )


def render(rows: Sequence[Label]) -> str:
    return "".join(f"{json.dumps(to_json(row), ensure_ascii=False)}\n" for row in rows)


def _contradiction(group: Sequence[Given], old: Label | None, *, replace: bool) -> Problem | None:
    last = group[-1]
    for given in group:
        same_file = given.place.file == last.place.file
        if given.label.human != last.label.human and (same_file or not replace):
            return Problem(
                last.place,
                f"{_about(last)} is {last.label.human:g} here and {given.label.human:g} at "
                f"{given.place}; neither is used - keep one of the two",
            )
    if old is not None and old.human != last.label.human and not replace:
        return Problem(
            last.place,
            f"{_about(last)} is {last.label.human:g} here but {old.human:g} in the labels; "
            "not imported - use --replace to overwrite it",
        )
    return None


def _about(given: Given) -> str:
    label = given.label
    return f"{of_case(given.place, label.case_id)}{label.metric} by {label.reviewer}"


def _list_withdrawn(dropped: Sequence[_Rating], filled: Filled) -> Iterator[Problem]:
    """Answers that their reviewer cannot judge here and rated before."""
    for answer in dict.fromkeys(key[:-2] for key in dropped):
        place = filled.skipped[answer]
        message = f'{of_case(place, answer[1])}marked "cannot judge" here, but was rated before'
        yield Problem(place, f"{message}; use --replace to remove the ratings")


def _rating(label: Label) -> _Rating:
    """What a reviewer says once; another judge or rubric asks something else."""
    answer: Answer = answer_of(label)
    return (*answer, label.metric, label.judge_digest)


def _order(label: Label) -> tuple[str, str, str, int, str, str]:
    reviewer = label.reviewer.casefold()
    return (label.suite, label.period, label.case_id, label.round, label.metric, reviewer)
