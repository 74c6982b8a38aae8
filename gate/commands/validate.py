"""`gate validate`: checks config, datasets and baselines and reports every error at once; nothing
is called.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from gate.agents.under_test import NOBODY, sends_case_keys
from gate.analysis.catalogue import collect_k
from gate.analysis.default_gates import format_default_gates
from gate.commands.options.records import home_of
from gate.errors import GateError, InfraFailure, InvalidInput, UsageError
from gate.files.plain_file import is_there
from gate.graders.user_code.make import make_grader
from gate.plugins import AGENTS, RETRIEVERS, Grader, World, build
from gate.records import Case, Config, Suite
from gate.run.home import check_has_config, tell_unused_datasets
from gate.run.rules_for_event import choose_judging_rules, where_of
from gate.store.baseline.schema import CheckedBaseline, check_text
from gate.suites.cases.dataset import Summary, cases, check
from gate.suites.config.check_judge import kinship
from gate.suites.config.check_provider_key import provider_key
from gate.suites.config.lint import ConfigFindings, lint_with_data
from gate.suites.config.load import (
    ExaminedConfig,
    defaults,
    examine,
    measure,
    select,
    without_secrets,
)
from gate.suites.protection.rules import CONFIG, Rules, disk
from gate.text.escaping import plain

RESULTS = Path("results")  # where `gate run` writes without --out


@dataclass(slots=True, kw_only=True)
class _Examination:
    """What was read so far, and what is wrong with it."""

    config: Config
    root: Path
    found: ConfigFindings
    lines: list[str] = field(default_factory=list)  # what was checked, for the reader
    baselines: dict[str, CheckedBaseline] = field(default_factory=dict)  # by suite
    cases: dict[str, frozenset[str]] = field(default_factory=dict)  # suite -> case ids
    read: list[Callable[[], Iterator[Case]]] = field(default_factory=list)  # the cases to be asked


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns 0 if nothing is wrong. Raises InvalidInput with every problem. Options: `config`
    (None: gate.yml, or the built-in defaults without one), `suite`.
    """
    today = datetime.now(UTC).date()
    home = home_of(options)
    root = home.root
    examined = _examine_config(home.file, root, env, today)
    check_has_config(examined.config, env, bundled_wanted=bool(options.suite))
    config = select(examined.config, options.suite or ())
    done = _Examination(config=config, root=root, found=examined.findings)
    new = [suite for suite in config.suites if suite.name not in examined.measured]
    measured = {**examined.measured, **measure(new, root, done.found, collect_k(config))}
    done.lines.append(_summarise_config(config))
    done.lines += [
        f"suite '{suite.name}': {gate}"
        for suite in config.suites
        for gate in format_default_gates(suite)
    ]
    for suite in config.suites:
        _dataset(suite, done)
        _baseline(suite, done)
    done.lines += tell_unused_datasets(config.suites)
    _check_models(config, root, env, done.found)
    _check_case_keys(done)
    done.found.add(lint_with_data(config, measured, done.cases))
    done.found.add(kinship(config, root))
    if not done.found.problems:  # the agent may be none of gate.yml's then
        done.found.add(provider_key(config))
        _budget(config, root, done.found)
        _odds(done)
    for warning in dict.fromkeys(done.found.warnings):
        print("warning:", plain(warning))
    if done.found.problems:
        raise InvalidInput(without_secrets(done.found.problems, config, env))
    for line in (*done.lines, *_judges(examined.config, root, env)):
        print(plain(line))
    print("No problems found.")
    return 0


