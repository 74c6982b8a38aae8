"""Whose rules judge: the own gate.yml or, under `protect`, the base branch's; the agent is always
the own one.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from gate.analysis.catalogue import collect_k
from gate.errors import InvalidInput, Problem, UsageError
from gate.files import bundled, yaml
from gate.files.plain_file import is_there, open_plain, read_if_there
from gate.files.source import DatasetSource, at_commit, on_disk
from gate.records import Config, PluginSpec, Suite
from gate.records.forge import Forge
from gate.suites.config.lint import ConfigFindings
from gate.suites.config.load import Read, code_of, defaults, examine, load, measure, models_of
from gate.suites.config.variables import NOTHING
from gate.user_code.hashes import Sources, grader_file, merge_sources
from gate.user_code.processes import PROCESSES

if TYPE_CHECKING:
    from gate.suites.code import SuiteCode

CONFIG = "gate.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesBase:
    """The commit whose rules may judge. `forge` reads its files; `name` is for messages."""

    sha: str
    name: str
    forge: Forge


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that judge this run, and where the datasets come from."""

    config: Config
    own: Config  # the pull request's, for its agent and its new cases
    root: Path
    base: RulesBase | None = None  # None: the own rules judge
    beside: RulesBase | None = None  # where `protect` is off: what the own rules are compared with
    theirs: Config | None = None  # the base's gate.yml, whoever judges; None: unknown
    edited_graders: frozenset[str] = frozenset()  # files that are not the judging base's
    base_sha: str | None = None  # the commit that is compared with
    why_no_base: str = ""  # why there is none
    loosened: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dataset_option: str = ""  # what names the dataset of the one suite that runs, if not gate.yml
    new_suites: frozenset[str] = field(default_factory=frozenset)
    # Of a session that is gone on with, or of shards: what their graders were loaded from.
    sources_before: Sources = field(default_factory=dict)

    @property
    def sources(self) -> Sources:
        """The files of all code that has judged: its name in gate.yml -> file -> sha256."""
        return merge_sources(self.sources_before, PROCESSES.sources(self.root))

    @property
    def base_agent(self) -> PluginSpec | None:
        return self.theirs.agent if self.theirs else None

    @property
    def has_base(self) -> bool:
        """Whether the base's rules are known."""
        return self.base is not None or self.beside is not None

    def code_of(self, suite: Suite) -> SuiteCode | None:
        """The suite's own code, from the working tree like graders; None if it has a dataset.
        Raises InvalidInput.
        """
        if not suite.suite:
            return None
        from gate.suites.code import load_suite

        return load_suite(suite, self.root)

    def head_source(self, suite: Suite) -> DatasetSource | None:
        """The dataset in the working tree; None for a suite that the pull request removed."""
        if (code := self.code_of(suite)) is not None:
            return code.source
        own_suite = self.own.find_suite(suite.name) or suite
        if own_suite.suite:  # written as code only since
            return None
        path = self.root / own_suite.dataset
        is_shared = self.base is not None and suite.name not in self.new_suites
        if is_shared and not os.path.lexists(path):
            return None
        at = own_suite.place
        in_config = f"{at.file}:{at.line}" if at.line is not None else ""
        named_at = self.dataset_option or in_config
        return replace(on_disk(path, bundled.short_path(own_suite.dataset)), named_at=named_at)

    def base_source(self, suite: Suite) -> DatasetSource | None:
        """The dataset of the base; None if it has none, or the own rules judge."""
        if self.base is None or suite.name in self.new_suites:
            return None
        return _source(suite, self.base)

    def judging_file(self, path: str) -> DatasetSource | None:
        """A file next to gate.yml that influences the verdict, from the side whose rules judge;
        None if it does not exist.
        """
        if self.base is not None:
            return _file_of(path, self.base)
        file = self.root / path
        return (
            DatasetSource(name=path, open=lambda: open_plain(file))
            if is_there(file, path)
            else None
        )

    def source_beside(self, suite: Suite) -> DatasetSource | None:
        """The base's dataset if it does not judge, to find cases that differ now."""
        if self.beside is None or self.theirs is None:
            return None
        theirs = self.theirs.find_suite(suite.name)
        return _source(theirs, self.beside) if theirs else None


def _source(suite: Suite, base: RulesBase) -> DatasetSource | None:
    return None if suite.suite else at_commit(suite.dataset, base.sha, base.forge)


