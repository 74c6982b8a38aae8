"""`regression.control: fresh`: which agent answers for the base branch, or why none is asked."""

from __future__ import annotations

from dataclasses import dataclass

from gate.config_options import asked_with
from gate.errors import UsageError
from gate.records import Config, Json, PluginSpec

# How an agent is asked, not what it is.
_MANNERS = ("timeout_s", "concurrency", "requests_per_minute")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Whether an agent is asked beside the candidate. Where it is not, the stored baseline is
    compared with, and `notes` say why where somebody could have expected otherwise.
    """

    fresh: bool = False
    agent: PluginSpec | None = None  # None with `fresh`: it was asked already
    of_base: bool = False  # it is the `agent` of the base branch's gate.yml
    notes: tuple[str, ...] = ()


def control_of(
    config: Config,
    base_agent: PluginSpec | None,
    *,
    own_run: bool = False,
    instead: str = "",
    timeout: float | None = None,
    concurrency: int | None = None,
) -> Control:
    """`base_agent`: that of the base branch's gate.yml, None where it is unknown. `own_run`: of the
    base branch itself, which measures and changes nothing. `instead`: the option that asks for
    stored answers. Raises UsageError when there is no agent to ask.
    """
    if config.regression.control != "fresh" or own_run:
        return Control()
    if instead:
        return _stored(f"{instead} asks for stored answers")
    agent = config.control_agent or base_agent
    if agent is None:
        raise UsageError(
            f"{config.regression.place}: control: fresh: the base branch's agent is not known "
            "here; write the agent to compare with as control_agent, or control: stored"
        )
    agent = asked_with(agent, timeout=timeout, concurrency=concurrency)
    if not _same(agent, config.agent):
        return Control(fresh=True, agent=agent, of_base=config.control_agent is None)
    if config.control_agent is None:
        return _stored("the agent is the base branch's to the letter and cannot be its own control")
    note = "control_agent is this run's agent to the letter: no change between them can be seen"
    return Control(fresh=True, agent=agent, notes=(note,))


def _stored(why: str) -> Control:
    return Control(notes=(f"regression.control: fresh: {why}; the stored baseline is used",))


def _same(one: PluginSpec, other: PluginSpec) -> bool:
    return (one.name, _what(one)) == (other.name, _what(other))


def _what(agent: PluginSpec) -> dict[str, Json]:
    return {key: value for key, value in agent.options.items() if key not in _MANNERS}
