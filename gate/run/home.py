"""Finds gate.yml: the named file, that of the working folder, or the nearest one above it, up to
the root of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import UsageError
from gate.files import bundled
from gate.files.plain_file import is_there
from gate.records import Config, Suite
from gate.suites.config.overrides import KEY_VARIABLE
from gate.suites.protection.rules import CONFIG

NOWHERE = (
    f"no {CONFIG} in this folder or above it, up to the repository's root; create one with "
    f"`gate init`, or run the bundled OpenAgent suites with --suite NAME, --base-url URL or "
    f"{KEY_VARIABLE}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where gate.yml is. `file`: its path, None if there is none; `root`: its folder, to which its
    paths are relative.
    """

    file: str | None
    root: Path
    above: bool = False  # found in a folder above the working one
    written: bytes | None = None  # its content, where it is no file


def log_nothing(line: str) -> None:
    """Does nothing with the line; for callers that are not the command line."""


def find_home(config: str | None, log: Callable[[str], None] = log_nothing) -> Home:
    """Finds gate.yml: `config` if it is given, else the nearest one. `log` is told about one in a
    folder above. Raises UsageError if it is not a regular file.
    """
    if config is not None:
        return Home(file=config, root=Path(config).parent)
    home = _nearest()
    if home.above:
        log(f"{home.file} is used; its paths are relative to its folder")
    return home


def _nearest() -> Home:
    if is_there(Path(CONFIG)):
        return Home(file=None, root=Path())
    for folder in _above(Path.cwd()):
        if is_there(folder / CONFIG):
            root = Path(os.path.relpath(folder))
            return Home(file=(root / CONFIG).as_posix(), root=root, above=True)
    return Home(file=None, root=Path())


def _above(here: Path) -> Iterator[Path]:
    """The folders above, up to the root of the repository; none outside of one."""
    folders = (here, *here.parents)
    top = next((n for n, one in enumerate(folders) if (one / ".git").exists()), 0)
    yield from folders[1 : top + 1]


def sessions_folder(home: Home, config: Config) -> str | None:
    """The folder of the sessions, next to a gate.yml that was found in a folder above; None: as
    gate.yml says, from the working folder.
    """
    return (home.root / config.report.dir).as_posix() if home.above else None


def check_has_config(config: Config, env: Mapping[str, str], *, bundled_wanted: bool) -> None:
    """Raises UsageError if there is no gate.yml and nothing asks for the bundled suites: neither an
    option (`bundled_wanted`) nor the variable with the agent's key.
    """
    if config.file is None and not (bundled_wanted or env.get(KEY_VARIABLE)):
        raise UsageError(NOWHERE)


def tell_unused_datasets(suites: tuple[Suite, ...]) -> list[str]:
    """A note for each file here that looks like a bundled suite's dataset and is not used."""
    return [
        f"{file} is in this folder but not used: the cases of {suite.name} are those that "
        "come with Agent Gate; --dataset, or the suite's `dataset` in gate.yml, selects other cases"
        for suite in suites
        for file in _alike(suite)
    ]


def _alike(suite: Suite) -> Iterator[str]:
    bundle = Path(suite.dataset)
    if bundled.short_path(suite.dataset) == suite.dataset:  # none of ours
        return
    named = (bundle.name, f"{suite.name}{bundle.suffix}", f"datasets/{suite.name}/{bundle.name}")
    for file in named:
        if Path(file).is_file() and not Path(file).samefile(bundle):
            yield file
