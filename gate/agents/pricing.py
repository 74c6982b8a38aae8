"""What an answer cost, by its tokens and the prices; unknown is None, never 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from gate.agents.list_prices import LIST_PRICES
from gate.records import ListedPrice, PluginSpec, Price, Trial, Usage
from gate.text.late_pattern import late_pattern

_SNAPSHOT = late_pattern(r"[-@](?:\d{4}-\d\d-\d\d|\d{8})\Z")  # model-2026-01-31, model@20260131


def cost_usd(usage: Usage, model: str | None, prices: Mapping[str, Price]) -> float | None:
    """USD of one answer. What the agent reports wins; else tokens times the model's prices, or the
    prices of the model that it is a dated snapshot of.

    Cached tokens are a part of the input, reasoning tokens of the output, no more than all of it;
    they have their own price where the model does. An unknown number of them is none. None: unknown
    model, or tokens missing.
    """
    reported = usage.cost_usd
    if reported is not None:
        return reported if math.isfinite(reported) and reported >= 0.0 else None
    price = price_of(model, prices)
    read, written = usage.input_tokens, usage.output_tokens
    if price is None or read is None or written is None or min(read, written) < 0:
        return None
    cached = _part(usage.cached_tokens, read)
    cached_price = price.input if price.cached_input is None else price.cached_input
    thought = _part(usage.reasoning_tokens, written)
    thought_price = price.output if price.reasoning is None else price.reasoning
    total = (read - cached) * price.input + cached * cached_price
    total += (written - thought) * price.output + thought * thought_price
    return total / 1e6


def with_list_prices(prices: Mapping[str, Price]) -> Mapping[str, Price]:
    """The prices of gate.yml and, of models that it does not name, those of providers' lists."""
    return {**LIST_PRICES, **prices}


def listed_model(usage: Usage, model: str | None, prices: Mapping[str, Price]) -> str:
    """The model in LIST_PRICES by which the cost of an answer is counted; empty where gate.yml has
    the price, or the agent reports the cost.
    """
    price = price_of(model, prices) if usage.cost_usd is None else None
    if model is None or price is None or not price.source:
        return ""
    return model if model in prices else strip_date(model)


def listed_models(trial: Trial, prices: Mapping[str, Price]) -> list[str]:
    """`listed_model` of all tries of a trial of known cost, each once."""
    responses = [one.response for one in trial.attempts if one.response is not None]
    found = (listed_model(one.usage, one.model, prices) for one in responses)
    return list(dict.fromkeys(filter(None, found)))


def listed_price(model: str) -> ListedPrice:
    """For the reports, of a model of LIST_PRICES."""
    price = LIST_PRICES[model]
    return ListedPrice(
        model=model,
        input=price.input,
        output=price.output,
        source=price.source,
        read_on=price.read_on,
    )


def _part(tokens: int | None, of: int) -> int:
    return min(max(tokens or 0, 0), of)


def trial_cost(trial: Trial, prices: Mapping[str, Price]) -> float | None:
    """USD of all tries of a trial. A try that nobody answered cost nothing; one unknown cost, or no
    answer at all, makes the whole unknown.
    """
    total, answered = 0.0, False
    for attempt in trial.attempts:
        if attempt.status == "infra_error":
            continue
        response = attempt.response
        cost = None if response is None else cost_usd(response.usage, response.model, prices)
        if cost is None:
            return None
        total, answered = total + cost, True
    return total if answered else None


def price_of(model: str | None, prices: Mapping[str, Price]) -> Price | None:
    """Its own price, or that of the model that it is a dated snapshot of; None: unknown."""
    if model is None or not prices:
        return None
    return prices.get(model) or prices.get(strip_date(model))


def model_of(spec: PluginSpec | None) -> str:
    """The model that an agent or a judge has in gate.yml; empty: none is named."""
    return str(spec.options.get("model") or "") if spec is not None else ""


@lru_cache(maxsize=64)  # every answer asks for the model of the run
def strip_date(model: str) -> str:
    """The model that a dated snapshot is one of; any other name as it is."""
    return _SNAPSHOT.sub("", model)
