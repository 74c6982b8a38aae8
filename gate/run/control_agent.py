"""`regression.control: fresh`: which agent answers for the base branch, or why none is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gate.errors import UsageError
from gate.plugins import RETRIEVERS
from gate.records import Config, Json, PluginSpec
from gate.suites.config.overrides import override_options

# How an agent is asked, not what it is.
_MANNERS = ("timeout_s", "concurrency", "requests_per_minute", "adaptive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Whether a control agent is asked. If not, the run is compared with the stored baseline, and
    `notes` say why if the user may have expected otherwise.
    """

    fresh: bool = False
    agent: PluginSpec | None = None  # None with `fresh`: it was asked already
    retriever: PluginSpec | None = None  # of that agent
    of_base: bool = False  # it is the `agent` of the base branch's gate.yml
    notes: tuple[str, ...] = ()


def choose_control(
    config: Config,
    base_agent: PluginSpec | None,
    *,
    base_retriever: PluginSpec | None = None,
    own_run: bool = False,
    instead: str = "",
    timeout: float | None = None,
    concurrency: int | None = None,
) -> Control:
    """The agent that answers for the base branch, or none. `base_agent`, `base_retriever`: those of
    the base branch's gate.yml, None if unknown. `own_run`: a run of the base branch itself.
    `instead`: the option that asks for stored answers. Raises UsageError if there is no agent to
    ask.
    """
    if config.regression.control != "fresh" or own_run:
        return Control()
    if instead:
        return _use_stored_baseline(f"{instead} uses stored answers")
    agent = config.control_agent or base_agent
    if agent is None:
        raise UsageError(
            f"{config.regression.place}: control: fresh: the base branch's agent is not "
            "known here; set control_agent to the agent to compare with, or use control: "
            "stored"
        )
    agent = override_options(agent, timeout=timeout, concurrency=concurrency)
    retriever = config.retriever if base_agent is None else base_retriever
    if retriever is not None:
        retriever = override_options(
            retriever, RETRIEVERS, timeout=timeout, concurrency=concurrency
        )
    control = Control(
        fresh=True, agent=agent, retriever=retriever, of_base=config.control_agent is None
    )
    if not (_are_same(agent, config.agent) and _are_same(retriever, config.retriever)):
        return control
    if config.control_agent is None:
        return _use_stored_baseline(
            "the agent is identical to the base branch's and cannot be its own control"
        )
    note = "control_agent is identical to this run's agent: no difference can be measured"
    return replace(control, notes=(note,))


def _use_stored_baseline(why: str) -> Control:
    return Control(notes=(f"regression.control: fresh: {why}; the stored baseline is used",))


def _are_same(first: PluginSpec | None, second: PluginSpec | None) -> bool:
    return bool(_identify(first) == _identify(second))


def _identify(plugin: PluginSpec | None) -> Json:
    if plugin is None:
        return None
    options = {key: value for key, value in plugin.options.items() if key not in _MANNERS}
    return [plugin.name, options]
