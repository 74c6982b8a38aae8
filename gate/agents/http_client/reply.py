"""An answer, and what the statuses that are none mean: whose fault it is, and when to ask again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gate.agents.http_client.route import section_of
from gate.errors import AgentFailure, InfraFailure, Transport
from gate.records import Json
from gate.text.late_pattern import late_pattern
from gate.text.redaction import Redactor
from gate.text.shortening import shorten

# docs/semantics.md 4. 520 to 527 are Cloudflare's words for 502 and 504, 529 is "overloaded".
NOBODYS_FAULT = frozenset({401, 403, 407, 429, 502, 503, 504, *range(520, 528), 529})
WAITABLE = frozenset({429, 503})
_REFUSALS = frozenset({429, 529})  # also without a word on how long to wait
_PASSING = frozenset({408, 409, 425})  # of the 4xx
_OF_GATEWAYS = frozenset({502, 504, 520, 524})  # the server behind may still be at it
_TIMED_OUT = frozenset({408})  # said by gateways, too, though RFC 9110 15.5.9 means the client
# How a status stands in the messages of clients: requests, urllib, httpx, openai and others.
_SPOKEN = late_pattern(
    r"\bHTTP(?: Error|/\d(?:\.\d)?(?: error)?)?[ :=]{1,3}(\d{3})\b"
    r"|\b(?:error|status)(?:[ _]code)?[ :=]{1,3}(\d{3})\b"
    r"|\b(\d{3}) (?:client|server) error\b"
    r"|\b(?:client|server) error '(\d{3})\b",
    re.IGNORECASE,
)

_PAGES = ("text/html", "application/xhtml+xml")
_PAGE = late_pattern(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_SAID = 160  # characters of a body that a message shows
_MESSAGE_KEYS = ("message", "msg", "detail", "error_description", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What came back; header names are in lower case. `address` is where it came from."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    address: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_html(self) -> bool:
        """Whether it is a page for people, whatever its headers say."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return kind in _PAGES or _PAGE.match(self.body) is not None

    def excerpt(self) -> str:
        """What the body says, as one short line without the request's secrets."""
        return self.mask(_error_text(self.body))

    def error_text(self, data: Json) -> str:
        """What an error object from the body says; the body itself when it says nothing."""
        message = _message(data)
        return self.mask(message) if message else self.excerpt() or "nothing"

    def mask(self, text: str) -> str:
        return shorten(Redactor(self.secrets).redact(text), _SAID)


def judge(reply: HttpReply, *, now: datetime, setting: str) -> None:
    """Raises InfraFailure or AgentFailure unless the status is 2xx.

    `setting` is the key of gate.yml with the address; `now` is what a Retry-After date counts from
    when the server sends no date of its own.
    """
    if 200 <= reply.status < 300:
        return
    message = f"{reply.address} answered {reply.status} {_phrase(reply.status)}".rstrip()
    if 300 <= reply.status < 400:
        target = reply.mask(reply.headers.get("location", "").partition("?")[0]) or "nowhere"
        raise InfraFailure(
            f"{message}: it redirects to {target} - set {setting} to the final address"
        )
    excerpt = reply.excerpt()
    message += f": {excerpt}" if excerpt else ""
    transport: Transport | None = "5xx" if reply.status >= 500 else None
    if reply.status not in NOBODYS_FAULT:
        hint = f" - check the path in {setting}" if reply.status in (404, 405) else ""
        final = 400 <= reply.status < 500 and reply.status not in _PASSING
        late = reply.status in _TIMED_OUT
        raise AgentFailure(
            message + hint, final=final, timed_out=late, transport=transport, done=reply.body
        )
    section = section_of(setting)
    hint = {
        401: f" - check the key in {section}.api_key_env",
        403: f" - check the permissions of the key in {section}.api_key_env",
        407: " - add the user and the password to the proxy's address",
    }.get(reply.status, "")
    wait = retry_after(reply.headers, now) if reply.status in WAITABLE else None
    begun = reply.status in _OF_GATEWAYS
    raise InfraFailure(
        message + hint,
        retry_after=wait,
        begun=begun,
        transport=transport,
        is_refusal=reply.status in _REFUSALS,
    )


def parse_status(message: str) -> int | None:
    """The status of HTTP that an error message names; None: it names none."""
    match = _SPOKEN.search(message)
    return int(next(filter(None, match.groups()))) if match else None


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait: `retry-after-ms`, else `Retry-After` as seconds or as a date (RFC 9110
    10.2.3), which LiteLLM's proxy passes on under another name.
    """
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1e3
    written = headers.get("retry-after", headers.get("llm_provider-retry-after"))
    seconds = _number(written)
    if seconds is not None or written is None:
        return seconds
    then = read_date(written)
    if then is None:
        return None
    return max(0.0, (then - (read_date(headers.get("date", "")) or now)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def read_date(text: str) -> datetime | None:
    """A date as HTTP writes it; None: it is none."""
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _error_text(body: bytes) -> str:
    """The message of the usual shapes of error bodies, else the body itself."""
    text = body.decode("utf-8", "replace")
    try:
        return _message(json.loads(body) if len(body) < 100_000 else None) or text
    except (ValueError, RecursionError):
        return text


def _message(data: Json) -> str | None:
    while isinstance(data, dict):
        data = next((data[key] for key in _MESSAGE_KEYS if data.get(key)), None)
    return data if isinstance(data, str) else None


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
