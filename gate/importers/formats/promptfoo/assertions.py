"""promptfoo's assertions as keys of our cases, for those that have an equal among our graders."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.agents.traces.values import as_text
from gate.importers.formats.promptfoo.evaluation import within
from gate.records import CheckedJson, Json
from gate.text.shortening import tidy

# Key of a case -> the grader that reads it, as gate.yml has it.
GRADERS: Mapping[str, str] = {
    "expected_answer": "{exact_match: {normalize: []}}",
    "contains": "{contains: {key: contains}}",
    "patterns": "{regex: {key: patterns}}",
    "json_schema": "{json_format: {key: json_schema, allow_fence: false}}",
    "rubric": "{judge: {rubric: case}}",
}
ANY_JSON: Json = {"title": "any JSON"}  # a schema that every JSON fits
_MOST_PATTERN = 10_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedAssertions:
    """`keys`: of the case; `left`: types that have no equal, with their numbers."""

    keys: Mapping[str, Json]
    left: Counter[str] = field(default_factory=Counter)


def map_assertions(
    asserts: Sequence[Json], known: Mapping[str, Json], *, threshold: bool = False
) -> MappedAssertions:
    """Keys of a case for assertions with an equal; a `threshold` lets some fail: then none."""
    keys: dict[str, CheckedJson] = {}
    left: Counter[str] = Counter()
    for item in asserts:
        kind = tidy(str(item.get("type") if isinstance(item, dict) else ""), 60) or "unknown"
        try:
            mapped: dict[str, CheckedJson] = (
                dict(_keys(item, known)) if isinstance(item, dict) and not threshold else {}
            )
        except (ValueError, RecursionError, OverflowError):
            mapped = {}
        if not mapped or any(key in keys and not _joins(key) for key in mapped):
            left[kind] += 1
            continue
        for key, value in mapped.items():
            keys[key] = [*keys.get(key, ()), *value] if _joins(key) else value
    return MappedAssertions(keys=keys, left=left)


def _joins(key: str) -> bool:
    """Whether several of them hold together."""
    return key in ("contains", "patterns")


def _keys(one: Mapping[str, Json], known: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    kind = str(one.get("type"))
    read = _READERS.get(kind.removeprefix("not-"))
    if read is None or one.get("transform") or one.get("weight") == 0:
        return
    value = within(one.get("value"), known)
    if isinstance(value, str) and value.startswith("file://"):
        return
    if kind.endswith(("-all", "-any")):
        value = _several(value)
    yield from read(value, kind.startswith("not-"))


_Found = Iterator[tuple[str, Json]]


def _equals(value: Json, negated: bool) -> _Found:
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return
    if negated:
        yield "patterns", [_unless(rf"\A{re.escape(as_text(value))}\Z")]
    elif value != "":
        yield "expected_answer", as_text(value)


def _contains(key: str) -> Callable[[Json, bool], _Found]:
    def read(value: Json, negated: bool) -> _Found:
        texts = _texts(value)
        if texts and negated:
            yield "patterns", [_ignore_case(key, _unless(_everywhere(texts)))]
        elif texts and key == "icontains":  # a suite has but one grader `contains`
            yield "patterns", [_ignore_case(key, re.escape(text)) for text in texts]
        elif texts:
            yield key, texts

    return read


def _any_of(key: str) -> Callable[[Json, bool], _Found]:
    def read(value: Json, negated: bool) -> _Found:
        texts = _texts(value)
        if texts:
            pattern = "|".join(map(re.escape, texts))
            yield "patterns", [_ignore_case(key, _unless(pattern) if negated else pattern)]

    return read


def _starts_with(value: Json, negated: bool) -> _Found:
    if isinstance(value, str) and value:
        pattern = rf"\A{re.escape(value)}"
        yield "patterns", [_unless(pattern) if negated else pattern]


def _regex(value: Json, negated: bool) -> _Found:
    """Raises ValueError for one that Python's `re` does not read."""
    if not isinstance(value, str) or not value or len(value) > _MOST_PATTERN:
        return
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(value) from error
    yield "patterns", [_unless(value) if negated else value]


def _json(value: Json, negated: bool) -> _Found:
    schema: Json = json.loads(value) if isinstance(value, str) and value.strip() else value
    if not negated and (schema is None or isinstance(schema, dict)):
        yield "json_schema", schema or ANY_JSON


def _rubric(value: Json, negated: bool) -> _Found:
    if isinstance(value, str) and value.strip() and not negated:
        yield "rubric", value


_READERS: Mapping[str, Callable[[Json, bool], _Found]] = {
    "equals": _equals,
    "contains": _contains("contains"),
    "contains-all": _contains("contains"),
    "contains-any": _any_of("contains"),
    "icontains": _contains("icontains"),
    "icontains-all": _contains("icontains"),
    "icontains-any": _any_of("icontains"),
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _json,
    "llm-rubric": _rubric,
}


def _texts(value: Json) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [as_text(item) for item in items if isinstance(item, (str, int, float)) and item != ""]


def _several(value: Json) -> Json:
    """A list may be written as a line of CSV. Raises ValueError."""
    if not isinstance(value, str):
        return value
    try:
        return [cell.strip() for cell in next(csv.reader([value], skipinitialspace=True), [])]
    except csv.Error as error:
        raise ValueError(value) from error


def _unless(pattern: str) -> str:
    """Matches where the pattern is nowhere found."""
    return rf"\A(?![\s\S]*(?:{pattern}))"


def _everywhere(texts: Sequence[str]) -> str:
    """A pattern for all of the texts, in any order: what `not-contains-all` does not want."""
    if len(texts) == 1:
        return re.escape(texts[0])
    return "".join(rf"(?=[\s\S]*{re.escape(text)})" for text in texts)


def _ignore_case(key: str, pattern: str) -> str:
    return f"(?i){pattern}" if key == "icontains" else pattern
