"""The action's inputs: INPUT_* -> arguments of `gate run`, `gate merge` or `gate import`, and
settings over gate.yml; pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from gate.errors import UsageError
from gate.github.comments import COMMENT_MODES, CommentMode, marker
from gate.store.baseline.source_order import source_names
from gate.text.suggestions import did_you_mean

# Inputs that are options of `gate run` under the same name.
RUN_OPTIONS = (
    "config",
    "base-url",
    "model",
    "provider-key",
    "rounds",
    "max-attempts",
    "timeout",
    "concurrency",
    "shard",
    "stage",
    "resume",
    "record",
    "replay",
    "baseline",
    "budget-usd",
)
# Inputs that stand for keys of gate.yml.
SETTINGS = {
    "baseline-path": "baseline.path",
    "baseline-artifact": "baseline.artifact",
    "baseline-branch": "baseline.branch",
    "baseline-workflow": "baseline.workflow",
    "on-inconclusive": "policy.inconclusive",
    "on-no-baseline": "policy.no_baseline",
    "on-not-comparable": "policy.not_comparable",
    "on-error": "policy.error",
}
CHOICES = {
    "comment": COMMENT_MODES,
    "on-inconclusive": ("fail", "warn", "pass", "extend"),
    "on-no-baseline": ("fail", "warn", "pass"),
    "on-not-comparable": ("fail", "warn", "pass"),
    "on-error": ("fail", "warn", "pass"),
}
FLAGS = {
    "check-run": False,
    "annotations": True,
    "summary": True,
    "upload-artifact": False,
    "fail": True,
    "verbose": False,
}

# Every input of action.yml, and what a runner makes of `with.args` and `with.entrypoint`.
INPUTS = frozenset(
    {
        *RUN_OPTIONS,
        *SETTINGS,
        *CHOICES,
        *FLAGS,
        *("suite", "sample", "merge", "import", "import-path", "import-options"),
        *("judge-key", "github-token", "results-dir", "working-directory"),
        *("comment-id", "comment-title", "check-name"),
    }
)
_OF_THE_RUNNER = frozenset({"args", "entrypoint"})
_PREFIX = "INPUT_"
_IN_THE_FOLDER = ("config", "record", "replay")  # paths that begin in `working-directory`


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionInputs:
    """What the inputs ask for. `argv` is for the command line's parser; `env` has the keys."""

    argv: tuple[str, ...] = field(repr=False)
    settings: Mapping[str, str]  # dotted keys of gate.yml
    env: Mapping[str, str] = field(repr=False)
    comment: CommentMode
    comment_id: str
    comment_title: str
    check_name: str
    check_run: bool
    annotations: bool
    summary: bool
    upload: bool  # the session, as an artifact, from inside the container
    fail: bool
    shard: bool


def read_inputs(env: Mapping[str, str]) -> ActionInputs:
    """Raises UsageError with every wrong input, a line each."""
    wrong = list(_wrong(env))
    if wrong:
        raise UsageError("\n".join(wrong))
    env = _enter_folder(env)
    settings = {key: _input(env, name) for name, key in SETTINGS.items() if _input(env, name)}
    if _input(env, "sample") == "all":
        settings["sample"] = "all"
    judge_key, comment_id = _input(env, "judge-key"), _input(env, "comment-id") or "gate"
    return ActionInputs(
        argv=_argv(env),
        settings=settings,
        env={**env, "JUDGE_API_KEY": judge_key} if judge_key else env,
        comment=cast("CommentMode", _input(env, "comment") or "always"),
        comment_id=comment_id,
        comment_title=_input(env, "comment-title"),
        check_name=_input(env, "check-name") or f"Agent Gate: {comment_id}",
        check_run=flag(env, "check-run") is True,
        annotations=flag(env, "annotations") is True,
        summary=flag(env, "summary") is True,
        upload=flag(env, "upload-artifact") is True,
        fail=flag(env, "fail") is True,
        shard=bool(_input(env, "shard")),
    )