def _file_of(path: str, base: RulesBase) -> DatasetSource | None:
    if Path(path).is_absolute():
        return None
    data = base.forge.read(path, base.sha)
    if data is None:
        return None
    return DatasetSource(name=f"{path}@{base.sha[:7]}", open=lambda: io.BytesIO(data))


def load_own_config(
    options_file: str | None,
    root: Path,
    env: Mapping[str, str],
    today: date,
    written: bytes | None = None,
    instead: Mapping[yaml.Path, str] = NOTHING,
) -> Config:
    """The config of the working tree's gate.yml, or the built-in defaults if there is none and none
    is named. `written`: its content, if it is not a file; `instead`: texts for those that have
    variables. Raises InvalidInput, UsageError.
    """
    if written is not None:
        return load(lambda path: written, options_file or CONFIG, env=env, root=root, today=today)
    if options_file is None and not is_there(root / CONFIG):
        return defaults()
    name = Path(options_file or CONFIG).name
    return load(disk(root), name, env=env, root=root, today=today, instead=instead)


def disk(root: Path) -> Read:
    """A function that reads files of the working tree."""
    return lambda path: read_if_there(root / path, path)


def judging_rules(
    own_config: Config,
    *,
    root: Path,
    base: RulesBase | None,
    env: Mapping[str, str],
    why_no_base: str = "",
) -> Rules:
    """The rules of docs/semantics.md 6. If the base's rules do not judge, a note says why."""
    alone = Rules(config=own_config, own=own_config, root=root)
    if base is None:
        return _alone(alone, why_no_base)
    theirs, note = _theirs(own_config, base, root, env)
    if own_config.file is None and theirs is not None:
        return _without_file(alone, theirs, base)
    if theirs is None:
        return _alone(alone, note)
    edited = _list_edited_graders(theirs, root, base)
    files = _edits(edited, theirs)
    easier = _list_loosened(own_config, theirs, root)
    if not theirs.protect:
        return replace(alone, beside=base, theirs=theirs, loosened=(*easier, *files))
    base_suites = {suite.name for suite in theirs.suites}
    new = tuple(suite for suite in own_config.suites if suite.name not in base_suites)
    return Rules(
        config=protect_rules(own_config, theirs, new),
        own=own_config,
        root=root,
        base=base,
        theirs=theirs,
        edited_graders=edited,
        loosened=(*easier, *(f"{file}: its metrics are not compared" for file in files)),
        new_suites=frozenset(suite.name for suite in new),
    )


def protect_rules(head: Config, base: Config, new: tuple[Suite, ...]) -> Config:
    """The base's rules around the head's agent and retriever; `new`: suites that only the head has,
    which are kept and do not gate.
    """
    return replace(
        base,
        agent=head.agent,
        retriever=head.retriever,
        suites=base.suites + new,
        file=head.file,
    )


def _alone(alone: Rules, why: str) -> Rules:
    """Judged by what is here, which is told wherever it is not what should judge."""
    whose = "its own" if alone.own.file else "the built-in"
    return replace(alone, notes=(f"judged by {whose} rules: {why}",) if why else ())


def _without_file(alone: Rules, theirs: Config, base: RulesBase) -> Rules:
    """Deleting the file must not be the way to be judged by none of its rules."""
    if theirs.protect:
        raise UsageError(
            f"{CONFIG}: {base.name} has it, and its rules apply (protect), but this "
            f"branch does not; restore {CONFIG}, or choose another file with --config"
        )
    return _alone(alone, f"{base.name} has a {CONFIG} and this branch does not")


def base_config(
    own_config: Config, base: RulesBase, root: Path, env: Mapping[str, str]
) -> Config | None:
    """The base's gate.yml if the own rules judge; None if it has none that can be read here."""
    try:
        return _theirs(own_config, base, root, env)[0]
    except InvalidInput:
        return None