def _judges(config: Config, root: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    """Whose rules judge a run here. Raises what the run would raise, too."""
    where = where_of(env, root)
    rules = choose_judging_rules(config, root, where, None)
    if rules.base is not None:
        base = f"{rules.base.name} ({rules.base.sha[:7]})"
        return (
            f"a run here uses the rules and cases of {base}, not these files",
            *rules.notes,
        )
    return rules.notes or ("a run here uses these files",)


def _examine_config(
    file: str | None, root: Path, env: Mapping[str, str], today: date
) -> ExaminedConfig:
    if file is None and not is_there(root / CONFIG):
        config, findings = defaults(), ConfigFindings()
        measured = measure(config.suites, root, findings, collect_k(config))
        return ExaminedConfig(config=config, measured=measured, findings=findings)
    return examine(disk(root), Path(file or CONFIG).name, env=env, root=root, today=today)


def _summarise_config(config: Config) -> str:
    gates = len(config.gates) + sum(len(suite.gates) for suite in config.suites)
    name = config.file or f"no {CONFIG}: built-in defaults"
    suites = _plural(len(config.suites), "suite")
    programs = [f"agent '{config.agent.name}'"] if config.agent.name != NOBODY else []
    programs += [f"retriever '{config.retriever.name}'"] if config.retriever else []
    return f"{name}: {', '.join(programs)}, {suites}, {_plural(gates, 'gate')}"


def _dataset(suite: Suite, done: _Examination) -> None:
    try:
        source = Rules(config=done.config, own=done.config, root=done.root).head_source(suite)
        if source is None:
            return
        graders = dict(_graders(suite, done.root))
        summary = check(source, graders)
    except InvalidInput as error:
        done.found.problems += error.problems
        return
    done.cases[suite.name] = frozenset(summary.digests)
    if not suite.suite:
        done.read.append(partial(cases, source, graders, checked=summary))
    done.found.warnings += summary.warnings
    done.lines.append(f"{source.name}: {_count(summary)}")


def _graders(suite: Suite, root: Path) -> Iterator[tuple[str, Grader]]:
    """Those that can be made; why the others cannot is told with the config."""
    for spec in suite.graders:
        try:
            yield spec.name, make_grader(spec, root)
        except (UsageError, ValueError, TypeError, AttributeError):
            continue


def _check_models(
    config: Config, root: Path, env: Mapping[str, str], findings: ConfigFindings
) -> None:
    """Addresses, programs, files and functions that gate.yml names; none is called."""
    models = ("agent", "control_agent", "judge", "verifier")
    sections = [(name, getattr(config, name), AGENTS) for name in models]
    for section, spec, registry in (*sections, ("retriever", config.retriever, RETRIEVERS)):
        if spec is None:
            continue
        try:
            model = build(registry, spec, root)
        except UsageError:
            continue  # told with the rest of gate.yml
        try:
            model.check(World(env=env, root=root, section=section, offline=True))
        except (UsageError, InfraFailure) as error:
            told = f"{error}".startswith(f"{section}.")  # the setting, with its section
            place = replace(spec.place, key="") if told else spec.place
            findings.wrong(place, str(error))


def _check_case_keys(done: _Examination) -> None:
    """Keys of cases that a request is filled with."""
    config = done.config
    if not sends_case_keys([config.agent], [config.retriever]):
        return
    from gate.suites.cases.sent_keys import AskedCase, find_absent_keys, list_sent_keys

    try:
        sent = list_sent_keys(config, done.root)
    except UsageError:  # told with the rest of gate.yml
        return
    if sent:
        asked = (AskedCase(case=case) for read in done.read for case in read())
        done.found.problems += find_absent_keys(sent, asked, done.root / (config.file or CONFIG))


def _budget(config: Config, root: Path, findings: ConfigFindings) -> None:
    """What a run would refuse, or end at, because of a budget of money."""
    if config.budget.usd is None:
        return
    from gate.run.budget import check_price, foresee_unknown_costs

    try:
        check_price(config, build(AGENTS, config.agent, root))
    except UsageError as error:
        findings.wrong(config.agent.place, str(error))
    else:
        findings.warnings += foresee_unknown_costs(config)


def _count(summary: Summary) -> str:
    categories = Counter(summary.categories.values())
    text = _plural(summary.cases, "case")
    text += f" in {len(categories)} categories" if len(categories) > 1 else ""
    left_out = ", ".join(f"{n} {status}" for status, n in sorted(summary.not_run.items()))
    return text + (f" (not run: {left_out})" if left_out else "")


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" + "s" * (n != 1)


def _baseline(suite: Suite, done: _Examination) -> None:
    path = Path(done.config.baseline.path, f"{suite.name}.json").as_posix()
    content = disk(done.root)(path)
    if content is None:
        return
    try:
        checked = check_text(content, path)
    except InvalidInput as error:
        done.found.problems += error.problems
    except GateError as error:
        done.found.wrong(suite.place, str(error))
    else:
        done.lines.append(f"{path}: a baseline")
        done.baselines[suite.name] = checked


def _odds(done: _Examination) -> None:
    """How often noise alone would miss each limit; needs what main, or the newest run, was like."""
    config = done.config
    gates = [*config.gates, *(gate for suite in config.suites for gate in suite.gates)]
    if not any(gate.has_limit and gate.level == "block" for gate in gates):
        return
    if not done.baselines and not RESULTS.is_dir():
        why = f"there is no baseline in {config.baseline.path}/ and no session in {RESULTS}/"
        done.lines.append(f"cannot estimate how often chance alone would break a limit: {why}")
        return
    from gate.commands.limit_odds import tell_limit_odds

    for warns, text in tell_limit_odds(config, done.baselines, RESULTS, datetime.now(UTC)):
        (done.found.warnings if warns else done.lines).append(text)
