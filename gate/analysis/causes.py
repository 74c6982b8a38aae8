"""What newly failing cases have in common that other cases of the run have not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.records import ArgumentChange, CauseKind, CausePart, FailureCause, StepChange

MOST = 5  # causes that are told
FEWEST = 2  # cases of a cause
SHARE = 0.1  # of the newly failing cases, at least
CHANCE = 0.01  # that cases drawn blindly have it as often: at most, to be clearly more frequent
ALIKE = 0.8  # of the cases of two causes, in both: these are one
EVERYWHERE = 0.9  # of the cases that call a tool: the agent itself calls it in another way
_ORDER: tuple[CauseKind, ...] = (
    *("argument", "tool_gone", "tool_new", "answer", "mode", "category"),
)
_SAYS_NOTHING = "wrong_answer"  # the mode of what fails without a sign

Steps = tuple[StepChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of some cases; a mapping has those of which it is known."""

    steps: Mapping[str, Steps] = field(default_factory=dict)  # beside the baseline's
    answers: Mapping[str, str] = field(
        default_factory=dict
    )  # how they miss; empty: in no known way
    modes: Mapping[str, str] = field(default_factory=dict)  # of a failed round
    categories: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Trait:
    """Something that a case has or has not."""

    kind: CauseKind
    what: str
    was: str = ""
    now: str = ""

    @property
    def tool(self) -> str:
        return self.what.rpartition(".")[0] if self.kind == "argument" else self.what


@dataclass(frozen=True, slots=True)
class _Shared:
    """A trait with the newly failing cases that have it."""

    part: CausePart
    cases: frozenset[str]

    @property
    def rank(self) -> tuple[int, bool, int, str, str]:
        """What says more first."""
        part, vague = self.part, self.part.was == self.part.now
        return _ORDER.index(part.kind), vague, -len(self.cases), part.what, part.now


def find_causes(suite: str, failing: Known, others: Known) -> list[FailureCause]:
    """The causes of a suite, of most cases first. `failing`: its newly failing cases. `others`:
    steps of cases that passed as before, modes of those that failed before too, answers of some
    that changed no sides, categories of all.

    A trait counts where it is clearly more frequent than among the others, or where nothing is
    known of others. A changed argument counts too where nearly every call of the tool has it: then
    the agent itself calls it in another way, and the other cases did not need what is missing now.
    """
    shared = sorted(_list_shared(failing, others), key=lambda one: one.rank)
    groups: list[list[_Shared]] = []
    for one in shared:
        same = (group for group in groups if _are_alike(group[0].cases, one.cases))
        group = next(same, None)
        if group is None:
            groups.append([one])
        elif not _is_said(group, one):
            group.append(one)
    groups.sort(key=lambda group: (-len(group[0].cases), group[0].rank))
    causes, told = [], set[str]()
    for group in groups[:MOST]:
        cases = group[0].cases
        parts = tuple(one.part for one in group)
        ids = tuple(sorted(cases))
        causes.append(FailureCause(suite=suite, parts=parts, cases=ids, shared=len(cases & told)))
        told |= cases
    return causes


def largest_first(causes: Iterable[FailureCause]) -> tuple[FailureCause, ...]:
    """The MOST of all suites."""
    return tuple(sorted(causes, key=lambda cause: -len(cause.cases))[:MOST])


def _list_shared(failing: Known, others: Known) -> Iterator[_Shared]:
    yield from _steps_in_common(failing.steps, others.steps)
    kinds: tuple[tuple[CauseKind, Mapping[str, str], Mapping[str, str]], ...] = (
        ("answer", failing.answers, others.answers),
        ("mode", failing.modes, others.modes),
        # Where there is no other case, no category is over-represented.
        ("category", failing.categories if others.categories else {}, others.categories),
    )
    for kind, here, there in kinds:
        elsewhere = Counter(there.values())
        for label, cases in _by_label(here).items():
            if label in ("", _SAYS_NOTHING):
                continue
            part = CausePart(
                kind=kind,
                what=label,
                cases=len(cases),
                of=len(here),
                elsewhere=elsewhere[label],
                of_elsewhere=len(there),
            )
            if _is_frequent(part) and _is_clear(part):
                yield _Shared(part, cases)


