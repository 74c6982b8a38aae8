"""A suite written as code: a class with `load_tasks` and `run_task` (docs/suite-as-code.md). Its
tasks become cases, its calls the answers of the run.
"""

from __future__ import annotations

import copy
import inspect
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Integral, Real
from pathlib import Path, PurePath
from re import Pattern
from typing import Any

from gate.agents.python import Calls
from gate.case_keys import INPUT_KEYS, OUTSIDE_DIGEST
from gate.dataset_source import Source
from gate.errors import AgentFailure, InfraFailure, InvalidInput, Problem, UsageError
from gate.plugins import Agent, World
from gate.records import Case, Json, Response, Suite
from gate.registry import load_object
from gate.run_record import RunRecord, nobody_answered, response_of
from gate.turns import Turn, Turns, turns_of

__all__ = ["RunRecord", "SuiteCode", "load_suite"]

ASKED_WITH = ("round_index", "attempt", "base_url", "model", "provider_key", "timeout_s")
_METHODS = ("load_tasks", "run_task")
_RAISED = (Exception, SystemExit)  # by the user's code


class SuiteCode:
    """The user's suite, made and its tasks loaded.

    One call at a time, unless the class says `concurrent = True`: such code seldom expects threads.
    """

    def __init__(
        self, name: str, made: Any, *, seconds: Callable[[], float] = time.perf_counter
    ) -> None:
        """`name`: as gate.yml has it. Raises UsageError for what is wrong with the class."""
        self.name = name
        self._seconds = seconds
        self._made = made
        self._by_name = _takes_names(made.run_task)
        self._tasks = _by_id(_loaded(made))
        self._lines = b"".join(map(_line, self._tasks.values(), self._tasks))
        self._alone = getattr(made, "concurrent", False) is not True
        self._turns = Turns()

    @property
    def source(self) -> Source:
        """The tasks as a dataset of JSON Lines."""
        return Source(name=self.name, open=lambda: io.BytesIO(self._lines), any_keys=True)

    def ask(
        self, case: Case, number: int, attempt: int, timeout_s: float, agent: Agent, world: World
    ) -> Response:
        """What `run_task` makes of the task (see runner.AskOwn). The wait for its turn is neither
        in the latency nor in the time-out. Raises AgentFailure, InfraFailure.
        """
        address = _Address(agent, world)
        call = partial(
            self._call,
            task=_copied(self._tasks[case.id]),
            round_index=number,
            attempt=attempt,
            base_url=address.url,
            model=address.model,
            provider_key=address.key,
            timeout_s=timeout_s,
        )
        who = f"run_task of {self.name.rpartition(':')[2]}"
        with self._turn(world), address.turn(world):
            begun = self._seconds()

            def took_ms() -> float:
                return (self._seconds() - begun) * 1e3

            try:
                found = _within(call, timeout_s, who, took_ms)
            except AgentFailure as failure:
                if failure.timed_out:
                    address.left_behind(timeout_s)
                raise
            took = took_ms()
        return response_of(found, who=who, model=address.model or None, took_ms=took)

    def _turn(self, world: World) -> AbstractContextManager[Turn]:
        return self._turns.taken(exclusive=self._alone, given_up=world.cancelled)

    def _call(self, _: object, *, task: Any, **asked: Any) -> Any:
        if self._by_name:
            return self._made.run_task(task, **asked)
        return self._made.run_task(task, *(asked[name] for name in ASKED_WITH))


def load_suite(suite: Suite, root: Path) -> SuiteCode:
    """The class that `suites[].suite` names, made. Raises InvalidInput at its place in gate.yml."""
    name = suite.suite or ""
    try:
        return SuiteCode(name, _made(name, root))
    except UsageError as error:
        said = str(error)
        told = said if name in said else f"'{name}': {said}"
        raise InvalidInput([Problem(suite.place, told)]) from error


class _Address:
    """What the agent's section of gate.yml says of where to ask."""

    def __init__(self, agent: Agent, world: World) -> None:
        asked = getattr(agent, "agent", None) or agent  # without a retriever beside it
        self.url = str(getattr(asked, "base_url", "") or getattr(asked, "url", "") or "")
        self.model = str(getattr(asked, "model", "") or "")
        self.key = str(world.env.get(str(getattr(asked, "api_key_env", None) or "")) or "")
        self._server = str(getattr(asked, "server", "") or "")

    def turn(self, world: World) -> AbstractContextManager[object]:
        """Beside others, but not beside a request that must be alone on that server."""
        if not self._server:
            return nullcontext()
        return turns_of(self._server).taken(exclusive=False, given_up=world.cancelled)

    def left_behind(self, for_s: float) -> None:
        """Code that is given up cannot be ended: it may go on asking that server."""
        if self._server:
            turns_of(self._server).left_behind(for_s)


