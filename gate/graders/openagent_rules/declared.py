"""The tool calls that an answer declares, and names of tools that mean the same tool."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from gate.records import Json, LoggedCall
from gate.text.escaping import one_line

MOST = 2_000  # calls of an answer, or of one log, that are looked at
NAME_LIMIT = 80  # characters of a name
_SERVER = "__"  # between the server of a tool and its name, once
_ARGUMENTS = ("arguments", "args", "input", "parameters")

_Key = tuple[str, str]  # a call's name and its arguments, empty where it tells none


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One call. `names`: everything that the entry calls its tool, the first being its name."""

    names: tuple[str, ...]
    entry: Json

    @property
    def name(self) -> str:
        return self.names[0]


def canonical(name: str) -> str:
    """The part behind the last dot, lower case, `_` for `-`; empty where nothing is left."""
    last = name[-1_000:].strip().rpartition(".")[2]
    return one_line(last.replace("-", "_").lower(), NAME_LIMIT)


def same_tool(one: str, other: str) -> bool:
    """Of two canonical names; `web_search` is the tool of any server, `a__web_search` of one."""
    return one == other or _tool(one) == other or one == _tool(other)


def same_family(one: str, other: str) -> bool:
    """As the upstream tool compares: any call of a browser stands for each, so of local files."""
    tools = (_tool(one), _tool(other))
    alike = any(all(t.startswith(f) for t in tools) for f in ("browser_use", "local_"))
    return alike or same_tool(one, other)


def declared_calls(answer: Json) -> tuple[Declared, ...]:
    """The entries of `evidence.tool_calls`, then those of `tool_calls` that are not the same again:
    a call that stands in both lists is one call, also where one of them leaves out its server or
    its arguments.
    """
    if not isinstance(answer, dict):
        return ()
    evidence = answer.get("evidence")
    first = list(_entries(evidence.get("tool_calls") if isinstance(evidence, dict) else None))
    told: dict[str, list[_Key]] = defaultdict(list)
    for call in first:
        told[_tool(call.name)].append(_key(call))
    second = [call for call in _entries(answer.get("tool_calls")) if not _told(call, told)]
    return tuple(islice((*first, *second), MOST))


def _told(call: Declared, told: Mapping[str, list[_Key]]) -> bool:
    """Whether it was told before; what tells it is taken out, an equal one first."""
    tool = _tool(call.name)
    own, others = _key(call), told.get(tool, [])
    if own not in others:
        name, given = own
        alike = (
            other
            for other in others
            if (not given or not other[1] or given == other[1])
            and (name == other[0] or tool in (name, other[0]))
        )
        own = next(alike, own)
    if own not in others:
        return False
    others.remove(own)
    return True


def observed_calls(calls: Iterable[LoggedCall]) -> tuple[str, ...]:
    """Canonical names. A call that several logs show is one call: of each tool there are as many
    as in the log that shows most.
    """
    by_log: dict[str, list[str]] = defaultdict(list)
    for call in calls:
        if (name := canonical(call.name)) and len(by_log[call.log]) < MOST:
            by_log[call.log].append(name)
    found: tuple[str, ...] = ()
    for log in sorted(by_log):
        found += unmatched(by_log[log], found)
    return found


def unmatched(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """The names for which nothing is left among the others, each of which stands for one; as few
    as can be: names with a server choose first, and leave plain ones to those without.
    """
    names, left = list(names), Counter(others)
    rest = [name for name in names if name != _tool(name) and not _take(left, name)]
    lost = [name for name in rest if not _take(left, _tool(name))]
    served = Counter(_tool(other) for other in left.elements() if other != _tool(other))
    plain = (name for name in names if name == _tool(name))
    lost += (name for name in plain if not _take(served, name) and not _take(left, name))
    return tuple(lost)


def _take(left: Counter[str], name: str) -> bool:
    found = left[name] > 0
    left[name] -= found
    return found


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
    told = (entry.get("name"), entry.get("tool"), inner)
    names = (canonical(name) for name in told if isinstance(name, str))
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
