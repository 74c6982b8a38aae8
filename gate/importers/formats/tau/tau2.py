"""A simulation of tau2 as a trial: how it ended, what its reward is made of, its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.importers.formats.tau.metrics import REWARD, USER_COST
from gate.importers.formats.tau.rewards import components, list_failures
from gate.importers.formats.tau.simulations import EARNING, Simulation
from gate.importers.formats.tau.tasks import TOOL
from gate.importers.trials.build import trial_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.json_values import CLOSE, as_amount, as_list, as_object
from gate.records import Case, Json, Response, Score, Trial, TrialStatus
from gate.text.escaping import one_line

_AGENTS_FAULT = ("agent_error", "timeout", "unexpected_error")  # no answer of it is left


def trial_in(suite: str, one: Simulation, case: Case, round: int) -> Trial:
    status = _status(one)
    took = as_amount(one.data.get("duration"))
    return trial_of(
        TOOL,
        suite,
        replace(case, place=one.place),
        round=round,
        status=status,
        passed=_has_passed(one),
        failures=() if _has_passed(one) is not False else list_failures(one),
        scores={TOOL: _score(one, status)},
        response=_response(one) if status == "completed" else None,
        latency_ms=None if took is None else took * 1000.0,
        error=None if status == "completed" else _error(one),
    )


def _status(one: Simulation) -> TrialStatus:
    if not one.counts:
        return "infra_error"
    return "agent_error" if one.reason in _AGENTS_FAULT else "completed"


def _has_passed(one: Simulation) -> bool | None:
    """None where it ended as it should and nobody evaluated it."""
    if one.reason not in EARNING:
        return False
    return None if one.reward is None else abs(one.reward - 1.0) <= CLOSE


def _score(one: Simulation, status: TrialStatus) -> Score:
    if _has_passed(one) is None:
        return Score(unscored="it has no reward_info: it was not evaluated")
    reward = one.reward or 0.0
    opinion = _has_passed(one) if status == "completed" else None
    return Score(
        values={
            **components(one),
            REWARD: min(reward, 1.0) if one.counts else None,
            USER_COST: as_amount(one.data.get("user_cost")),
        },
        passed=opinion,
        failures=tuple(list_failures(one)) if opinion is False else (),
        reason="" if one.reason in EARNING else f"ended with {one.reason}",
    )


def _error(one: Simulation) -> str:
    info = as_object(one.data.get("info"))
    said = next((info[key] for key in ("error", "message", "note") if info.get(key)), "")
    return one_line(f"{one.reason}: {said}" if said else one.reason, 500)


def _response(one: Simulation) -> Response:
    said = conversation([*_messages(one.data)], shows_calls=True)
    cost = as_amount(one.data.get("agent_cost"))
    usage = said.usage if cost is None else replace(said.usage, cost_usd=cost)
    return replace(said, usage=usage, finish_reason=one.reason)


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
