"""Continues the session of an earlier head of the pull request that has the same files and the same
agent.
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
_PASSING = ("api_key_env", "timeout_s", "concurrency", "requests_per_minute", "adaptive")  # options
_LISTED = 10  # verdicts of earlier heads


def find_no_session(paths: Sequence[str], out: Path) -> StoredSession:
    """The answer if no earlier run left a session."""
    return StoredSession()


def continue_earlier_head(setup: Setup, find: FindEarlier) -> Setup:
    """The setup with the session that `find` returns, and a note about it."""
    folder = setup.place.where.opened.folder
    paths = [
        posixpath.normpath(posixpath.join(folder, path))
        for path in _describe_same_agent(setup).paths
    ]
    earlier = find(paths, Path(setup.place.config.report.dir))
    notes = [earlier.note] if earlier.note else []
    if earlier.folder is not None and earlier.head:
        notes.append(
            f"continues the session of `{earlier.head[:7]}`, which has the same files, and "
            "reuses its answers; if the agent was deployed again since, set "
            "`agent.version`"
        )
    return replace(setup, earlier=earlier, notes=(*setup.notes, *notes))


def add_earlier_verdicts(setup: Setup, session: SessionWriter) -> Setup:
    """The setup with a note on the verdicts of other heads with these files, if there are any. From
    now on the session is this head's, too.
    """
    commit = setup.provenance.commit
    if setup.earlier.head and commit:
        session.note_head(commit)
    verdicts = {head: what for head, what in session.log.verdicts.items() if head != commit}
    named = [f"`{head[:7]}` {what}" for head, what in list(verdicts.items())[-_LISTED:]]
    if not named:
        return setup
    note = f"verdicts of earlier heads with the same files: {', '.join(named)}"
    return replace(setup, notes=(*setup.notes, note))


def agent_digest(config: Config) -> str:
    """sha256 of the agent's and retriever's type and options, which must be equal for two commits.
    It leaves out keys, and options that only set the pace.
    """
    plugins = [plugin for plugin in (config.agent, config.retriever) if plugin is not None]
    return digest([[plugin.name, _keep_lasting_options(plugin)] for plugin in plugins])


def deployment_digest(setup: Setup) -> str:
    """sha256 of `agent.version`; empty without a version."""
    version = _describe_same_agent(setup).version
    return digest(version) if version else ""


def _describe_same_agent(setup: Setup) -> SameAgent:
    """The base's, where one is known: a change must not choose what makes it another agent."""
    return (setup.place.rules.theirs or setup.place.config).same_agent


def _keep_lasting_options(plugin: PluginSpec) -> Mapping[str, Json]:
    kept = {name: option for name, option in plugin.options.items() if name not in _PASSING}
    headers = kept.get("headers")
    if isinstance(headers, Mapping):
        kept["headers"] = {k: v for k, v in headers.items() if not looks_secret(k)}
    return kept