def without_wrong(env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the defaults for wrong inputs, to tell somebody that they are wrong."""
    names = {f"{_PREFIX}{line.partition(':')[0].upper()}" for line in _wrong(env)}
    return {name: value for name, value in env.items() if name not in names}


def _enter_folder(env: Mapping[str, str]) -> Mapping[str, str]:
    """The inputs as `working-directory` means them: paths of the repository begin in it."""
    folder = _input(env, "working-directory")
    if not folder:
        return env
    given = {name: _input(env, name) for name in _IN_THE_FOLDER}
    paths = {name: value for name, value in given.items() if value}
    baseline = _input(env, "baseline")
    if baseline and source_names(baseline) == ("file",):
        paths["baseline"] = baseline
    paths.setdefault("config", "gate.yml")
    entered = {f"{_PREFIX}{n.upper()}": posixpath.join(folder, path) for n, path in paths.items()}
    return {**env, **entered}


def _leads_out(folder: str) -> bool:
    path = posixpath.normpath(folder.replace("\\", "/"))
    return path.startswith("/") or path.split("/")[0] == ".." or path[1:2] == ":"


def _argv(env: Mapping[str, str]) -> tuple[str, ...]:
    if _input(env, "import"):
        return _import_argv(env)
    return _merge_argv(env) if _list(env, "merge") else _run_argv(env)


def _run_argv(env: Mapping[str, str]) -> tuple[str, ...]:
    argv = ["run"]
    for name in RUN_OPTIONS:
        value = _input(env, name)
        # One argument, so that a value with a dash in front stays a value.
        argv += [f"--{name}={value}"] if value else []
    argv += [f"--suite={name}" for name in _list(env, "suite")]
    sample = _input(env, "sample")
    argv += [f"--sample={sample}"] if sample and sample != "all" else []
    return tuple(argv + _output_argv(env))


def _merge_argv(env: Mapping[str, str]) -> tuple[str, ...]:
    argv = ["merge"]
    argv += [
        f"--{name}={_input(env, name)}" for name in ("config", "baseline") if _input(env, name)
    ]
    out = [] if _input(env, "results-dir") else ["--out=results"]
    return (*argv, *out, *_output_argv(env), "--", *_list(env, "merge"))


def _import_argv(env: Mapping[str, str]) -> tuple[str, ...]:
    options = [line.strip() for line in _input(env, "import-options").splitlines() if line.strip()]
    return (
        "import",
        f"--baseline={_input(env, 'baseline') or 'auto'}",
        *([f"--config={_input(env, 'config')}"] if _input(env, "config") else []),
        *(f"--suite={name}" for name in _list(env, "suite")),
        *(f"--option={line}" for line in options),
        *_output_argv(env),
        "--",
        _input(env, "import"),
        _input(env, "import-path"),
    )


def _output_argv(env: Mapping[str, str]) -> list[str]:
    out = _input(env, "results-dir")
    verbose = ["--verbose"] if flag(env, "verbose") else []
    return ([f"--out={out}"] if out else []) + verbose


def _wrong(env: Mapping[str, str]) -> list[str]:
    wrong = [
        f"{name}: the action has no such input{did_you_mean(name, sorted(INPUTS))}; its action.yml"
        " lists them all"
        for name in _unknown(env)
    ]
    for name, choices in CHOICES.items():
        value = _input(env, name)
        if value and value not in choices:
            wrong.append(f"{name}: '{value}' is not one of {', '.join(choices)}")
    for name in FLAGS:
        if flag(env, name) is None:
            value = _input(env, name)
            wrong.append(
                f"{name}: '{value}' is not true or false{did_you_mean(value, ('true', 'false'))}"
            )
    folder = _input(env, "working-directory")
    if _leads_out(folder):
        wrong.append(
            f"working-directory: '{folder}' is not a folder of the workspace; write it from the "
            "workspace on, without `..`"
        )
    if bool(_input(env, "import")) != bool(_input(env, "import-path")):
        wrong.append(
            "import-path: `import` is the format and `import-path` the file or folder; give both"
        )
    try:
        marker(_input(env, "comment-id") or "gate", None, None, None)
    except UsageError as error:
        wrong.append(str(error))
    return wrong


def _unknown(env: Mapping[str, str]) -> list[str]:
    """A runner hands on what a step's `with` names, whether an action has such an input or not."""
    given = (name.removeprefix(_PREFIX).lower() for name in env if name.startswith(_PREFIX))
    return sorted(set(given) - INPUTS - _OF_THE_RUNNER)


def _input(env: Mapping[str, str], name: str) -> str:
    """The runner keeps the hyphens of an input's name; one that is left out is empty."""
    return env.get(f"{_PREFIX}{name.upper()}", "").strip()


def _list(env: Mapping[str, str], name: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,\n]", _input(env, name)) if part.strip()]


def flag(env: Mapping[str, str], name: str) -> bool | None:
    """A yes-or-no input, by default as FLAGS says; None when the text is neither."""
    value = _input(env, name).lower()
    if not value:
        return FLAGS[name]
    return {"true": True, "yes": True, "false": False, "no": False}.get(value)
