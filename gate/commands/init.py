"""`gate init`: writes gate.yml, a dataset and workflows: for the bundled sample agent, so that the
first run works at once, or for an agent of the user's own, which is asked one question.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from gate.commands.new_project.first_suite import (
    ADAPTER,
    SCHEMA,
    Questions,
    render_adapter,
    render_config,
)
from gate.commands.new_project.inline_yaml import inline
from gate.commands.new_project.probe import QUESTION, TIMEOUT_S, Probed, find_models, probe
from gate.commands.new_project.questions import fit_graders, read_questions, write_questions
from gate.commands.new_project.release import Release, read_release, tell_reference
from gate.commands.new_project.several_projects import choose_name
from gate.commands.new_project.wanted_agent import (
    MODEL,
    OPTIONS,
    WantedAgent,
    ask_user,
    choose_agent,
)
from gate.commands.new_project.workflows import (
    ACCEPT,
    BRANCH,
    FOLDER,
    PAGES,
    WORKFLOWS,
    Surroundings,
    name_baseline,
    prepare_machine,
    render_pages,
    render_workflows,
)
from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.files.plain import plain as plain_file
from gate.github.git import GitForge, open_repository
from gate.records import Json, PluginSpec
from gate.suites.config.json_schema import schema
from gate.text.escaping import plain
from gate.text.shortening import shorten

FILES: Mapping[str, str] = {  # path in the user's repository -> file of templates/
    "gate.yml": "gate.yml",
    "datasets/first.jsonl": "first.jsonl",
    **WORKFLOWS,
}
RESULTS, IGNORE = "results/", ".gitignore"
_PAGES_NEXT = (
    "Pages can be read by everybody, even of a private repository: read the head of this file "
    "before you commit it.",
    "Next: choose Settings > Pages > Source: GitHub Actions, and set `report.url` in gate.yml.",
)
_NAMED = """
# Pull requests are compared with this branch and judged by its rules.
baseline:
  branch: <branch>
"""
_ARTIFACT = "  artifact: <artifact>  # another project of the repository has gate-baseline\n"


def render_files(branch: str | None = None, release: Release | None = None) -> dict[str, str]:
    """Path -> content of every file for the sample agent. Each `<name>` of an action is replaced by
    its reference, ours by the commit of `release`, and `branch` is filled in.
    """
    around = Surroundings(branch=branch or BRANCH, release=release)
    return _render_sample(branch) | render_workflows(around)


def _render_sample(branch: str | None, artifact: str = "") -> dict[str, str]:
    """gate.yml and the questions for the sample agent, and the schema."""
    templates = files("gate.commands.templates")
    written = {
        path: templates.joinpath(name).read_text(encoding="utf-8")
        for path, name in FILES.items()
        if path not in WORKFLOWS
    }
    if branch:
        written["gate.yml"] += _NAMED.replace("<branch>", inline(branch))
    if branch and artifact:
        written["gate.yml"] += _ARTIFACT.replace("<artifact>", artifact)
    return written | {SCHEMA: _render_schema()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where the project begins. `top`: of its repository; None without one. `inside`: the way from
    there to the project, with slashes; empty: it begins at the top.
    """

    folder: Path
    top: Path | None = None
    inside: str = ""
    branch: str | None = None  # the repository's default branch

    def find(self, path: str) -> Path:
        """Where a file is to be written: workflows at the top, where alone GitHub reads them."""
        is_workflow = path.startswith(FOLDER)
        return (self.top if self.top and self.inside and is_workflow else self.folder) / path

    def show(self, path: str) -> str:
        """The same for the user, from the working folder on unless they named a whole path."""
        found = self.find(path)
        if found.is_absolute() and not self.folder.is_absolute():
            found = Path(os.path.relpath(found))
        return found.as_posix()

    def enter(self, command: str) -> str:
        """The command as it is typed from the working folder on."""
        if self.folder.resolve() == Path().resolve():
            return f"`{command}`"
        return f"`cd {shlex.quote(self.folder.as_posix())} && {command}`"


