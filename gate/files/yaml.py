"""YAML 1.2 data with the line of every key and list item; the one place that knows PyYAML.

Built from parser events, not by a loader: nothing is recursive, nothing is executed, a duplicate
key is seen, and words such as `no`, `off` and 2026-12-31 stay the words they are (YAML 1.2 core
schema).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import NoReturn

import yaml

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.plain import plain
from gate.records import Json
from gate.text.late_pattern import late_pattern

Path = tuple[str | int, ...]

MAX_DEPTH = 50  # mappings and lists inside each other
MAX_ALIASED = 10_000  # values that may come in through aliases: more is a bomb

# libyaml is ten times as fast; not every platform has it.
FASTEST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRING = "tag:yaml.org,2002:str"
_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = late_pattern(r"[-+]?(0|[1-9][0-9_]{0,300})")
_NUMBER = late_pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LEADING_ZERO = late_pattern(r"[-+]?0[0-9]")
_UNPRINTABLE = late_pattern(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # YAML 1.2, 5.1
)
_ESCAPES = ("unknown escape", "escape sequence of", "hexdecimal")  # libyaml spells it so
_CHECK = "check brackets, quotes and indentation up to this line"
_LONE = late_pattern("[\ud800-\udfff]")  # which no UTF-8 can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """A file's data and where each part of it stands."""

    file: str
    data: Json
    lines: Mapping[Path, int]

    def place(self, path: Path) -> Place:
        """Place of the value at `path`, or of the nearest thing around it that is in the file."""
        known = next(
            (self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), 1
        )
        return Place(self.file, known, format_path(path))


def format_path(path: Path) -> str:
    """`suites[0].gates.retrieval.recall@5`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def yaml_of(path: FilePath, most: int, too_large: str) -> YamlDocument:
    """The one document of a file. Raises UsageError (no plain file), InvalidInput, which says
    `too_large` of a file of more than `most` bytes.
    """
    if plain(path).stat().st_size > most:
        raise InvalidInput([Problem(Place(path.as_posix()), too_large)])
    return parse(path.read_bytes(), path.as_posix())


def parse(content: bytes, file: str, *, loader: type[yaml.SafeLoader] = FASTEST) -> YamlDocument:
    """The one document of a YAML file; `data` is None for an empty file. Raises InvalidInput."""
    text = decode(content, file)
    odd = _UNPRINTABLE.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise InvalidInput(
            [Problem(Place(file, line), f"character U+{ord(odd[0]):04X} is not allowed in YAML")]
        )
    builder = _Builder(file=file)
    for event in _events(text, file, loader):
        builder.take(event)
    if builder.problems:
        raise InvalidInput(builder.problems)
    return YamlDocument(file=file, data=builder.root, lines=builder.lines)


def scalar(text: str) -> Json:
    """What a word without quotes means (YAML 1.2 core schema); numbers that are not finite stay
    text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text):
        value = float(text)
        return value if math.isfinite(value) else text
    return text


def _events(text: str, file: str, loader: type[yaml.SafeLoader]) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part)
        if "nesting depth" in message:  # libyaml, of thousands of brackets that nothing closes
            where = Place(file, mark.line + 1 if mark else None)
            raise InvalidInput([Problem(where, f"more than {MAX_DEPTH} levels deep")]) from None
        hint = "YAML is indented with spaces, not tabs" if _on_tab(text, mark) else _CHECK
        if any(words in message for words in _ESCAPES):
            message = 'a backslash between double quotes begins an escape such as "\\n"'
            hint = "write single quotes, or two backslashes"
        place = Place(file, mark.line + 1 if mark else None)
        raise InvalidInput([Problem(place, f"not YAML: {message} - {hint}")]) from None
    except yaml.YAMLError as error:
        raise InvalidInput([Problem(Place(file), f"not YAML: {error}")]) from None


def _on_tab(text: str, mark: yaml.Mark | None) -> bool:
    lines = text.splitlines()
    if mark is None or mark.line >= len(lines):
        return False
    line = lines[mark.line]
    return "\t" in line[: len(line) - len(line.lstrip())] or line[mark.column :].startswith("\t")


