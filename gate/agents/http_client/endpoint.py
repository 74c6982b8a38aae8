"""What the agents behind an HTTP address share: the connection, the key and the address."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import check_address
from gate.agents.http_client.session import HttpSession
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Response

CHECK_S = 20.0  # how long a check may take

_VERSION = re.compile(r"/v\d+[a-z0-9]*$")


class Endpoint:
    """A Connection (gate/plugins.py): a case becomes the body of a POST, a reply a Response."""

    def __init__(
        self,
        world: World,
        url: str,
        headers: Mapping[str, str],
        *,
        write: Callable[[Case], bytes],
        read: Callable[[HttpReply], Response],
    ) -> None:
        self._session = HttpSession(
            world.env, setting=world.name_address("base_url"), hear=world.hear
        )
        self._url = url
        self._headers = {"content-type": "application/json", **headers}
        self._write = write
        self._read = read

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        body = self._write(case)
        reply = self._session.request(
            "POST", self._url, headers=self._headers, body=body, timeout_s=timeout_s
        )
        return read_by(self._read, reply)

    def close(self) -> None:
        self._session.close()


def read_by(read: Callable[[HttpReply], Response], reply: HttpReply) -> Response:
    """The answer in it; where there is none, the failure takes the body along."""
    try:
        return read(reply)
    except AgentFailure as failure:
        failure.done = failure.done or reply.body
        raise


def reach(world: World, url: str, *, timeout_s: float, setting: str = "base_url") -> None:
    """Connects and asks nothing, which costs no tokens; offline it only looks at the address.
    Raises InfraFailure, UsageError.
    """
    if world.offline:
        return check_address(url, world.name_address(setting))
    session = HttpSession(world.env, setting=world.name_address(setting))
    try:
        session.reach(url, timeout_s=min(timeout_s, CHECK_S))
    finally:
        session.close()


def health(world: World, url: str, *, timeout_s: float) -> HttpReply:
    """GET `url`; whatever is wrong with the answer is an InfraFailure."""
    session = HttpSession(world.env, setting=world.name_address("base_url"))
    try:
        return session.request("GET", url, headers={}, timeout_s=min(timeout_s, CHECK_S))
    except AgentFailure as failure:
        message = f"the health check failed: {failure}"
        raise InfraFailure(message, transport=failure.transport) from failure
    finally:
        session.close()


def key_of(world: World, name: str | None) -> str | None:
    """The key that the variable `name` holds. Raises UsageError when it holds none."""
    if name is None:
        return None
    key = world.env.get(name, "").strip()
    if not key and not world.offline:
        raise UsageError(
            f"{world.section}.api_key_env: the environment variable {name} is not set - set it to "
            f"the key, or remove api_key_env if the {world.section} needs no key"
        )
    return key or None


def bearer(world: World, name: str | None) -> dict[str, str]:
    key = key_of(world, name)
    return {} if key is None else {"authorization": f"Bearer {key}"}


def join_endpoint(base_url: str, path: str) -> str:
    """`base_url` + `/v1` + `path`, unless it ends in a version or in the path already."""
    address, mark, query = base_url.partition("?")
    address = address.rstrip("/")
    if not address.endswith(path):
        address += path if _VERSION.search(address) else f"/v1{path}"
    return address + mark + query
