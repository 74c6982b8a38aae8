"""Whose rules judge: the own gate.yml, or under `protect` the base branch's; the agent is own."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from gate import bundled
from gate.config import Read, defaults, load
from gate.dataset_rows import Source
from gate.errors import InvalidInput, UsageError
from gate.plugins import Forge
from gate.protect import loosened, new_suites, protected
from gate.records import Config, PluginSpec, Suite

CONFIG = "gate.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit whose rules may judge; `forge` reads it, `name` is for messages."""

    sha: str
    name: str
    forge: Forge


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What judges this run, and where the datasets come from."""

    config: Config
    own: Config  # the pull request's, for its agent and its new cases
    root: Path
    base: Base | None = None  # None: the own rules judge
    base_agent: PluginSpec | None = None  # of the base's gate.yml, whoever judges; None: unknown
    loosened: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    new_suites: frozenset[str] = field(default_factory=frozenset)

    def head_source(self, suite: Suite) -> Source | None:
        """The dataset in the working tree; None for a suite that the pull request removed."""
        own = next((s for s in self.own.suites if s.name == suite.name), suite)
        path = self.root / own.dataset
        if self.base is not None and suite.name not in self.new_suites and not path.exists():
            return None
        return Source(name=_shown(own.dataset), open=lambda: path.open("rb"))

    def base_source(self, suite: Suite) -> Source | None:
        """The dataset as the base has it; None where it has none, or the own rules judge."""
        if self.base is None or suite.name in self.new_suites or Path(suite.dataset).is_absolute():
            return None
        data = self.base.forge.read(suite.dataset, self.base.sha)
        if data is None:
            return None
        name = f"{suite.dataset}@{self.base.sha[:7]}"
        return Source(name=name, open=lambda: io.BytesIO(data))


def own_config(options_file: str | None, root: Path, env: Mapping[str, str], today: date) -> Config:
    """gate.yml of the working tree, or the built-in defaults where there is none and none is named.

    Raises InvalidInput, UsageError.
    """
    if options_file is None and not (root / CONFIG).is_file():
        return defaults()
    name = Path(options_file or CONFIG).name
    return load(disk(root), name, env=env, root=root, today=today)


def disk(root: Path) -> Read:
    """Reads files of the working tree."""

    def read(path: str) -> bytes | None:
        file = root / path
        try:
            return file.read_bytes() if file.is_file() else None
        except OSError as error:
            raise UsageError(f"{path}: not readable: {error.strerror}") from error

    return read


def judging_rules(
    own: Config,
    *,
    root: Path,
    base: Base | None,
    env: Mapping[str, str],
    today: date,
    why_no_base: str = "",
) -> Rules:
    """The rules of docs/semantics.md 6; a base without a readable gate.yml is told in a note."""
    alone = Rules(config=own, own=own, root=root)
    if own.file is None:
        return alone
    if base is None:
        notes = (f"judged by its own rules: {why_no_base}",) if why_no_base and own.protect else ()
        return replace(alone, notes=notes)
    try:
        theirs = load(_at(base), own.file, env=env, root=root, today=today)
    except InvalidInput as error:
        if any(".py:" in problem.message for problem in error.problems):
            # Its rules need a grader file that this branch took away or broke.
            raise
        note = (
            f"judged by its own rules: {own.file} of {base.name} is not valid: {error.problems[0]}"
        )
        return replace(alone, notes=(note,))
    except UsageError:
        note = f"judged by its own rules: {base.name} has no {own.file} yet"
        return replace(alone, notes=(note,) if own.protect else ())
    if not theirs.protect:
        return replace(alone, base_agent=theirs.agent, loosened=loosened(own, theirs))
    return Rules(
        config=protected(own, theirs),
        own=own,
        root=root,
        base=base,
        base_agent=theirs.agent,
        loosened=(*loosened(own, theirs), *_changed_graders(theirs, root, base)),
        new_suites=new_suites(own, theirs),
    )


def _changed_graders(theirs: Config, root: Path, base: Base) -> Iterator[str]:
    """Graders that are files here are run as this branch has them; that they differ is told."""
    specs = {spec.name for suite in theirs.suites for spec in suite.graders}
    for file in sorted({name.rpartition(":")[0] for name in specs if ".py:" in name}):
        own = root / file
        if base.forge.read(file, base.sha) != (own.read_bytes() if own.is_file() else None):
            yield f"changes the grader file `{file}`"


def _at(base: Base) -> Callable[[str], bytes | None]:
    return lambda path: base.forge.read(path, base.sha)


def _shown(path: str) -> str:
    """Bundled datasets by their short name, others as gate.yml has them."""
    folder = bundled.folder()
    absolute = Path(path)
    if absolute.is_absolute() and absolute.is_relative_to(folder):
        return f"bundled {absolute.relative_to(folder).as_posix()}"
    return path
