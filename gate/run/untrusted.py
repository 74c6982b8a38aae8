"""Events with the base's secrets beside a head of anybody (`pull_request_target`, and
`workflow_run` after a pull request): everything that judges, and the agent, are the base's, and no
code of the checkout runs. The head's gate.yml is not read: it could name another address for the
agent's key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gate.errors import UsageError
from gate.files import yaml as yamlfile
from gate.files.source import DatasetSource, on_disk
from gate.github.context import current_job
from gate.records import Config, Suite
from gate.store.baseline.source_order import source_names
from gate.suites.config import build
from gate.suites.config.check import check_document
from gate.suites.config.load import DEFAULT_AGENT, code_of, defaults, load
from gate.suites.protection.rules import CONFIG, Rules, RulesBase
from gate.user_code.hashes import grader_file

RUNS_CODE = ("python", "command")  # agent types that run what the checkout has
READS_ANSWERS = ("recorded", "replay")  # types that answer from a file of the checkout
_ASKED = ("agent", "control_agent", "retriever", "judge", "verifier")
INSTEAD = (
    "run the gate under `pull_request` instead, or run it there and publish in a second "
    "workflow (docs/events.md)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseAlone(Rules):
    """Rules, agent and cases of the base, and nothing of the head."""

    def head_source(self, suite: Suite) -> DatasetSource | None:
        """The dataset of a bundled suite, which comes with the gate; None for any other."""
        path = Path(suite.dataset)
        return on_disk(path, path.name) if path.is_absolute() else None

    def base_source(self, suite: Suite) -> DatasetSource | None:
        """The base's dataset. Raises UsageError if the base does not have it: the head's must not
        replace it.
        """
        source = Rules.base_source(self, suite)  # super() does not work in a class with slots
        if source is None and self.base is not None and not Path(suite.dataset).is_absolute():
            raise UsageError(
                f"{suite.dataset}: {self.base.name} has no such file, and under this event cases "
                "are the base's alone; merge the dataset first"
            )
        return source


def refuse_checkout(command: str, env: Mapping[str, str]) -> None:
    """Raises UsageError under these events; for commands that load gate.yml and graders from the
    checkout.
    """
    job = current_job(env)
    if job.untrusted_head:
        raise UsageError(
            f"gate {command}: not allowed under {job.event}, which gives the base branch's "
            "secrets to a checkout that anybody may have written; use it under "
            "`pull_request`"
        )


def rules_of_base(
    options_file: str | None,
    root: Path,
    base: RulesBase | None,
    *,
    event: str,
    env: Mapping[str, str],
    today: date,
    recorded: bool,
) -> Rules:
    """The rules of `base`, checked that they run no code of the checkout in `root`. `recorded`:
    answers are replayed, so no agent runs, but judges do. Raises UsageError, InvalidInput.
    """
    if base is None:
        raise UsageError(
            f"{event}: the base's gate.yml cannot be read, and the checkout's must not be "
            "used here; give the step `github-token` and the job `contents: read`"
        )
    file = Path(options_file or CONFIG).name
    content = base.forge.read(file, base.sha)
    if content is None:
        if options_file is not None or os.path.lexists(root / CONFIG):
            raise UsageError(
                f"{event}: {base.name} has no {file} yet, and the checkout's must not be "
                "used here; merge it first, or run the gate under `pull_request`"
            )
        config = defaults()
        return BaseAlone(config=config, own=config, root=root)
    _refuse(_read_without_code(content, file, env), root, base, event, recorded=recorded)
    theirs = load(lambda _: content, file, env=env, root=root, today=today)
    return BaseAlone(config=theirs, own=theirs, root=root, base=base, theirs=theirs)


def _read_without_code(content: bytes, file: str, env: Mapping[str, str]) -> Config:
    """What `load` would make of it, before any code is imported."""
    document = yamlfile.parse(content, file)
    data, _ = check_document(document, env)
    return build.config(data, document.place, agent=DEFAULT_AGENT, file=file)


def _refuse(config: Config, root: Path, base: RulesBase, event: str, *, recorded: bool) -> None:
    keys = ("judge", "verifier") if recorded else _ASKED
    code = (*_agents(config, keys), *_suites(config), *_graders(config, root, base))
    for what in (*code, *_baseline(config)):
        raise UsageError(
            f"{event}: {what}, and this event has the base's secrets: code and rules from "
            f"a pull request must not run with them; {INSTEAD}"
        )


def _agents(config: Config, keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        agent = getattr(config, key)
        if agent is not None and agent.name in RUNS_CODE:
            yield f"{agent.place}: {key}: type {agent.name} runs code of the checkout"
        elif agent is not None and agent.name in READS_ANSWERS:
            yield f"{agent.place}: {key}: type {agent.name} answers from a file of the checkout"


def _suites(config: Config) -> Iterator[str]:
    """Not even where the file is the base's: its tasks come from wherever the code looks, and it
    gets the agent's key.
    """
    for suite in config.suites:
        if suite.suite:
            what = f"the suite {suite.suite} runs code and takes tasks"
            yield f"{suite.place}: {what} of the checkout"


def _graders(config: Config, root: Path, base: RulesBase) -> Iterator[str]:
    """Graders whose file is not the base's to the byte. A dotted module can be any file of the
    checkout, with all that it imports, so it is never one that is known.
    """
    specs = [spec for suite in config.suites for spec in suite.graders]
    for spec, name in [
        (spec_of_grader, name) for spec_of_grader in specs for name in code_of(spec_of_grader)
    ]:
        where = name.rpartition(":")[0]
        if not where.endswith(".py"):
            yield f"{spec.place}: the grader {name} is a module that the checkout may replace"
        elif not _is_the_bases(where, grader_file(name), root, base):
            yield f"{spec.place}: the grader file {where} is not as {base.name} has it"


def _baseline(config: Config) -> Iterator[str]:
    if source_names(config.baseline.source) == ("file",):
        yield f"baseline.source: {config.baseline.source} is a path in the checkout"


def _is_the_bases(where: str, file: str, root: Path, base: RulesBase) -> bool:
    try:
        content = (root / where).read_bytes()
    except OSError:
        return False
    return base.forge.read(file, base.sha) == content
