"""Asks the agent, the judge and the verifier one question each, for `gate doctor`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gate.agents.judges.models import model_of
from gate.agents.judges.vote import Patience
from gate.agents.list_prices import LIST_PRICES
from gate.agents.pricing import cost_usd, listed_model, with_list_prices
from gate.agents.under_test import NOBODY, check_health
from gate.errors import AgentFailure, GateError, InfraFailure
from gate.records import Case, PluginSpec, Question, Reply, Response, Role
from gate.run.finding import Finding, advise_on_failure, make_fault
from gate.run.prepare import SuitePlan
from gate.run.setup import RunPlace, Setup
from gate.suites.cases.sent_keys import list_sent_keys
from gate.text import figures
from gate.text.shortening import shorten

if TYPE_CHECKING:
    from gate.plugins import Agent

PROBE = "Hello, can you hear me?"  # where no case can be asked
_ANSWER = 200  # characters that are shown


def examine_agent(setup: Setup) -> Iterator[Finding]:
    """Asks the first case of the first suite, once."""
    if (finding := _find_unreachable(setup.place, setup.agent)) is not None:
        yield finding
        return
    chosen = ((plan, case) for plan in setup.plans if plan.ask is None for case in _first(plan))
    found = next(chosen, None)
    if found is None:
        text = f"{setup.agent.describe()}: reachable; a suite written as code asks it"
        yield Finding(name=_name(setup.place), text=text)
        return
    plan, case = found
    again = f"try it with `gate run --case {case.id}`"
    yield from _ask(setup.place, setup.agent, case, f"{plan.name}/{case.id}", again)


def probe_agent(place: RunPlace, agent: Agent) -> Iterator[Finding]:
    """Asks a question of no dataset, where the datasets are at fault."""
    try:
        if (finding := _find_unreachable(place, agent)) is not None:
            yield finding
            return
        if list_sent_keys(place.config, place.world.root):
            text = f"{agent.describe()}: reachable; not asked, as a case is missing for its request"
            yield Finding(name=_name(place), text=text)
            return
        case = Case(id="probe", input=PROBE, keys={"input": PROBE})
        again = "run `gate doctor` again once the dataset is mended: it then asks a case"
        yield from _ask(place, agent, case, f'"{PROBE}"', again)
    except GateError as error:  # a variable that is not set
        yield make_fault(_name(place), str(error))


def _name(place: RunPlace) -> str:
    return "retriever" if place.config.agent.name == NOBODY else "agent"


def _find_unreachable(place: RunPlace, agent: Agent) -> Finding | None:
    health = check_health(agent, place.world)
    if health.ok:
        return None
    return make_fault(_name(place), health.error, advise_on_failure(health.error, ""))


def _first(plan: SuitePlan) -> Iterator[Case]:
    return plan.cases(frozenset([next(iter(plan.digests))])) if plan.digests else iter(())


def _ask(place: RunPlace, agent: Agent, case: Case, asked: str, again: str) -> Iterator[Finding]:
    name, redact = _name(place), place.host.redactor().redact
    about = f"{agent.describe()}, asked {asked}"
    with tempfile.TemporaryDirectory() as folder:
        connection = agent.connect(replace(place.world, session=Path(folder)))
        start = time.perf_counter()
        try:
            response = connection.ask(case, timeout_s=agent.timeout_s)
        except (AgentFailure, InfraFailure) as failure:
            todo = advise_on_failure(str(failure), again)
            yield Finding(name=name, text=f"{about}: {redact(str(failure))}", advice=todo)
            return
        finally:
            connection.close()
    took = figures.value((time.perf_counter() - start) * 1e3, "ms")
    answer = shorten(redact(response.answer or ""), _ANSWER)
    price = _price(place, response)
    yield Finding(name=name, text=f"{about}: {took}, {price or _UNKNOWN}, answered: {answer}")
    if not price and response.usage.output_tokens is not None:
        todo = "for costs, give the model's prices under `pricing` in gate.yml"
        text = f"{response.model or 'the model'} has no price"
        yield Finding(name="cost", text=text, advice=todo, warns=True)


_UNKNOWN = "cost unknown"


def _price(place: RunPlace, response: Response) -> str:
    """What the answer cost; empty where nobody knows."""
    prices = with_list_prices(place.config.pricing)
    cost = cost_usd(response.usage, response.model, prices)
    if cost is None:
        return ""
    if cost and (model := listed_model(response.usage, response.model, prices)):
        listed = LIST_PRICES[model]
        on = f"as {listed.source} had the price of {model} on {listed.read_on}"
        return f"{figures.money(cost)} ({on})"
    return figures.money(cost)


def examine_judges(place: RunPlace) -> Iterator[Finding]:
    """Asks each model that grades for one word."""
    roles: tuple[tuple[Role, PluginSpec | None], ...] = (
        ("judge", place.config.judge),
        ("verifier", place.config.verifier),
    )
    for role, spec in roles:
        if spec is None:
            continue
        try:
            yield from _ask_judge(place, role, spec)
        except GateError as error:  # a variable that is not set
            yield make_fault(role, str(error))


def _ask_judge(place: RunPlace, role: Role, spec: PluginSpec) -> Iterator[Finding]:
    kept = {name: value for name, value in spec.options.items() if name != "cache"}
    model = model_of(
        role,
        replace(spec, options=kept),
        with_list_prices(place.config.pricing),
        place.world,
        spent=0.0,
        patience=Patience(pause=lambda event, seconds: None),  # whoever waits for it is a person
        hidden=place.host.secrets,
    )
    who = model.agent.describe()
    health = check_health(model.agent, model.world)
    if not health.ok:
        todo = advise_on_failure(health.error, "", section=role)
        yield make_fault(role, health.error, todo)
        return
    question = Question(
        role=role,
        name="doctor",
        instructions='Reply with this JSON object and nothing else: {"heard": true}',
        material="Can you hear me?",
        schema=_HEARD,
    )
    start = time.perf_counter()
    try:
        reply = model.desk.vote(
            Case(id="doctor", input="", keys={}), question, lambda reply: None
        ).result()
    finally:
        model.desk.close()
    took = figures.value((time.perf_counter() - start) * 1e3, "ms")
    yield _judge_finding(role, who, reply, took)


_HEARD = {
    "type": "object",
    "properties": {"heard": {"type": "boolean"}},
    "required": ["heard"],
    "additionalProperties": False,
}


def _judge_finding(role: Role, who: str, reply: Reply, took: str) -> Finding:
    cost = _UNKNOWN if reply.cost_usd is None else figures.money(reply.cost_usd)
    if reply.data is not None:
        return Finding(name=role, text=f"{who}: answered a small question: {took}, {cost}")
    if _NO_FORM in reply.failure:
        todo = "a rubric's question may fare better; `gate run` shows what it answers"
        text = f"{who}: answers, but not in the form asked for: {took}, {cost}"
        return Finding(name=role, text=text, advice=todo, warns=True)
    todo = advise_on_failure(reply.failure, "check the judge's section in gate.yml", section=role)
    return make_fault(role, f"{who}: {reply.failure}", todo)


_NO_FORM = "has the required form"  # of a reply that came, and is no judgement
