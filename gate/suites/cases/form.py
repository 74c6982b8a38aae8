"""What stands in the form of `gate init` where nobody has written a question yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.records import Json
from gate.text.late_pattern import late_pattern

QUESTION = "..."
FACT = "what a right answer has to say"
DOCUMENT = "id of the document with the answer"
TOOL = "a_tool"
_ID = late_pattern(r"question-\d+")  # of the form: elsewhere three dots may be a question


def is_unfilled(data: Mapping[str, Json]) -> bool:
    """Whether the case's question is still that of the form."""
    return data.get("input") == QUESTION and bool(_ID.fullmatch(str(data.get("id"))))


def find_unfilled(data: Mapping[str, Json]) -> Iterator[str]:
    """What of the case is still as the form has it, a sentence each."""
    if is_unfilled(data):
        yield f'input: still says "{QUESTION}" - write the question, or delete the case'
    wanted = (("expected_facts", FACT), ("relevant_doc_ids", DOCUMENT))
    for key, placeholder in (*wanted, ("expected_tool_calls", TOOL)):
        if any(item == placeholder for item in _texts(data.get(key))):
            yield f'{key}: still says "{placeholder}" - write what you expect, or delete the line'


def _texts(value: Json) -> Iterator[Json]:
    """The value, the items of a list, and what their `value` or `name` is."""
    for item in value if isinstance(value, list) else [value]:
        yield from (item.get("value"), item.get("name")) if isinstance(item, dict) else (item,)
