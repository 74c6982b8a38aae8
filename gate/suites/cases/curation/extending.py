"""Asks for proposals until there are enough, or the model has nothing new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gate.errors import InfrastructureError
from gate.plugins import Ask
from gate.records import Case, Json, Question
from gate.suites.cases.curation.proposing import (
    PER_QUESTION,
    Entry,
    Intake,
    from_log,
    from_seeds,
    part_of,
    read_labels,
    read_proposals,
)

_NOTHING = "no cases from request"  # begins the note on a request that failed
_IN_VAIN = 3  # replies without anything new, after which nobody is asked any more

Row = dict[str, Json]


def more_like(
    seeds: Sequence[Mapping[str, Json]], count: int, intake: Intake, ask: Ask
) -> list[Row]:
    """At most `count` new cases. Raises InfrastructureError if the model gives no usable reply."""
    found: list[Row] = []
    turn = in_vain = 0
    while len(found) < count and in_vain < _IN_VAIN:
        wanted = min(PER_QUESTION, count - len(found))
        shown = part_of(seeds, turn)
        data = _answer(from_seeds(shown, wanted, turn), turn, intake, ask)
        source = [str(seed.get("id")) for seed in shown]
        new = list(read_proposals(data, intake, source)) if data else []
        found += new[: count - len(found)]
        in_vain = 0 if new else in_vain + 1
        turn += 1
    return _something(found, intake)


def out_of_log(
    entries: Sequence[Entry], count: int, intake: Intake, ask: Ask, log: str
) -> list[Row]:
    """At most `count` cases made from what users asked. Raises InfrastructureError."""
    found: list[Row] = []
    fresh = _not_yet_known(entries, intake, log)
    for turn, start in enumerate(range(0, len(fresh), PER_QUESTION)):
        if len(found) >= count:
            break
        some = fresh[start : start + PER_QUESTION]
        data = _answer(from_log(some, turn), turn, intake, ask)
        if data:
            found += list(read_labels(data, some, intake, log))[: count - len(found)]
    return _something(found, intake)


def _not_yet_known(entries: Sequence[Entry], intake: Intake, log: str) -> list[Entry]:
    """Nobody is asked about a question that the set has in the same words."""
    fresh: dict[str, Entry] = {}
    for one in entries:
        near = intake.known.nearest(one.text)
        if near is not None and near[1] == 1.0:
            intake.left_out.append(f"{log}:{one.line}: the same as {near[0]}")
        else:
            fresh.setdefault(one.text, one)
    return list(fresh.values())


def _answer(question: Question, turn: int, intake: Intake, ask: Ask) -> Mapping[str, Json] | None:
    """The first vote that came; why there is none is noted."""
    (votes,) = ask(Case(id=f"{question.name}-{turn}", input="", keys={}), [question])
    failures = [reply.failure for reply in votes if reply.data is None]
    intake.left_out += [f"{_NOTHING} {turn + 1}: {failure}" for failure in failures]
    return next((reply.data for reply in votes if reply.data is not None), None)


def _something(found: list[Row], intake: Intake) -> list[Row]:
    if not found and any(why.startswith(_NOTHING) for why in intake.left_out):
        why = next(why for why in intake.left_out if why.startswith(_NOTHING))
        raise InfrastructureError(f"the model proposed nothing: {why}")
    return found
