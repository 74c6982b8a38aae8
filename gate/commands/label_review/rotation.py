"""Which cases people look at in a period: a rotation by hash, leaning towards uncertain judgements.

In a cycle each case is shown once, in the order of a hash that is fixed for the cycle; only when
none is left does the next cycle begin. Within a stratum the order has nothing to do with the
answers, so a period's cases are a random sample of their stratum and stand for N_h / n_h cases each
(stratified sampling, e.g. Cochran 1977, chapter 5).
"""

from __future__ import annotations

import hashlib
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

StratumName = Literal["uncertain", "sure", "all"]
Key = tuple[str, str]  # case id, content hash: an edited case is another one
Place = tuple[str, str, int]  # and the round
TWICE = 2  # the chance of a case of the uncertain half, in those of a sure one


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A case whose answer in `round` could be shown. `uncertainty`: that of the judge, 0 to 1."""

    case_id: str
    case_digest: str
    round: int = 1
    uncertainty: float | None = None

    @property
    def key(self) -> Key:
        return self.case_id, self.case_digest

    @property
    def place(self) -> Place:
        return self.case_id, self.case_digest, self.round


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """One case of the sample; it stands for `weight` cases of the session."""

    candidate: Candidate
    cycle: int  # from 1
    stratum: StratumName
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """How many of the stratum's cases the session has, how many were left in the cycle, and how
    many are shown. If none is shown, the stratum is not represented and the weights sum to less.
    """

    cases: int
    unseen: int
    shown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    picks: tuple[Pick, ...]
    strata: Mapping[StratumName, Stratum]


def choose(
    candidates: Sequence[Candidate], suite: str, seen: Mapping[Key, int], size: int
) -> Choice:
    """At most `size` cases, each once. `seen`: the last cycle in which each case was shown. The
    rest of a cycle comes before the next one begins.
    """
    cycle = max(seen.values(), default=1)
    strata = _strata(candidates)
    unseen = [candidate for candidate in candidates if seen.get(candidate.key, 0) < cycle]
    first = _draw(unseen, strata, suite, cycle, size)
    drawn = [(candidate, cycle) for candidate in first]
    if len(first) < min(size, len(candidates)):
        taken = {candidate.key for candidate in first}
        rest = [candidate for candidate in candidates if candidate.key not in taken]
        more = _draw(rest, strata, suite, cycle + 1, size - len(first))
        drawn += [(candidate, cycle + 1) for candidate in more]
    sizes, left = Counter(strata.values()), Counter(strata[candidate.key] for candidate in unseen)
    shown = Counter(strata[candidate.key] for candidate, _ in drawn)
    picks = tuple(
        Pick(
            candidate=candidate,
            cycle=number,
            stratum=strata[candidate.key],
            weight=sizes[strata[candidate.key]] / shown[strata[candidate.key]],
        )
        for candidate, number in drawn
    )
    stratum_sizes = {
        name: Stratum(cases=sizes[name], unseen=left[name], shown=shown[name])
        for name in sorted(sizes)
    }
    return Choice(picks=picks, strata=stratum_sizes)


def rank(*parts: str | int) -> str:
    """sha256 of the parts, for an order that nobody chose."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()


def _strata(candidates: Sequence[Candidate]) -> dict[Key, StratumName]:
    """The half of which the judge is less certain, and the other one; `all` where it is equally
    certain of each. One of which it does not say counts as sure.
    """
    doubts = {candidate.key: candidate.uncertainty or 0.0 for candidate in candidates}
    most = max(doubts.values(), default=0.0)
    if most == min(doubts.values(), default=0.0):
        return dict.fromkeys(doubts, "all")
    middle = statistics.median(doubts.values())
    least = middle if middle < most else max(x for x in doubts.values() if x < most)
    return {key: "uncertain" if doubt > least else "sure" for key, doubt in doubts.items()}


def _draw(
    unseen: Sequence[Candidate],
    strata: Mapping[Key, StratumName],
    suite: str,
    cycle: int,
    places: int,
) -> list[Candidate]:
    groups: dict[StratumName, list[Candidate]] = {}
    for candidate in sorted(unseen, key=lambda candidate: rank(suite, *candidate.key, cycle)):
        groups.setdefault(strata[candidate.key], []).append(candidate)
    shares = _places({name: len(group) for name, group in groups.items()}, places)
    return [candidate for name, group in groups.items() for candidate in group[: shares[name]]]


def _places(left: Mapping[StratumName, int], places: int) -> dict[StratumName, int]:
    """Places by stratum: a case of the uncertain half has twice the chance, so halves of equal size
    share 2 : 1, and both last to the end of the cycle. Each gets a place where there are two.
    """
    if len(left) < 2:
        return {name: min(n, places) for name, n in left.items()}
    uncertain, sure = left["uncertain"], left["sure"]
    parts = TWICE * uncertain + sure
    share = (2 * places * TWICE * uncertain + parts) // (2 * parts)  # rounded to the nearest
    least, most = max(0, places - sure), min(uncertain, places)
    if places >= 2:
        least, most = max(least, 1), min(most, places - 1)
    share = min(max(share, least), most)
    return {"uncertain": share, "sure": min(sure, places - share)}
