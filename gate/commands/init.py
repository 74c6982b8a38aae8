"""`gate init`: writes gate.yml, a dataset and workflows: for the bundled sample agent, so that the
first run works at once, or for an agent of the user's own, which is asked one question.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from gate.commands.new_project.first_suite import ADAPTER, SCHEMA, render_adapter, render_config
from gate.commands.new_project.probe import Probed, probe
from gate.commands.new_project.questions import Questions, read_questions, write_questions
from gate.commands.new_project.release import (
    Release,
    read_release,
    refer_to_action,
    tell_reference,
)
from gate.commands.new_project.wanted_agent import OPTIONS, WantedAgent, ask_user, choose_agent
from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.files.plain import plain as plain_file
from gate.github.git import GitForge, open_repository
from gate.records import PluginSpec
from gate.suites.config.json_schema import schema
from gate.text.escaping import plain
from gate.text.late_pattern import late_pattern
from gate.text.shortening import shorten

# `uses:` references in the workflows, beside our own action; where they were copied from:
# docs/decisions/0004-pinned-references.md
ACTIONS: Mapping[str, str] = {
    "actions/checkout": "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
    "actions/upload-artifact": (
        "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1"
    ),
    "actions/download-artifact": (
        "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1"
    ),
    "actions/upload-pages-artifact": (
        "actions/upload-pages-artifact@fc324d3547104276b827a68afc52ff2a11cc49c9 # v5.0.0"
    ),
    "actions/deploy-pages": (
        "actions/deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0"
    ),
}
FILES: Mapping[str, str] = {  # path in the user's repository -> file of templates/
    "gate.yml": "gate.yml",
    "datasets/first.jsonl": "first.jsonl",
    ".github/workflows/gate.yml": "workflow.yml",
    ".github/workflows/gate-baseline.yml": "baseline-workflow.yml",
    ".github/workflows/gate-accept.yml": "accept-workflow.yml",
}


PAGES = ".github/workflows/gate-pages.yml"  # only where it is asked for: Pages may be public
RESULTS, IGNORE = "results/", ".gitignore"
BRANCH = "main"  # where there is no repository to tell
_PAGES_NEXT = (
    "Pages can be read by everybody, even of a private repository: read the head of this file "
    "before you commit it.",
    "Next: choose Settings > Pages > Source: GitHub Actions, and set `report.url` in gate.yml.",
)
_PLAIN = late_pattern(r"[A-Za-z][A-Za-z0-9_./-]*")  # is a text in YAML without quotes
_NAMED = """
# The branch that pull requests go to: they follow its rules and are compared with its runs.
baseline:
  branch: <branch>
"""


def render_files(branch: str | None = None, release: Release | None = None) -> dict[str, str]:
    """Path -> content of every file. Each `<name>` of an action is replaced by its reference, ours
    by the commit of `release`, and `branch` is filled in.
    """
    written = {path: _render_file(name, branch or BRANCH, release) for path, name in FILES.items()}
    if branch:
        written["gate.yml"] += _NAMED.replace("<branch>", _quote(branch))
    return written | {SCHEMA: _render_schema()}


def render_pages(release: Release | None = None) -> str:
    """The workflow that publishes history and reports."""
    return _render_file("pages-workflow.yml", BRANCH, release)


def _render_file(name: str, branch: str, release: Release | None) -> str:
    text = files("gate.commands.templates").joinpath(name).read_text(encoding="utf-8")
    for action, reference in {**ACTIONS, "agent-gate": refer_to_action(release)}.items():
        text = text.replace(f"uses: <{action}>", f"uses: {reference}")
    return text.replace("[<branch>]", f"[{_quote(branch)}]")


def _quote(branch: str) -> str:
    return branch if _PLAIN.fullmatch(branch) else json.dumps(branch)


def find_default_branch(folder: Path) -> str | None:
    """The default branch of the folder's repository; None without a repository."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    opened = open_repository(there)
    return opened.default_branch() if isinstance(opened, GitForge) else None


