"""`gate agent`: serves the bundled sample agent until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gate.agents.sample_agent.faults import Counting
from gate.agents.sample_agent.knowledge import load_bundled
from gate.agents.sample_agent.options import options_from
from gate.agents.sample_agent.scratch_files import Scratch
from gate.agents.sample_agent.server import SampleServer, Service
from gate.agents.sample_agent.server_log import ServerLog
from gate.errors import UsageError
from gate.files import bundled
from gate.system.signals import Stop


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serves until stopped; returns 0. Raises UsageError for a wrong switch, a used port, a missing
    key or a folder that cannot be written to.
    """
    service = _service(options, env)
    stop: Stop = options.stop
    with SampleServer(options.host, options.port, service) as server, stop.defer():
        print(f"Sample agent listening on {server.url} (Ctrl-C stops it)", flush=True)
        while not stop.is_requested():
            server.handle_request()
    print("Sample agent stopped", flush=True)
    return 0


def _service(options: argparse.Namespace, env: Mapping[str, str]) -> Service:
    switches = options_from(vars(options))
    store, provider = (
        _key(option, getattr(options, option), env)
        for option in ("api_key_env", "provider_key_env")
    )
    if store and store == provider:
        raise UsageError("--provider-key-env: the same variable as --api-key-env - use another")
    log = ServerLog(
        logs=_folder(options.log_dir),
        audits=_folder(options.audit_dir),
        form=options.console_format,
        now=datetime.now,
    )
    return Service(
        knowledge=load_bundled(bundled.folder(), stale=switches.stale),
        options=switches,
        counting=Counting(),
        api_key=store,
        provider_key=provider,
        log=log,
        scratch=Scratch(Path(options.scratch)) if options.scratch else None,
    )


def _folder(name: str | None) -> Path | None:
    return Path(name) if name else None


def _key(option: str, name: str | None, env: Mapping[str, str]) -> str | None:
    if name is None:
        return None
    if not env.get(name):
        flag = f"--{option.replace('_', '-')}"
        raise UsageError(f"{flag} {name}: this environment variable is not set - export it first")
    return env[name]
