"""GitHub's REST API: pages, retries, rate limits, and errors that name the permission to add.

One `Api` belongs to one thread; writes go one at a time (GitHub's "Best practices for using the
REST API"). Proxies and private certificates are taken from the environment by requests itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import requests

from gate.errors import InfrastructureError
from gate.files.json_values import as_objects
from gate.github import retry
from gate.github.request_with_retry import (
    TIMEOUT_S,
    TRIES,
    Bearer,
    NoAuth,
    RequestOutcome,
    Time,
    ask,
    is_safe,
    kind_of,
)
from gate.records import Json

JSON_TYPE = "application/vnd.github+json"
RAW_TYPE = "application/vnd.github.raw+json"
API_VERSION = "2022-11-28"
WRITE_GAP_S = 1.0  # GitHub asks for a second between two writes
MAX_PAGES = 1000
ONCE_S = (2.0, 3.0)  # as TIMEOUT_S, for a write that is tried once


class ApiError(InfrastructureError):
    """The server refused or could not be reached; `status` is None when there was no answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        detail: str = "",
        rate_limited: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail  # the server's own words, cleaned
        self._rate_limited = rate_limited

    @property
    def forbidden(self) -> bool:
        """The token may not do this, now or later: a permission is missing."""
        return self.status in (403, 404) and not self._rate_limited


class BrokenOff(ApiError):
    """A download that may work when it is begun anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What is different from one kind of server to another. `hint` ends the sentence about a
    refusal with the next step; its second argument is the permission that was needed.
    """

    name: str
    folder: str  # what stands before a repository in a path
    headers: Mapping[str, str]
    hint: Callable[[retry.Refusal, str], str]
    variable: str  # that has the address


