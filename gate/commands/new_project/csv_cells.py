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

FACTS, DOCUMENTS, TAGS = "expected_facts", "relevant_doc_ids", "tags"
# A column of this name is for the grader; a cell that does not fit is an error.
GRADED = (FACTS, DOCUMENTS, "relevance_scores", "expected_tool_calls")
# These names may mean something else: the column is taken where all its cells fit.
_PERHAPS: Mapping[str, CheckedJson] = {
    **{key: OWN_KEYS[key] for key in (TAGS, "status", "metadata", "check_allow")},
    **{key: OWN_KEYS[key] for key in ("temperature", "top_p", "max_tokens", "timeout_sec")},
    "tools": {"type": "array", "items": {"type": "object"}},
    "context": {"type": ["string", "array", "object"]},
}
_GROUPED = late_pattern(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")  # 1,120.9
_THOUSANDS = late_pattern(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?!\d)")  # inside a text
_DECIMAL = late_pattern(r"\D*\d+,\d+\D*")  # 3,5 as some languages write it
_NUMBER = late_pattern(r"([$€£]?) ?-?\d+(?:\.\d+)? ?(%|[A-Za-z€$£]*)")
_SEVERAL = late_pattern(r"[,;|]")
_WORDS = 4  # of one of several facts, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Key of a case -> its column."""

    graded: Mapping[str, str]
    further: Mapping[str, str]

    @property
    def all(self) -> Mapping[str, str]:
        return {**self.graded, **self.further}


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
    if key in (DOCUMENTS, TAGS):
        return [cell]
    is_number = "string" not in str(_PERHAPS.get(key, {}).get("type", "string"))
    return scalar(cell) if is_number else cell


def read_number(cell: str) -> Json:
    """A number where it is written as one, so that `1,120.9` and `1120.90` are the same."""
    found = scalar(cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else cell


def looks_like_several(key: str, cell: str) -> bool:
    """Whether one id, tag or fact is perhaps meant to be more. A fact is a number or a text, which
    may have a comma: only lists of numbers and of words are doubted.
    """
    if cell[:1] in ("", "[", "{") or not _SEVERAL.search(cell):
        return False
    if key in (DOCUMENTS, TAGS):
        return True
    return key == FACTS and (_is_list(cell, ";") or _is_list(cell, "|") or _has_commas(cell))


def _is_list(cell: str, sign: str) -> bool:
    """Whether the sign, which texts rarely have, parts a few words each."""
    parts = cell.split(sign)
    return len(parts) > 1 and all(0 < len(part.split()) <= _WORDS for part in parts)


def _has_commas(cell: str) -> bool:
    """Whether numbers of one unit, or three words or more, stand between commas; `1,234` and `3,5`
    are one number.
    """
    parts = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), cell).split(",")
    if len(parts) == 1 or _DECIMAL.fullmatch(cell):
        return False
    numbers = [_NUMBER.fullmatch(part.strip()) for part in parts]
    if all(numbers):
        return len({found.group(1, 2) for found in numbers if found}) == 1
    return len(parts) > 2 and all(len(part.split()) == 1 for part in parts)


def make_rules() -> KeyRules:
    """What the graders of a first suite want of a case."""
    names = ("facts", "retrieval", "tool_calls")
    return key_rules({name: GRADERS.get_class(name)() for name in names})
