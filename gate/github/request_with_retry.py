"""Asks GitHub again while that is of use, and notes what it said when it is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from gate.github import retry
from gate.records import Json

TIMEOUT_S = (10.0, 60.0)  # to connect, between two bytes
TRIES = 4
MAX_WAIT_S = 180.0  # in total per request; a longer rate limit ends the try
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_KINDS: tuple[tuple[type[requests.RequestException], str], ...] = (  # the more special ones first
    (requests.exceptions.SSLError, "its certificate was not accepted"),
    (requests.exceptions.ProxyError, "the proxy did not connect"),
    (requests.Timeout, "no answer in time"),
    (requests.ConnectionError, "no connection"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """A clock; tests hand in one that does not wait."""

    sleep: Callable[[float], None] = time.sleep
    seconds: Callable[[], float] = time.monotonic
    unix: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOutcome:
    """What the last try came to: an answer, perhaps a refusal, or nobody there."""

    answer: requests.Response | None = None
    refusal: retry.Refusal | None = None  # the answer's, at 400 and above
    error: str = ""  # what kind of network error; its own text may hold a signed address


def ask(send: Callable[[], requests.Response], clock: Time, tries: int = TRIES) -> RequestOutcome:
    """The first answer below 400, else the last try (retry.wait says which may be repeated)."""
    tried, waited = 1, 0.0
    while True:
        outcome = _once(send)
        if outcome.answer is not None and outcome.refusal is None:
            return outcome
        pause = retry.wait(outcome.refusal, tried=tried, now=clock.unix())
        if pause is None or tried >= tries or waited + pause > MAX_WAIT_S:
            return outcome
        clock.sleep(pause)
        tried, waited = tried + 1, waited + pause


def is_safe(url: str, *, http_on_loopback: bool) -> bool:
    """Whether what is sent there is sent encrypted; tests may allow plain http on loopback."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    local = http_on_loopback and parts.scheme == "http" and parts.hostname in LOOPBACK
    return (parts.scheme == "https" and bool(parts.hostname)) or local


class Bearer(AuthBase):
    """The token, as `auth` and not as a header, so that a .netrc file never replaces it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class NoAuth(AuthBase):
    """For signed addresses of other hosts: neither our token nor what a .netrc file has."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.pop("Authorization", None)
        return request


def _once(send: Callable[[], requests.Response]) -> RequestOutcome:
    try:
        answer = send()
    except requests.RequestException as caught:
        return RequestOutcome(error=kind_of(caught))
    return RequestOutcome(answer=answer, refusal=_refusal(answer))


def kind_of(error: requests.RequestException) -> str:
    """In words; the error's own text may hold a signed address."""
    for kind, words in _KINDS:
        if isinstance(error, kind):
            return words
    return type(error).__name__


def _refusal(answer: requests.Response) -> retry.Refusal | None:
    if answer.status_code < 400:
        return None
    try:
        data: Json = answer.json()
    except (ValueError, RecursionError):
        data = None
    return retry.Refusal(
        status=answer.status_code,
        headers=answer.headers,
        said=retry.message(data, answer.reason or ""),
    )
