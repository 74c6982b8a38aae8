"""The one place that knows jsonschema: what does not fit, in words, each with its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from gate.files.json_formats import FORMATS, has_format
from gate.files.json_schema_mismatch import Mismatch, Path
from gate.records import CheckedJson, Json
from gate.text.suggestions import did_you_mean

_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_MOST_REFERENCES, _MOST_ERRORS = 10_000, 100  # of somebody else's schema
_KINDS = {"object": "a mapping", "array": "a list", "null": "empty", "integer": "a whole number"}


def explain(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """Everything in `data` that does not fit, sorted by path. A `$ref` is never fetched: one that
    leads outside raises, as a schema that is none does. `$schema` says which draft is meant, and
    without it 2020-12 is.
    """
    kind = validator_for(schema, default=Draft202012Validator)
    errors = kind(schema, registry=REGISTRY).iter_errors(data)
    return sorted(
        dict.fromkeys(m for error in errors for m in _explain(error)),  # one error a missing key
        key=lambda m: [str(part) for part in m.path],
    )


def explain_with_formats(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """`explain_bounded`, and what has not the `format` that the schema names."""
    return explain_bounded(schema, data, formats=_formats())


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name in FORMATS:
        checker.checkers[name] = (partial(has_format, name=name), ())
    return checker


def explain_bounded(
    schema: dict[str, Json], data: Json, formats: FormatChecker | None = None
) -> list[Mismatch]:
    """`explain` for a schema and data that nobody vouches for: the first 100 errors. Raises
    RecursionError where either leads too deep, or through 10,000 references.
    """
    kind = validator_for(schema, default=Draft202012Validator)
    if any(key in _REFERENCES for key, _, _ in _parts(schema, ())):
        kind, schema = _counting(kind), _in_one_draft(schema)
    errors = kind(schema, registry=REGISTRY, format_checker=formats).iter_errors(data)
    messages = (m for error in errors for m in _explain(error))
    return list(dict.fromkeys(islice(messages, _MOST_ERRORS)))


def unsound(schema: dict[str, Json]) -> list[Mismatch]:
    """What is wrong with a schema itself: against its draft, patterns that Python cannot read,
    references that lead nowhere or outside (they are never fetched), and such as never end.
    """
    draft = str(schema.get("$schema", _NEWEST)).removesuffix("#")
    if draft not in REGISTRY:
        message = f"{_short(draft)} is not a known JSON Schema draft - leave it out to use 2020-12"
        return [Mismatch(path=("$schema",), message=message)]
    wrong = explain({"$ref": draft}, schema) or [*_unreadable(schema, ())]
    if wrong:
        return wrong
    try:
        explain_bounded(schema, {})
    except RecursionError:
        return [Mismatch(path=(), message="its references are endless or expand too far")]
    except Unresolvable:
        pass  # told below, with its place
    return list(_nowhere(schema))


def _counting(kind: type[Validator]) -> type[Validator]:
    """A validator that gives up after many references: a schema can double its work at each."""
    left = [_MOST_REFERENCES]

    def counted(follow: Callable[..., object]) -> Callable[..., object]:
        def one_less(*args: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise RecursionError("too many references")
            return follow(*args)

        return one_less

    known = {word: kind.VALIDATORS[word] for word in _REFERENCES if word in kind.VALIDATORS}
    counting = {word: counted(follow) for word, follow in known.items()}
    return extend(kind, counting)  # type: ignore[no-untyped-call, no-any-return]


def _in_one_draft(schema: Json) -> CheckedJson:
    """Without inner `$schema`, at which jsonschema would leave the counting validator."""
    if isinstance(schema, dict):
        return {
            key: _in_one_draft(inner)
            for key, inner in schema.items()
            if key != "$schema" or not isinstance(inner, str)
        }
    return [_in_one_draft(inner) for inner in schema] if isinstance(schema, list) else schema


def _parts(schema: object, path: Path) -> Iterator[tuple[str, object, Path]]:
    """Every key inside, its value and its path; examples and allowed values hold no schemas."""
    if isinstance(schema, dict):
        for key, inner in schema.items():
            yield key, inner, (*path, key)
            if key not in ("enum", "const", "default", "examples"):
                yield from _parts(inner, (*path, key))
    elif isinstance(schema, list):
        for n, inner in enumerate(schema):
            yield from _parts(inner, (*path, n))


def _unreadable(schema: object, path: Path) -> Iterator[Mismatch]:
    for key, inner, where in _parts(schema, path):
        keys = inner if key == "patternProperties" and isinstance(inner, dict) else ()
        for pattern in [inner] if key == "pattern" and isinstance(inner, str) else keys:
            try:
                re.compile(pattern)
            except re.error as error:
                message = f"{_short(pattern)} is not a valid Python regular expression: {error}"
                yield Mismatch(path=where, message=message)


def _nowhere(schema: dict[str, CheckedJson]) -> Iterator[Mismatch]:
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = REGISTRY.resolver_with_root(root)
    for key, inner, where in _parts(schema, ()):
        if key in _REFERENCES and isinstance(inner, str):
            try:
                resolver.lookup(inner)
            except (Unresolvable, ValueError):
                message = (
                    f"{_short(inner)} does not exist in this schema - references to other "
                    "files are not followed"
                )
                yield Mismatch(path=where, message=message)


def _explain(error: ValidationError) -> Iterator[Mismatch]:
    path: Path = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    schema: Any = error.schema
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(schema.get("properties", {}))
        patterns = schema.get("patternProperties", {})
        for key in error.instance:
            if key not in known and not any(re.search(p, str(key)) for p in patterns):
                message = f"unknown key{did_you_mean(str(key), known)}"
                yield Mismatch(path=(*path, str(key)), message=message, rule=error.validator)
    elif error.validator == "required" and isinstance(error.instance, dict):
        for key in wanted:
            if key not in error.instance:
                message = f"'{key}' is missing"
                yield Mismatch(path=path, message=message, rule=error.validator, key=str(key))
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _nearest(error, path)
    else:
        yield Mismatch(path=path, message=_sentence(error), rule=str(error.validator))


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
        kinds = " or ".join(dict.fromkeys(_describe_expected(inner) for inner in error.context))
        hint = next(filter(None, map(_hint, error.context)), "")
        message = f"{_short(error.instance)} is not {kinds}{hint}"
        yield Mismatch(path=path, message=message, rule="type")


def _sentence(error: ValidationError) -> str:
    if error.validator in ("type", "enum", "const"):
        return f"{_short(error.instance)} is not {_describe_expected(error)}{_hint(error)}"
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
            "the list is empty - it needs at least one item"
            if not error.instance
            else f"needs at least {error.validator_value} items"
        )
    if error.validator == "pattern":
        return f"{_short(error.instance)} does not have the form {error.validator_value}"
    return str(error.message)


def _describe_expected(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return " or ".join(_KINDS.get(kind, f"a {kind}") for kind in kinds)
    if error.validator == "enum":
        # `off`, read as false by YAML 1.1, is there under its own name.
        return "one of " + ", ".join(str(value) for value in wanted if value is not False)
    return str(error.message)


def _hint(error: ValidationError) -> str:
    if error.validator != "enum":
        return ""
    wanted: Any = error.validator_value
    near = did_you_mean(str(error.instance), [str(value) for value in wanted])
    return near if "did you mean" in near else ""


_AS_WRITTEN = {True: "true", False: "false", None: "null"}


def _short(value: object) -> str:
    """The value; true, false and null as a file has them."""
    text = _AS_WRITTEN[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