GITHUB = Server(
    name="GitHub",
    folder="/repos/",
    headers={"Accept": JSON_TYPE, "X-GitHub-Api-Version": API_VERSION},
    hint=retry.hint,
    variable="GITHUB_API_URL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """What a redirect of GitHub led to."""

    content: bytes
    content_type: str
    filename: str | None


class Api:
    """`repository` is owner/name, or what the server calls it by. Relative paths start there (at
    /repos/{repository}), others with a slash; both are URL-encoded already.

    The token is sent to `base_url` only, and stands in no message and no repr.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        repository: str,
        *,
        server: Server = GITHUB,
        session: requests.Session | None = None,
        clock: Time | None = None,
        http_on_loopback: bool = False,
    ) -> None:
        self.repository = repository
        self._server = server
        self._base = base_url.rstrip("/")
        self._token = token
        self._session = session or requests.Session()
        self._clock = clock or Time()
        self._http_on_loopback = http_on_loopback
        self._last_write: float | None = None

    def __repr__(self) -> str:
        return f"Api({self._base!r}, repository={self.repository!r})"

    @property
    def acts_as_app(self) -> bool:
        """A token of an app's installation, as a workflow's is: it has no user to ask for."""
        return self._token.startswith("ghs_")

    def close(self) -> None:
        self._session.close()

    def get(self, path: str, params: Mapping[str, str] | None = None, *, needs: str = "") -> Json:
        """The JSON answer; `needs` is the permission a refusal names. Raises ApiError."""
        return self._json(self._send("GET", path, params=params, needs=needs))

    def pages(
        self, path: str, params: Mapping[str, str], *, key: str = "", needs: str = ""
    ) -> Iterator[Mapping[str, Json]]:
        """Every item of every page; `key` names the list in an answer that is an object."""
        query: Mapping[str, str] = {"per_page": "100", **params}
        for _ in range(MAX_PAGES):
            answer = self._send("GET", path, params=query, needs=needs)
            data = self._json(answer)
            items = data.get(key) if key and isinstance(data, dict) else data
            yield from as_objects(items)
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
        self,
        method: str,
        path: str,
        body: Mapping[str, Json] | None = None,
        *,
        needs: str,
        once: bool = False,
    ) -> Json:
        """POST, PATCH or DELETE, at least a second after the last one; None without content.

        `once`: a single short try, at once, for what nobody can wait for.
        """
        if not once:
            self.wait_to_write()
        try:
            answer = self._send(method, path, body=body, needs=needs, once=once)
        finally:
            self._last_write = self._clock.seconds()
        return self._json(answer) if answer.content else None

    def wait_to_write(self) -> None:
        """Waits until a write may follow the last one, for who must not wait between a read and
        its write.
        """
        if self._last_write is not None:
            gone = self._clock.seconds() - self._last_write
            if gone < WRITE_GAP_S:
                self._clock.sleep(WRITE_GAP_S - gone)

    def download(self, path: str, *, limit: int, needs: str = "") -> Download:
        """Follows an artifact's redirect without the token, over https, up to `limit` bytes. One
        that breaks off is begun anew.
        """
        for tried in range(1, TRIES):
            try:
                return self._download(path, limit, needs)
            except BrokenOff:
                self._clock.sleep(2.0**tried)
        return self._download(path, limit, needs)

    def _download(self, path: str, limit: int, needs: str) -> Download:
        # Asked for each time: a signed address is good for a minute.
        answer = self._send("GET", path, needs=needs, follow=False)
        target = answer.headers.get("Location", "")
        if not is_safe(target, http_on_loopback=self._http_on_loopback):
            raise ApiError(f"GitHub sent the download of {path} to an address that is not https")
        try:
            with self._session.get(
                target, auth=NoAuth(), stream=True, timeout=TIMEOUT_S, allow_redirects=False
            ) as blob:
                return _read_download(blob, limit, path)
        except requests.RequestException as error:
            # Only its kind is told: its text has the signed address.
            raise BrokenOff(
                f"{path}: the download was interrupted ({kind_of(error)}); run the job again"
            ) from None

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Json] | None = None,
        needs: str = "",
        accept: str = "",
        follow: bool = True,
        once: bool = False,
    ) -> requests.Response:
        """The answer, after as many tries as it takes; raises ApiError on 400 and above."""
        headers = {**self._server.headers, **({"Accept": accept} if accept else {})}

        def send() -> requests.Response:
            return self._session.request(
                method,
                self._url(path),
                params=params,
                json=body,
                headers=headers,
                auth=Bearer(self._token),
                timeout=ONCE_S if once else TIMEOUT_S,
                # A moved POST would become a GET, so only reads follow.
                allow_redirects=follow and method == "GET",
            )

        outcome = ask(send, self._clock, tries=1 if once else TRIES)
        answer = outcome.answer
        if answer is None or outcome.refusal is not None:
            raise self._make_error(f"{method} {path}", outcome, needs)
        if answer.is_redirect and follow:
            raise ApiError(f"the repository of {path} was renamed or moved; use its current name")
        return answer

    def _json(self, answer: requests.Response) -> Json:
        try:
            body: Json = answer.json()
        except (ValueError, RecursionError) as error:
            raise ApiError(
                f"{urlsplit(answer.url).path}: the answer is not JSON; is "
                f"{self._server.variable} right?"
            ) from error
        return body

    def _url(self, path: str) -> str:
        inside = f"{self._server.folder}{self.repository}/{path}"
        return self._base + (path if path.startswith("/") else inside)

    def _make_error(self, what: str, outcome: RequestOutcome, needs: str) -> ApiError:
        refusal = outcome.refusal
        if refusal is None:
            return ApiError(
                f"{self._server.name} cannot be reached at {self._base} ({outcome.error}); "
                "check the network and proxy settings of the runner"
            )
        reason = refusal.said.replace(self._token, "***") if self._token else refusal.said
        return ApiError(
            f"{self._server.name} answered {refusal.status} to {what}: {reason}"
            f"{self._server.hint(refusal, needs)}",
            status=refusal.status,
            detail=reason,
            rate_limited=refusal.rate_limited,
        )


def _filename(disposition: str) -> str | None:
    match = re.search(r'filename="?([^";]+)', disposition)
    return match[1].strip().replace("\\", "/").rsplit("/", 1)[-1] if match else None


def _read_download(blob: requests.Response, limit: int, path: str) -> Download:
    if blob.status_code != 200:
        kind = BrokenOff if blob.status_code in retry.SERVER_FAULTS else ApiError
        raise kind(
            f"the artifact store answered {blob.status_code} for {path}; run the job again",
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
