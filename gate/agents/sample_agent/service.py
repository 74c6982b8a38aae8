"""What the connections to the sample agent's server share, and which keys it takes."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from gate.agents.sample_agent.faults import Counting
from gate.agents.sample_agent.knowledge import Knowledge
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.scratch_files import Scratch
from gate.agents.sample_agent.server_log import Counters, ServerLog

Key = Literal["store", "provider"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every connection shares.

    With an `api_key` (a store key) or a `provider_key`, requests must carry one of them as bearer
    token; without any, every request is one with a store key.
    """

    knowledge: Knowledge
    options: SampleOptions
    counting: Counting
    api_key: str | None = None
    provider_key: str | None = None
    log: ServerLog | None = None
    scratch: Scratch | None = None
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())
    counters: Counters = field(default_factory=Counters)

    def key_of(self, authorization: str) -> Key | None:
        """Which key was sent; None: none that is known."""
        if self.api_key is None and self.provider_key is None:
            return "store"
        keys: tuple[tuple[str | None, Key], ...] = (
            (self.api_key, "store"),
            (self.provider_key, "provider"),
        )
        sent = authorization.encode()
        key_fields = [
            kind
            for key, kind in keys
            if key and hmac.compare_digest(f"Bearer {key}".encode(), sent)
        ]
        return key_fields[0] if key_fields else None
