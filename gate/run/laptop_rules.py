"""On a laptop the files judge as they are, committed or not; a line says where the base branch's
rules differ (docs/semantics.md 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.errors import GateError
from gate.files import yaml as yamlfile
from gate.files.plain_file import read_if_there
from gate.github.git import GitForge
from gate.records import Config, Json
from gate.suites.config.load import code_of, models_of
from gate.suites.protection.rules import CONFIG, Rules, RulesBase, base_config
from gate.user_code.hashes import grader_file

_OWN = ("agent", "retriever")  # what a pull request brings itself
_NAMED = 6  # files in one line


def laptop_rules(
    own: Config, root: Path, env: Mapping[str, str], base: RulesBase, git: GitForge
) -> Rules:
    """The own rules, and what a pull request would be judged by instead."""
    differ = _differences(own, root, base, git)
    rules = Rules(config=own, own=own, root=root)
    if own.regression.control == "fresh" and own.control_agent is None:
        rules = replace(rules, theirs=base_config(own, base, root, env))
    if not differ:
        return rules
    note = (
        f"judged by your local files; {base.name} ({base.sha[:7]}) has other rules: "
        f"{differ}; `gate run --protect` judges as a pull request would be"
    )
    return replace(rules, notes=(note,))


def _differences(own: Config, root: Path, base: RulesBase, git: GitForge) -> str:
    """Which files, and of gate.yml which keys, are not as the base has them; empty: none."""
    file = own.file or CONFIG
    found: list[str] = []
    for path in git.list_changed([file, *_files(own)], base.sha):
        if path != file:
            found.append(path)
        elif keys := _keys(root / file, base.forge.read(file, base.sha), file):
            found.append(f"{file} ({keys})")
    more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return ", ".join([*found[:_NAMED], *more])


def _files(own: Config) -> list[str]:
    """Beside gate.yml, that have a say in the verdict."""
    graders = [spec for suite in own.suites for spec in suite.graders]
    code = [name for spec in (*graders, *models_of(own)) for name in code_of(spec)]
    code += [suite.suite for suite in own.suites if suite.suite]
    data = [suite.dataset for suite in own.suites if suite.dataset]
    return list(dict.fromkeys(filter(None, [*data, *map(grader_file, code)])))


def _keys(here: Path, theirs: bytes | None, file: str) -> str:
    """The sections that differ; empty where only the agent does."""
    own = read_if_there(here, file)
    if theirs is None or own is None:
        return "not there" if theirs is None else "not here"
    try:
        ours, before = _sections(own, file), _sections(theirs, file)
    except GateError:
        return "cannot be read there"
    keys = dict.fromkeys((*ours, *before))
    return ", ".join(key for key in keys if key not in _OWN and ours.get(key) != before.get(key))


def _sections(text: bytes, file: str) -> Mapping[str, Json]:
    data = yamlfile.parse(text, file).data
    return data if isinstance(data, dict) else {}
