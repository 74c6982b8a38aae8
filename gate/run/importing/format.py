"""Chooses the importer of a path, with its options; if none fits, says which format the path looks
like.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.files.sniff import FirstLook, look
from gate.plugins import IMPORTERS, Importer
from gate.records import CheckedJson, Json
from gate.records.codec import from_json, parse_json, schema_of
from gate.text.suggestions import did_you_mean

AUTO = "auto"


def choose_reader(name: str, path: Path, options: Iterable[str]) -> tuple[str, Importer]:
    """The format's name and its importer; for `auto` the one that recognises the path. Raises
    UsageError for an unknown name or option, and for a path that plainly has another format.
    """
    first_look = look(path)
    if name == AUTO:
        name = _recognise(first_look)
    importer = IMPORTERS.get_class(name)
    if path.exists() and not importer.recognises(first_look):
        others = _formats(first_look)
        if others:
            raise UsageError(
                f"{path}: not in the format that `{name}` reads ({importer.reads}); it "
                f"looks like {others[0]}: "
                f"gate import {others[0]} {path}"
            )
    return name, from_json(importer, _check_options(name, importer, options))


def _recognise(first_look: FirstLook) -> str:
    if not first_look.path.exists():
        raise UsageError(f"{first_look.path}: not found; give an existing file or folder")
    formats = _formats(first_look)
    if len(formats) == 1:
        return formats[0]
    which = f"could be {' or '.join(formats)}" if formats else "not a known format"
    raise UsageError(f"{first_look.path}: {which}; choose a format: {', '.join(IMPORTERS)}")


def _formats(first_look: FirstLook) -> list[str]:
    """Those that recognise it, by name."""
    return [name for name in IMPORTERS if IMPORTERS.get_class(name).recognises(first_look)]


def _check_options(name: str, importer: type[Importer], written: Iterable[str]) -> dict[str, Json]:
    schema = schema_of(importer)
    properties: dict[str, CheckedJson] = schema["properties"]
    options: dict[str, Json] = {}
    for option in written:
        key, equals, text = option.partition("=")
        if not equals:
            raise UsageError(f"--option {option[:80]}: write NAME=VALUE")
        if key not in properties:
            hint = did_you_mean(key, [*properties]) if properties else f" - `{name}` has none"
            raise UsageError(f"--option {key[:80]}: `{name}` has no such option{hint}")
        if key in options:
            raise UsageError(f"--option {key}: given twice")
        options[key] = _value(text, properties[key])
        if wrong := mismatches(properties[key], options[key]):
            raise UsageError(f"--option {key}: {wrong[0].message}")
    missing = [key for key in schema.get("required", ()) if key not in options]
    if missing:
        raise UsageError(f"`{name}` needs --option {missing[0]}=VALUE")
    return options


def _value(text: str, schema: CheckedJson) -> Json:
    """A text where the option is one, otherwise JSON."""
    kinds = schema.get("type", ())
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) or "enum" in schema:
        return text
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text