def _theirs(
    own_config: Config, base: RulesBase, root: Path, env: Mapping[str, str]
) -> tuple[Config | None, str]:
    """The base's gate.yml, or why it cannot judge. What is wrong with its agent does not count, nor
    that a quarantine ended: time must not unseat the rules either.

    Raises InvalidInput when it is not its own fault: a grader that this branch took away or edited,
    a variable that is not set here. That must not be the way to be judged by one's own.
    """
    file = own_config.file or CONFIG

    def problems(env: Mapping[str, str]) -> tuple[Config, list[Problem]]:
        examined = examine(_at(base), file, env=env, root=root, today=date.min)
        wrong = examined.findings.problems
        return examined.config, [p for p in wrong if p.place.key.split(".")[0] != "agent"]

    try:
        theirs, wrong = problems(env)
        everywhere = problems(_AllSet(env))[1] if wrong else []
    except InvalidInput as error:
        return None, f"{file} of {base.name} is not valid: {error.problems[0]}"
    except UsageError:
        return None, _missing(file, base)
    if not wrong:
        return theirs, ""
    graders = [spec for suite in theirs.suites for spec in suite.graders]
    needed = {spec.place for spec in graders if any(map(grader_file, code_of(spec)))}
    ours = [p for p in wrong if p.place in needed or p not in everywhere]
    if theirs.protect and (ours or _list_edited_graders(theirs, root, base)):
        raise InvalidInput(wrong)
    return None, f"{file} of {base.name} is not valid: {wrong[0]}"


def _missing(file: str, base: RulesBase) -> str:
    """A file of another name is a way past the rules that the base has."""
    why = f"{base.name} has no {file} that can be read"
    if file == CONFIG or base.forge.read(CONFIG, base.sha) is None:
        return why
    return f"{why}, and its {CONFIG} was not used"


class _AllSet(dict[str, str]):
    """An environment in which every variable has a value: what is wrong then is wrong anywhere."""

    def get(self, name: str, default: object = None) -> str:
        return super().get(name) or "set"


def _list_loosened(own_config: Config, theirs: Config, root: Path) -> tuple[str, ...]:
    from gate.suites.protection.loosening.loosened import list_loosened_rules

    measured = measure(theirs.suites, root, ConfigFindings(), collect_k(theirs))
    return list_loosened_rules(own_config, theirs, measured)


def _list_edited_graders(
    theirs: Config, root: Path, base: RulesBase, sources: Sources | None = None
) -> frozenset[str]:
    """Files of the base's graders, judges and suites that are others here. They are run as this
    branch has them, and what they say is not compared.
    """
    specs = [spec for suite in theirs.suites for spec in suite.graders]
    code = {name for spec in (*specs, *models_of(theirs)) for name in code_of(spec)}
    code |= {suite.suite for suite in theirs.suites if suite.suite}
    sources_found = {}
    for file in sorted({grader_file(name) for name in code} - {""}):
        if (own_file := root / file).is_file():
            sources_found[file] = sha256(own_file.read_bytes()).hexdigest()
    for name, files in (PROCESSES.sources(root) if sources is None else sources).items():
        sources_found = (
            merge_sources({"": sources_found}, {"": files})[""] if name in code else sources_found
        )
    return frozenset(
        file for file, digest in sources_found.items() if _at_base(file, base) != digest
    )


def _at_base(file: str, base: RulesBase) -> str:
    content = base.forge.read(file, base.sha)
    return "" if content is None else sha256(content).hexdigest()


def _kind(file: str, theirs: Config) -> str:
    suites = {grader_file(suite.suite) for suite in theirs.suites if suite.suite}
    graders = {grader_file(grader.name) for suite in theirs.suites for grader in suite.graders}
    if file in suites:
        return "suite file"
    return "grader file" if file in graders else "file of a grader"


def with_late_sources(rules: Rules, before: Sources) -> Rules:
    """The rules with the code that was loaded since they were read, or `before`, when earlier
    answers of this session were judged.
    """
    if rules.base is None or rules.theirs is None:
        return rules
    theirs, base = rules.theirs, rules.base
    rules = replace(rules, sources_before=before)
    edited = _list_edited_graders(theirs, rules.root, base, rules.sources) - rules.edited_graders
    if not edited:
        return rules
    lines = _edits(edited, theirs)
    return replace(
        rules,
        edited_graders=rules.edited_graders | edited,
        loosened=(*rules.loosened, *(f"{line}: its metrics are not compared" for line in lines)),
    )


def _edits(files: frozenset[str], theirs: Config) -> list[str]:
    return [f"changes the {_kind(file, theirs)} `{file}`" for file in sorted(files)]


def _at(base: RulesBase) -> Callable[[str], bytes | None]:
    return lambda path: base.forge.read(path, base.sha)
