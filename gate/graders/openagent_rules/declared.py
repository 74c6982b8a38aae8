"""The tool calls that an answer declares, and which names mean the same tool."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from gate.records import Json, LoggedCall
from gate.text.hidden import drop_hidden
from gate.text.shortening import shorten

MOST = 2_000  # calls of an answer, or of one log, that are looked at
NAME_LIMIT = 80  # characters of a name
_SERVER = "__"  # between the server of a tool and its name, once
_ARGUMENTS = ("arguments", "args", "input", "parameters")

_Key = tuple[str, str]  # a call's name and its arguments, empty where it tells none


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One declared call. `names`: all names that the entry gives for its tool; the first is its
    name.
    """

    names: tuple[str, ...]
    entry: Mapping[str, Json]

    @property
    def name(self) -> str:
        return self.names[0]


def canonical_name(name: str) -> str:
    """The part after the last dot, in lower case, with `_` for `-`; empty if nothing is left."""
    last = drop_hidden(name[-1_000:]).strip().rpartition(".")[2]
    return shorten(last.replace("-", "_").lower(), NAME_LIMIT)


def is_same_tool(first: str, second: str) -> bool:
    """Whether two canonical names mean the same tool. `web_search` is that tool of any server,
    `a__web_search` only that of server a.
    """
    return first == second or _tool(first) == second or first == _tool(second)


def is_same_family(first: str, second: str) -> bool:
    """Whether two names are equal for the upstream tool: any call of a browser stands for each
    other one, and so do calls for local files.
    """
    tools = (_tool(first), _tool(second))
    alike = any(all(t.startswith(f) for t in tools) for f in ("browser_use", "local_"))
    return alike or is_same_tool(first, second)


def list_declared_calls(answer: Json) -> tuple[Declared, ...]:
    """The entries of `evidence.tool_calls`, then those of `tool_calls` that are not repetitions. A
    call in both lists is one call, also if one of the lists omits its server or arguments.
    """
    if not isinstance(answer, dict):
        return ()
    evidence = answer.get("evidence")
    first = list(_entries(evidence.get("tool_calls") if isinstance(evidence, dict) else None))
    keys_of_first: dict[str, list[_Key]] = defaultdict(list)
    for call in first:
        keys_of_first[_tool(call.name)].append(_key(call))
    second = [
        call for call in _entries(answer.get("tool_calls")) if not _is_repeated(call, keys_of_first)
    ]
    return tuple(islice((*first, *second), MOST))


def _is_repeated(call: Declared, keys_of_first: Mapping[str, list[_Key]]) -> bool:
    """Whether it was told before; what tells it is taken out, an equal one first."""
    tool = _tool(call.name)
    key, others = _key(call), keys_of_first.get(tool, [])
    if key not in others:
        name, given = key
        alike = (
            other
            for other in others
            if (not given or not other[1] or given == other[1])
            and (name == other[0] or tool in (name, other[0]))
        )
        key = next(alike, key)
    if key not in others:
        return False
    others.remove(key)
    return True


def list_observed_calls(calls: Iterable[LoggedCall]) -> tuple[str, ...]:
    """The canonical names of logged calls. A call in several logs is one call: each tool has as
    many as the log that shows most.
    """
    by_log: dict[str, list[str]] = defaultdict(list)
    for call in calls:
        if (name := canonical_name(call.name)) and len(by_log[call.log]) < MOST:
            by_log[call.log].append(name)
    observed: tuple[str, ...] = ()
    for log in sorted(by_log):
        observed += list_unmatched(by_log[log], observed)
    return observed


def list_unmatched(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """The names that cannot be paired with one of `others`, as few as possible. Names with a server
    choose first and leave plain ones to names without.
    """
    names, left = list(names), Counter(others)
    rest = [name for name in names if name != _tool(name) and not _take(left, name)]
    lost = [name for name in rest if not _take(left, _tool(name))]
    served = Counter(_tool(other) for other in left.elements() if other != _tool(other))
    plain = (name for name in names if name == _tool(name))
    lost += (name for name in plain if not _take(served, name) and not _take(left, name))
    return tuple(lost)


def _take(left: Counter[str], name: str) -> bool:
    is_left = left[name] > 0
    left[name] -= is_left
    return is_left


def _tool(name: str) -> str:
    """Without its server, where it has one."""
    parts = name.split(_SERVER)
    return parts[1] if len(parts) == 2 and all(parts) else name


def _entries(listed: Json) -> Iterable[Declared]:
    for entry in islice(listed, MOST) if isinstance(listed, list) else ():
        if isinstance(entry, dict) and (names := _names(entry)):
            yield Declared(names=names, entry=entry)


def _names(entry: dict[str, Json]) -> tuple[str, ...]:
    function = entry.get("function")
    inner = function.get("name") if isinstance(function, dict) else None
    written_names = (entry.get("name"), entry.get("tool"), inner)
    names = (canonical_name(name) for name in written_names if isinstance(name, str))
    return tuple(dict.fromkeys(name for name in names if name))


def _key(call: Declared) -> _Key:
    function = call.entry.get("function")
    places = [call.entry, *([function] if isinstance(function, dict) else [])]
    given = (place[key] for place in places for key in _ARGUMENTS if key in place)
    arguments = next(given, None)
    try:
        if isinstance(arguments, str):  # JSON in a string, as chat completions have it
            arguments = json.loads(arguments)
        return call.name, json.dumps(arguments, sort_keys=True) if arguments else ""
    except (ValueError, RecursionError):
        return call.name, arguments if isinstance(arguments, str) else ""
