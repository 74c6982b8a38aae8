"""What LangGraph yields while it runs, each piece by its mode: bare, in pairs and triples, or in an
object as newer versions and the platform's server write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gate.records import Json

MODES = ("updates", "values", "messages", "debug", "tasks", "checkpoints", "custom", "metadata")
_RESULT = "task_result"  # of debug: what a task's node gave back
_STEP = "langgraph_step"  # in what stands beside a streamed message


class Piece(NamedTuple):
    """`mode` is empty where the piece does not say it."""

    mode: str
    data: Json


def piece_of(item: Json) -> Piece:
    """One item of a stream without what is around it."""
    if isinstance(item, (list, tuple)) and len(item) in (2, 3):
        *around, last = item
        if len(item) == 2 and isinstance(item[1], dict) and _STEP in item[1]:
            return Piece("messages", item[0])
        mode = around[-1]
        if isinstance(mode, str) and mode in MODES:
            return _unwrap_debug(Piece(mode, last))
        # (namespace, piece): what a stream of subgraphs yields
        if len(item) == 2 and _is_namespace(mode):
            return piece_of(last) if isinstance(last, list) else _unwrap_debug(Piece("", last))
    if isinstance(item, dict) and "data" in item:
        named = item.get("type") if "ns" in item else item.get("event")
        mode = named.partition("|")[0].partition("/")[0] if isinstance(named, str) else ""
        if mode in MODES:
            return _unwrap_debug(Piece(mode, item["data"]))
    return _unwrap_debug(Piece("", item))


def _unwrap_debug(piece: Piece) -> Piece:
    """The result of a node in a piece of the modes debug and tasks; their other pieces repeat
    what is known.
    """
    data = piece.data
    if piece.mode == "messages" and isinstance(data, (list, tuple)) and data:
        return Piece("messages", data[0])
    if not isinstance(data, dict):
        return piece
    payload = data.get("payload")
    if isinstance(payload, dict) and isinstance(data.get("step"), int):
        result = payload.get("result") if data.get("type") == _RESULT else None
        return Piece("updates" if result is not None else "debug", _name_result(payload, result))
    if "id" in data and "name" in data and ("triggers" in data or "interrupts" in data):
        result = data.get("result")
        return Piece("updates" if result is not None else "tasks", _name_result(data, result))
    return piece


def _name_result(task: Mapping[str, Json], result: Json) -> Json:
    """A task's result as an update; before version 1 it is pairs of channel and value."""
    if isinstance(result, list):
        pairs = [one for one in result if isinstance(one, list) and len(one) == 2]
        result = {str(key): value for key, value in pairs}
    return {str(task.get("name")): result}


def _is_namespace(value: Json) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
