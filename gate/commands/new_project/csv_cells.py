"""Columns of a CSV file that are called like a key of a case, and the values of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.files.json_schema_quick import compile_check
from gate.files.json_stream import decode_json, explain_error
from gate.files.yaml import scalar
from gate.plugins import GRADERS
from gate.records import CheckedJson, Json
from gate.suites.cases.keys import OWN_KEYS, KeyRules, key_rules
from gate.text.late_pattern import late_pattern

FACTS, DOCUMENTS = "expected_facts", "relevant_doc_ids"
# A column of this name is for the grader; a cell that does not fit is an error.
GRADED = (FACTS, DOCUMENTS, "relevance_scores", "expected_tool_calls")
# These names may mean something else: the column is taken where all its cells fit.
_PERHAPS: Mapping[str, CheckedJson] = {
    **{key: OWN_KEYS[key] for key in ("tags", "status", "metadata", "check_allow")},
    **{key: OWN_KEYS[key] for key in ("temperature", "top_p", "max_tokens", "timeout_sec")},
    "tools": {"type": "array", "items": {"type": "object"}},
    "context": {"type": ["string", "array", "object"]},
}
_GROUPED = late_pattern(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")  # 1,120.9
_SEVERAL = late_pattern(r"[,;|]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Key of a case -> its column."""

    graded: Mapping[str, str]
    further: Mapping[str, str]


def find_keys(by_name: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> Keys:
    """`by_name`: the columns that nothing else is made of, by their names in small letters."""
    further = {
        key: by_name[key]
        for key, schema in _PERHAPS.items()
        if key in by_name and _fit(key, schema, (row[by_name[key]].strip() for row in rows))
    }
    return Keys(graded={key: by_name[key] for key in GRADED if key in by_name}, further=further)


def _fit(key: str, schema: CheckedJson, cells: Iterable[str]) -> bool:
    fits = compile_check(schema)
    try:
        return all(fits(read_cell(key, cell)) for cell in cells if cell)
    except ValueError:
        return False


def read_cell(key: str, cell: str) -> Json:
    """The value of a cell that is not empty. Raises ValueError with a sentence for one that looks
    like JSON and is none.
    """
    if cell[0] in "[{":
        try:
            value = decode_json(cell)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{key}: {explain_error(error)} - a cell that starts with [ or {{ is read as JSON"
            ) from None
        is_item = isinstance(value, dict) and key in (FACTS, "expected_tool_calls")
        return [value] if is_item else value
    if key == FACTS:
        return [{"value": read_number(cell)}]
    if key in (DOCUMENTS, "tags"):
        return [cell]
    is_number = "string" not in str(_PERHAPS.get(key, {}).get("type", "string"))
    return scalar(cell) if is_number else cell


def read_number(cell: str) -> Json:
    """A number where it is written as one, so that `1,120.9` and `1120.90` are the same."""
    found = scalar(cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else cell


def looks_like_several(key: str, cell: str) -> bool:
    """Whether one id of a document is perhaps meant to be more."""
    return key == DOCUMENTS and cell[:1] not in ("", "[") and bool(_SEVERAL.search(cell))


def make_rules() -> KeyRules:
    """What the graders of a first suite want of a case."""
    names = ("facts", "retrieval", "tool_calls")
    return key_rules({name: GRADERS.get_class(name)() for name in names})
