"""GitHub's REST API: pages, retries, rate limits, and errors that name the permission to add.

One `Api` belongs to one thread; writes go one at a time (GitHub's "Best practices for using the
REST API"). Proxies and private certificates are taken from the environment by requests itself.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.auth import AuthBase

from gate.errors import InfrastructureError
from gate.github import retry
from gate.records import Json

JSON_TYPE = "application/vnd.github+json"
RAW_TYPE = "application/vnd.github.raw+json"
API_VERSION = "2022-11-28"
TIMEOUT_S = (10.0, 60.0)  # to connect, between two bytes
TRIES = 4
MAX_WAIT_S = 180.0  # in total per request; a longer rate limit ends the try
WRITE_GAP_S = 1.0  # GitHub asks for a second between two writes
MAX_PAGES = 1000
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ApiError(InfrastructureError):
    """GitHub refused or could not be reached; `status` is None when there was no answer."""

    def __init__(self, message: str, *, status: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail  # GitHub's own words, cleaned


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """The clock of an Api; tests hand in one that does not wait."""

    sleep: Callable[[float], None] = time.sleep
    seconds: Callable[[], float] = time.monotonic
    unix: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """What a redirect of GitHub led to."""

    content: bytes
    content_type: str
    filename: str | None


class Api:
    """`repository` is owner/name. Relative paths start at /repos/{repository}, others with a slash;
    both are URL-encoded already.

    The token is sent to `base_url` only, and stands in no message and no repr.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        repository: str,
        *,
        session: requests.Session | None = None,
        clock: Time | None = None,
        http_on_loopback: bool = False,
    ) -> None:
        self.repository = repository
        self._base = base_url.rstrip("/")
        self._token = token
        self._session = session or requests.Session()
        self._clock = clock or Time()
        self._http_on_loopback = http_on_loopback
        self._last_write: float | None = None

    def __repr__(self) -> str:
        return f"Api({self._base!r}, repository={self.repository!r})"

    def close(self) -> None:
        self._session.close()

    def get(self, path: str, params: Mapping[str, str] | None = None, *, needs: str = "") -> Json:
        """The JSON answer; `needs` is the permission a refusal names. Raises ApiError."""
        return _json(self._send("GET", path, params=params, needs=needs))

    def pages(
        self, path: str, params: Mapping[str, str], *, key: str = "", needs: str = ""
    ) -> Iterator[Mapping[str, Json]]:
        """Every item of every page; `key` names the list in an answer that is an object."""
        query: Mapping[str, str] = {"per_page": "100", **params}
        for _ in range(MAX_PAGES):
            answer = self._send("GET", path, params=query, needs=needs)
            data = _json(answer)
            items = data.get(key) if key and isinstance(data, dict) else data
            yield from (item for item in items or () if isinstance(item, dict))
            following = answer.links.get("next", {}).get("url")
            if not following:
                return
            # Only the query is taken: a link to another host must not get the token.
            query = dict(parse_qsl(urlsplit(following).query))

    def raw(self, path: str, params: Mapping[str, str], *, needs: str = "") -> bytes | None:
        """A file's bytes; None when it is not there."""
        try:
            answer = self._send("GET", path, params=params, needs=needs, accept=RAW_TYPE)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return answer.content

    def write(
        self, method: str, path: str, body: Mapping[str, Json] | None = None, *, needs: str
    ) -> Json:
        """POST, PATCH or DELETE, at least a second after the last one; None without content."""
        now = self._clock.seconds()
        if self._last_write is not None and now - self._last_write < WRITE_GAP_S:
            self._clock.sleep(WRITE_GAP_S - (now - self._last_write))
        try:
            answer = self._send(method, path, body=body, needs=needs)
        finally:
            self._last_write = self._clock.seconds()
        return _json(answer) if answer.content else None

    def download(self, path: str, *, limit: int, needs: str = "") -> Download:
        """Follows an artifact's redirect without the token, over https, up to `limit` bytes."""
        answer = self._send("GET", path, needs=needs, follow=False)
        target = answer.headers.get("Location", "")
        parts = urlsplit(target)
        local = self._http_on_loopback and parts.hostname in LOOPBACK
        if parts.scheme != "https" and not (parts.scheme == "http" and local):
            raise ApiError(f"GitHub sent the download of {path} to an address that is not https")
        try:
            with self._session.get(
                target, auth=_NoAuth(), stream=True, timeout=TIMEOUT_S, allow_redirects=False
            ) as blob:
                return _downloaded(blob, limit, path)
        except requests.RequestException as error:
            kind = type(error).__name__
            raise ApiError(f"{path}: the download broke off ({kind}); run the job again") from error

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Json] | None = None,
        needs: str = "",
        accept: str = JSON_TYPE,
        follow: bool = True,
    ) -> requests.Response:
        """The answer, after as many tries as it takes; raises ApiError on 400 and above."""
        waited = 0.0
        headers = {"Accept": accept, "X-GitHub-Api-Version": API_VERSION}
        for tried in itertools.count(1):
            try:
                answer = self._session.request(
                    method,
                    self._url(path),
                    params=params,
                    json=body,
                    headers=headers,
                    auth=_Bearer(self._token),
                    timeout=TIMEOUT_S,
                    # A moved POST would become a GET, so only reads follow.
                    allow_redirects=follow and method == "GET",
                )
                refusal, error = _refusal(answer), ""
            except requests.RequestException as caught:
                refusal, error = None, type(caught).__name__
            if not error and refusal is None:
                break
            pause = retry.wait(refusal, tried=tried, now=self._clock.unix())
            if pause is None or tried == TRIES or waited + pause > MAX_WAIT_S:
                raise self._failed(f"{method} {path}", refusal, error, needs)
            self._clock.sleep(pause)
            waited += pause
        if answer.is_redirect and follow:
            raise ApiError(f"GitHub moved {path}; name the repository as it is called now")
        return answer

    def _url(self, path: str) -> str:
        whole = path if path.startswith("/") else f"/repos/{self.repository}/{path}"
        return self._base + whole

    def _failed(self, what: str, refusal: retry.Refusal | None, error: str, needs: str) -> ApiError:
        if refusal is None:
            return ApiError(
                f"GitHub cannot be reached at {self._base} ({error}); "
                "check the network and proxy settings of the runner"
            )
        said = refusal.said.replace(self._token, "***") if self._token else refusal.said
        return ApiError(
            f"GitHub answered {refusal.status} to {what}: {said}{retry.hint(refusal, needs)}",
            status=refusal.status,
            detail=said,
        )


