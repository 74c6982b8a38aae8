"""Stores a folder as an artifact of this run, from inside a container action.

The protocol is that of GitHub's own client (npm @actions/artifact 6.2.1): Twirp's JSON form of
github.actions.results.api.v1.ArtifactService, and blocks of an Azure block blob at a signed
address. GitHub does not document it, so every failure is told and none ends the run: the folder
stays for actions/upload-artifact.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

import requests

from gate.errors import GateError, UsageError
from gate.files.json_values import as_object, as_objects, as_string
from gate.github.api import ApiError
from gate.github.pack import open_zip
from gate.github.request_with_retry import TIMEOUT_S, Bearer, NoAuth, Time, ask, is_safe
from gate.records import Json

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"
VERSION = 4  # a zip; newer ones are for files that are stored as they are
BLOCK_BYTES = 8 << 20
FORBIDDEN = '":<>|*?\r\n\\/'  # in the name of an artifact
TRIES_AFTER_DELETION = 3
BLOCK_LIST = '<?xml version="1.0" encoding="utf-8"?><BlockList>{}</BlockList>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """The artifact; when `artifact_id` is empty none was stored, and `note` says why."""

    name: str
    size: int = 0  # bytes of the zip
    digest: str = ""  # sha256:<hex> of the zip
    artifact_id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The run and the job that an artifact belongs to, as the service calls them."""

    run: str
    job: str

    def request_body(self, **more: Json) -> Mapping[str, Json]:
        """The body of a request."""
        return {
            "workflow_run_backend_id": self.run,
            "workflow_job_run_backend_id": self.job,
            **more,
        }


def upload_folder(
    folder: Path,
    name: str,
    env: Mapping[str, str],
    *,
    clock: Time | None = None,
    http_on_loopback: bool = False,
) -> Uploaded:
    """Stores the regular files of `folder` as the artifact `name` of the run that `env` is of.

    One that this job stored before is replaced. Never raises for what the service, the network or
    the disk refuses.
    """
    try:
        owner = _owner(name, env, http_on_loopback)
        with open_zip(folder) as file, closing(requests.Session()) as session:
            service = _Service(env, owner, session, clock or Time(), http_on_loopback)
            return service.store(name, file, rerun=env.get("GITHUB_RUN_ATTEMPT", "1") != "1")
    except GateError as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or type(error).__name__
    token = env.get("ACTIONS_RUNTIME_TOKEN", "")
    why = why.replace(token, "***") if token else why
    return Uploaded(name=name, note=f"{why}; store {folder} with actions/upload-artifact")


def _owner(name: str, env: Mapping[str, str], http_on_loopback: bool) -> Owner:
    """Raises UsageError with the reason why nothing can be stored from here."""
    wrong = sorted(set(name) & set(FORBIDDEN))
    if not name:
        raise UsageError("the name of an artifact is empty")
    if wrong:
        signs = " ".join(repr(sign) for sign in wrong)
        raise UsageError(f"the name of an artifact cannot contain {signs}")
    if _is_ghes(env.get("GITHUB_SERVER_URL") or "https://github.com"):
        raise UsageError("GitHub Enterprise Server has no artifact service for containers")
    token, address = (env.get(f"ACTIONS_{key}", "") for key in ("RUNTIME_TOKEN", "RESULTS_URL"))
    if not (token and address):
        raise UsageError(
            "only a container action gets ACTIONS_RUNTIME_TOKEN and ACTIONS_RESULTS_URL"
        )
    if not is_safe(address, http_on_loopback=http_on_loopback):
        raise UsageError("ACTIONS_RESULTS_URL is not an https address")
    return _parse_token(token)


def _is_ghes(server: str) -> bool:
    """GitHub's own rule: every host but github.com, *.ghe.com and *.localhost."""
    host = (urlsplit(server).hostname or "").lower()
    return host != "github.com" and not host.endswith((".ghe.com", ".localhost"))


def _parse_token(token: str) -> Owner:
    """From the claim `scp` of the token, a JWT: `... Actions.Results:<run>:<job> ...`."""
    try:
        payload = token.split(".")[1]
        claims = as_object(
            json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        )
        scopes = [scope.split(":") for scope in as_string(claims.get("scp")).split()]
        _, run, job = next(scope for scope in scopes if scope[0] == "Actions.Results")
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        raise UsageError("ACTIONS_RUNTIME_TOKEN does not name its run") from None
    return Owner(run=run, job=job)


