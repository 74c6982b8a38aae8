"""What a grader asks a model, and what comes back: Question, Reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gate.records.settings import Json
from gate.records.trials import Usage

Role = Literal["judge", "verifier"]
Cause = Literal["", "unreachable", "stopped"]  # of a missing vote, where it is not the model's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to the model of a role, to be answered in JSON.

    Hostile text stands in `material` only, fenced. A reply must fit `schema`, and hold `canary`
    under that name where there is one: a model that lost its instructions does not give it back.
    """

    role: Role
    name: str  # what it is about, e.g. the rubric and the order of a pair; part of the cache's key
    instructions: str  # the system message
    material: str  # the user message
    schema: Mapping[str, Json]
    canary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One vote on a Question: `data` that fits its schema, or None and why."""

    data: Mapping[str, Json] | None
    failure: str = ""  # one sentence; empty when there are data
    cause: Cause = ""
    model: str | None = None
    usage: Usage = field(default_factory=Usage)  # of all calls for this vote, a repair included
    cost_usd: float | None = None  # None: unknown; a cached reply costs 0
    calls: int = 0  # requests that were made; 0: from the cache, or none was possible
