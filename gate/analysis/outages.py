"""Outages (docs/semantics.md 4): trials that ended alike below what the agent says, which measures
no answers, and trials that a judge was out for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.errors import Transport
from gate.records import Json, TrialRow
from gate.text import figures
from gate.text.shortening import shorten

OUT = "judge unreachable"  # why a metric is missing that a judge was out for
SHARE = 0.9  # of the trials, from which on they are an outage
_SAID = 300  # characters of what one of them ended with
_SAYINGS = 50  # different ones that are counted
_WORDS: Mapping[Transport, str] = {
    "5xx": "were answered with a status of 500 or more",
    "html": "were answered with an HTML page",
    "not_http": "got an answer that is not HTTP",
    "cut_off": "broke off during the answer",
}
_ANSWERED = ("5xx", "html", "cut_off")  # somebody was there


def is_unjudged(row: TrialRow) -> bool:
    """Whether a judge or verifier that was out left something of the trial unscored."""
    judging = row.get("judging")
    if not isinstance(judging, dict):
        return False
    if judging.get("lost"):
        return True
    # A row of 0.1, which counts the votes of judges alone.
    return judging.get("asked") != judging.get("scored") and bool(judging.get("unreachable"))


def is_undecided(row: TrialRow) -> bool:
    """Whether a judge or verifier left it open whether the trial passed. Rows of 0.1 do not say:
    they may have.
    """
    judging = row.get("judging")
    return isinstance(judging, dict) and bool(judging.get("undecided", is_unjudged(row)))


def was_answered(health: Mapping[str, Json]) -> bool:
    """Whether somebody answered a health check, and not as an agent does."""
    return health.get("transport") in _ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """`said`: a sentence. `answered`: the agent was there, so that it may be the change itself that
    broke it.
    """

    kind: Transport
    said: str
    answered: bool


@dataclass(slots=True, kw_only=True)
class Transports:
    """How the trials of one suite ended below what the agent says; grows row by row."""

    trials: int = 0
    unanswered: int = 0
    kinds: Counter[Transport] = field(default_factory=Counter)
    both: Counter[Transport] = field(default_factory=Counter)  # of a kind, and unanswered
    why: dict[Transport, Counter[str]] = field(default_factory=dict)

    def add(self, row: TrialRow) -> None:
        nobody = row["status"] == "infra_error"
        self.trials += 1
        self.unanswered += nobody
        kind = row.get("transport")
        if kind is None or kind not in _WORDS:
            return
        self.kinds[kind] += 1
        self.both[kind] += nobody
        reasons = self.why.setdefault(kind, Counter())
        message = shorten(row["error"] or "", _SAID)
        if message in reasons or len(reasons) < _SAYINGS:
            reasons[message] += 1

    def outage(self, calls: str = "calls") -> Outage | None:
        """The kind of which nearly all `calls` are; what else nobody answered is left out."""
        for kind, number in self.kinds.most_common(1):
            calls_asked = self.trials - (self.unanswered - self.both[kind])
            if number >= SHARE * calls_asked:
                why = min(self.why[kind].items(), key=lambda item: (-item[1], item[0]))[0]
                share = figures.portion(number / calls_asked)
                sentence = f"{share} of the {calls} {_WORDS[kind]}: an outage"
                sentence += f", so nothing was measured{f': {why}' if why else ''}"
                return Outage(kind=kind, said=sentence, answered=kind in _ANSWERED)
        return None
