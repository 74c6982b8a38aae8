"""Compares a whole trajectory with a reference: the same calls, in the same turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gate.graders.tool_calling.actual import ArgsRules, CallIndex
from gate.graders.tool_calling.compare import Comparison, Mode, compare, shorten_name
from gate.graders.tool_calling.reference import Reference
from gate.records import Response, ToolCall
from gate.stats.matching import longest_in_order, maximum_matching


def trajectory_faults(
    reference: Reference, response: Response, mode: Mode, rules: ArgsRules
) -> tuple[Comparison, list[str]]:
    """The paired calls, and the failure codes: none if it matches.

    `strict`: each turn (model call) has the calls of the reference, in any order, and the number of
    turns is the same if the reference includes the answer. If only one side has turns, they apply
    to both; if neither does, the order of the calls counts.
    """
    reference, calls = _sort_by_turn(reference, response.steps or ())
    comparison = compare(reference.wanted, calls, rules, omitted=response.omitted_steps)
    if mode != "strict":
        return comparison, list(comparison.codes(mode))
    codes = list(comparison.codes("unordered"))
    return comparison, codes or list(_find_misplaced(reference, calls, response.turns, rules))


def _sort_by_turn(
    reference: Reference, steps: Sequence[ToolCall]
) -> tuple[Reference, Sequence[ToolCall]]:
    """Both in the order of their turns, in which most are written anyway."""
    calls = sorted(steps, key=lambda call: call.turn or 0) if _turns(steps) else steps
    if reference.turns is None:
        return reference, calls
    order = sorted(range(len(reference.turns)), key=reference.turns.__getitem__)
    by_turn = replace(
        reference,
        wanted=tuple(reference.wanted[i] for i in order),
        turns=tuple(reference.turns[i] for i in order),
    )
    return by_turn, calls


def _turns(steps: Sequence[ToolCall]) -> tuple[int, ...] | None:
    turns = [call.turn for call in steps if call.turn is not None]
    return tuple(turns) if turns and len(turns) == len(steps) else None


def _find_misplaced(
    reference: Reference, calls: Sequence[ToolCall], total: int | None, rules: ArgsRules
) -> Iterator[str]:
    """What is wrong where each call has its partner: the order, or the turns."""
    theirs, ours = Counter(reference.turns or ()), Counter(_turns(calls) or ())
    fits = list(map(CallIndex(calls, rules).find_fitting, reference.wanted))
    if theirs and ours and theirs != ours:
        order = longest_in_order(fits, len(calls))
        late = [i for i, partner in enumerate(order) if partner is None]
        kind = "wrong_tool_order" if late else "wrong_tool_turn"
        for i in late or [_first_other(reference.turns or (), _turns(calls) or ())]:
            yield f"{kind}:{shorten_name(reference.wanted[i].name)}"
        return
    places = _places(theirs or ours or Counter(range(len(calls))))
    partners = maximum_matching([fit & place for fit, place in zip(fits, places, strict=True)])
    for i, partner in enumerate(partners):
        if partner is None:
            yield f"wrong_tool_order:{shorten_name(reference.wanted[i].name)}"
    goes_on = reference.total is not None and reference.total > max(theirs, default=-1) + 1
    if goes_on and total is not None and total != reference.total:
        yield "wrong_tool_turn:(no call)"


def _places(sizes: Mapping[int, int]) -> list[int]:
    """For each call the mask of the places of its turn; `sizes`: turn -> its calls."""
    masks: list[int] = []
    for _, size in sorted(sizes.items()):
        masks += [((1 << size) - 1) << len(masks)] * size
    return masks


def _first_other(theirs: Sequence[int], ours: Sequence[int]) -> int:
    """The first call that is in another turn."""
    return next(i for i, (one, other) in enumerate(zip(theirs, ours, strict=True)) if one != other)