def _within(
    call: Callable[[Any], Any], timeout_s: float, who: str, took_ms: Callable[[], float]
) -> Any:
    """What the call returned, in a thread of its own. Raises AgentFailure, InfraFailure."""
    calls = Calls(call, who)
    try:
        return calls.call(None, timeout_s)
    except AgentFailure as failure:
        failure.latency_ms = took_ms()
        raised = failure.__cause__
        status = getattr(raised, "code", None)
        known = status if isinstance(status, int) else None
        lost = isinstance(raised, OSError) and nobody_answered(str(failure), known)
        if lost and not failure.timed_out:
            raise InfraFailure(str(failure), code="api_error") from raised
        raise
    finally:
        calls.close()


# -------------------------------------------------------------------------------------- the class


def _made(name: str, root: Path) -> Any:
    """An instance of the class; what is no class is taken as it is."""
    found = load_object(name, root)
    try:
        made = found() if isinstance(found, type) else found
    except _RAISED as error:
        raise UsageError(f"{_called(found)}() raised {_told(error)}") from error
    missing = [word for word in _METHODS if not callable(getattr(made, word, None))]
    if missing:
        lacks = " and ".join(missing)
        raise UsageError(f"is no suite: {lacks} missing - docs/suite-as-code.md has an example")
    return made


def _takes_names(run_task: Callable[..., Any]) -> bool:
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


def _loaded(made: Any) -> list[Any]:
    try:
        found = made.load_tasks()
        if not isinstance(found, (str, bytes, Mapping)) and isinstance(found, Iterable):
            return list(found)
    except _RAISED as error:
        raise UsageError(f"load_tasks() raised {_told(error)}") from error
    if inspect.iscoroutine(found):
        found.close()
    raise UsageError(f"load_tasks() returned {type(found).__name__}: return a list of tasks")


def _by_id(tasks: list[Any]) -> dict[str, Any]:
    """Raises UsageError where there are none, or an id is missing or taken."""
    found: dict[str, Any] = {}
    for number, task in enumerate(tasks, start=1):
        own = _id_of(task)
        known = isinstance(own, (str, Integral)) and not isinstance(own, bool)
        if not known or not str(own).strip():
            raise UsageError(f"load_tasks(): task {number} has no id - a text or a whole number")
        if str(own) in found:
            first = list(found).index(str(own)) + 1
            raise UsageError(f"load_tasks(): tasks {first} and {number} are both called '{own}'")
        found[str(own)] = task
    if not found:
        raise UsageError("load_tasks() returned no task")
    return found


def _id_of(task: Any) -> Any:
    try:
        return task.get("id") if isinstance(task, Mapping) else getattr(task, "id", None)
    except Exception:
        return None


def _called(found: Any) -> str:
    return str(getattr(found, "__name__", type(found).__name__))


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


# -------------------------------------------------------------------------------------- its tasks


def _line(task: Any, own_id: str) -> bytes:
    """The task as a row of a dataset: its keys, its prompt as the input; where none or several
    could be that, the task itself. Raises UsageError.
    """
    try:
        row: dict[str, Json] = {**_plain(task), "id": own_id} if _has_keys(task) else {"id": own_id}
        given = [key for key in INPUT_KEYS if row.get(key) not in (None, "", [], {})]
        if len(given) != 1 or not isinstance(row[given[0]], (str, list, dict)):
            whole = {key: value for key, value in row.items() if key not in OUTSIDE_DIGEST}
            row, given = {**row, "input": whole or {"id": own_id}}, ["input"]
        kept = {k: v for k, v in row.items() if k in given or k not in INPUT_KEYS}
        return json.dumps(kept).encode() + b"\n"
    except RecursionError:
        raise UsageError(f"load_tasks(): task '{own_id}' is nested too deeply") from None
    except Exception as error:  # of a property, or of an odd type's own methods
        raise UsageError(f"load_tasks(): task '{own_id}' raised {_told(error)}") from error


def _has_keys(value: Any) -> bool:
    return isinstance(value, Mapping) or bool(list(_attributes(value)))


def _attributes(value: Any) -> Iterator[str]:
    """Names of what an object holds, without what it keeps to itself."""
    names: Any = getattr(value, "_fields", None) or getattr(value, "__dict__", ())
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    yield from (str(name) for name in names if not str(name).startswith("_"))


def _plain(value: Any) -> Json:
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
        return f"<{_called(value)}>"
    return [_plain(inner) for inner in value]


def _copied(task: Any) -> Any:
    """So that one round does not see what another did to the task, where it can be copied."""
    try:
        return copy.deepcopy(task)
    except Exception:
        return task