def _line_of(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


@dataclass(slots=True, kw_only=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    value: dict[str, Json] | list[Json]
    path: Path
    anchor: str | None
    size_before: int
    key: str | None = None  # of the mapping entry whose value comes next
    merges: list[Json] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Builder:
    file: str
    root: Json = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    documents: int = 0
    size: int = 0  # values so far
    aliased: int = 0  # values that came in through aliases
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Json, int]] = field(default_factory=dict)  # value and its size

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open({}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open([], event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self._stop(event, "a second document ('---') - one file holds one document")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if _LONE.search(event.value):
            self._stop(event, "an incomplete character: an escape without its second half")
        if "\0" in event.value:
            self._stop(event, "a NUL character, which no text or path has")
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self._key(top, event)
            return
        if event.tag not in (None, "!", _STRING):
            self._stop(event, f"the tag {event.tag} is not supported - write plain data")
        plain = event.implicit[0] and event.tag is None
        self._put(scalar(event.value) if plain else event.value, event, size=1)

    def _key(self, top: _Open, event: yaml.ScalarEvent) -> None:
        key = event.value
        path = (*top.path, key)
        line = _line_of(event)
        if path in self.lines and key in top.value:
            message = f"duplicate key, first used in line {self.lines[path]} - remove one"
            self.problems.append(Problem(Place(self.file, line, format_path(path)), message))
        self.lines[path] = line
        if event.anchor:
            self._stop(event, "an anchor on a key is not supported")
        top.key = key

    def _open(self, value: dict[str, Json] | list[Json], event: yaml.CollectionStartEvent) -> None:
        if event.tag not in (None, "!"):
            self._stop(event, f"the tag {event.tag} is not supported - write plain data")
        if len(self.stack) >= MAX_DEPTH:
            self._stop(event, f"more than {MAX_DEPTH} levels deep")
        path = self._next_path(event)
        self.stack.append(_Open(value=value, path=path, anchor=event.anchor, size_before=self.size))

    def _close(self, event: yaml.Event) -> None:
        done = self.stack.pop()
        for source in done.merges:
            self._merge(done, source, event)
        size = self.size - done.size_before + 1
        if done.anchor:
            self.anchors[done.anchor] = (done.value, size)
        self._attach(done.value)
        self.size += 1

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self.anchors:
            self._stop(event, f"the alias *{event.anchor} has no anchor before it")
        value, size = self.anchors[event.anchor]
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            self._stop(event, f"aliases repeat more than {MAX_ALIASED} values")
        self._put(value, event, size=size)

    def _put(self, value: Json, event: yaml.Event, *, size: int) -> None:
        self._next_path(event)
        if isinstance(event, yaml.ScalarEvent) and event.anchor:
            self.anchors[event.anchor] = (value, size)
        self.size += size
        self._attach(value)

    def _next_path(self, event: yaml.Event) -> Path:
        """Path of the value that comes now; notes the line of a list item."""
        if not self.stack:
            return ()
        top = self.stack[-1]
        if isinstance(top.value, list):
            path = (*top.path, len(top.value))
            self.lines[path] = _line_of(event)
            return path
        if top.key is None:
            message = "a key must be a word, not a list, a mapping or an alias"
            self._stop(event, f"{message} - put text with braces or brackets in quotes")
        return (*top.path, str(top.key))

    def _attach(self, value: Json) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
            return
        if top.key == "<<":
            top.merges.extend(value if isinstance(value, list) else [value])
        else:
            top.value[str(top.key)] = value
        top.key = None

    def _merge(self, done: _Open, source: Json, event: yaml.Event) -> None:
        if not isinstance(source, dict) or not isinstance(done.value, dict):
            self._stop(event, "'<<' needs a mapping or a list of mappings")
        for key, value in source.items():
            done.value.setdefault(key, value)

    def _stop(self, event: yaml.Event, message: str) -> NoReturn:
        place = Place(self.file, _line_of(event))
        raise InvalidInput([*self.problems, Problem(place, message)])
