"""On a laptop the files judge as they are, committed or not; one line says where the base branch's
rules differ (docs/semantics.md 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.errors import GateError
from gate.files import yaml as yamlfile
from gate.files.json_values import as_object
from gate.files.plain_file import read_if_there
from gate.github.git import GitForge
from gate.records import Config
from gate.suites.config.load import code_of, models_of
from gate.suites.protection.rules import CONFIG, Rules, RulesBase, base_config
from gate.user_code.hashes import grader_file

_OWN = ("agent", "retriever")  # what a pull request brings itself
_NAMED = 6  # files in one line


def choose_laptop_rules(
    own_config: Config, root: Path, env: Mapping[str, str], base: RulesBase, git: GitForge
) -> Rules:
    """The own rules, with a note about how those of a pull request would differ."""
    differ = _differences(own_config, root, base, git)
    rules = Rules(config=own_config, own=own_config, root=root)
    if own_config.regression.control == "fresh" and own_config.control_agent is None:
        rules = replace(rules, theirs=base_config(own_config, base, root, env))
    if not differ:
        return rules
    note = (
        f"judged by your local files; {base.name} ({base.sha[:7]}) has other rules: "
        f"{differ}; `gate run --protect` judges as a pull request would be"
    )
    return replace(rules, notes=(note,))


def _differences(own_config: Config, root: Path, base: RulesBase, git: GitForge) -> str:
    """Which files, and of gate.yml which keys, are not as the base has them; empty: none."""
    file = own_config.file or CONFIG
    differing: list[str] = []
    for path in git.list_changed([file, *_files(own_config)], base.sha):
        if path != file:
            differing.append(path)
        elif keys := _keys(root / file, base.forge.read(file, base.sha), file):
            differing.append(f"{file} ({keys})")
    more = [f"{len(differing) - _NAMED} more"] if len(differing) > _NAMED else []
    return ", ".join([*differing[:_NAMED], *more])


def _files(own_config: Config) -> list[str]:
    """Beside gate.yml, that have a say in the verdict."""
    graders = [spec for suite in own_config.suites for spec in suite.graders]
    code = [name for spec in (*graders, *models_of(own_config)) for name in code_of(spec)]
    code += [suite.suite for suite in own_config.suites if suite.suite]
    data = [suite.dataset for suite in own_config.suites if suite.dataset]
    return list(dict.fromkeys(filter(None, [*data, *map(grader_file, code)])))


def _keys(here: Path, theirs: bytes | None, file: str) -> str:
    """The sections that differ; empty where only the agent does."""
    content = read_if_there(here, file)
    if theirs is None or content is None:
        return "not there" if theirs is None else "not here"
    try:
        ours, before = (as_object(yamlfile.parse(one, file).data) for one in (content, theirs))
    except GateError:
        return "cannot be read there"
    keys = dict.fromkeys((*ours, *before))
    return ", ".join(key for key in keys if key not in _OWN and ours.get(key) != before.get(key))
