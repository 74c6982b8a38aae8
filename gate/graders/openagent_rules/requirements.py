"""What a tool task requires of its answer, and which requirements the answer does not meet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from gate.graders.openagent_rules.declared import Declared, canonical_name, is_same_tool
from gate.records import CheckedJson, Json
from gate.text.shortening import shorten

SCRATCH = "scratch"
_MOST_VALUES = 10_000
_LONGEST = 20_000  # characters of one text that are looked at
_BREAKS = re.compile(r"[\s'\"`=,;()<>|&\[\]{}]+")
_SEPARATORS = re.compile(r"[\\/]+")


def strings(value: Json) -> Iterator[str]:
    """Every text inside a JSON value, without keys; at most 10,000 values are looked at."""
    waiting, seen = [value], 0
    while waiting and seen < _MOST_VALUES:
        item = waiting.pop()
        seen += 1
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def names_path(texts: Iterable[str], wanted: str) -> bool:
    """Whether one of the texts is, or contains, a path that ends as `wanted` does. A file of
    `./scratch/` may be below another folder of that name.
    """
    want = parts(wanted)
    return any(_ends(parts(word), want) for text in texts for word in _words(text[:_LONGEST]))


def is_there(files: Iterable[str], wanted: str) -> bool | None:
    """Whether `wanted` is among the files, which are relative to `./scratch/`; None for a path
    outside it.
    """
    want = parts(wanted)
    if want[:1] != (SCRATCH,):
        return None
    return any(parts(file) in (want, want[1:]) for file in files)


def parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in _SEPARATORS.split(path.strip()) if part not in ("", "."))


def _words(text: str) -> Iterator[str]:
    yield text
    for word in _BREAKS.split(text):
        yield word.rstrip(".:!?")


def _ends(path: tuple[str, ...], want: tuple[str, ...]) -> bool:
    if not want or path[-len(want) :] == want:
        return bool(want)
    tail = want[1:]
    if want[0] != SCRATCH or not tail:
        return False
    return path[-len(tail) :] == tail and SCRATCH in path[: -len(tail)]


_LISTS: Mapping[str, str] = {  # requirement -> the list whose length it is about
    "min_diffs": "diffs",
    "min_migration_steps": "migration_plan",
    "min_picked": "picked",
}
_NUMBERS = ("min_sources", "min_tool_calls", *_LISTS)
_TEXTS: Json = {"type": ["array", "null"], "items": {"type": "string"}}
_COUNT: Json = {"type": ["integer", "null"], "minimum": 0}
_PATH_FIELDS = ("path", "log_path", "artifacts")
_DETAIL = 120  # characters of a code behind its colon
_ABSENT = object()

REQUIRED_TOOLS: Json = _TEXTS
OUTPUT_REQUIREMENTS: CheckedJson = {
    "type": "object",
    "properties": {
        "must_be_valid_json": {"type": ["boolean", "null"]},
        "must_include_fields": _TEXTS,
        "must_include_tool_calls": _TEXTS,
        **dict.fromkeys(_NUMBERS, _COUNT),
        "expected_path": {"type": ["string", "null"]},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """The requirements of a case. `tools`: tools whose calls the answer must declare; `logged`:
    tools that the logs should show.
    """

    fields: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    numbers: Mapping[str, int]
    path: str | None = None
    only_json: bool = False

    @classmethod
    def of(cls, keys: Mapping[str, CheckedJson], *, strict: bool) -> Requirements | None:
        """The requirements in the checked keys of a case; None if it has none."""
        wanted, tools = keys.get("output_requirements") or {}, keys.get("required_tools") or ()
        if not wanted and not tools:
            return None
        declared = tuple(wanted.get("must_include_tool_calls") or ())
        return cls(
            fields=tuple(wanted.get("must_include_fields") or ()),
            tools=tuple(dict.fromkeys((*declared, *(tools if strict else ())))),
            logged=tuple(tools) or declared,
            numbers={name: n for name in _NUMBERS if (n := wanted.get(name)) is not None},
            path=wanted.get("expected_path") or None,
            only_json=wanted.get("must_be_valid_json") is True,
        )


def faults(keys: Mapping[str, CheckedJson]) -> Iterator[str]:
    """One sentence for each requirement that no answer can meet."""
    wanted = keys.get("output_requirements") or {}
    for field in wanted.get("must_include_fields") or ():
        if not all(field.split(".")):
            yield f"output_requirements.must_include_fields: '{field[:60]}' is not a dotted path"
    listed = {
        "required_tools": keys.get("required_tools"),
        "output_requirements.must_include_tool_calls": wanted.get("must_include_tool_calls"),
    }
    for place, tools in listed.items():
        for tool in tools or ():
            if not canonical_name(tool):
                yield f"{place}: '{tool[:60]}' is not the name of a tool"


def list_unmet(
    answer: Mapping[str, Json],
    calls: Sequence[Declared],
    wanted: Requirements,
    *,
    strict: bool,
    files: Sequence[str] | None = None,
) -> Iterator[str]:
    """The codes of unmet requirements, in the order of the upstream tool; in strict mode also those
    that it does not check. `files`: what is below `./scratch/`, None if unknown.
    """
    for field in wanted.fields:
        if not _has(answer, field, strict=strict):
            yield f"missing_field:{_short(field)}"
    for tool in missing_tools(calls, wanted, strict=strict):
        yield f"missing_tool_call:{_short(tool)}"
    least = wanted.numbers.get("min_sources", 0)
    if _sources(answer, strict=strict) < least:
        yield f"min_sources_not_met:{least}"
    if strict:
        yield from _beyond(answer, calls, wanted, files)


def missing_tools(calls: Sequence[Declared], wanted: Requirements, *, strict: bool) -> list[str]:
    """The required tools, as the case spells them, that the answer declares no call of. Strict: a
    plain name also matches that tool of any server.
    """
    declared = {name for call in calls for name in call.names}
    return [tool for tool in wanted.tools if not _is_among(canonical_name(tool), declared, strict)]


def _is_among(tool: str, declared: set[str], strict: bool) -> bool:
    if not tool:
        return False
    return tool in declared or (strict and any(is_same_tool(tool, name) for name in declared))


def _beyond(
    answer: Mapping[str, Json],
    calls: Sequence[Declared],
    wanted: Requirements,
    files: Sequence[str] | None,
) -> Iterator[str]:
    if len(calls) < wanted.numbers.get("min_tool_calls", 0):
        yield f"min_tool_calls_not_met:{wanted.numbers['min_tool_calls']}"
    for name, field in _LISTS.items():
        if _length(answer.get(field)) < wanted.numbers.get(name, 0):
            yield f"{name}_not_met:{wanted.numbers[name]}"
    if wanted.path is not None:
        named_texts = (
            text
            for value in (*(call.entry for call in calls), *map(answer.get, _PATH_FIELDS))
            for text in strings(value)
        )
        gone = files is not None and is_there(files, wanted.path) is False
        if gone or not names_path(named_texts, wanted.path):
            yield f"expected_path_missing:{_short(wanted.path)}"


def _has(answer: Mapping[str, Json], field: str, *, strict: bool) -> bool:
    """Whether the dotted path leads somewhere. Strict: to more than null or a blank text; below
    `evidence`, where nothing proves nothing, to more than an empty list or object, too.
    """
    names = field.split(".")
    value: object = answer
    for name in names:
        value = value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT
    if value is _ABSENT:
        return False
    blank = value is None or (isinstance(value, str) and not value.strip())
    hollow = names[0] == "evidence" and value in ([], {})
    return not (strict and (blank or hollow))


def _sources(answer: Mapping[str, Json], *, strict: bool) -> int:
    """How many; strict: how many different addresses."""
    evidence = answer.get("evidence")
    sources = evidence.get("sources") if isinstance(evidence, dict) else None
    if not isinstance(sources, list) or not strict:
        return _length(sources)
    return len({_find_address(source) for source in sources} - {None})


def _find_address(source: Json) -> tuple[str, str, str] | None:
    """A source is an address, or has one as the first of its values that is any."""
    candidates = list(source.values()) if isinstance(source, dict) else [source]
    addresses = (_address(text) for text in candidates if isinstance(text, str))
    return next((address for address in addresses if address), None)


def _address(text: str) -> tuple[str, str, str] | None:
    """Host, path and query of a web address, None for other text: what is shown of a page and by
    which scheme does not make it another one.
    """
    try:
        url = urlsplit(text.strip()[:4_000])
        host = url.hostname
    except ValueError:
        return None
    if url.scheme.lower() not in ("http", "https") or not host:
        return None
    return host.removeprefix("www."), url.path.rstrip("/"), url.query


def _length(value: Json) -> int:
    return len(value) if isinstance(value, list) else 0


def _short(name: str) -> str:
    return shorten(name, _DETAIL)