def _by_label(labels: Mapping[str, str]) -> dict[str, frozenset[str]]:
    cases: dict[str, set[str]] = {}
    for case, label in labels.items():
        cases.setdefault(label, set()).add(case)
    return {label: frozenset(some) for label, some in cases.items()}


def _steps_in_common(
    failing: Mapping[str, Steps], others: Mapping[str, Steps]
) -> Iterator[_Shared]:
    here, there = _by_trait(failing), _by_trait(others)
    calling = Counter(
        tool for steps in (*failing.values(), *others.values()) for tool in _tools(steps)
    )
    for trait, cases in here.items():
        part = CausePart(
            kind=trait.kind,
            what=trait.what,
            was=trait.was,
            now=trait.now,
            cases=len(cases),
            of=len(failing),
            elsewhere=len(there.get(trait, ())),
            of_elsewhere=len(others),
        )
        whole = trait.kind == "argument" and trait.was != trait.now
        systematic = whole and part.cases + part.elsewhere >= EVERYWHERE * calling[trait.tool]
        if _is_frequent(part) and (systematic or _is_clear(part)):
            yield _Shared(part, frozenset(cases))


def _by_trait(steps: Mapping[str, Steps]) -> dict[_Trait, set[str]]:
    cases: dict[_Trait, set[str]] = {}
    for case, changes in steps.items():
        for trait in _traits(changes):
            cases.setdefault(trait, set()).add(case)
    return cases


def _traits(steps: Steps) -> set[_Trait]:
    before = Counter(_tool(step.was) for step in steps if step.was)
    after = Counter(_tool(step.now) for step in steps if step.now)
    traits = {_Trait("tool_gone", tool) for tool in before.keys() - after.keys()}
    traits |= {_Trait("tool_new", tool) for tool in after.keys() - before.keys()}
    for step in steps:
        for argument in step.arguments:
            name = f"{_tool(step.now)}.{argument.name}"
            traits.add(_Trait("argument", name))
            if not _is_cut(argument):
                traits.add(_Trait("argument", name, argument.was, argument.now))
    return {trait for trait in traits if trait.what}


def _is_cut(argument: ArgumentChange) -> bool:
    """Whether its values are known in part only: then nothing tells that others are the same."""
    return "…" in argument.was or "…" in argument.now


def _tools(steps: Steps) -> set[str]:
    return {_tool(text) for step in steps for text in (step.was, step.now) if text}


def _tool(text: str) -> str:
    """Empty for the line that counts the steps that are left out."""
    tool, bracket, _ = text.partition("(")
    return tool if bracket else ""


def _is_frequent(part: CausePart) -> bool:
    return part.cases >= max(FEWEST, SHARE * part.of)


def _is_clear(part: CausePart) -> bool:
    """Whether cases drawn from all of them would seldom have it as often."""
    if not part.of_elsewhere:
        return True
    return _chance(part) <= CHANCE


def _chance(part: CausePart) -> float:
    """The chance of as many or more cases with it in a blind draw (hypergeometric)."""
    total, having = part.of + part.of_elsewhere, part.cases + part.elsewhere
    highest = min(part.of, having)
    whole = _log_ways(total, part.of)
    return math.fsum(
        math.exp(_log_ways(having, k) + _log_ways(total - having, part.of - k) - whole)
        for k in range(part.cases, highest + 1)
        if part.of - k <= total - having
    )


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _are_alike(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) >= ALIKE * len(some | others)


def _is_said(group: Sequence[_Shared], one: _Shared) -> bool:
    """Whether a part says it already, and more: `top_k` 5 -> 1 says that `top_k` differs."""
    mine = one.part
    return any(p.part.kind == mine.kind and p.part.what == mine.what for p in group)
