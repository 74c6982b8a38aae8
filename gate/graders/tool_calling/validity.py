"""Whether a call is valid: the tool is defined, and the arguments fit its schema. A valid call can
be the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gate.errors import GraderFailure
from gate.files.json_schema import mismatches_bounded, surely_fits
from gate.files.json_schema_mismatch import Mismatch
from gate.graders.tool_calling.definitions import definition
from gate.graders.tool_calling.values import has_few_values
from gate.records import Json, ToolCall

Kind = Literal["type", "missing", "unknown", "unknown_tool", "unparsable"]

CODES: Mapping[Kind, str] = {
    "unknown_tool": "unknown_tool",
    "unparsable": "unparsable_tool_args",
    "missing": "missing_tool_arg",
    "type": "invalid_tool_args",
    "unknown": "unknown_tool_arg",
}
_UNKNOWN = ("additionalProperties", "unevaluatedProperties")
_MOST_VALUES = 10_000  # that are checked at leisure; about half a second
_PLACE_LIMIT, _MESSAGE_LIMIT = 120, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFault:
    """One fault of one call. `place`: tool and dotted path, hostile text."""

    kind: Kind
    place: str
    message: str

    @property
    def code(self) -> str:
        return f"{CODES[self.kind]}:{self.place}"


def call_faults(
    made: Sequence[ToolCall], tools: Sequence[Mapping[str, Json]], *, formats: bool = False
) -> list[tuple[CallFault, ...]]:
    """The faults of each call; an empty tuple for a valid one. `formats`: a text must have the
    `format` of its schema. Raises GraderFailure for a definition that cannot be used, which the
    check of the dataset reports first.
    """
    schemas = dict(map(definition, tools))
    return [tuple(_faults(call, schemas, formats)) for call in made]


def _faults(
    call: ToolCall, schemas: Mapping[str, dict[str, Json]], formats: bool
) -> Iterator[CallFault]:
    name = call.name[:_PLACE_LIMIT]
    if call.name not in schemas:
        yield CallFault(kind="unknown_tool", place=name, message=f"{name} is not a tool")
    elif call.arguments is None and call.raw_arguments:
        message = f"{name}: the arguments are not JSON"
        yield CallFault(kind="unparsable", place=name, message=message)
    elif call.arguments is not None and not isinstance(call.arguments, dict):
        message = f"{name}: the arguments are not an object"
        yield CallFault(kind="type", place=name, message=message)
    else:
        for wrong in _mismatches(name, schemas[call.name], call.arguments or {}, formats):
            yield _fault(name, wrong)


def _mismatches(
    name: str, schema: dict[str, Json], arguments: Json, formats: bool
) -> Sequence[Mismatch]:
    too_much = [Mismatch(path=(), message="too large or nested too deeply to be checked")]
    try:
        if surely_fits(schema, arguments):
            return []
        if not has_few_values(arguments, _MOST_VALUES):
            return too_much
        return mismatches_bounded(schema, arguments, formats=formats)
    except RecursionError:
        return too_much
    except Exception as error:  # whatever a broken schema leads to
        raise GraderFailure(f"tools: {name}: {type(error).__name__}: {error}"[:300]) from error


def _fault(name: str, wrong: Mismatch) -> CallFault:
    kind: Kind = "unknown" if wrong.rule in _UNKNOWN else "missing" if wrong.key else "type"
    at = ".".join((name, *map(str, wrong.path)))
    place = f"{at}.{wrong.key}" if wrong.key else at
    message = f"{at}: {wrong.message}"
    return CallFault(kind=kind, place=place[:_PLACE_LIMIT], message=message[:_MESSAGE_LIMIT])
