"""`gate calibrate`: how often the gate would block an agent that did not change."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from gate.agents.under_test import subject
from gate.analysis.pooling import pool
from gate.commands.options.records import home_of, host_of, own_config, page_width, run_options
from gate.errors import InfrastructureError, UsageError
from gate.records import Config
from gate.records.baseline import BaselineRun
from gate.records.calibration import Calibration
from gate.records.codec import to_json
from gate.report.wording.blocks import markdown_of, text_of
from gate.report.wording.calibration import blocks
from gate.run.control_agent import Control
from gate.run.execute import execute
from gate.run.options import RunOptions
from gate.run.setup import Setup, set_up
from gate.store.baseline.file import BaselineFile, newest
from gate.store.baseline.find import differences
from gate.store.measurements import load
from gate.text.escaping import plain
from gate.text.figures import count, join_words, money
from gate.text.suggestions import did_you_mean
from gate.verdict.calibration.false_alarms import calibrate
from gate.verdict.calibration.recorded_rounds import RecordedRounds, RecordedSuite, join_rounds

WIDTH = 100
ROUNDS = 3  # of a suite that gate.yml does not know; a baseline file has those of many runs
TOLD_EVERY = 20
AGENT = ("agent", "agent_digest", "agent_options", "judge")  # what must not differ between runs


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the measured rate; returns 1 if it is surely above `--max`, else 0. Raises
    GateError.
    """
    sessions = [Path(path) for path in options.sessions]
    if options.runs:
        sessions += _record(options, env)
    config, suites = _material(options, sessions, env)
    with _counter(sys.stderr, options.reps) as report_progress:
        calibration = calibrate(
            suites, config, reps=options.reps, seed=options.seed, report_progress=report_progress
        )
    print(_format_calibration(calibration, options.format))
    return int(options.max is not None and calibration.at_least > options.max)


def _format_calibration(calibration: Calibration, form: str) -> str:
    if form == "json":
        return json.dumps(to_json(calibration), indent=2)
    if form == "github":
        return markdown_of(blocks(calibration))
    return text_of(blocks(calibration), width=page_width(WIDTH))


@contextmanager
def _counter(stream: TextIO, reps: int) -> Iterator[Callable[[int], None]]:
    """A line that counts on a terminal, and is gone in the end."""
    shown = stream.isatty()

    def told(done: int) -> None:
        if shown and done % TOLD_EVERY == 0:
            stream.write(f"\r{done:,} of {reps:,}")
            stream.flush()

    try:
        yield told
    finally:
        if shown:
            stream.write("\r" + " " * 40 + "\r")


def _run_of_same_suites(options: argparse.Namespace) -> RunOptions:
    """For gate.yml as it stands here."""
    return replace(run_options(options), format="rich", home=home_of(options), own_rules=True)


# ------------------------------------------------------------------------------- what was recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Rounds of one suite from one place. `made`: of a run of it, where gate.yml does not say."""

    suite: str
    rounds: RecordedRounds
    made: int = ROUNDS
    notes: tuple[str, ...] = ()


def _material(
    options: argparse.Namespace, sessions: Sequence[Path], env: Mapping[str, str]
) -> tuple[Config, list[RecordedSuite]]:
    """The sessions that are named, and the baseline where one is named or no session is."""
    parts = list(_parts_of_sessions(sessions, options.suite))
    if options.baseline is None and sessions:
        config, root = own_config(options, env)
        concurrency = subject(config.agent, config.retriever, root).concurrency
    else:
        setup = set_up(_run_of_same_suites(options), host_of(options, env), control=Control())
        config, concurrency = setup.place.config, setup.agent.concurrency
        parts += _parts_of_baselines(setup)
        if not parts:
            raise UsageError(_nothing(setup))
    together: dict[str, list[_Part]] = {}
    for part in parts:
        together.setdefault(part.suite, []).append(part)
    suites = [
        _join_parts(name, each, config, batch=concurrency, rounds=options.rounds)
        for name, each in together.items()
    ]
    return config, suites


def _parts_of_sessions(sessions: Sequence[Path], names: Sequence[str] | None) -> Iterator[_Part]:
    now = datetime.now(UTC)
    suites = [item for path in sessions for item in load(path, now).suites.items()]
    known = tuple(dict.fromkeys(name for name, _ in suites))
    for name in names or ():
        if known and name not in (*known, "all"):
            raise UsageError(f"--suite {name}: not in these sessions{did_you_mean(name, known)}")
    for name, suite in suites:
        if not names or name in names or "all" in names:
            yield _Part(
                suite=name,
                rounds=RecordedRounds(table=suite.table, runs=suite.runs),
                made=min(ROUNDS, suite.meta.rounds) if len(suite.runs) > 1 else suite.meta.rounds,
                notes=suite.info.notes,
            )


