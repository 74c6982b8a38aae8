"""What overrides gate.yml: options of the command line, and release mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.files.yaml import Path
from gate.plugins import AGENTS, RETRIEVERS, Agent
from gate.records import CheckedJson, Config, Json, PluginSpec
from gate.records.codec import schema_of
from gate.registry import Registry

KEY_VARIABLE = "OPENAGENT_PROVIDER_KEY"
_AGENT_OPTIONS = {"base_url": "base_url", "model": "model", "timeout": "timeout_s"}


def override(
    config: Config,
    *,
    base_url: str | None = None,
    model: str | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    rounds: int | None = None,
    max_attempts: int | None = None,
    budget_usd: float | None = None,
    baseline: str | None = None,
    out: str | None = None,
) -> Config:
    """The config with the given options; None keeps gate.yml's value. Raises UsageError for an
    option that the agent's type does not have.
    """
    address: dict[str, CheckedJson] = {"base_url": base_url, "model": model}
    manners: dict[str, CheckedJson] = {"timeout": timeout, "concurrency": concurrency}
    retriever = config.retriever
    suite = _drop_none(rounds=rounds, max_attempts=max_attempts)
    return replace(
        config,
        agent=override_options(config.agent, **address, **manners),
        retriever=override_options(retriever, RETRIEVERS, **manners) if retriever else None,
        suites=tuple(replace(one, **suite) for one in config.suites),
        budget=replace(config.budget, **_drop_none(usd=budget_usd)),
        baseline=replace(config.baseline, **_drop_none(source=baseline)),
        report=replace(config.report, **_drop_none(dir=out)),
    )


def settings(config: Config, more: Mapping[str, str]) -> Config:
    """The config with single keys of `baseline` and `policy` replaced (dotted key -> value), as the
    action's inputs do; other sections are ignored. Raises UsageError.
    """
    for key, value in more.items():
        section, _, name = key.partition(".")
        if section not in ("baseline", "policy"):
            continue
        record = getattr(config, section)
        wrong = mismatches(schema_of(type(record)), {name: value})
        if wrong:
            raise UsageError(f"{key}: {wrong[0].message}")
        changed: dict[str, CheckedJson] = {section: replace(record, **{name: value})}
        if section == "policy":
            changed["policy_set"] = tuple(sorted({*config.policy_set, name}))
        config = replace(config, **changed)
    return config


def for_release(config: Config) -> Config:
    """The config in release mode (docs/semantics.md 3): a policy that gate.yml does not set is
    `fail`.
    """
    every = schema_of(type(config.policy))["properties"]
    can_fail = [name for name, values in every.items() if "fail" in values["enum"]]
    strict: dict[str, CheckedJson] = {
        name: "fail" for name in can_fail if name not in config.policy_set
    }
    return replace(config, policy=replace(config.policy, **strict))


def with_key(config: Config) -> Config:
    """The config whose agent reads a key that was given: from the usual variable, if gate.yml names
    none and the agent's type has keys.
    """
    agent = config.agent
    knows = "api_key_env" in schema_of(AGENTS.get_class(agent.name))["properties"]
    if not knows or agent.options.get("api_key_env"):
        return config
    options = {**agent.options, "api_key_env": KEY_VARIABLE}
    return replace(config, agent=replace(agent, options=options))


def override_options(
    agent: PluginSpec, registry: Registry[Agent] = AGENTS, **given: str | float | None
) -> PluginSpec:
    """The agent or retriever with the given options of the command line. Raises UsageError for one
    that its type does not have.
    """
    for option, value in _drop_none(**given).items():
        agent = _agent_option(agent, registry, option, value)
    return agent


def _agent_option(
    agent: PluginSpec, registry: Registry[Agent], option: str, value: Json
) -> PluginSpec:
    key = _AGENT_OPTIONS.get(option, option)
    flag = "--" + option.replace("_", "-")
    schema = schema_of(registry.get_class(agent.name))
    if key == "base_url" and {"base_url", "url"} & schema["properties"].keys():
        from gate.agents.http_client.route import check_address

        check_address(str(value), flag)
    if key == "base_url" and key not in schema["properties"] and "url" in schema["properties"]:
        key, value = "url", _move(str(agent.options.get("url") or ""), str(value))
    if key not in schema["properties"]:
        raise UsageError(
            f"{flag}: agents of type '{agent.name}' have no option '{key}' - remove it"
        )
    options = {**agent.options, key: value}
    wrong = [mismatch for mismatch in mismatches(schema, options) if mismatch.path[:1] == (key,)]
    if wrong:
        raise UsageError(f"{flag}: {wrong[0].message}")
    return replace(agent, options=options)


def list_replaced(base_url: str | None) -> Mapping[Path, str]:
    """The texts of gate.yml that the option replaces whole: the variables in them need no value.
    One without a path replaces a part of `url` only.
    """
    if not base_url:
        return {}
    is_whole = _move("http://host/path", base_url) == base_url
    keys = ("base_url", "url") if is_whole else ("base_url",)
    return {("agent", key): base_url for key in keys}


def _move(url: str, address: str) -> str:
    """`address`; one without a path takes path and query of `url`, where the endpoint stands."""
    try:
        old, new = urlsplit(url), urlsplit(address)
    except ValueError:
        return address
    if not new.netloc or new.path.strip("/") or new.query:
        return address
    return urlunsplit((new.scheme, new.netloc, old.path or new.path, old.query, ""))


def _drop_none(**options: Json) -> dict[str, CheckedJson]:
    return {name: value for name, value in options.items() if value is not None}
