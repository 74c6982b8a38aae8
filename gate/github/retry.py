"""When to ask GitHub again, and what a refusal means; pure.

Source: GitHub's "Rate limits for the REST API": retry-after first, then x-ratelimit-reset when
nothing remains, else a minute that doubles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gate.agents.http_client.reply import retry_after
from gate.records import Json
from gate.text.shortening import shorten

SERVER_FAULTS = (500, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer of 400 or above; `said` is GitHub's message as one clean line."""

    status: int
    headers: Mapping[str, str]  # names are found in any case
    said: str

    @property
    def rate_limited(self) -> bool:
        return self.status == 429 or (
            self.status == 403
            and (
                "Retry-After" in self.headers
                or self.headers.get("X-RateLimit-Remaining") == "0"
                or "rate limit" in self.said.lower()
            )
        )


def wait(refusal: Refusal | None, *, tried: int, now: float) -> float | None:
    """Seconds before the next try, None when another one is no use.

    `refusal` None: nobody answered. `now`: Unix time.
    """
    backoff = float(2 ** (tried - 1))
    if refusal is None:
        return backoff
    after = retry_after(refusal.headers, datetime.fromtimestamp(now, UTC))
    if refusal.status in SERVER_FAULTS:
        return after or backoff
    if not refusal.rate_limited:
        return None
    if after is not None:
        return max(1.0, after)
    reset = _seconds(refusal.headers.get("X-RateLimit-Reset"))
    if refusal.headers.get("X-RateLimit-Remaining") == "0" and reset is not None:
        return max(1.0, reset - now)
    return 60.0 * backoff


def hint(refusal: Refusal, needs: str) -> str:
    """The next step, as the end of a sentence; `needs` is like `pull-requests: write`."""
    if refusal.rate_limited:
        return "; the rate limit is used up: run the job again later"
    if refusal.status == 401:
        return "; the token is wrong or has expired"
    if refusal.status in (403, 404) and needs:
        return f"; add `permissions: {needs}` to the job"
    return ""


def message(data: Json, reason: str) -> str:
    """What an error body says, as one short line: it may hold others' workflow commands."""
    text = reason
    body = data if isinstance(data, dict) else {}
    # `msg`: the artifact service; `error`: GitLab, beside `message`
    error_text = body.get("message", body.get("msg", body.get("error")))
    if isinstance(error_text, str):
        errors = body.get("errors")
        listed = errors if isinstance(errors, list) else []
        inner = [e.get("message") for e in listed if isinstance(e, dict)]
        text = "; ".join([error_text, *(m for m in inner if isinstance(m, str))])
    return shorten(text, 200)


def _seconds(value: str | None) -> float | None:
    return float(value) if value is not None and value.isdecimal() else None
