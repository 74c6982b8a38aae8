"""A second project in one repository: workflows that belong to another one stay as they are, and
this one's get names of their own.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

from gate.commands.new_project.release import ACTION
from gate.commands.new_project.workflows import ACCEPT, WORKFLOWS, name_workflow
from gate.errors import GateError
from gate.files import yaml as yamlfile
from gate.files.json_values import as_object, as_objects, as_string
from gate.files.plain import plain

_ASKING = tuple(path for path in WORKFLOWS if path != ACCEPT)
_TAKEN = ("gate", "accept", "baseline", "pages")  # gate: the name of a comment without a name
_LONGEST = 40  # characters
_FOREIGN = "\0"  # no folder: the workflow is none of Agent Gate's


def choose_name(top: Path, inside: str) -> str | None:
    """What the workflows, the comment and the artifacts of the project end with. "": nothing, the
    usual names are free or its own. None: the usual workflows have a job for this project beside
    another's. `inside`: the way from the top of the repository to the project.
    """
    owners = set(chain.from_iterable(_list_owners(top / path) for path in _ASKING))
    if not inside:
        owners.discard(_FOREIGN)  # as in a repository with one project
    if owners <= {inside}:
        return ""
    if inside in owners:
        return None
    words = re.sub(r"[^A-Za-z0-9]+", "-", inside)[:_LONGEST].strip("-") or "project"
    names = chain((words,), (f"{words}-{number}" for number in count(2)))
    return next(name for name in names if name not in _TAKEN and _is_free(top, inside, name))


def _is_free(top: Path, inside: str, name: str) -> bool:
    found = (_list_owners(top / name_workflow(path, name)) for path in _ASKING)
    return set(chain.from_iterable(found)) <= {inside}


def _list_owners(file: Path) -> Iterator[str]:
    """The folders of the projects that a workflow asks; empty text: the top of the repository."""
    if not os.path.lexists(file):
        return
    try:
        workflow = as_object(yamlfile.parse(plain(file).read_bytes(), file.name).data)
    except (GateError, OSError):
        yield _FOREIGN
        return
    jobs = map(as_object, as_object(workflow.get("jobs")).values())
    steps = chain.from_iterable(as_objects(job.get("steps")) for job in jobs)
    asking = [
        as_object(step.get("with"))
        for step in steps
        if as_string(step.get("uses")).startswith(ACTION)
        and "args" not in as_object(step.get("with"))
    ]
    for given in asking:
        folder = as_string(given.get("working-directory"))
        config = as_string(given.get("config"))
        found = posixpath.normpath(posixpath.join(folder, posixpath.dirname(config)))
        yield "" if found == "." else found
    if not asking:
        yield _FOREIGN