class _Bearer(AuthBase):
    # As `auth`, not as a header, so that a .netrc file never replaces it.
    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class _NoAuth(AuthBase):
    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.pop("Authorization", None)
        return request


def _json(answer: requests.Response) -> Json:
    try:
        return answer.json()
    except (ValueError, RecursionError) as error:
        raise ApiError(
            f"{urlsplit(answer.url).path}: the answer is not JSON; is GITHUB_API_URL right?"
        ) from error


def _refusal(answer: requests.Response) -> retry.Refusal | None:
    if answer.status_code < 400:
        return None
    try:
        data = answer.json()
    except (ValueError, RecursionError):
        data = None
    return retry.Refusal(
        status=answer.status_code,
        headers=answer.headers,
        said=retry.message(data, answer.reason or ""),
    )


def _filename(disposition: str) -> str | None:
    found = re.search(r'filename="?([^";]+)', disposition)
    return found[1].strip().replace("\\", "/").rsplit("/", 1)[-1] if found else None


def _downloaded(blob: requests.Response, limit: int, path: str) -> Download:
    if blob.status_code != 200:
        raise ApiError(
            f"the store answered {blob.status_code} for {path}; run the job again",
            status=blob.status_code,
        )
    content = bytearray()
    for piece in blob.iter_content(1 << 16):
        content += piece
        if len(content) > limit:
            raise ApiError(f"{path}: the download is larger than {limit >> 20} MB")
    return Download(
        content=bytes(content),
        content_type=blob.headers.get("Content-Type", "").split(";")[0].strip().lower(),
        filename=_filename(blob.headers.get("Content-Disposition", "")),
    )
