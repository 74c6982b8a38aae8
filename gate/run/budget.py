"""The budget of a run while it goes on: calls, money, minutes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from gate.agents.pricing import model_of, price_of, with_list_prices
from gate.errors import UsageError
from gate.plugins import Agent, AgentTraits, read_traits
from gate.records import Config, TrialRow
from gate.text.figures import count, in_usd

T = TypeVar("T")
_FREE = ("none", "replay", "sample")  # their answers cost nothing, or say what they cost
_TELL_NO_COST = ("api.anthropic.com", "api.openai.com")


class Allowance:
    """The budget during a run. When it is used up, no task is started any more."""

    def __init__(
        self,
        *,
        usd: float | None,
        calls: int | None,
        minutes: float | None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._usd, self._calls, self._minutes = usd, calls, minutes
        self._seconds = seconds
        self._begun = seconds()
        self._started = 0
        self._finished = 0
        self._spent = 0.0
        self.used_up = ""  # the limit that ended the run: `the budget of $5.00`

    def spent_before(self, *, calls: int, usd: float) -> None:
        self._started += calls
        self._finished += calls
        self._spent += usd

    @property
    def blind(self) -> bool:
        """Whether money is limited and the cost of a trial is not known yet."""
        return self._usd is not None and not self._finished

    def limit(self, tasks: Iterator[T]) -> Iterator[T]:
        """The tasks until a limit is reached. Trials under way count with the mean cost of the
        finished ones.
        """
        for task in tasks:
            self.used_up = self._reached()
            if self.used_up:
                return
            self._started += 1
            yield task

    def finished(self, *, tries: int, cost_usd: float | None) -> None:
        self._finished += 1
        self._started += tries - 1
        self._spent += cost_usd or 0.0

    def _reached(self) -> str:
        if self._calls is not None and self._started >= self._calls:
            return f"the budget of {count(self._calls, 'call')}"
        under_way = self._started - self._finished
        expected = self._spent + under_way * self._spent / max(1, self._finished)
        if self._usd is not None and expected >= self._usd:
            return f"the budget of ${in_usd(self._usd)}"
        if self._minutes is not None and self._seconds() - self._begun >= self._minutes * 60:
            return f"the budget of {self._minutes:g} minutes"
        return ""


def check_price(config: Config, agent: Agent) -> None:
    """Raises UsageError for a budget of money that cannot hold, where that is known before the
    first call: at an address that tells tokens and no costs. Others may tell what they cost.
    """
    traits = read_traits(AgentTraits, agent)
    try:
        host = urlsplit(str(traits.base_url or "")).hostname
    except ValueError:  # told where it is used
        return
    model = str(traits.model or "")
    prices = with_list_prices(config.pricing)
    if config.budget.usd is None or host not in _TELL_NO_COST or price_of(model, prices):
        return
    raise UsageError(
        f"budget.usd, --budget-usd: the price of the model '{model[:80]}' is unknown, and {host} "
        f"does not report what an answer costs, so a budget in USD cannot be enforced: "
        f"{_give_price(model)}"
    )


def foresee_unknown_costs(
    config: Config, *, agent_known: bool = False, judge_known: bool = False
) -> Iterator[str]:
    """At which unknown costs a run with a budget of money would end (`refuse_unknown_cost`); for
    those who look before it begins. `agent_known`, `judge_known`: what was asked before told its
    cost.
    """
    if config.budget.usd is None:
        return
    prices = with_list_prices(config.pricing)
    agent = None if agent_known or config.agent.name in _FREE else config.agent
    judge = None if judge_known else config.judge
    for spec, whose, what in ((agent, "agent", "answer"), (judge, "judge", "vote")):
        model = model_of(spec)
        if spec is None or price_of(model, prices):
            continue
        named = f"the price of the {whose}'s model '{model[:80]}' is unknown"
        yield (
            f"budget.usd, --budget-usd: {named if model else f'the {whose} names no model'}, so "
            f"`gate run` ends at the first {what} that does not report its cost: "
            f"{_give_price(model)}"
        )


def refuse_unknown_cost(row: TrialRow, session: Path, judge: str = "") -> None:
    """Raises UsageError where nobody knows what the answer, or what every vote of the judge on it,
    cost: no budget of money can hold. `session`: the folder of the run, which goes on from there;
    `judge`: the judge's model.
    """
    model, judging = str(row["model"] or ""), row.get("judging") or {}
    if row["status"] == "completed" and row["cost_usd"] is None:
        what = f"an answer of the model '{model[:80]}'" if model else "an answer of the agent"
    elif judging.get("scored") and judging["unknown"] == judging["calls"] > 0:
        model, what = (
            judge,
            f"a vote of the judge '{judge[:80]}'" if judge else "a vote of the judge",
        )
    else:
        return
    raise UsageError(
        f"budget.usd, --budget-usd: the cost of {what} is unknown (no price, or no tokens are "
        f"reported), so a budget in USD cannot be enforced: {_give_price(model)}; go on with "
        f"`gate run --resume {session}`"
    )


def _give_price(model: str) -> str:
    """How to: what is typed into gate.yml, without what would not be a name in YAML."""
    name = model if re.fullmatch(r"[A-Za-z][\w./@-]{0,79}", model) else "MODEL"
    price = f"pricing: {{{name}: {{input: 2.50, output: 10.00}}}}"
    return (
        f"write its price in USD per million tokens into gate.yml, such as `{price}`, or limit "
        "`budget: {calls: N}` instead"
    )
