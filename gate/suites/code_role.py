"""The process of a suite written as code: made once, tasks loaded once, asked task by task."""

from __future__ import annotations

import copy
import inspect
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from pathlib import PurePath
from re import Pattern
from typing import Any

from gate.agents.task_result import response_of
from gate.errors import UsageError
from gate.files.json_values import as_object
from gate.records import CheckedJson, Json
from gate.records.codec import to_json
from gate.suites.cases.keys import INPUT_KEYS, OUTSIDE_DIGEST
from gate.user_code.roles import Finish, RequestHandler

ASKED_WITH = ("round_index", "attempt", "base_url", "model", "provider_key", "timeout_s")
_METHODS = ("load_tasks", "run_task")
_RAISED = (Exception, SystemExit)  # by the user's code


def answer(
    desk: RequestHandler, method: str, *arguments: CheckedJson, seconds: float, finish: Finish
) -> object:
    """Handles the request `method`, load or run; arguments are JSON."""
    if method == "load":
        suite = _Suite(_make_instance(desk, *arguments))
        return {"of": desk.keep(suite), "lines": suite.lines, "alone": suite.alone}
    of, task, options, who = arguments
    begun = time.perf_counter()
    result = desk.object_of(of).run(task, options, seconds, finish)
    took_ms = (time.perf_counter() - begun) * 1e3
    return to_json(response_of(result, who=who, model=options["model"] or None, took_ms=took_ms))


class _Suite:
    """The user's suite, made and its tasks loaded. Raises UsageError for what is wrong with it."""

    def __init__(self, suite: Any) -> None:  # _make_instance has seen that it has the methods
        self._made = suite
        self._by_name = _takes_names(suite.run_task)
        self._tasks = _by_id(_load_tasks(suite))
        self.lines = [_line(task, own_id) for own_id, task in self._tasks.items()]
        self.alone = getattr(suite, "concurrent", False) is not True

    def run(
        self, own_id: str, options: Mapping[str, Json], seconds: float, finish: Finish
    ) -> object:
        """What `run_task` returned."""
        task = _copy_task(self._tasks[own_id])
        if self._by_name:
            result = self._made.run_task(task, **options)
        else:
            result = self._made.run_task(task, *(options[name] for name in ASKED_WITH))
        return finish(result, seconds)


def _make_instance(desk: RequestHandler, spec: str) -> object:
    """An instance of the class; what is no class is taken as it is."""
    loaded = desk.load(spec)
    try:
        instance = loaded() if isinstance(loaded, type) else loaded
    except _RAISED as error:
        raise UsageError(f"{_name_of(loaded)}() raised {_format_error(error)}") from error
    missing = [word for word in _METHODS if not callable(getattr(instance, word, None))]
    if missing:
        lacks = " and ".join(missing)
        raise UsageError(f"is not a suite: {lacks} missing - docs/suite-as-code.md has an example")
    return instance


def _takes_names(run_task: Callable[..., object]) -> bool:
    """Whether it takes what it is asked with by name; else in this order."""
    try:
        signature = inspect.signature(run_task)
    except (TypeError, ValueError):  # of C: nobody knows
        return True
    names = dict.fromkeys(ASKED_WITH)
    for by_name, arguments, named in ((True, (None,), names), (False, (None, *names), {})):
        try:
            signature.bind(*arguments, **named)
        except TypeError:
            continue
        return by_name
    wanted = ", ".join(("task", *ASKED_WITH))
    raise UsageError(f"run_task{signature} must take ({wanted})")


def _load_tasks(suite: Any) -> list[object]:  # as in _Suite
    try:
        tasks = suite.load_tasks()
        if not isinstance(tasks, (str, bytes, Mapping)) and isinstance(tasks, Iterable):
            return list(tasks)
    except _RAISED as error:
        raise UsageError(f"load_tasks() raised {_format_error(error)}") from error
    if inspect.iscoroutine(tasks):
        tasks.close()
    raise UsageError(f"load_tasks() returned {type(tasks).__name__}: return a list of tasks")


def _by_id(tasks: list[object]) -> dict[str, object]:
    """Raises UsageError where there are none, or an id is missing or taken."""
    tasks_by_id: dict[str, object] = {}
    for number, task in enumerate(tasks, start=1):
        own_id = _id_of(task)
        is_valid = isinstance(own_id, (str, Integral)) and not isinstance(own_id, bool)
        if not is_valid or not str(own_id).strip():
            raise UsageError(f"load_tasks(): task {number} has no id - a text or a whole number")
        if str(own_id) in tasks_by_id:
            first = list(tasks_by_id).index(str(own_id)) + 1
            raise UsageError(f"load_tasks(): tasks {first} and {number} are both called '{own_id}'")
        tasks_by_id[str(own_id)] = task
    if not tasks_by_id:
        raise UsageError("load_tasks() returned no task")
    return tasks_by_id


def _id_of(task: object) -> object:
    try:
        return task.get("id") if isinstance(task, Mapping) else getattr(task, "id", None)
    except Exception:
        return None


def _name_of(loaded: object) -> str:
    return str(getattr(loaded, "__name__", type(loaded).__name__))


def _format_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _line(task: object, own_id: str) -> str:
    """The task as a row of a dataset: its keys, its prompt as the input; where none or several
    could be that, the task itself. Raises UsageError.
    """
    try:
        row = {**(as_object(_plain(task)) if _has_keys(task) else {}), "id": own_id}
        given = [key for key in INPUT_KEYS if row.get(key) not in (None, "", [], {})]
        if len(given) != 1 or not isinstance(row[given[0]], (str, list, dict)):
            digest_row = {key: value for key, value in row.items() if key not in OUTSIDE_DIGEST}
            row, given = {**row, "input": digest_row or {"id": own_id}}, ["input"]
        kept = {k: v for k, v in row.items() if k in given or k not in INPUT_KEYS}
        return json.dumps(kept)
    except RecursionError:
        raise UsageError(f"load_tasks(): task '{own_id}' is nested too deeply") from None
    except Exception as error:  # of a property, or of an odd type's own methods
        raise UsageError(f"load_tasks(): task '{own_id}' raised {_format_error(error)}") from error


def _has_keys(value: object) -> bool:
    return isinstance(value, Mapping) or bool(list(_attributes(value)))


def _attributes(value: object) -> Iterator[str]:
    """Names of what an object holds, without what it keeps to itself."""
    names: Iterable[str] = getattr(value, "_fields", ()) or getattr(value, "__dict__", ())
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    yield from (str(name) for name in names if not str(name).startswith("_"))


def _plain(value: object) -> Json:
    """As JSON that is the same in each run: what JSON cannot hold is told by its name or kind."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value), key=json.dumps)
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, Pattern):
        return _plain(value.pattern)
    if is_dataclass(value) or hasattr(value, "_fields") or not isinstance(value, (list, tuple)):
        names = [] if isinstance(value, type) or callable(value) else list(_attributes(value))
        if names:
            return {name: _plain(getattr(value, name)) for name in names}
        return f"<{_name_of(value)}>"
    return [_plain(inner) for inner in value]


def _copy_task(task: object) -> object:
    """So that one round does not see what another did to the task, where it can be copied."""
    try:
        return copy.deepcopy(task)
    except Exception:
        return task
