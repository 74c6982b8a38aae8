"""The script of report.html."""

from __future__ import annotations

from gate.report.page_script import join_modules, list_modules

# Each after those whose names it uses.
MODULES = (
    "elements",
    "hidden",
    "words",
    "blocks",
    "figures",
    "cases",
    "search",
    "list",
    "case",
    "main",
    "ask",
)


def join_script() -> str:
    """All modules as one text."""
    return join_modules(list_modules("session_page", MODULES))
