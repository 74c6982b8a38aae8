"""A simulation of tau2 as a trial: how it ended, what its reward is made of, its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.files.json_values import CLOSE, as_amount, as_list, as_object
from gate.importers.formats.tau.metrics import REWARD, USER_COST
from gate.importers.formats.tau.rewards import components, list_failures
from gate.importers.formats.tau.simulations import EARNING, Simulation
from gate.importers.formats.tau.tasks import TOOL
from gate.importers.trials.build import trial_of
from gate.importers.trials.conversations import conversation
from gate.records import Case, Json, Response, Score, Trial, TrialStatus
from gate.text.escaping import one_line

_AGENTS_FAULT = ("agent_error", "timeout", "unexpected_error")  # no answer of it is left


def trial_in(suite: str, simulation: Simulation, case: Case, round: int) -> Trial:
    status = _status(simulation)
    took = as_amount(simulation.data.get("duration"))
    return trial_of(
        TOOL,
        suite,
        replace(case, place=simulation.place),
        round=round,
        status=status,
        passed=_has_passed(simulation),
        failures=() if _has_passed(simulation) is not False else list_failures(simulation),
        scores={TOOL: _score(simulation, status)},
        response=_response(simulation) if status == "completed" else None,
        latency_ms=None if took is None else took * 1000.0,
        error=None if status == "completed" else _error(simulation),
    )


def _status(simulation: Simulation) -> TrialStatus:
    if not simulation.counts:
        return "infra_error"
    return "agent_error" if simulation.reason in _AGENTS_FAULT else "completed"


def _has_passed(simulation: Simulation) -> bool | None:
    """None where it ended as it should and nobody evaluated it."""
    if simulation.reason not in EARNING:
        return False
    return None if simulation.reward is None else abs(simulation.reward - 1.0) <= CLOSE


def _score(simulation: Simulation, status: TrialStatus) -> Score:
    if _has_passed(simulation) is None:
        return Score(unscored="it has no reward_info: it was not evaluated")
    reward = simulation.reward or 0.0
    opinion = _has_passed(simulation) if status == "completed" else None
    return Score(
        values={
            **components(simulation),
            REWARD: min(reward, 1.0) if simulation.counts else None,
            USER_COST: as_amount(simulation.data.get("user_cost")),
        },
        passed=opinion,
        failures=tuple(list_failures(simulation)) if opinion is False else (),
        reason="" if simulation.reason in EARNING else f"ended with {simulation.reason}",
    )


def _error(simulation: Simulation) -> str:
    info = as_object(simulation.data.get("info"))
    said = next((info[key] for key in ("error", "message", "note") if info.get(key)), "")
    return one_line(f"{simulation.reason}: {said}" if said else simulation.reason, 500)


def _response(simulation: Simulation) -> Response:
    said = conversation([*_messages(simulation.data)], shows_calls=True)
    cost = as_amount(simulation.data.get("agent_cost"))
    usage = said.usage if cost is None else replace(said.usage, cost_usd=cost)
    return replace(said, usage=usage, finish_reason=simulation.reason)


def _messages(data: Mapping[str, Json]) -> Iterator[Json]:
    """Those of the agent, its tools and what the user says; not the user's own calls, nor the
    greeting before the user's first word, which no model wrote.
    """
    heard = False
    for message in _flat(as_list(data.get("messages"))):
        role, own = message.get("role"), message.get("requestor", "assistant") == "assistant"
        if role == "user":
            heard = True
            yield {"role": "user", "content": message.get("content")}
        elif role == "assistant" and not heard and not message.get("tool_calls"):
            if message.get("usage"):
                yield message
        elif role != "tool" or own:
            yield message


def _flat(listed: list[Json]) -> Iterator[Mapping[str, Json]]:
    """Several results in one message, one after the other."""
    for message in map(as_object, listed):
        inner = message.get("tool_messages")
        yield from map(as_object, inner) if isinstance(inner, list) else (message,)
