"""Cost of an answer: as the agent reports it, else by the price table; unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping

from gate.records import Price, Trial, Usage

PER = 1_000_000  # prices are per million tokens


def cost_usd(usage: Usage, model: str | None, prices: Mapping[str, Price]) -> float | None:
    """USD of one answer; None when the model is not priced or its tokens are not known."""
    if usage.cost_usd is not None:
        return usage.cost_usd
    price = prices.get(model or "")
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    cached_price = price.input if price.cached_input is None else price.cached_input
    fresh = (usage.input_tokens - cached) * price.input
    return (fresh + cached * cached_price + usage.output_tokens * price.output) / PER


def trial_cost(trial: Trial, prices: Mapping[str, Price]) -> float | None:
    """USD of all tries of a trial that were answered; None when one of them is unknown."""
    answers = [attempt.response for attempt in trial.attempts if attempt.response is not None]
    costs = [cost_usd(answer.usage, answer.model, prices) for answer in answers]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
