"""Which importer reads what was named, with which options, and what it looks like if none does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.files.sniff import FirstLook, look
from gate.plugins import IMPORTERS, Importer
from gate.records import Json
from gate.records.codec import from_json, parse_json, schema_of
from gate.text.suggestions import did_you_mean

AUTO = "auto"


def reader(name: str, path: Path, options: Iterable[str]) -> tuple[str, Importer]:
    """The format's name and its importer; of `auto` the one that recognises the path. Raises
    UsageError for an unknown name or option, and for a path that plainly has another format.
    """
    found = look(path)
    if name == AUTO:
        name = _recognised(found)
    importer = IMPORTERS.get_class(name)
    if path.exists() and not importer.recognises(found):
        others = _formats(found)
        if others:
            raise UsageError(
                f"{path}: not in the format that `{name}` reads ({importer.reads}); it "
                f"looks like {others[0]}: "
                f"gate import {others[0]} {path}"
            )
    return name, from_json(importer, _checked(name, importer, options))


def _recognised(found: FirstLook) -> str:
    if not found.path.exists():
        raise UsageError(f"{found.path}: not found; give an existing file or folder")
    formats = _formats(found)
    if len(formats) == 1:
        return formats[0]
    which = f"could be {' or '.join(formats)}" if formats else "not a known format"
    raise UsageError(f"{found.path}: {which}; choose a format: {', '.join(IMPORTERS)}")


def _formats(found: FirstLook) -> list[str]:
    """Those that recognise it, by name."""
    return [name for name in IMPORTERS if IMPORTERS.get_class(name).recognises(found)]


def _checked(name: str, importer: type[Importer], given: Iterable[str]) -> dict[str, Json]:
    schema = schema_of(importer)
    known: dict[str, Json] = schema["properties"]
    found: dict[str, Json] = {}
    for one in given:
        key, equals, text = one.partition("=")
        if not equals:
            raise UsageError(f"--option {one[:80]}: write NAME=VALUE")
        if key not in known:
            hint = did_you_mean(key, [*known]) if known else f" - `{name}` has none"
            raise UsageError(f"--option {key[:80]}: `{name}` has no such option{hint}")
        if key in found:
            raise UsageError(f"--option {key}: given twice")
        found[key] = _value(text, known[key])
        if wrong := mismatches(known[key], found[key]):
            raise UsageError(f"--option {key}: {wrong[0].message}")
    missing = [key for key in schema.get("required", ()) if key not in found]
    if missing:
        raise UsageError(f"`{name}` needs --option {missing[0]}=VALUE")
    return found


def _value(text: str, schema: Json) -> Json:
    """A text where the option is one, otherwise JSON."""
    kinds = schema.get("type", ())
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) or "enum" in schema:
        return text
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text
