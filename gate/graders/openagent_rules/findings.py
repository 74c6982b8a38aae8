"""The result of a check: met or not, with its code and a few words for the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gate.text.shortening import shorten

Mode = Literal["strict", "upstream"]
About = Literal["completion", "format", "fact", "stage", "instruction"]

_CODES, _CODE_LENGTH = 50, 200  # of an answer; characters of one
_TOLD, _TOLD_LENGTH = 8, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandFinding:
    """The finding for one demand. `code`: empty if it is met; `told`: what was demanded and found;
    `stops`: no other demand can be met without this one.
    """

    about: About
    code: str = ""
    told: str = ""
    stops: bool = False


def share_held(findings: Sequence[DemandFinding], about: About) -> float | None:
    """Demands of a kind that are met / all of that kind, 0 to 1; None if there are none."""
    stopped = any(finding.stops for finding in findings)
    held = [not (finding.code or stopped) for finding in findings if finding.about == about]
    return sum(held) / len(held) if held else None


def failure_codes(findings: Sequence[DemandFinding]) -> tuple[str, ...]:
    """The codes in order, each once: at most 50, of at most 200 characters."""
    short_codes = (finding.code[:_CODE_LENGTH] for finding in _list_failed(findings))
    return tuple(dict.fromkeys(short_codes))[:_CODES]


def failure_reason(findings: Sequence[DemandFinding]) -> str:
    """The first demand that is not met, in words."""
    sentences = [shorten(finding.told, _TOLD_LENGTH) for finding in _list_failed(findings)]
    more = [f"and {len(sentences) - _TOLD} more"] if len(sentences) > _TOLD else []
    return "; ".join((*sentences[:_TOLD], *more))


def _list_failed(findings: Sequence[DemandFinding]) -> list[DemandFinding]:
    failed = [finding for finding in findings if finding.code]
    return [finding for finding in failed if finding.stops] or failed
