"""The one place that knows jsonschema: what does not fit, in words, each with its path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

from gate.mismatch import Mismatch, Path
from gate.records import Json
from gate.registry import did_you_mean

_KINDS = {"object": "a mapping", "array": "a list", "null": "empty", "integer": "a whole number"}


def explain(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """Everything in `data` that does not fit, sorted by path. A `$ref` is never fetched: one that
    leads outside raises, as a schema that is none does.
    """
    errors = Draft202012Validator(schema, registry=REGISTRY).iter_errors(data)
    return sorted(
        dict.fromkeys(m for error in errors for m in _explain(error)),  # one error a missing key
        key=lambda m: [str(part) for part in m.path],
    )


def _explain(error: ValidationError) -> Iterator[Mismatch]:
    path: Path = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    schema: Any = error.schema
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(schema.get("properties", {}))
        patterns = schema.get("patternProperties", {})
        for key in error.instance:
            if key not in known and not any(re.search(p, str(key)) for p in patterns):
                yield Mismatch(
                    path=(*path, str(key)), message=f"unknown key{did_you_mean(str(key), known)}"
                )
    elif error.validator == "required" and isinstance(error.instance, dict):
        for key in wanted:
            if key not in error.instance:
                yield Mismatch(path=path, message=f"'{key}' is missing")
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _nearest(error, path)
    else:
        yield Mismatch(path=path, message=_sentence(error))


def _nearest(error: ValidationError, path: Path) -> Iterator[Mismatch]:
    """The alternative whose kind fits the value explains the most; none fits: name all kinds."""
    wrong_kind = {
        inner.schema_path[0]
        for inner in error.context
        if inner.validator in ("type", "enum", "const") and tuple(inner.absolute_path) == path
    }
    fitting = [inner for inner in error.context if inner.schema_path[0] not in wrong_kind]
    if fitting:
        for inner in fitting:
            if inner.schema_path[0] == fitting[0].schema_path[0]:
                yield from _explain(inner)
    else:
        kinds = " or ".join(dict.fromkeys(_wanted(inner) for inner in error.context))
        yield Mismatch(path=path, message=f"{_short(error.instance)} is not {kinds}")


def _sentence(error: ValidationError) -> str:
    if error.validator in ("type", "enum", "const"):
        return f"{_short(error.instance)} is not {_wanted(error)}"
    if error.validator in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
        bound = {
            "minimum": "at least",
            "exclusiveMinimum": "more than",
            "maximum": "at most",
            "exclusiveMaximum": "less than",
        }
        return f"{_short(error.instance)} must be {bound[error.validator]} {error.validator_value}"
    if error.validator == "minItems":
        return (
            "the list is empty"
            if not error.instance
            else f"needs at least {error.validator_value} items"
        )
    if error.validator == "pattern":
        return f"{_short(error.instance)} does not have the form {error.validator_value}"
    return str(error.message)


def _wanted(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return " or ".join(_KINDS.get(kind, f"a {kind}") for kind in kinds)
    if error.validator == "enum":
        near = did_you_mean(str(error.instance), [str(v) for v in wanted])
        # `off`, read as false by YAML 1.1, is there under its own name.
        words = [str(value) for value in wanted if value is not False]
        return "one of " + ", ".join(words) + (near if "did you mean" in near else "")
    return str(error.message)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
