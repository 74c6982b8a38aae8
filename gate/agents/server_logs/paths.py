"""Where logs are looked for: as configured, as the environment says, or at the usual places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.agents.server_logs.options import LogOptions
from gate.records import LogKind

CONSOLE_ENV = ("OPENAGENT_CONSOLE_LOG", "AGENTBENCH_CONSOLE_LOG_FALLBACK")
AUDIT_ENV = ("OPENAGENT_AUDIT_DIR",)
_USUAL: Mapping[LogKind, tuple[str, ...]] = {
    "access": ("openagent/logs/openagent.log", "logs/openagent.log"),
    "console": ("logs/openagent_console.log", "openagent_console.log"),
    "audit": ("audit",),
}
_NAMING: Mapping[LogKind, tuple[str, ...]] = {
    "access": (),
    "console": CONSOLE_ENV,
    "audit": AUDIT_ENV,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCandidate:
    """`named_by`: what names it, empty for a usual place; a named one should be there."""

    kind: LogKind
    shown: str
    path: Path
    named_by: str = ""


def candidates(
    options: LogOptions, env: Mapping[str, str], root: Path, *, nearby: bool
) -> Mapping[LogKind, tuple[LogCandidate, ...]]:
    """The paths where a log of each kind may lie; the first one that exists is taken.

    Where something is named, the usual places are not looked at: another log would be read there;
    nor are they where the server is not `nearby`.
    """
    given: Mapping[LogKind, str | None] = {
        "access": options.access,
        "console": options.console,
        "audit": options.audit,
    }
    return {
        kind: tuple(
            LogCandidate(kind=kind, shown=written, path=root / written, named_by=by)
            for written, by in _candidate_paths(kind, given[kind], env, nearby=nearby)
        )
        for kind in _USUAL
    }


def _candidate_paths(
    kind: LogKind, configured: str | None, env: Mapping[str, str], *, nearby: bool
) -> Iterator[tuple[str, str]]:
    if configured:
        yield configured, "configured"
        return
    named = [(env[name], name) for name in _NAMING[kind] if env.get(name)]
    yield from named or ((usual, "") for usual in _USUAL[kind] if nearby)