def run(
    options: argparse.Namespace,
    env: Mapping[str, str],
    read: Callable[[str], str] | None = None,
) -> int:
    """Writes the files and returns 0. `options`: `dir` (None: the current folder), `force`
    (overwrite), and what is known of the agent. `read` asks the user; None: `input` on a terminal,
    nobody elsewhere. Raises UsageError, with nothing written, if a file exists.
    """
    folder = Path(options.dir or ".")
    branch = find_default_branch(folder)
    if read is None and sys.stdin.isatty() and not env.get("CI"):
        read = input
    started = _start(options, folder, branch, env, read)
    there = [path for path in started.files if os.path.lexists(folder / path)]
    if there and not options.force:
        raise UsageError(
            f"{', '.join(there)}: already there - use `gate init --force` to overwrite"
        )
    for path, content in started.files.items():
        write_whole(folder / path, content.encode())
        print(f"wrote {(folder / path).as_posix()}")
    if PAGES not in started.files and _ignore_results(folder):
        print(f"added {RESULTS} to {(folder / IGNORE).as_posix()}")
    if branch:
        print(plain(f"The base branch is {branch}: `baseline.branch` in gate.yml."))
    for line in started.words:
        print(plain(line))
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    """Path -> content of what is to be written, and what is to be said then."""

    files: Mapping[str, str]
    words: tuple[str, ...]


def _start(
    options: argparse.Namespace,
    folder: Path,
    branch: str | None,
    env: Mapping[str, str],
    read: Callable[[str], str] | None,
) -> _Started:
    release = read_release()
    told = tell_reference(release)
    if getattr(options, "pages", False):
        return _Started(files={PAGES: render_pages(release)}, words=(told, *_PAGES_NEXT))
    given = {name: getattr(options, name, None) for name in ("agent", *OPTIONS, "template")}
    source: Sequence[str] | None = getattr(options, "source", None)
    if read is not None and not source and not any(given.values()):
        given = ask_user(read)
    wanted = choose_agent(given, imported=bool(source))
    if wanted is None:
        next_step = "Next: run `gate run`, then put your own agent in gate.yml."
        return _Started(files=render_files(branch, release), words=(told, next_step))
    spec = PluginSpec(name=wanted.kind, options=wanted.options)
    asked = probe(spec, folder, env) if wanted.has_code else Probed(options=wanted.options)
    questions = (
        read_questions(source[0], Path(source[1]))
        if source
        else write_questions(wanted.template, asked)
    )
    config = render_config(
        {"type": wanted.kind, **asked.options}, questions.file, questions.graders, branch
    )
    workflows = render_files(branch, release)
    files = {
        "gate.yml": config,
        questions.file: questions.text,
        **({} if wanted.has_code else {ADAPTER: render_adapter()}),
        **{path: text for path, text in workflows.items() if path.startswith(".")},
    }
    words = (*questions.notes, *_tell(asked), told, _next_step(wanted, questions))
    return _Started(files=files, words=words)


def _tell(asked: Probed) -> Iterator[str]:
    if asked.said:
        yield f"The agent answered in {asked.took}: {shorten(asked.said, 200)}"
    elif asked.why:
        yield f"The agent did not answer: {asked.why}"
        yield "gate.yml is written all the same; `gate doctor` asks again."


def _next_step(wanted: WantedAgent, questions: Questions) -> str:
    first = "" if wanted.has_code else f"let {ADAPTER} call your graph, "
    then = "" if questions.ready else f"write your questions into {questions.file}, then "
    return f"Next: {first}{then}`gate run`."


def _render_schema() -> str:
    return json.dumps(schema(), ensure_ascii=False) + "\n"


def _ignore_results(folder: Path) -> bool:
    """Adds the folder of the sessions to .gitignore; False if it is there already."""
    path = folder / IGNORE
    text = plain_file(path).read_text("utf-8") if os.path.lexists(path) else ""
    if RESULTS.rstrip("/") in {line.strip().strip("/") for line in text.splitlines()}:
        return False
    gap = "" if not text or text.endswith("\n") else "\n"
    write_whole(path, f"{text}{gap}{RESULTS}\n".encode())
    return True