def _parts_of_baselines(setup: Setup) -> Iterator[_Part]:
    for name, baseline in setup.baselines.items():
        if baseline.table is not None:
            rounds = RecordedRounds(table=baseline.table, runs=baseline.runs)
            yield _Part(suite=name, rounds=rounds, notes=baseline.info.notes)


def _nothing(setup: Setup) -> str:
    details = dict.fromkeys(baseline.info.detail for baseline in setup.baselines.values())
    why = join_words(detail for detail in details if detail)
    return (
        f"gate calibrate: there is no baseline{f' ({why})' if why else ''}; give sessions "
        "of one agent, or record some with --runs N"
    )


def _join_parts(
    name: str, parts: Sequence[_Part], config: Config, *, batch: int, rounds: int | None
) -> RecordedSuite:
    rules = config.find_suite(name)
    joined = join_rounds([part.rounds for part in parts])
    table = joined.table.without(config.quarantined)
    planned = rounds or (rules.rounds if rules else parts[-1].made)
    kept = config.baseline.rounds_to_keep(cases=len(table.cases), rounds=planned)
    stored = newest(BaselineFile(table=table, runs=joined.runs), kept)
    pooled = pool(stored.table, stored.runs)
    notes = [note for part in parts for note in part.notes]
    notes += [f"as a baseline of these runs: {note}" for note in pooled.left_out]
    return RecordedSuite(
        name=name,
        table=table,
        runs=joined.runs,
        rounds=planned,
        batch=batch,
        gates=rules.gates if rules else (),
        drift=pooled.drift,
        notes=tuple(dict.fromkeys([*notes, *pooled.remarks, *_list_different_runs(joined.runs)])),
    )


def _list_different_runs(runs: Sequence[BaselineRun]) -> Iterator[str]:
    """What makes the runs none of one agent."""
    for older, newer in pairwise(runs):
        before, now = (
            {key: run.fingerprint.get(key, "") for key in AGENT} for run in (older, newer)
        )
        changed = differences(before, now)
        if changed:
            yield (
                f"run {newer.session_id} was made with other settings than the one before it: "
                f"{join_words(changed)}; a difference this causes is not a false alarm"
            )
            return


# ---------------------------------------------------------------------------------- recording some


def _record(options: argparse.Namespace, env: Mapping[str, str]) -> list[Path]:
    """Asks the configured agent in `--runs` runs, one after the other; gives their sessions.

    Raises UsageError when gate.yml's budget does not allow for the calls, InfrastructureError when
    a run could not be judged.
    """
    run_alone = replace(_run_of_same_suites(options), baseline="none", stop_rule="off")
    host = host_of(options, env)
    setup = set_up(run_alone, host, control=Control())
    budget, spent = setup.place.config.budget, 0.0
    _announce(setup, options.runs)
    sessions: list[Path] = []
    for number in range(1, options.runs + 1):
        if budget.usd is not None:
            run_alone = replace(run_alone, budget_usd=budget.usd - spent)
        outcome = execute(run_alone, host)
        report = outcome.report
        done = f"run {number} of {options.runs}"
        if report.outcome == "error":
            raise InfrastructureError(f"{done}: {report.reason}; see {outcome.session_dir}")
        cost = money(report.cost.usd)
        _tell(f"{done}: {count(report.calls.made, 'call')}, cost: {cost}; {outcome.session_dir}")
        sessions.append(outcome.session_dir)
        spent += report.cost.usd or 0.0
        cut = any(suite.not_run for suite in report.suites.values())
        if cut or (budget.usd is not None and spent >= budget.usd):
            _tell(f"the budget is used up after {done}")
            break
    return sessions


def _announce(setup: Setup, runs: int) -> None:
    """How many calls are made, before the first one is."""
    trials = sum(plan.planned for plan in setup.plans)
    budget = setup.place.config.budget
    if budget.calls is not None and budget.calls < runs * trials:
        raise UsageError(
            f"--runs {runs}: {runs * trials:,} calls, and budget.calls in gate.yml allows "
            f"{budget.calls:,}; make fewer runs or raise it"
        )
    limit = f"at most {money(budget.usd)}" if budget.usd is not None else "no budget.usd is set"
    each = f"{count(runs, 'run')} of {trials:,} calls ({limit})"
    _tell(f"asks the agent {runs * trials:,} times: {each}")


def _tell(words: str) -> None:
    print(plain(f"gate calibrate: {words}"), file=sys.stderr, flush=True)
