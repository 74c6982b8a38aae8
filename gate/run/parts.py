"""What a merge joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.records import Health, Json
from gate.records.codec import from_json
from gate.store.session import Session

Lost = Mapping[str, Mapping[str, frozenset[str]]]  # suite -> why -> cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The stored parts of one run. `lost`: the cases that lack trials because of a part that is
    absent or broke off.
    """

    sessions: tuple[Session, ...] = ()
    controls: tuple[Session, ...] = ()  # the control agent's answers, where one was asked
    look: Mapping[str, Json] = field(default_factory=dict)  # what the look of stage 1 left
    lost: Lost = field(default_factory=dict)
    ended_early: str = ""

    @property
    def whole(self) -> bool:
        """Whether there is something to join, and nothing was lost."""
        return bool(self.sessions) and not self.lost

    @property
    def health(self) -> Health | None:
        """What the health check said of the agent; of several, one that reached no agent."""
        found = [part.meta.health for part in self.sessions if part.meta.health]
        if not found:
            return None
        return from_json(Health, next((one for one in found if not one.get("ok")), found[0]))


NO_PARTS = Parts()
