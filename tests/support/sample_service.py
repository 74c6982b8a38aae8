"""The sample agent's server in a thread of the test, and a client of it."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gate.agents.sample_agent.faults import Counting
from gate.agents.sample_agent.knowledge import load_knowledge
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.scratch_files import Scratch
from gate.agents.sample_agent.server import SampleServer, Service
from gate.agents.sample_agent.server_log import ServerLog
from gate.agents.sample_agent.tools import DEFINITIONS
from gate.files import bundled

KNOWLEDGE = load_knowledge(bundled.folder() / "analytics")
OFFERED_TOOLS = [  # in the form of OpenAI's `tools`
    {"type": "function", "function": {"name": name, **definition}}
    for name, definition in DEFINITIONS.items()
]


@contextmanager
def serving(
    options: SampleOptions | None = None,
    api_key: str | None = None,
    provider_key: str | None = None,
    log: ServerLog | None = None,
    scratch: Path | None = None,
) -> Iterator[str]:
    service = Service(
        knowledge=KNOWLEDGE,
        options=options or SampleOptions(),
        counting=Counting(),
        api_key=api_key,
        provider_key=provider_key,
        log=log,
        scratch=Scratch(scratch) if scratch else None,
    )
    with SampleServer("127.0.0.1", 0, service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def post(url: str, body: object, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return _asked(urllib.request.Request(url, data, headers or {}))


def get(url: str) -> tuple[int, Any]:
    return _asked(urllib.request.Request(url))


def _asked(request: urllib.request.Request) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
