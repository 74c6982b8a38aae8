"""Whether the agent's key lets tools run, which a suite that checks evidence of them needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gate.config_lint import Findings
from gate.records import Config, Json

PROVIDER_KEY = "OPENAGENT_PROVIDER_KEY"  # the variable that by its name holds a provider's key
_GRADER = "tool_evidence"


def provider_key(config: Config, *, given: bool = False) -> Findings:
    """A warning where suites check evidence of tools and the key is a model provider's. `given`: a
    provider key is given on the command line.
    """
    found = Findings()
    agent = config.agent
    suites = [s.name for s in config.suites if any(g.name == _GRADER for g in s.graders)]
    if agent.name != "openagent" or not suites or not _is_providers(agent.options, given):
        return found
    found.warn(
        agent.place,
        "the key is a provider key: with it a call is a plain call of the model, in which no tool "
        f"can run, so the evidence that answers of {_listed(suites)} declare cannot be verified - "
        "use a key of a store, and write agent.key: store",
    )
    return found


def _is_providers(options: Mapping[str, Json], given: bool) -> bool:
    told = options.get("key")
    if told is not None:
        return bool(told == "provider")
    return given or options.get("api_key_env") == PROVIDER_KEY


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
