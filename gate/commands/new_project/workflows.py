"""The workflows of a new project: the templates, with what the agent and the repository need."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from gate.agents.http_client.route import format_address, is_loopback
from gate.commands.new_project.inline_yaml import inline
from gate.commands.new_project.release import Release, refer_to_action
from gate.records import Json

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
WORKFLOWS: Mapping[str, str] = {  # path in the user's repository -> file of templates/
    ".github/workflows/gate.yml": "workflow.yml",
    ".github/workflows/gate-baseline.yml": "baseline-workflow.yml",
    ".github/workflows/gate-accept.yml": "accept-workflow.yml",
}
FOLDER = ".github/workflows/"
ACCEPT = f"{FOLDER}gate-accept.yml"  # one for all projects of a repository
PAGES = f"{FOLDER}gate-pages.yml"  # only where it is asked for: Pages may be public
BRANCH = "main"  # where there is no repository to tell
_INSTALL = (
    "# Install what your agent needs here: the next step runs on this machine, with its Python.",
    "# - run: pip install -r requirements.txt",
)
_START = (
    "# Start your agent here: the next step asks it at {address}.",
    "# - run: |",
    "#     pip install -r requirements.txt",
    "#     python my_agent.py &",
)
_NO_KEY = (
    "# The variable that api_key_env in gate.yml names:",
    "# env:",
    "#   MY_API_KEY: ${{ secrets.MY_API_KEY }}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the workflows have to know. `folder`: of gate.yml, from the top of the repository on;
    empty: the top itself. `project`: what the names of a further project of the repository end
    with; empty: it is the first. `key`: the variable with the agent's key. `before`: lines before
    the step that asks an agent on the machine of the job, which a container cannot reach; none: it
    can.
    """

    branch: str = BRANCH
    release: Release | None = None
    folder: str = ""
    project: str = ""
    key: str = ""
    before: tuple[str, ...] = ()


def prepare_machine(kind: str, options: Mapping[str, Json]) -> tuple[str, ...]:
    """What is to be done on the machine of the job before the agent is asked there; empty for an
    agent that a container can ask as well.
    """
    if kind in ("command", "python"):
        return _INSTALL
    address = str(options.get("base_url") or options.get("url") or "")
    if address and is_loopback(address):
        return tuple(line.replace("{address}", format_address(address)) for line in _START)
    return ()


def render_workflows(around: Surroundings) -> dict[str, str]:
    """Path from the top of the repository -> content."""
    return {
        name_workflow(path, around.project): _render(name, around)
        for path, name in WORKFLOWS.items()
    }


def name_workflow(path: str, project: str) -> str:
    """The path of a workflow of the project."""
    if not project or path == ACCEPT:
        return path
    return f"{path.removesuffix('.yml')}-{project}.yml"


def name_baseline(project: str) -> str:
    """The artifact with the project's baseline."""
    return f"gate-baseline-{project}" if project else ""


def render_pages(release: Release | None = None) -> str:
    """The workflow that publishes history and reports."""
    return _render("pages-workflow.yml", Surroundings(release=release))


def _render(name: str, around: Surroundings) -> str:
    text = files("gate.commands.templates").joinpath(name).read_text(encoding="utf-8")
    release = around.release
    references = {
        **ACTIONS,
        "agent-gate": refer_to_action(release),
        "agent-gate that asks": refer_to_action(release, native=bool(around.before)),
    }
    for action, reference in references.items():
        text = text.replace(f"uses: <{action}>", f"uses: {reference}")
    config = f"--config {shlex.quote(f'{around.folder}/gate.yml')} " if around.folder else ""
    for command in ("save", "verdict"):
        text = text.replace(f"baseline {command} <config>", f"baseline {command} {config}")
    text = text.replace("[<branch>]", f"[{inline(around.branch)}]")
    text = text.replace("<-project>", f"-{around.project}" if around.project else "")
    text = text.replace("<baselines>", inline(_below(around.folder, "baselines/")))
    return "\n".join([*_fill(text.splitlines(), around), ""])


def _below(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _fill(lines: Sequence[str], around: Surroundings) -> Iterator[str]:
    """With what stands for a line that is only a mark, at its place."""
    key = (
        "env:",
        f"  {around.key}: ${{{{ secrets.{around.key} }}}} # Settings > Secrets and variables",
    )
    folder = (f"working-directory: {inline(around.folder)}",)
    named = inline(around.project)
    comment = (f"comment-id: {named}", f"comment-title: {named}") if around.project else ()
    marks = {
        "<before>": around.before,
        "<folder>": folder if around.folder else (),
        "<comment>": comment,
        "<key>": key if around.key else _NO_KEY,
    }
    for line in lines:
        mark = line.lstrip()
        if mark in marks:
            yield from (line.replace(mark, one) for one in marks[mark])
        else:
            yield line