def find_ground(folder: Path) -> Ground:
    """The repository that holds the folder, which need not be there yet."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    opened = open_repository(there)
    if not isinstance(opened, GitForge):
        return Ground(folder=folder)
    inside = folder.resolve().relative_to(opened.top).as_posix()
    return Ground(
        folder=folder,
        top=opened.top,
        inside="" if inside == "." else inside,
        branch=opened.default_branch(),
    )


def run(
    options: argparse.Namespace,
    env: Mapping[str, str],
    read: Callable[[str], str] | None = None,
) -> int:
    """Writes the files and returns 0. `options`: `dir` (None: the current folder), `force`
    (overwrite), and what is known of the agent. `read` asks the user; None: `input` on a terminal,
    nobody elsewhere. Raises UsageError, with nothing written, if a file exists.
    """
    ground = find_ground(Path(options.dir or "."))
    if read is None and sys.stdin.isatty() and not env.get("CI"):
        read = _read_line
    started = _start(options, ground, env, read)
    there = [path for path in started.files if os.path.lexists(ground.find(path))]
    if there and not options.force:
        raise UsageError(_tell_there(there, ground))
    for path, content in started.files.items():
        write_whole(ground.find(path), content.encode())
        print(f"wrote {ground.show(path)}")
    added = () if PAGES in started.files else _ignore(ground.folder, options)
    if added:
        print(f"added {' and '.join(added)} to {(ground.folder / IGNORE).as_posix()}")
    for line in (*_tell_ground(ground, started.files), *started.words):
        print(plain(line))
    return 0


def _read_line(words: str) -> str:
    """The user's answer. Raises EOFError at Ctrl-D, which leaves the cursor behind the question."""
    try:
        return input(words)
    except EOFError:
        print()
        raise


def _tell_there(there: Sequence[str], ground: Ground) -> str:
    named = ", ".join(ground.show(path) if path.startswith(FOLDER) else path for path in there)
    return f"{named}: already there - use `gate init --force` to overwrite"


