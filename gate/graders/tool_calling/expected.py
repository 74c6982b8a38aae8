"""Expected calls as a dataset writes them: {name, args, any_of, optional}."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.records import CheckedJson, Json

_VALUES: Json = {"type": ["object", "null"]}
EXPECTED_CALL: CheckedJson = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "args": _VALUES,
        "any_of": {
            "type": ["object", "null"],
            "additionalProperties": {"type": "array", "minItems": 1},
        },
        "optional": {"type": ["array", "null"], "items": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """One expected call. `allowed`: parameter -> the values of which it must have one; None: any
    arguments. Parameters in `optional` may be left out; one without values may have any.
    """

    name: str
    allowed: Mapping[str, tuple[Json, ...]] | None = None
    optional: frozenset[str] = frozenset()


def read_expected_call(call: Mapping[str, CheckedJson]) -> ExpectedCall:
    """The expected call; its form was checked against EXPECTED_CALL."""
    args, any_of, optional = (call.get(key) for key in ("args", "any_of", "optional"))
    if args is None and any_of is None and optional is None:
        return ExpectedCall(name=str(call.get("name")))
    single = {key: (value,) for key, value in (args or {}).items()}
    several = {key: tuple(values) for key, values in (any_of or {}).items()}
    return ExpectedCall(
        name=str(call.get("name")),
        allowed={**single, **several},
        optional=frozenset(optional or ()),
    )


def find_contradictions(call: Mapping[str, CheckedJson]) -> Iterator[str]:
    """What a schema cannot express: an argument with both one value and several."""
    for key in sorted((call.get("args") or {}).keys() & (call.get("any_of") or {}).keys()):
        yield f"'{key}' is in 'args' and in 'any_of' - keep one"
