"""`gate agent`: serves the bundled sample agent until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate import bundled
from gate.errors import UsageError
from gate.sample.faults import Counting
from gate.sample.knowledge import load_bundled
from gate.sample.options import options_from
from gate.sample.server import SampleServer, Service


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """0 after a clean stop. Raises UsageError for a wrong switch, a taken port or a missing key."""
    switches = options_from(vars(options))
    service = Service(
        knowledge=load_bundled(bundled.folder(), stale=switches.stale),
        options=switches,
        counting=Counting(),
        api_key=_key(options.api_key_env, env),
    )
    with SampleServer(options.host, options.port, service) as server, options.stop.deferred():
        print(f"Sample agent listening on {server.url} (Ctrl-C stops it)", flush=True)
        while not options.stop.requested():
            server.handle_request()
    print("Sample agent stopped", flush=True)
    return 0


def _key(name: str | None, env: Mapping[str, str]) -> str | None:
    if name is None:
        return None
    if not env.get(name):
        raise UsageError(f"--api-key-env {name}: this variable is not set - export it first")
    return env[name]
