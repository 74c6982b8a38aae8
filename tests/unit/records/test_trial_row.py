"""The keys that readers of details.jsonl may name are those of its published schema."""

from dataclasses import MISSING, fields
from typing import Literal, NotRequired, get_args, get_origin, get_type_hints

from gate.records import TrialRow
from gate.store.trial_row_schema import DetailsRow

HINTS = get_type_hints(TrialRow)
PLAIN = {str, int, float, bool, type(None)}


def kinds(hint: object) -> set[object]:
    """Plain types and words of a hint; what lists and objects hold is left out."""
    parts = get_args(hint) if get_origin(hint) is not Literal else ()
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    if hint in PLAIN:
        return {hint}
    union = get_origin(hint) not in (tuple, None) and type(None) in parts
    return {kind for part in parts for kind in kinds(part)} if union else {"composed"}


def test_the_row_has_the_keys_of_the_schema_and_the_same_ones_may_be_missing() -> None:
    assert set(HINTS) == {one.name for one in fields(DetailsRow)}
    optional = {
        one.name
        for one in fields(DetailsRow)
        if one.default is not MISSING or one.default_factory is not MISSING
    }
    hints = get_type_hints(TrialRow, include_extras=True)
    assert {name for name, hint in hints.items() if get_origin(hint) is NotRequired} == optional


def test_the_values_are_of_the_types_of_the_schema() -> None:
    published = get_type_hints(DetailsRow)
    different = {
        name: (kinds(HINTS[name]), kinds(published[name]))
        for name in HINTS
        if kinds(HINTS[name]) != kinds(published[name])
    }
    assert different == {}
    assert kinds(HINTS["output"]) == {str, type(None)}
    assert kinds(HINTS["status"]) == {"completed", "agent_error", "infra_error"}
