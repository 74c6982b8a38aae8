"""Datasets as older versions of the OpenAgent benchmark keep them: YAML with defaults, and an index
of tasks with a file for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.json_stream import Member, decode_json, explain_error, iterate_items
from gate.files.json_values import is_integer
from gate.files.source import INDEX, DatasetRow, Rows
from gate.files.yaml import YamlDocument
from gate.records import Json
from gate.text.late_pattern import late_pattern
from gate.text.shortening import shorten

MOST_BYTES = 16 << 20  # of an index, and of a task's file
_TASKS = late_pattern(r'"tasks"\s*:\s*\[')
_ID = late_pattern(r'"id"\s*:')
_LONGEST = 200  # characters of an id, which is a file's name
_NO_NAME = late_pattern(r'[/\\:*?"<>|\x00-\x1f\x7f]')


def yaml_cases(document: YamlDocument) -> Rows:
    """A list of cases; or a mapping with `tasks`, such a list, and perhaps `defaults`: keys that
    each task has unless it says otherwise itself.
    """
    data: Json = document.data
    at: tuple[str, ...] = ()
    defaults: Json = {}
    if isinstance(data, dict) and "tasks" in data:
        defaults, data, at = data.get("defaults") or {}, data["tasks"], ("tasks",)
    if data is None and not at:
        return
    if not isinstance(data, list):
        message = "the file must be a list of cases ('- id: ...'), or a mapping with such a 'tasks'"
        yield Problem(Place(document.file, document.place(at).line or 1), message)
        return
    if not isinstance(defaults, dict):
        place = document.place(("defaults",))
        yield Problem(place, "must be a mapping of keys that each task has")
        return
    for index, task in enumerate(data):
        whole = {**defaults, **task} if isinstance(task, dict) else task
        yield DatasetRow(line=document.place((*at, index)).line or 1, data=whole)


def index_cases(stream: BinaryIO, name: str, beside: Callable[[str], BinaryIO] | None) -> Rows:
    """The case of `tasks/<id>.json` for each entry `{"id": ...}` of the index's `tasks`, in its
    order.
    """
    try:
        text = _text(stream, name)
        index = decode_json(text)
    except InvalidInput as error:
        yield from error.problems
        return
    except (ValueError, RecursionError) as error:
        yield _not_read(name, error)
        return
    tasks = index.get("tasks") if isinstance(index, dict) else None
    if not isinstance(tasks, list):
        yield Problem(Place(name, 1), 'the index must be a mapping: {"tasks": [{"id": ...}, ...]}')
        return
    if beside is None:
        yield Problem(
            Place(name), "its tasks cannot be read from here - give a file of cases instead"
        )
        return
    seen: dict[str, int] = {}
    for line, entry in zip(_lines(text, tasks, name), tasks, strict=True):
        task_id, fault = _id_of(entry, seen)
        if fault:
            yield Problem(Place(name, line), fault)
        else:
            seen[task_id] = line
            yield _task(task_id, Place(name, line), beside)


def _lines(text: str, tasks: Sequence[Json], name: str) -> list[int]:
    """The line of each entry; 1 where it is not plain which list is meant."""
    match = _TASKS.search(text)
    entries: list[Member] = []
    with suppress(InvalidInput):  # of a bracket in a text, not of a list
        entries += iterate_items(text, match.end() - 1, name) if match else ()
    if [entry.data for entry in entries] != tasks:
        return [1] * len(tasks)
    return [entry.line for entry in entries]


def _id_of(entry: Json, seen: Mapping[str, int]) -> tuple[str, str]:
    """The id as text, and what is wrong with it. It becomes a file's name, so it must not lead
    anywhere else.
    """
    given = entry.get("id") if isinstance(entry, dict) else None
    number = is_integer(given)
    task_id = str(given) if number or isinstance(given, str) else ""
    if not task_id.strip():
        return "", 'an entry is a mapping with an id: {"id": "..."}'
    shown = shorten(task_id, 80)
    unsafe = _NO_NAME.search(task_id) or task_id.strip(" .") != task_id or len(task_id) > _LONGEST
    if unsafe:
        return (
            "",
            f"id: '{shown}' cannot be the name of a file in tasks/ - use letters, digits, - and _",
        )
    if task_id in seen:
        return "", f"id: '{shown}' is taken by line {seen[task_id]} - ids must be unique"
    return task_id, ""


def _task(task_id: str, entry: Place, beside: Callable[[str], BinaryIO]) -> DatasetRow | Problem:
    """`entry`: where the index names it."""
    own = f"tasks/{task_id}.json"
    file = entry.file.partition(INDEX)[0] + own
    try:
        with beside(own) as stream:
            text = _text(stream, file)
        data = decode_json(text)
    except FileNotFoundError:
        return Problem(entry, f"there is no {own} - add it, or remove the entry")
    except OSError as error:
        return Problem(entry, f"{own} cannot be read: {error.strerror or error}")
    except InvalidInput as error:
        return error.problems[0]
    except (ValueError, RecursionError) as error:
        return _not_read(file, error)
    if isinstance(data, dict) and str(data.setdefault("id", task_id)) != task_id:
        line = text.count("\n", 0, match.start()) + 1 if (match := _ID.search(text)) else 1
        other = shorten(str(data["id"]), 80)
        return Problem(Place(file, line), f"id: is '{other}', the index calls it '{task_id}'")
    return DatasetRow(line=1, data=data, file=file)


def _text(stream: BinaryIO, name: str) -> str:
    """Raises InvalidInput, also for more than MOST_BYTES."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        message = f"larger than {MOST_BYTES >> 20} MB - keep cases in JSON Lines, which is streamed"
        raise InvalidInput([Problem(Place(name), message)])
    return decode(content, name)


def _not_read(name: str, error: Exception) -> Problem:
    line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
    return Problem(Place(name, line), explain_error(error))
