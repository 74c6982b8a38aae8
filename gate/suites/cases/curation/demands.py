"""What a case demands of an answer, to find cases that demand the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.records import CheckedJson, Json
from gate.suites.cases.keys import INPUT_KEYS, OUTSIDE_DIGEST, REQUEST_KEYS
from gate.text.numbers.agreement import stated
from gate.text.phrases import fold_text

# Keys of what an agent did beside its answer.
OF_THE_WAY = frozenset(
    (
        *("relevant_doc_ids", "relevance_scores", "expected_tool_calls", "tools"),
        *("optimal_steps", "reference_trajectory", "expected_state"),
    )
)
_ASKED = frozenset((*INPUT_KEYS, *OUTSIDE_DIGEST, *REQUEST_KEYS, "timeout_sec", "context"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One thing that an answer must have. `accepted`: numbers, or texts as they are compared; the
    first is as the case writes it. `near`: labels, one of which must be next to it.
    """

    key: str
    accepted: tuple[float | str, ...]
    near: frozenset[str] = frozenset()
    tolerance: float | None = None
    required: bool = True

    def is_met_by(self, other: Demand) -> bool:
        """Whether an answer that meets `other` also meets this demand, as far as can be seen."""
        if self.key != other.key or not (self.accepted and other.accepted):
            return False
        if self.near and not self.near & other.near:
            return False
        return self.accepted[0] in other.accepted or other.accepted[0] in self.accepted


def demands_of(keys: Mapping[str, Json]) -> tuple[Demand, ...]:
    """The facts that a case expects, none of those that it forbids; of one without facts whatever
    else its keys say of the answer.
    """
    facts = keys.get("expected_facts")
    return tuple(_facts(facts) if isinstance(facts, list) and facts else _others(keys))


def _facts(facts: list[CheckedJson]) -> Iterator[Demand]:
    for fact in facts:
        written = fact if isinstance(fact, dict) else {"value": fact}
        if written.get("must_not"):
            continue
        value, near = written.get("value"), written.get("near") or ()
        labels = [near] if isinstance(near, str) else near
        yield Demand(
            key="expected_facts",
            accepted=tuple(map(_accepted, value if isinstance(value, list) else [value])),
            near=frozenset(label.casefold() for label in labels),
            tolerance=written.get("tolerance"),
            required=written.get("required", True),
        )


def _accepted(value: Json) -> float | str:
    number = stated(value) if isinstance(value, (int, float, str)) else None
    return fold_text(str(value)) if number is None else number.value


def _others(keys: Mapping[str, Json]) -> Iterator[Demand]:
    for key, value in keys.items():
        if value is not None and key not in _ASKED and key not in OF_THE_WAY:
            yield Demand(key=key, accepted=(json.dumps(value, sort_keys=True, default=str),))
