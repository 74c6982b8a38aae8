"""Going on with the session of an earlier head of the pull request that has the same files: what
tells whether it has the same agent, too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gate.records import Config, Json, PluginSpec, SameAgent
from gate.records.codec import digest
from gate.records.forge import StoredSession
from gate.run.setup import Setup
from gate.store.session import SessionWriter
from gate.text.credentials import looks_secret

# Finds it: the files that count, from the top of the repository, and where it is to be put.
FindEarlier = Callable[[Sequence[str], Path], StoredSession]
_PASSING = ("api_key_env", "timeout_s", "concurrency", "requests_per_minute")  # options
_LISTED = 10  # verdicts of earlier heads


def nobody_before(paths: Sequence[str], out: Path) -> StoredSession:
    """Where no run before left a session."""
    return StoredSession()


def with_earlier_head(setup: Setup, find: FindEarlier) -> Setup:
    """The setup with the session that was found, and the note about it."""
    folder = setup.where.opened.folder
    paths = [posixpath.normpath(posixpath.join(folder, path)) for path in _same(setup).paths]
    found = find(paths, Path(setup.config.report.dir))
    notes = [found.note] if found.note else []
    if found.folder is not None and found.head:
        notes.append(
            f"continues the session of `{found.head[:7]}`, which has the same files, and "
            "reuses its answers; if the agent was deployed again since, set "
            "`agent.version`"
        )
    return replace(setup, earlier=found, notes=(*setup.notes, *notes))


def verdicts_before(session: SessionWriter, commit: str | None) -> list[str]:
    """A note of the verdicts that other heads with these files had; none where there are none."""
    told = {head: what for head, what in session.log.verdicts.items() if head != commit}
    named = [f"`{head[:7]}` {what}" for head, what in list(told.items())[-_LISTED:]]
    return [f"verdicts of earlier heads with the same files: {', '.join(named)}"] if named else []


def agent_digest(config: Config) -> str:
    """sha256 of whom the answers of two commits must have in common: type and options of agent and
    retriever, without keys and without what sets the pace.
    """
    asked = [one for one in (config.agent, config.retriever) if one is not None]
    return digest([[one.name, _lasting(one)] for one in asked])


def deployment_digest(setup: Setup) -> str:
    """sha256 of `agent.version`; empty where there is none."""
    version = _same(setup).version
    return digest(version) if version else ""


def _same(setup: Setup) -> SameAgent:
    """The base's, where one is known: a change must not choose what makes it another agent."""
    return (setup.rules.theirs or setup.config).same_agent


def _lasting(asked: PluginSpec) -> Mapping[str, Json]:
    kept = {name: option for name, option in asked.options.items() if name not in _PASSING}
    headers = kept.get("headers")
    if isinstance(headers, Mapping):
        kept["headers"] = {k: v for k, v in headers.items() if not looks_secret(k)}
    return kept
