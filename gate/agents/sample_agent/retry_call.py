"""What the agent does about a call that failed: the same call once more, put right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from gate.records import Json, ToolCall

_NOT_ARITHMETIC = re.compile(r"[^0-9.+*/() -]")
_NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(\w+)")
_NO_TABLE = re.compile(r"there is no table '(\w+)'")


def mended(failed: ToolCall, before: Sequence[ToolCall]) -> dict[str, Json] | None:
    """Other arguments for a failed call, out of its error and of what the calls before it told;
    None where nothing can be put right.
    """
    error, arguments = failed.error or "", failed.arguments or {}
    if failed.name == "calculate" and "an expression holds" in error:
        return _changed(arguments, "expression", _NOT_ARITHMETIC.sub("", arguments["expression"]))
    if failed.name == "read_document" and "ids are like" in error:
        return _changed(arguments, "document_id", _id_in(arguments["document_id"]))
    if failed.name == "describe_table" and (unknown := _NO_TABLE.search(error)):
        return _changed(arguments, "table", f"{unknown[1]}s")
    if failed.name == "run_sql" and (unknown := _NO_COLUMN.search(error)):
        column = _nearest(unknown[1], before)
        return _changed(arguments, "sql", re.sub(rf"\b{unknown[1]}\b", column, arguments["sql"]))
    return None


def _changed(arguments: dict[str, Json], key: str, value: str) -> dict[str, Json] | None:
    return {**arguments, key: value} if value and value != arguments[key] else None


def _id_in(text: str) -> str:
    """ "msg-004" for "message 4", "kb-035" for "kb-35"; empty without a number."""
    number = re.search(r"\d+", text)
    kind = "msg" if text.startswith("m") else "kb"
    return f"{kind}-{int(number[0]):03}" if number else ""


def _nearest(name: str, before: Sequence[ToolCall]) -> str:
    """The column of the tables described so far that is spelled most like it, else itself."""
    known = [
        column
        for step in before
        if step.name == "describe_table" and step.result
        for column in step.result["columns"]
    ]
    return next(iter(get_close_matches(name, known, n=1)), name)
