"""How an object of another tool has to look: its keys, their types, and which must be there."""

from __future__ import annotations

from gate.records import LARGEST, CheckedJson, Json

Shape = dict[str, CheckedJson]  # a JSON Schema of ours

STRING: Shape = {"type": "string"}
WORD: Shape = {"type": "string", "minLength": 1}
# These may be null as well.
TEXT: Shape = {"type": ["string", "null"]}
FLAG: Shape = {"type": ["boolean", "null"]}
NUMBER: Shape = {"type": ["number", "null"]}
AMOUNT: Shape = {"type": ["number", "null"], "minimum": 0, "maximum": LARGEST}
COUNT: Shape = {"type": ["integer", "null"], "minimum": 0, "maximum": LARGEST}
OBJECT: Shape = {"type": ["object", "null"]}
LIST: Shape = {"type": ["array", "null"]}
TEXTS: Shape = {"type": ["array", "null"], "items": STRING}


def object_of(*required: str, null: bool = False, **keys: Json) -> Shape:
    """The JSON Schema of an object with these keys; others are let through. `null`: or of null."""
    kind = ["object", "null"] if null else "object"
    return {"type": kind, "properties": keys, "required": [*required]}
