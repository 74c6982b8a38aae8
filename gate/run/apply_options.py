"""What the options of a run change: the config that judges, its cases, the key and the secrets; and
what is wrong with the agent that comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gate.agents.under_test import NOBODY, sends_case_keys
from gate.errors import InvalidInput, UsageError
from gate.github.context import Job
from gate.graders.user_code.make import is_own
from gate.records import Config, PluginSpec
from gate.run.control_agent import Control
from gate.run.home import Home, sessions_folder
from gate.run.options import RunOptions
from gate.run.prepare import SuitePlan
from gate.run.rules_for_event import Where, locate_source
from gate.suites.config.check_judge import kinship
from gate.suites.config.check_provider_key import provider_key
from gate.suites.config.load import select
from gate.suites.config.overrides import KEY_VARIABLE, for_release, override, settings, with_key
from gate.suites.protection.rules import Rules
from gate.text.secret_names import secrets_of, secrets_sent


def ask_without_agent(rules: Rules, options: RunOptions, where: Where) -> Rules:
    """The rules without an agent, if every suite of --suite is a class that asks by itself and
    neither gate.yml nor an option names an agent; else the same rules. Raises UsageError if no such
    code may run.
    """
    job, codes = where.job, [name for name in options.suite if is_own(name)]
    if codes and job.untrusted_head:
        raise UsageError(
            f"--suite {codes[0]}: code from the checkout is not run under {job.event}, which has "
            "the base's secrets; use it under `pull_request`"
        )
    agent_options = (options.base_url, options.model, options.provider_key, options.offline)
    if (
        not codes
        or len(codes) < len(options.suite)
        or any(agent_options)
        or where.env.get(KEY_VARIABLE)
    ):
        return rules
    if rules.config.file is not None:
        return rules
    return replace(rules, config=replace(rules.config, agent=PluginSpec(name=NOBODY)))


def apply_options(options: RunOptions, rules: Rules, job: Job, home: Home) -> Config:
    """The config that judges, with the chosen suites and the values that the options change. Raises
    UsageError, InvalidInput.
    """
    _check_executor(options)
    config = select(rules.config, options.suite, rules.root)
    if job.mode == "release":
        config = for_release(config)
    config = override(
        settings(config, options.settings),
        base_url=options.base_url,
        model=options.model,
        timeout=options.timeout,
        concurrency=options.concurrency,
        rounds=options.rounds,
        max_attempts=options.max_attempts,
        budget_usd=options.budget_usd,
        baseline=locate_source(options.baseline, rules.root),
        out=options.out or sessions_folder(home, rules.config),
    )
    if options.provider_key:
        config = with_key(config)
    config = _check_judge_is_another(config, rules.root)
    if options.joins is not None and not options.offline:  # nobody needs a key
        return config
    if not options.offline:
        warned = provider_key(config, given=bool(options.provider_key)).warnings
        return replace(config, warnings=(*config.warnings, *warned))
    if options.replay is None:  # whoever grades files says what stands for the agent
        return replace(config, retriever=None)
    recorded = {"file": str(Path(options.replay).absolute())}
    return replace(config, agent=PluginSpec(name="replay", options=recorded), retriever=None)


def replace_dataset(rules: Rules, options: RunOptions) -> Rules:
    """The rules with the cases of --dataset. Raises UsageError if the run may not choose them."""
    if options.dataset is None:
        return rules
    option = f"--dataset {options.dataset}"
    suites = select(rules.config, options.suite, rules.root).suites
    if len(suites) != 1 or suites[0].suite:
        raise UsageError(
            f"{option}: works for one suite with a dataset; choose it with --suite NAME"
        )
    if rules.base is not None:
        raise UsageError(
            f"{option}: the cases are those of {rules.base.name}, whose rules apply here; "
            "leave out the option"
        )
    suite = replace(suites[0], dataset=str(Path(options.dataset).absolute()))
    others = (one for one in rules.config.suites if one.name != suite.name)
    config = replace(rules.config, suites=(suite, *others))
    return replace(rules, config=config, own=config, dataset_option="--dataset")


def _check_executor(options: RunOptions) -> None:
    if options.executor == "dask" and options.scheduler is None:
        raise UsageError("--executor dask: say with --scheduler ADDRESS where the cluster is")
    if options.executor != "dask" and (options.scheduler or options.send_secrets):
        used = "--scheduler" if options.scheduler else "--send-secrets"
        raise UsageError(f"{used}: only works with --executor dask")


def _check_judge_is_another(config: Config, root: Path) -> Config:
    """The config with warnings about a judge that is related to the agent, `--model` applied.
    Raises InvalidInput where the judge must not be the agent.
    """
    findings = kinship(config, root)
    if findings.problems:
        raise InvalidInput(findings.problems)
    return replace(config, warnings=(*config.warnings, *findings.warnings))


def add_key(options: RunOptions, config: Config, env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with --provider-key in the variable of the agent's key."""
    name = str(config.agent.options.get("api_key_env") or KEY_VARIABLE)
    return {**env, name: options.provider_key} if options.provider_key else env


def find_secrets(
    options: RunOptions, config: Config, control: Control, env: Mapping[str, str]
) -> Iterator[str]:
    """All values that no output may show. `env`: the environment before a key replaced a variable,
    because the replaced value is a secret, too.
    """
    models = (config.judge, config.verifier, config.retriever, control.retriever)
    agents = (config.agent, config.control_agent, control.agent, *models)
    yield from secrets_sent(env, (agent.options for agent in agents if agent is not None))
    if options.provider_key:
        yield from secrets_of({KEY_VARIABLE: options.provider_key}, [KEY_VARIABLE])


@contextmanager
def tell_agent_line(config: Config) -> Iterator[None]:
    """Adds the line of the agent to a UsageError, unless an option gave what is wrong."""
    try:
        yield
    except InvalidInput:
        raise
    except UsageError as error:
        message = str(error)
        where = ((message.startswith("retriever.") and config.retriever) or config.agent).place
        if where.line is None or message.startswith("--"):
            raise
        raise UsageError(f"{where.file}:{where.line}: {message}") from error


def check_sent_keys(
    rules: Rules, options: RunOptions, config: Config, plans: Sequence[SuitePlan], control: Control
) -> None:
    """Raises InvalidInput where a chosen case lacks a key that the agent, the retriever or the
    control agent is sent. `config`: with the options applied.
    """
    agents, retrievers = (config.agent, control.agent), (config.retriever, control.retriever)
    if options.joins is None and sends_case_keys(agents, retrievers):  # else nobody is asked
        from gate.run.check_case_keys import check_case_keys

        check_case_keys(rules, config, plans, control)
