"""What a run will cost, agent and judge, by what stored trials cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gate.agents.pricing import model_of, price_of, with_list_prices
from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.graders.rubrics.built_in import rubrics_of
from gate.records import Config, Price
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup
from gate.store.measurements import StoredSuite
from gate.text import figures
from gate.verdict.planning.plan import price_per_call

BASELINE = "the baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCost:
    """USD of one trial of a suite, with all its tries; None is unknown."""

    agent: float | None
    told_by: str = ""  # whose trials say so: `the baseline`; empty: nobody's
    stored: float | None = None  # what a trial of those cost then, at the price of then
    other_agent: str = ""  # what those trials asked instead; empty: the same model
    table: Table | None = None  # of those trials
    votes: int = 0  # calls of the judge
    judge: float | None = None
    judge_told_by: str = ""

    @property
    def total(self) -> float | None:
        if self.agent is None or (self.votes and self.judge is None):
            return None
        return self.agent + (self.judge or 0.0)


def estimate_trial_cost(
    setup: Setup, plan: SuitePlan, stored: Table | None, newest: Mapping[str, StoredSuite]
) -> TrialCost:
    """By the `stored` baseline; without one, and for the judge, by the newest session's suites."""
    config, session = setup.place.config, newest.get(plan.name)
    table, facts, told_by = stored, _facts_of_baseline(setup, plan), BASELINE
    if table is None and session is not None:
        table, facts, told_by = session.table, session.facts, tell_session(session)
    model, price = agent_price(config)
    asked = facts.get("agent", "")
    other = asked if is_other_model(asked, model) else ""
    cost = TrialCost(
        agent=price_per_call(table, price, other_model=bool(other)),
        told_by="" if table is None else told_by,
        stored=price_per_call(table),
        other_agent=other,
        table=table,
        votes=_count_votes(config, plan),
    )
    if not cost.votes or session is None:
        return cost
    if session.facts.get("judge", "") != (setup.provenance.judge or ""):
        return cost
    return replace(cost, judge=usd_of_judge(session.tally), judge_told_by=tell_session(session))


def tell_session(session: StoredSuite) -> str:
    """How the newest session is named as a source: one that was cut short by its number of trials,
    which may not be the suite's typical ones.
    """
    if session.not_run > 0:
        return f"{figures.count(session.tally.trials, 'trial')} of the newest session here"
    return "the newest session here"


def usd_of_judge(tally: Tally) -> float | None:
    """Of a trial, as its judge's votes cost; None: nobody judged, or a cost is unknown."""
    known = tally.judge_calls and tally.trials and not tally.judge_unknown
    return tally.judge_usd / tally.trials if known else None


def is_other_model(asked: str, model: str) -> bool:
    """Whether stored trials are another model's. `asked`: the agent as a session describes it, such
    as `openai gpt-5 at api.example`; a recording does not say whose it is.
    """
    words = asked.split()
    return bool(model and words and words[0] != "replay" and model not in words)


def agent_price(config: Config) -> tuple[str, Price | None]:
    """The agent's model, and what gate.yml or the provider's list says that it costs."""
    model = model_of(config.agent)
    return model, price_of(model, with_list_prices(config.pricing))


def tell_changed_price(cost: TrialCost, model: str, price: Price | None) -> str:
    """Why the cost is not what was stored; empty where it is."""
    if cost.other_agent and cost.agent is None:
        return (
            f"the cost is unknown: {cost.told_by} asked another agent ({cost.other_agent}), and "
            f"the price of `{model}` is unknown: write it into `pricing`"
        )
    if cost.agent is None or price is None or cost.stored is None or cost.agent == cost.stored:
        return ""
    then = f"a call cost {figures.money(cost.stored)} there"
    why = f"it asked {cost.other_agent}" if cost.other_agent else "at another price"
    return (
        f"the cost is that of the mean tokens of {cost.told_by} at today's price of `{model}`; "
        f"{then}, {'as ' if cost.other_agent else ''}{why}"
    )


def tell_list_prices(models: Iterable[str], prices: Mapping[str, Price]) -> Iterator[str]:
    """Which prices are those of a provider's list, and of which day."""
    listed = with_list_prices(prices)
    for model in dict.fromkeys(models):
        price = price_of(model, listed)
        if price is not None and price.source:
            yield (
                f"Price of {model}: list price read on {price.read_on} from {price.source}; used "
                "where the agent reports no cost"
            )


def _facts_of_baseline(setup: Setup, plan: SuitePlan) -> Mapping[str, str]:
    found = setup.baselines.get(plan.name)
    return found.runs[-1].fingerprint if found is not None and found.runs else {}


def _count_votes(config: Config, plan: SuitePlan) -> int:
    """Calls of the judge for one trial."""
    votes = config.judge.options.get("votes", 1) if config.judge else 0
    rubrics = rubrics_of(plan.graders.values())
    return sum(2 if rubric.compare_with else 1 for rubric in rubrics) * int(votes)
