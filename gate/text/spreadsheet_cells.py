"""Text of agents in a table: no cell of it becomes a formula of a spreadsheet (CWE-1236)."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")  # full width, too


def defuse(text: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet could take it for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def restore(cell: str) -> str:
    """What `defuse` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].lstrip(" ").startswith(FORMULA) else cell
