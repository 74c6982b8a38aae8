"""Data against a JSON Schema: every error at once, each with its path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from gate.errors import Place, Problem
from gate.files.json_schema_mismatch import Mismatch, Path
from gate.files.json_schema_quick import compile_check
from gate.records import Json
from gate.user_code.patterns import explain_elsewhere, is_short

UNKNOWN = "unknown key"  # how the message of such a mismatch begins
_EXPLAINS = "gate.files.json_schema_messages"  # with jsonschema


def mismatches(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """Everything in `data` that does not fit; empty when it fits. Raises what jsonschema raises for
    a schema that is none.

    jsonschema is imported only for data that do not surely fit: most runs never need it.
    """
    if compile_check(schema)(data):
        return []
    return _explain("explain", schema, data)


def join_misspelt(found: Sequence[Mismatch]) -> list[Mismatch]:
    """Without the keys that are missing because they are misspelt: of a mapping with one unknown
    and one missing key, the first is told alone.
    """
    missing: dict[Path, list[str]] = {}
    strange: dict[Path, int] = {}
    for one in found:
        if one.rule == "required":
            missing.setdefault(one.path, []).append(one.key)
        elif one.message.startswith(UNKNOWN):
            strange[one.path[:-1]] = strange.get(one.path[:-1], 0) + 1
    told, meant = [], set[tuple[Path, str]]()
    for one in found:
        around = one.path[:-1]
        lacking = missing.get(around, []) if one.message.startswith(UNKNOWN) else []
        guessed = [key for key in lacking if f"did you mean '{key}'?" in one.message]
        if not guessed and len(lacking) == strange.get(around) == 1:
            guessed = lacking
            one = replace(one, message=f"{UNKNOWN} - did you mean '{lacking[0]}'?")
        meant |= {(around, key) for key in guessed}
        told.append(one)
    return [one for one in told if one.rule != "required" or (one.path, one.key) not in meant]


class SchemaCheck:
    """A schema of ours, compiled once, for data that mostly fit it."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self._schema = schema
        self._fits = compile_check(schema)

    def fits(self, data: Json) -> bool:
        return self._fits(data) or not mismatches(self._schema, data)

    def list_problems(self, data: Json, place: Place) -> list[Problem]:
        """Everything that does not fit, each with its path below the key of the `place`."""
        wrong = [] if self._fits(data) else mismatches(self._schema, data)
        above = [place.key] if place.key else []
        paths = [".".join([*above, *map(str, mismatch.path)])[:300] for mismatch in wrong]
        return [
            Problem(Place(place.file, place.line, path), mismatch.message)
            for path, mismatch in zip(paths, wrong, strict=True)
        ]


def surely_fits(schema: dict[str, Json], data: Json) -> bool:
    """A quick yes, however large the data are, or no answer."""
    return "$schema" not in schema and not _has_reference(schema) and compile_check(schema)(data)


def mismatches_bounded(
    schema: dict[str, Json], data: Json, *, formats: bool = False
) -> list[Mismatch]:
    """`mismatches`, for schemas and data that nobody vouches for: the first 100, unsorted;
    `formats`: and what has not the `format` that the schema names. Raises RecursionError where it
    leads too deep, or through too many references.
    """
    return _explain("explain_with_formats" if formats else "explain_bounded", schema, data)


def unsound(schema: dict[str, Json]) -> list[Mismatch]:
    """What is wrong with a schema itself; nothing is fetched."""
    from gate.files import json_schema_messages

    return json_schema_messages.unsound(schema)


def _explain(how: str, schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """Where its patterns could be searched for ever, in another process, under a deadline. Raises
    GraderFailure when that runs out.
    """
    patterns = list(_patterns(schema))
    longest = max(map(len, _texts(data)), default=0) if patterns else 0
    if all(is_short(pattern, longest) for pattern in patterns):
        from gate.files import json_schema_messages

        return cast("list[Mismatch]", getattr(json_schema_messages, how)(schema, data))
    explained = explain_elsewhere(_EXPLAINS, how, schema, data)
    return [
        Mismatch(path=tuple(path), message=message, rule=rule, key=key)
        for path, message, rule, key in explained
    ]


def _patterns(schema: object) -> Iterator[re.Pattern[str]]:
    """All that a schema could have searched; what is no pattern is told by whoever checks it."""
    if isinstance(schema, list):
        for one in schema:
            yield from _patterns(one)
    elif isinstance(schema, dict):
        own, keyed = schema.get("pattern"), schema.get("patternProperties")
        named = [*(keyed if isinstance(keyed, dict) else ()), own]
        for text in named:
            with suppress(re.error, RecursionError, OverflowError):
                if isinstance(text, str):
                    yield re.compile(text)
        for one in schema.values():
            yield from _patterns(one)


def _texts(data: Json) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for one in data:
            yield from _texts(one)
    elif isinstance(data, dict):
        for key, one in data.items():
            yield str(key)
            yield from _texts(one)


def _has_reference(schema: object) -> bool:
    if isinstance(schema, dict):
        return "$ref" in schema or any(map(_has_reference, schema.values()))
    return isinstance(schema, list) and any(map(_has_reference, schema))