class _Service:
    def __init__(
        self,
        env: Mapping[str, str],
        owner: Owner,
        session: requests.Session,
        clock: Time,
        http_on_loopback: bool,
    ) -> None:
        parts = urlsplit(env["ACTIONS_RESULTS_URL"])
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._auth = Bearer(env["ACTIONS_RUNTIME_TOKEN"])
        self._owner = owner
        self._session = session
        self._clock = clock
        self._http_on_loopback = http_on_loopback

    def store(self, name: str, file: IO[bytes], *, rerun: bool) -> Uploaded:
        """Raises ApiError."""
        address = self._create_artifact(name, rerun=rerun)
        if not is_safe(address, http_on_loopback=self._http_on_loopback):
            raise ApiError("the artifact service returned an address that is not https")
        size, digest = self._put(address, file)
        # 64-bit numbers are strings in protobuf's JSON.
        more = {"name": name, "size": str(size), "hash": digest}
        done = self._call("FinalizeArtifact", self._owner.request_body(**more))
        identifier = _field(done, "artifact_id")
        if done.get("ok") is not True or not identifier.isdecimal():
            raise ApiError("the artifact service rejected the artifact")
        return Uploaded(name=name, size=size, digest=digest, artifact_id=identifier)

    def _create_artifact(self, name: str, *, rerun: bool) -> str:
        """The signed address to write to; an artifact of that name makes room first."""
        body = self._owner.request_body(name=name, version=VERSION)
        for tried in range(TRIES_AFTER_DELETION + 1):
            try:
                return _field(self._call("CreateArtifact", body), "signed_upload_url")
            except ApiError as error:
                if error.status != 409 or tried == TRIES_AFTER_DELETION:
                    raise
                if tried == 0:
                    self._delete(name, error, rerun=rerun)
                else:  # what was deleted may keep its name for some seconds
                    self._clock.sleep(2.0**tried)
        raise AssertionError("the last try returns or raises")

    def _delete(self, name: str, conflict: ApiError, *, rerun: bool) -> None:
        """Deletes this job's newest artifact of that name; raises when it is of another job.

        A job that is run again is another one to the service.
        """
        listed = self._call("ListArtifacts", self._owner.request_body(name_filter=name))
        existing = [a for a in as_objects(listed.get("artifacts")) if a.get("name") == name]
        if not existing:
            raise conflict
        newest = max(existing, key=_number)
        job = _field(newest, "workflow_job_run_backend_id") or self._owner.job
        if job != self._owner.job and not rerun:
            raise ApiError(f"another job of this run has stored an artifact {name}")
        run = _field(newest, "workflow_run_backend_id") or self._owner.run
        self._call("DeleteArtifact", Owner(run=run, job=job).request_body(name=name))

    def _put(self, address: str, file: IO[bytes]) -> tuple[int, str]:
        """Size and digest of what was written, block by block."""
        sha, size, names = hashlib.sha256(), 0, []
        for number, block in enumerate(_blocks(file)):
            # All names of one blob are of one length.
            names.append(base64.b64encode(f"{number:08d}".encode()).decode())
            self._write(f"{_with_query(address)}comp=block&blockid={quote(names[-1])}", block)
            sha.update(block)
            size += len(block)
        listed = BLOCK_LIST.format("".join(f"<Latest>{name}</Latest>" for name in names))
        self._write(f"{_with_query(address)}comp=blocklist", listed.encode())
        return size, f"sha256:{sha.hexdigest()}"

    def _write(self, address: str, data: bytes) -> None:
        headers = {"Content-Type": "application/octet-stream"}
        if address.endswith("comp=blocklist"):
            headers |= {"Content-Type": "text/plain", "x-ms-blob-content-type": "application/zip"}
        put = partial(self._session.put, address, data=data, headers=headers, auth=NoAuth())
        self._send(put, "the store of artifacts")

    def _call(self, method: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
        post = partial(self._session.post, self._base + SERVICE + method, json=body)
        answer = self._send(partial(post, auth=self._auth), f"the artifact service ({method})")
        try:
            data: Json = answer.json()
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise ApiError(f"the artifact service answered {method} with something other than JSON")
        return data

    def _send(self, send: Callable[..., requests.Response], whom: str) -> requests.Response:
        outcome = ask(partial(send, timeout=TIMEOUT_S, allow_redirects=False), self._clock)
        if outcome.answer is None:
            raise ApiError(f"{whom} cannot be reached ({outcome.error})")
        if not outcome.answer.ok or outcome.answer.is_redirect:
            reason = outcome.refusal.said if outcome.refusal else "a redirect"
            status = outcome.answer.status_code
            raise ApiError(f"{whom} answered {status}: {reason}", status=status)
        return outcome.answer


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block


def _with_query(address: str) -> str:
    return address + ("&" if urlsplit(address).query else "?")


def _number(artifact: Mapping[str, Json]) -> int:
    text = _field(artifact, "database_id")
    return int(text) if text.isdecimal() else 0


def _field(message: Mapping[str, Json], name: str) -> str:
    """A field of a protobuf message, whose JSON may spell its name in either way."""
    first, *rest = name.split("_")
    value = message.get(name, message.get(first + "".join(word.title() for word in rest)))
    return str(value) if isinstance(value, str | int) else ""