def _tell_ground(ground: Ground, written: Collection[str]) -> Iterator[str]:
    if ground.branch:
        yield f"The base branch is {ground.branch}: `baseline.branch` in gate.yml."
    if ground.inside and any(path.startswith(FOLDER) for path in written):
        yield (
            "GitHub reads workflows only at the top of the repository: they are there, and run the "
            f"gate in {ground.inside} (`working-directory`)."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    """Path -> content of what is to be written, and what is to be said then."""

    files: Mapping[str, str]
    words: tuple[str, ...]


def _start(
    options: argparse.Namespace,
    ground: Ground,
    env: Mapping[str, str],
    read: Callable[[str], str] | None,
) -> _Started:
    release = read_release()
    given = {name: getattr(options, name, None) for name in ("agent", *OPTIONS, "template")}
    source: Sequence[str] | None = getattr(options, "source", None)
    if getattr(options, "pages", False):
        if source or any(given.values()):
            raise UsageError("--pages: writes one workflow and nothing else - give it alone")
        next_steps = (tell_reference(release), *_PAGES_NEXT)
        return _Started(files={PAGES: render_pages(release)}, words=next_steps)
    if read is not None and not source and not any(given.values()):
        given = ask_user(read)
    wanted = choose_agent(given, imported=bool(source))
    read_already = read_questions(source[0], Path(source[1])) if source else None
    if read_already and not any(given.values()):
        wanted = choose_agent({**given, **read_already.agent}, imported=True)
    project = choose_name(ground.top, ground.inside) if ground.top else ""
    around = Surroundings(
        branch=ground.branch or BRANCH,
        release=release,
        folder=ground.inside,
        project=project or "",
        key=str(wanted.options.get("api_key_env", "")) if wanted else "",
        before=prepare_machine(wanted.kind, wanted.options) if wanted else (),
    )
    workflows = _render_own(around, ground) if project is not None else {}
    told = (
        *_tell_project(project),
        *([tell_reference(release, native=bool(around.before))] if workflows else ()),
    )
    artifact = name_baseline(around.project)
    if wanted is None:
        next_step = f"Next: {ground.enter('gate run')}, then put your own agent in gate.yml."
        written = _render_sample(ground.branch, artifact) | workflows
        return _Started(files=written, words=(*told, next_step))
    wanted, offered = _find_model(wanted, env)
    asked = _ask(wanted, ground.folder, env, read_already.first if read_already else QUESTION)
    fit = partial(fit_graders, read_already) if read_already else write_questions
    questions = fit(wanted.template, asked)
    agent = {"type": wanted.kind, **asked.options}
    config = render_config(
        agent, questions.file, questions.graders, ground.branch, artifact=artifact
    )
    written = {
        "gate.yml": config,
        questions.file: questions.text,
        **({} if wanted.has_code else {ADAPTER: render_adapter(wanted.template)}),
        **workflows,
        SCHEMA: _render_schema(),
    }
    words = (
        *questions.notes,
        *_tell_model(wanted, offered, config),
        *_tell(asked),
        *told,
        _next_step(wanted, questions, asked, ground),
    )
    return _Started(files=written, words=words)


def _render_own(around: Surroundings, ground: Ground) -> dict[str, str]:
    """The workflows; of a further project without the one that serves all of them."""
    rendered = render_workflows(around)
    if around.project and os.path.lexists(ground.find(ACCEPT)):
        del rendered[ACCEPT]
    return rendered


def _tell_project(project: str | None) -> Iterator[str]:
    if project is None:
        yield (
            "The workflows have a job for this project already, and one for another: they are left "
            "as they are."
        )
    elif project:
        yield (
            ".github/workflows/gate.yml and gate-baseline.yml belong to another project and are "
            f"left as they are: this one's workflows and artifacts end with -{project}; require "
            f"its check gate-{project}, too (docs/github.md#several-projects)."
        )


def _ask(wanted: WantedAgent, folder: Path, env: Mapping[str, str], question: Json) -> Probed:
    if not wanted.has_code:
        return Probed(options=wanted.options)
    # Of a pipe only standard output is read.
    print(f"Asking the agent one question (up to {TIMEOUT_S:g} s) ...", file=sys.stderr, flush=True)
    spec = PluginSpec(name=wanted.kind, options=wanted.options)
    return probe(spec, folder, env, question)


def _find_model(wanted: WantedAgent, env: Mapping[str, str]) -> tuple[WantedAgent, tuple[str, ...]]:
    """With the only model that it offers, where nobody has named one; and what it offers."""
    if not wanted.lacks_model or wanted.kind != "openai":
        return wanted, ()
    key = wanted.options.get("api_key_env")
    offered = find_models(str(wanted.options["base_url"]), str(key) if key else None, env)
    if len(offered) != 1:
        return wanted, offered
    options = {**wanted.options, "model": offered[0]}
    return replace(wanted, options=options, lacks_model=False), offered


def _tell_model(wanted: WantedAgent, offered: Sequence[str], config: str) -> Iterator[str]:
    if wanted.lacks_model:
        line = config.splitlines().index(f"  model: {MODEL}") + 1
        named = f" (it offers {shorten(', '.join(offered), 200)})" if offered else ""
        yield f"gate.yml:{line}: write the name of the agent's model in place of {MODEL}{named}."
    elif offered:
        yield f"The agent offers one model, {offered[0]}: gate.yml names it."


def _tell(asked: Probed) -> Iterator[str]:
    if asked.said:
        yield f"The agent answered in {asked.took}: {shorten(asked.said, 200)}"
    elif asked.why:
        yield f"The agent did not answer: {asked.why}"
        yield "gate.yml is written all the same."


def _next_step(wanted: WantedAgent, questions: Questions, asked: Probed, ground: Ground) -> str:
    called = "graph" if wanted.template == "langgraph" else "agent"
    steps = []
    if not wanted.has_code:
        steps.append(f"let {ground.show(ADAPTER)} call your {called}")
    if not questions.ready:
        steps.append(f"write your questions into {ground.show(questions.file)}")
    command = ground.enter("gate run")
    if asked.repair:
        steps.insert(0, asked.repair)
        command = f"{ground.enter('gate doctor')}, and `gate run` once that finds nothing to do"
    before = "".join(f"{step}, " for step in steps)
    return f"Next: {before}{'then ' if steps else ''}{command}."


def _render_schema() -> str:
    return json.dumps(schema(), ensure_ascii=False) + "\n"


def _ignore(folder: Path, options: argparse.Namespace) -> tuple[str, ...]:
    """Adds sessions and the file with the variables to .gitignore, as far as they are not there
    yet; returns what was added. Lines end as they do in the file.
    """
    path = folder / IGNORE
    content = plain_file(path).read_bytes() if os.path.lexists(path) else b""
    text = content.decode("utf-8", "surrogateescape")
    known = {line.strip().strip("/") for line in text.splitlines()}
    wanted = (RESULTS, *_name_inside(folder, getattr(options, "env_file", None)))
    added = tuple(name for name in wanted if name.strip("/") not in known)
    if added:
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text or text.endswith("\n") else end
        whole = text + gap + "".join(f"{name}{end}" for name in added)
        write_whole(path, whole.encode("utf-8", "surrogateescape"))
    return added


def _name_inside(folder: Path, file: str | None) -> tuple[str, ...]:
    """The file as .gitignore of the folder names it; nothing for one elsewhere."""
    if not file:
        return ()
    whole, top = Path(file).absolute(), folder.absolute()
    return (whole.relative_to(top).as_posix(),) if whole.is_relative_to(top) else ()
