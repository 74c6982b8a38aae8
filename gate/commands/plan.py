"""`gate plan`: what a run could detect and what that costs, before anything is spent."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gate.analysis.default_gates import format_default_gates
from gate.analysis.pairing import too_few_left
from gate.analysis.table import Table
from gate.commands.label_review.criteria import rubrics_of
from gate.commands.options.records import home_of, host_of, run_options
from gate.errors import UsageError
from gate.records import BaselineInfo, Config
from gate.records.codec import to_json
from gate.report.wording.planning import as_markdown, as_text
from gate.run.control_agent import Control
from gate.run.options import RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup, set_up
from gate.store.baseline.find import Compared
from gate.store.measurements import Stored, load
from gate.suites.protection.rules import load_own_config
from gate.text.figures import count
from gate.text.suggestions import did_you_mean
from gate.verdict.planning.plan import (
    PlannedSuite,
    list_quarantined,
    plan,
    suite_from_baseline,
    without,
)

WIDTH = 100
ROUNDS = 3  # of a suite that gate.yml does not know; a baseline file has those of many runs
NONE_WANTED = Compared(table=None, info=BaselineInfo(source="none", detail="none was wanted"))


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """0; raises UsageError for what cannot be read. No agent is called."""
    if options.session:
        config, subjects = _of_session(options, env)
        found = plan(subjects, config)
    else:
        setup = set_up(_planned_run(options), host_of(options, env), control=Control())
        subjects = [_subject(setup, one) for one in setup.plans]
        found = plan(subjects, setup.config, tuple(dict.fromkeys(setup.config.warnings)))
    if options.format == "json":
        print(json.dumps(to_json(found), indent=2))
    elif options.format == "markdown":
        print(as_markdown(found))
    else:
        print(as_text(found, width=min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)))
    return 0


def _planned_run(options: argparse.Namespace) -> RunOptions:
    """The run that is planned: for gate.yml as it stands here."""
    return replace(run_options(options), own_rules=True)


def _subject(setup: Setup, one: SuitePlan) -> PlannedSuite:
    found = setup.baselines.get(one.suite.name, NONE_WANTED)
    table, left_out = found.table, list_quarantined(setup.config)
    now = {case.id: case.digest for case in one.cases() if case.id not in left_out}
    notes: tuple[str, ...] = ()
    if table is not None:
        asked = without(table, left_out | (one.all_ids - one.chosen))
        table, notes = _paired(asked, now)
    return PlannedSuite(
        name=one.suite.name,
        cases=len(now),
        rounds=one.suite.rounds,
        specs=one.specs,
        table=table,
        baseline=found.info,
        gates=one.suite.gates,
        graders=one.grader_digests,
        drift=found.drift,
        batch=setup.agent.concurrency,
        notes=(*notes, *format_default_gates(one.suite), *_judged(setup.config, one, len(now))),
    )


def _judged(config: Config, one: SuitePlan, cases: int) -> Iterator[str]:
    """That a judge comes on top: nothing recorded says what its calls cost."""
    rubrics = rubrics_of(one.graders.values())
    votes = config.judge.options.get("votes", 1) if config.judge else 0
    asked = sum(2 if rubric.compare_with else 1 for rubric in rubrics) * int(votes)
    if asked:
        most = f"{cases * one.suite.rounds * asked:,} in {one.suite.rounds} rounds"
        yield f"the judge's calls come on top, up to {most}, and are in no cost here"


def _paired(table: Table, now: Mapping[str, str]) -> tuple[Table | None, tuple[str, ...]]:
    """The baseline of the cases as they are `now` (id -> hash), and what is to be told. The table
    is without cases that are not asked.
    """
    known = zip(table.cases, table.digests, strict=True)
    rows = [row for row, (case, digest) in enumerate(known) if now.get(case) == digest]
    if too_few_left(len(rows), len(table.cases)):
        few = f"only {len(rows)} of the {len(now)} cases are in the baseline as they are now"
        return None, (f"{few}, which is too few to compare",)
    gone = len(table.cases) - len(rows)
    if not gone:
        return table.select(rows), ()
    verb = "was" if gone == 1 else "were"
    told = f"{count(gone, 'case')} of the baseline {verb} removed or changed since"
    return table.select(rows), (told,)


# ------------------------------------------------------------------------------ a stored session


def _of_session(
    options: argparse.Namespace, env: Mapping[str, str]
) -> tuple[Config, list[PlannedSuite]]:
    """A session's rounds as the baseline; its suites need no dataset here."""
    for name in ("baseline", "sample"):
        if getattr(options, name) is not None:
            raise UsageError(f"gate plan SESSION: plans with its own cases; leave --{name} out")
    now = datetime.now(UTC)
    stored = load(Path(options.session), now)
    home = home_of(options)
    config = load_own_config(home.file, home.root, env, now.date())
    if stored.provenance.event == "import" and not _asked(stored, config):
        config = replace(config, regression=replace(config.regression, stop="off"))
    return config, list(_stored_subjects(stored, config, options))


def _asked(stored: Stored, config: Config) -> bool:
    """Whether a run of gate.yml has one of the suites. Another tool's rounds are made beforehand:
    no look ends them early.
    """
    return any(suite.name in stored.suites for suite in config.suites)


def _stored_subjects(
    stored: Stored, config: Config, options: argparse.Namespace
) -> Iterator[PlannedSuite]:
    names = [name for name in options.suite or stored.suites if name != "all"] or stored.suites
    for name in names:
        if name not in stored.suites:
            hint = did_you_mean(name, tuple(stored.suites))
            raise UsageError(f"--suite {name}: not in {stored.name}{hint}")
        rules = next((suite for suite in config.suites if suite.name == name), None)
        found = stored.suites[name]
        made = found.meta.rounds if stored.session else min(ROUNDS, found.meta.rounds)
        rounds = options.rounds or (rules.rounds if rules else made)
        yield suite_from_baseline(name, found, rules, config, rounds)
