"""A job of a workflow as GitHub's runner goes through it: conditions, expressions, inputs with
their defaults, outputs, and the action that `uses` names at that very reference.

What the steps of others do is done here: a checkout without git, as the image has none, and
artifacts. A published action's image is not pulled: the command that it would run, runs here.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gate.commands.action import run as run_action
from tests.support.action_runs import hooks_on
from tests.support.git_repository import git
from tests.support.github_server import REPOSITORY, REPOSITORY_ID, Answer, GitHub
from tests.support.in_process import gate
from tests.support.product_repository import IMAGE, Product
from tests.support.session_artifacts import ZIP, zipped

TOKEN = "ghs_of_the_job"
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_WORD = re.compile(r"'(?:[^']|'')*'|[A-Za-z_][\w-]*(?:\.[\w-]+)*|&&|\|\||!=|==|[!(),]")


@dataclass
class Job:
    """`event`: name and payload; `commit`, `ref`: what is checked out."""

    folder: Path
    repository: Path  # a bare repository of git
    github: GitHub
    store: str  # address of the store of artifacts, which answers with GitHub's blobs
    product: Product
    event: tuple[str, Mapping[str, Any]]
    commit: str
    ref: str
    run_id: int
    attempt: int = 1
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)  # of steps with an id
    log: list[str] = field(default_factory=list)
    failed: bool = False

    def run(self, workflow: Mapping[str, Any], name: str) -> Job:
        """Every step of that job; none if its own condition does not hold."""
        self.folder.mkdir()
        job = workflow["jobs"][name]
        if not self._holds(job.get("if")):
            self.log.append("the job was skipped")
            return self
        for step in job["steps"]:
            if self._holds(step.get("if")):
                self._step(step)
        return self

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def _step(self, step: Mapping[str, Any]) -> None:
        action, _, reference = step["uses"].partition("@")
        given = {key: self._fill(str(text)) for key, text in step.get("with", {}).items()}
        if action == "agent-gate/agent-gate":
            code = self._act(reference, given, step.get("id", ""))
            self.failed |= code != 0
        else:
            others: Mapping[str, Callable[[Mapping[str, str]], None]] = {
                "actions/checkout": self._check_out,
                "actions/upload-artifact": self._upload,
            }
            others[action](given)

    def _check_out(self, given: Mapping[str, str]) -> None:
        assert given["persist-credentials"] == "False"
        packed = self.folder / "commit.zip"
        git(self.repository, "archive", "--format=zip", f"--output={packed}", self.commit)
        zipfile.ZipFile(packed).extractall(self.workspace)

    def _upload(self, given: Mapping[str, str]) -> None:
        top = self.workspace / given["path"]
        files = {
            path.relative_to(top).as_posix(): path.read_bytes()
            for path in top.rglob("*")
            if path.is_file()
        }
        assert files or given["if-no-files-found"] != "error", f"nothing in {given['path']}"
        content, number = zipped(files), len(self.github.blobs) + 500
        kept = self.github.artifacts.setdefault(self.run_id, [])
        kept[:] = [one for one in kept if one["name"] != given["name"]]
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        kept.append({"id": number, "name": given["name"], "expired": False, "digest": digest})
        self.github.blobs[number] = Answer(200, content, ZIP)
        self.github.stores[number] = f"{self.store}/{number}"

    def _act(self, reference: str, given: Mapping[str, str], step_id: str) -> int:
        """As the runner starts a container: every input of action.yml is there, and no other."""
        text = git(self.product.remote, "show", f"{reference.split()[0]}:action.yml")
        action = yaml.safe_load(text)
        assert action["runs"] == {"using": "docker", "image": f"docker://{IMAGE}"}
        assert set(given) <= {*action["inputs"], "args"}
        inputs = {
            name: given.get(name, self._fill(str(about.get("default", ""))))
            for name, about in action["inputs"].items()
        }
        env = {**self._env(), **{f"INPUT_{name.upper()}": text for name, text in inputs.items()}}
        self.workspace.mkdir(exist_ok=True)
        if "args" in given:
            done = gate(self.workspace, *shlex.split(given["args"]), env=env)
            self.log += [*done.stdout.splitlines(), *done.stderr.splitlines()]
            return done.returncode
        with contextlib.chdir(self.workspace):
            code = run_action(argparse.Namespace(), env, hooks_on(self.github, self.log.append))
        self.outputs[step_id] = self._read_outputs()
        return code

    def _env(self) -> dict[str, str]:
        name, payload = self.event
        (self.folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        (self.folder / "output").write_text("", encoding="utf-8")
        kind, _, short = self.ref.removeprefix("refs/").partition("/")
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_REF": self.ref,
            "GITHUB_REF_NAME": short,
            "GITHUB_REF_TYPE": "tag" if kind == "tags" else "branch",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REPOSITORY_ID": str(REPOSITORY_ID),
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            "GITHUB_RUN_ID": str(self.run_id),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_SHA": self.commit,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_WORKSPACE": str(self.workspace),
        }

    def _read_outputs(self) -> dict[str, str]:
        lines = iter((self.folder / "output").read_text(encoding="utf-8").splitlines())
        found = {}
        for line in lines:
            name, _, end = line.partition("<<")
            found[name] = "\n".join(iter(lambda: next(lines), end))
        return found

    def _fill(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: _as_text(self._evaluate(found[1])), text)

    def _holds(self, condition: object) -> bool:
        """A condition that does not name a status function has `success() &&` before it."""
        text = "true" if condition is None else str(condition)
        bare = text.strip().removeprefix("${{").removesuffix("}}")
        named = re.search(r"\b(cancelled|always|failure|success)\(\)", bare)
        return (named is not None or not self.failed) and bool(self._evaluate(bare))

    def _evaluate(self, expression: str) -> Any:
        """By way of Python, whose `and` and `or` give one of their sides, too."""
        own = {"&&": "and", "||": "or", "!": "not"}
        words = []
        for word in _WORD.findall(expression):
            called = word in ("startsWith", "cancelled", "always")
            if word in own or not re.match(r"['\w]", word) or called:
                words.append(own.get(word, word))
            elif word.startswith("'"):
                words.append(repr(word[1:-1].replace("''", "'")))
            else:
                words.append(f"look({word!r})")
        known = {
            "look": self._look,
            "startsWith": lambda text, start: _as_text(text).lower().startswith(start.lower()),
            "cancelled": lambda: False,
            "always": lambda: True,
        }
        return eval(" ".join(words), {"__builtins__": {}}, known)

    def _look(self, path: str) -> Any:
        name, payload = self.event
        github = {"sha": self.commit, "token": TOKEN, "event": payload, "event_name": name}
        steps = {key: {"outputs": values} for key, values in self.outputs.items()}
        place: Any = {"github": github, "steps": steps, "true": True, "false": False}
        for part in path.split("."):
            place = place.get(part) if isinstance(place, dict) else None
        return place


def _as_text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
