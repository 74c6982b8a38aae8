"""Checks whether the agent's key lets tools run, which suites with tool evidence need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gate.records import Config, Json
from gate.suites.config.lint import ConfigFindings

PROVIDER_KEY = "OPENAGENT_PROVIDER_KEY"  # the variable that by its name holds a provider's key
_GRADER = "tool_evidence"


def provider_key(config: Config, *, given: bool = False) -> ConfigFindings:
    """A warning if suites check tool evidence and the key is, or may be, a model provider's.
    `given`: a provider key is given on the command line.
    """
    findings = ConfigFindings()
    agent = config.agent
    suites = [s.name for s in config.suites if any(g.name == _GRADER for g in s.graders)]
    doubt = _doubt(agent.options, given)
    if agent.name != "openagent" or not suites or doubt is None:
        return findings
    findings.warn(
        agent.place,
        f"{doubt} a provider key: such a key calls the model directly, without tools, so "
        f"the evidence that answers of {_format_names(suites)} declare cannot be verified "
        "- use a store key and set agent.key: store",
    )
    return findings


def _doubt(options: Mapping[str, Json], given: bool) -> str | None:
    """None where nothing speaks for a provider's key. Both kinds look alike, and OpenAgent's users
    keep either in the variable.
    """
    key = options.get("key")
    if key == "provider":
        return "the key is"
    named = given or options.get("api_key_env") == PROVIDER_KEY
    return "the key may be" if named and key is None else None


def _format_names(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
