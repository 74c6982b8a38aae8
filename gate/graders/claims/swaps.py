"""Whether a number that the sources state is there of something else than the answer says.

"Express delivery costs $4.99", where that is the price of standard delivery: the sources have
another number of the same unit (the rival) whose label has words of the answer that the label of
the stated one lacks, and the answer has none of the words that only the stated one's label has. A
year, quarter, month or day of the week that differs tells it without a rival. Where words do not
tell, the number counts as stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.graders.claims.labels import Label, Words, agree, conflict, periods
from gate.graders.claims.operands import Labels
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import same_kind
from gate.text.numbers.number import Number

_GENERIC_WORDS = (
    "value unit amount number count matching label name id score result row total sum answer"
    " usd eur gbp figure data item type key"
)
GENERIC = frozenset(_GENERIC_WORDS.split())  # of records, whatever they are of
_SEASONS = frozenset(("spring", "summer", "autumn", "winter", "year"))
_RIVALS = 60  # of one claim
_FEW = 6
_CLEAR = 2  # words beside the claim that only the label of the rival has


@dataclass(frozen=True, slots=True)
class Saying:
    """What the answer says of a number: beside it, and in its sentence or the question."""

    near: Words
    subject: Words  # what "it" stands for
    sure: Words  # those beside no other number
    said: Words  # those of its sentence
    wide: Words
    others: frozenset[float]  # the other values of the sentence


def is_swapped(
    claim: Number,
    stating: Sequence[int],
    saying: Saying,
    labelled: Labels,
) -> bool:
    """Whether none of the numbers `stating` the claim can be what it speaks of."""
    some = [i for i in stating if i < len(labelled.sources.labels)]
    if not some or len(some) < len(stating):
        return False
    if any(saying.near <= labelled.sources.labels[i].near for i in some):
        return False
    when = periods(saying.near) or periods(saying.wide)
    open_ = [i for i in some if not conflict(periods(labelled.sources.labels[i].near), when)]
    if not open_:
        return True
    names = labelled.every_name
    rivals = _rivals(claim, saying.near | (saying.said & names), labelled)
    return all(
        any(_is_rival(t, i, labelled) and _wins(t, i, saying, when, labelled) for t in rivals)
        for i in open_
    )


def _rivals(claim: Number, near: Words, labelled: Labels) -> list[int]:
    most = max(_FEW, len(labelled.sources.labels) // 2)  # a word of most labels tells nothing
    found: dict[int, None] = {}
    for word in near:
        holding = labelled.holders.get(word, ())
        if len(holding) <= most:
            found.update(dict.fromkeys(holding))
    listed = labelled.sources.found
    return [
        i
        for i in found
        if not listed[i][1].maybe_date and abs(listed[i][1].value) != abs(claim.value)
    ][:_RIVALS]


def _is_rival(rival: int, stated: int, labelled: Labels) -> bool:
    """Whether it has the same unit."""
    one, other = labelled.sources.found[rival][1], labelled.sources.found[stated][1]
    if one.unit != other.unit and not currencies(one.unit) & currencies(other.unit):
        return False
    mine, its = labelled.sources.labels[stated].measure, labelled.sources.labels[rival].measure
    return (mine is None) is (its is None) and same_kind(mine, its)


def _is_of_another(rival: int, stated: int, saying: Saying, labelled: Labels) -> bool:
    """Whether the stated number is said of one subject, the rival of that of the answer, and both
    of the same thing.
    """
    its, mine = labelled.sources.labels[rival].near, labelled.sources.labels[stated].near
    if saying.near.isdisjoint(its & mine) and rival not in labelled.beside(stated):
        return False
    names = labelled.every_name
    near = saying.near & names
    told = saying.subject | near | (saying.said & names)
    if not told:
        return False
    its, mine = labelled.about(rival), labelled.about(stated)
    return bool(
        (its - mine) & told
        and mine - its
        and not (mine - its) & (near if near & (its - mine) else saying.wide)
        and not (saying.near & mine) - its
    )


def _is_too_special(its: Label, mine: Label, saying: Saying) -> bool:
    """ "The Archive tier", where one row is "Archive" and another one "Deep Archive"."""
    return (
        its.series is not None
        and its.series == mine.series
        and its.near < mine.near
        and (mine.near - its.near).isdisjoint(saying.wide)
        and bool(its.near & saying.near)
    )


def _wins(
    rival: int, stated: int, saying: Saying, when: dict[str, set[str]], labelled: Labels
) -> bool:
    """Whether the answer speaks of the rival rather than of the stated number."""
    its, mine = labelled.sources.labels[rival], labelled.sources.labels[stated]
    its_when = periods(its.near)
    if conflict(its_when, when):
        return False
    listed = labelled.sources.found[rival][1]
    beside = abs(listed.value) in saying.others
    near, scope = (saying.sure, saying.near) if beside else (saying.near, saying.wide)
    if _is_of_another(rival, stated, saying, labelled):
        return True
    only_its = its.near - mine.every
    if not mine.series and not periods(mine.near) and rival in labelled.beside(stated):
        only_its = only_its.difference(*its_when.values(), _SEASONS)  # said of the whole sentence
    if not only_its & near:
        return _is_too_special(its, mine, saying)
    only_mine = mine.near - its.near - GENERIC
    own = only_mine if its_when else only_mine.difference(*periods(mine.near).values(), _SEASONS)
    if len(only_its & saying.near) >= _CLEAR and not own & saying.near:
        return True
    if not only_mine and abs(rival - stated) != 1:
        return False  # it says nothing of its own that could be something else
    names = labelled.names
    if only_its & near & names and only_mine & names and not only_mine & names & scope:
        return True
    kept = names if its.near & names else frozenset()
    only_mine = frozenset(word for word in only_mine if word in kept or word not in its.earlier)
    if not only_mine & scope:
        return True
    return (
        agree(its_when, when)
        and not agree(periods(mine.near), when)
        and (only_mine & scope) <= its.earlier
    )
