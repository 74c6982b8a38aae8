"""Reads JSON as a model writes it: in a code fence, or with words around it. Nothing here
raises.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from gate.records import Json

LIMIT = 2_000_000  # characters of a text that is read as JSON
EMPTY = "empty response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The text is not JSON. `why`: the parser's sentence, or `empty response` for a blank text."""

    why: str


def read_json(text: str, *, fence: bool = True, constants: bool = False) -> Json | Fault:
    """The JSON value of the whole text, or a Fault; white space around it does not matter. `fence`:
    one code fence around it is removed first. `constants`: NaN and Infinity are accepted. The last
    value of a duplicate key counts. Too deep nesting, too long numbers and texts over LIMIT
    characters are Faults.
    """
    if not text.strip():
        return Fault(why=EMPTY)
    raw = strip_fence(text) if fence else text.strip()
    if len(raw) > LIMIT:
        return Fault(why=f"longer than {LIMIT:,} characters")
    try:
        data: Json = (
            json.loads(raw) if constants else json.loads(raw, parse_constant=_refuse_constant)
        )
    except (ValueError, RecursionError) as error:
        return Fault(why=str(error))
    return data


def read_within(text: str, *, constants: bool = False) -> Json | Fault:
    """As `read_json`; if the whole text is not JSON, the part from its first `{` to its last `}` is
    read, and a Fault is about that part.
    """
    data = read_json(text, constants=constants)
    first, last = text.find("{"), text.rfind("}")
    if not isinstance(data, Fault) or not 0 <= first < last:
        return data
    return read_json(text[first : last + 1], constants=constants)


def strip_fence(text: str) -> str:
    """The text without white space around it and without a code fence: three backticks at both
    ends, and the word `json` after the first.
    """
    raw = text.strip()
    if not raw.startswith("```"):
        return raw
    raw = raw.strip("`").strip()
    return raw[4:].strip() if raw[:4].lower() == "json" else raw


def _refuse_constant(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")
