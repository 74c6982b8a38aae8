"""Checks, before anything is asked, that no case lacks a key which the request of an agent or
retriever is filled with (`{{case.KEY}}`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gate.errors import InvalidInput
from gate.plugins import RETRIEVERS
from gate.records import Config
from gate.run.control_agent import Control
from gate.run.prepare import SuitePlan
from gate.suites.cases.sent_keys import (
    AskedCase,
    SentKey,
    find_absent_keys,
    list_keys,
    list_sent_keys,
)
from gate.suites.protection.rules import CONFIG, Rules


def check_case_keys(
    rules: Rules, config: Config, plans: Sequence[SuitePlan], control: Control
) -> None:
    """Raises InvalidInput where a chosen case lacks a key that the agent, the retriever or the
    control agent is sent. `config`: with the options applied.
    """
    sent = [*list_sent_keys(config, rules.root), *_list_control_keys(control, rules)]
    if not sent:
        return
    base = rules.base.name if rules.base else ""
    asked = (
        AskedCase(case=case, is_new=is_new, base="" if is_new else base)
        for plan in plans
        if plan.ask is None
        for case in plan.cases()
        for is_new in (case.id in plan.new_cases,)
    )
    if problems := find_absent_keys(sent, asked, rules.root / (config.file or CONFIG)):
        raise InvalidInput(problems)


def _list_control_keys(control: Control, rules: Rules) -> Iterator[SentKey]:
    """Those of the control, as far as it is asked."""
    section = "agent" if control.of_base else "control_agent"
    base = rules.base or (rules.beside if control.of_base else None)
    for sent in (
        *list_keys(section, control.agent, rules.root),
        *list_keys("retriever", control.retriever, rules.root, RETRIEVERS),
    ):
        yield replace(sent, control_at=base.sha[:7] if base else "")
