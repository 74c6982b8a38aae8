"""What became of each instance, and what a file says of many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gate.errors import Place
from gate.files.problems import Findings
from gate.importers.trials.instance_ids import is_id
from gate.records import Json
from gate.text.escaping import one_line

# `error`: the harness has no verdict on the patch; `incomplete`: there is no prediction.
Outcome = Literal["resolved", "unresolved", "error", "empty_patch", "incomplete"]
CODES: Mapping[Outcome, tuple[str, ...]] = {
    "resolved": (),
    "unresolved": ("unresolved",),
    "error": ("evaluation_error",),
    "empty_patch": ("empty_patch",),
    "incomplete": ("no_prediction",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceVerdict:
    """On one instance. `infra`: its environment broke, as the harness found."""

    outcome: Outcome
    codes: tuple[str, ...] = ()
    reason: str = ""
    infra: bool = False
    cost_usd: float | None = None
    api_calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVerdicts:
    """What one source says. `total`: how many instances it says there are, of which `verdicts` may
    have fewer; those are `rest`.
    """

    place: Place
    verdicts: Mapping[str, InstanceVerdict]
    total: int | None = None
    rest: Outcome = "incomplete"
    infra_known: bool | None = None  # whether its version looks for broken environments
    submitted_known: bool = True  # whether an instance without a prediction is told apart
    every_report: bool = False  # whether each verdict on tests has a report of its own


def reason_code(tier: str, reason: str) -> str:
    """`infra:out_of_memory`."""
    cleaned = re.sub(r"[^a-z0-9]+", "_", reason[:200].casefold()).strip("_")[:60]
    return f"{tier}:{cleaned or 'unnamed'}"


def ids_in(data: Mapping[str, Json], key: str, file: str, findings: Findings) -> frozenset[str]:
    """The ids under a key, each once; none where the key is missing."""
    place = Place(file, key=key)
    value = data.get(key)
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(map(is_id, value)):
        findings.add(place, "must be a list of instance ids - copy the file again")
        return frozenset()
    found = frozenset(value)
    if len(found) < len(value):
        twice = next(one for one in sorted(found) if value.count(one) > 1)
        findings.add(place, f"has {twice} twice - keep one")
    return found


def clash(findings: Findings, place: Place, ids: Iterable[str], message: str) -> None:
    """One problem for all these ids, of which it names the first."""
    wrong = sorted(ids)
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        findings.add(place, f"{one_line(wrong[0], 80)}{more}: {message}")
