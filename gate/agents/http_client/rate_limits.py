"""What a reply's headers say about the provider's limits: OpenAI's and Anthropic's names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from gate.agents.http_client.reply import read_date
from gate.system.pace import RateLimit
from gate.text.late_pattern import late_pattern

_OPENAI = "x-ratelimit-{part}-{name}", ("requests", "tokens")
_ANTHROPIC = (
    "anthropic-ratelimit-{name}-{part}",
    ("requests", "tokens", "input-tokens", "output-tokens"),
)
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?"
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = late_pattern(rf"(?:{_NUMBER}(?:ms|us|µs|ns|h|m|s))+")
_PIECE = late_pattern(rf"({_NUMBER})(ms|us|µs|ns|h|m|s)")
_PLAIN = late_pattern(_NUMBER)
_AN_EPOCH = 1e9  # a number from here on is a time, in seconds since 1970


def read_rate_limits(headers: Mapping[str, str], now: datetime) -> tuple[RateLimit, ...]:
    """The limits in `headers`, whose names are in lower case; those that cannot be read are left
    out. `now` is what a time counts from when the server sends no date of its own.
    """
    if (
        "x-ratelimit-remaining-requests" in headers
        or "x-ratelimit-remaining-tokens" in headers
        or "anthropic-ratelimit-requests-remaining" in headers
        or "anthropic-ratelimit-tokens-remaining" in headers
        or "anthropic-ratelimit-input-tokens-remaining" in headers
    ):
        return tuple(_read_all(headers, now))
    return ()


def _read_all(headers: Mapping[str, str], now: datetime) -> Iterator[RateLimit]:
    for pattern, names in (_OPENAI, _ANTHROPIC):
        for name in names:
            limit, remaining, reset = (
                headers.get(pattern.format(name=name, part=part), "").strip()
                for part in ("limit", "remaining", "reset")
            )
            if _PLAIN.fullmatch(limit) and _PLAIN.fullmatch(remaining):
                reset_s = _read_reset(reset, headers, now)
                if reset_s is not None and float(limit) > 0.0:
                    yield RateLimit(
                        name=name, limit=float(limit), remaining=float(remaining), reset_s=reset_s
                    )


def _read_reset(text: str, headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from now: `1s`, `6m0s`, `12ms` (OpenAI), `7` (Azure), a time as RFC 3339 (Anthropic)
    or in seconds since 1970. None: it is none of these.
    """
    if _DURATION.fullmatch(text):
        return sum(float(number) * _SECONDS[unit] for number, unit in _PIECE.findall(text))
    here = read_date(headers.get("date", "")) or now
    if _PLAIN.fullmatch(text):
        number = float(text)
        return number if number < _AN_EPOCH else max(0.0, number - here.timestamp())
    try:
        then = datetime.fromisoformat(text)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    seconds = (then - here).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
