"""`gate dataset check`: each right answer passes its graders, and no wrong one made of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from gate.agents.judges.judge_panel import panel_of
from gate.commands.options.records import own_config
from gate.errors import InfrastructureError, UsageError
from gate.plugins import Ask, World
from gate.records import Config, Json, Suite
from gate.run.check_dataset import Count, DatasetCheck, DatasetFinding, check_cases
from gate.run.grade import make_graders
from gate.run.home import check_has_config
from gate.suites.cases.dataset import cases, check
from gate.suites.config.load import select
from gate.suites.protection.rules import Rules
from gate.system.sealing import nameable
from gate.text import figures
from gate.text.escaping import plain
from gate.text.secret_names import secrets_sent
from gate.text.shortening import shorten

_SHOWN = 300  # characters of an answer or a reason
_MOST_TOLD = 200  # findings of a suite; the rest is a number
_ABOUT = {
    "gold": "the right answer fails",
    "empty": "an empty answer passes",
    "other_gold": "the right answer to another case passes",
    "swapped": "an answer with two numbers swapped passes",
    "turned": "the opposite passes",
    "number_5pct": "an answer with a number 5 % off passes",
}


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns 0 if every right answer passes and no wrong one does, else 1. Raises GateError.
    Options: `config`, `suite`, `judge` (also asks the models of gate.yml), `format`.
    """
    config, root = own_config(options, env)
    check_has_config(config, env, bundled_wanted=bool(options.suite))
    config = select(config, options.suite or (), root)
    with ExitStack() as stack:
        ask = _connect_judge(config, root, options, env, stack) if options.judge else None
        checked = [_check_suite(config, suite, root, ask) for suite in config.suites]
    if options.format == "json":
        print(json.dumps(as_data(checked), indent=2))
    else:
        for line in (line for result in checked for line in as_lines(result)):
            print(plain(line))
    return int(any(result.faults for result in checked))


def _check_suite(config: Config, suite: Suite, root: Path, ask: Ask | None) -> DatasetCheck:
    source = Rules(config=config, own=config, root=root).head_source(suite)
    if source is None:
        raise UsageError(f"suite '{suite.name}' has no dataset to check")
    graders = make_graders(suite.graders, root)
    check(source, graders)
    return check_cases(suite.name, source.name, cases(source, graders), graders, ask)


def _connect_judge(
    config: Config,
    root: Path,
    options: argparse.Namespace,
    env: Mapping[str, str],
    stack: ExitStack,
) -> Ask:
    """Asks the judge of gate.yml. Raises UsageError without one, InfrastructureError where it is
    out of reach.
    """
    if config.judge is None:
        raise UsageError(
            "--judge asks the model under `judge` in gate.yml, and there is none; docs/judge.md "
            "shows the lines it takes"
        )
    plugin_options = [
        one.options for one in (config.agent, config.judge, config.verifier) if one is not None
    ]
    options.secrets.update(secrets_sent(env, plugin_options))
    panel = panel_of(config, World(env=nameable(env), root=root), hidden=options.secrets)
    stack.callback(panel.close)
    if lost := panel.unreachable():
        raise InfrastructureError(lost)
    return panel.ask


# -------------------------------------------------------------------------------------------- text


def as_lines(checked: DatasetCheck) -> Iterator[str]:
    """The findings with their places, then one line of figures."""
    for finding in checked.findings[:_MOST_TOLD]:
        yield from _finding_lines(finding)
    if len(checked.findings) > _MOST_TOLD:
        yield f"{checked.dataset}: and {len(checked.findings) - _MOST_TOLD} more"
    for name in checked.telling_nothing:
        yield (
            f"{checked.dataset}: the grader '{name}' cannot tell right from wrong: it "
            "passes every right and every wrong answer - give it something to check, or "
            "remove it"
        )
    for line in checked.unneeded:
        yield f"warning: {line}"
    if checked.not_asked:
        names = ", ".join(checked.not_asked)
        yield f"{checked.dataset}: not run: {names} (`--judge` also runs graders that call a model)"
    yield f"suite '{checked.suite}': {_summary(checked)}"


def _finding_lines(finding: DatasetFinding) -> Iterator[str]:
    yield f"{finding.place}: {finding.case}: {finding.mutation}: {_ABOUT[finding.mutation]}"
    yield f"    {shorten(finding.answer, _SHOWN) or '(nothing)'}"
    if finding.why:
        yield f"    {shorten(finding.why, _SHOWN)}"


def _summary(checked: DatasetCheck) -> str:
    right = checked.right
    parts = [f"{checked.cases} cases", f"right answers: {right.passed} of {right.tried} pass"]
    if checked.without_gold:
        parts.append(f"{checked.without_gold} without a right answer")
    parts += [
        f"{name} {count.failed} of {count.tried} fail" + _rest(count)
        for name, count in checked.mutations.items()
        if count.tried
    ]
    if checked.allowed_cases:
        share = figures.portion(checked.allowed_cases / max(1, checked.cases))
        parts.append(f"allowed in {checked.allowed_cases} cases ({share})")
    return ", ".join(parts)


def _rest(count: Count) -> str:
    rest = [
        f"{n} {word}" for n, word in ((count.allowed, "allowed"), (count.open, "left open")) if n
    ]
    return f" ({', '.join(rest)})" if rest else ""


def as_data(checked: Sequence[DatasetCheck]) -> Json:
    """Figures and findings of each suite, for other programs."""
    return {
        "findings": sum(suite.faults for suite in checked),
        "suites": [
            {
                "suite": suite.suite,
                "dataset": suite.dataset,
                "cases": suite.cases,
                "without_gold": suite.without_gold,
                "gold": _count(suite.right),
                "mutations": {name: _count(count) for name, count in suite.mutations.items()},
                "allowed_cases": suite.allowed_cases,
                "telling_nothing": suite.telling_nothing,
                "not_asked": suite.not_asked,
                "unneeded": suite.unneeded,
                "findings": [
                    {
                        "case": finding.case,
                        "place": finding.place,
                        "mutation": finding.mutation,
                        "answer": finding.answer,
                        "why": finding.why,
                    }
                    for finding in suite.findings
                ],
            }
            for suite in checked
        ],
    }


def _count(count: Count) -> Json:
    return {
        "tried": count.tried,
        "passed": count.passed,
        "failed": count.failed,
        "allowed": count.allowed,
        "open": count.open,
    }
