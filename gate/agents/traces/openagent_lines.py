"""How the lines of OpenAgent's console and audit log are written, old and new."""

from __future__ import annotations

import re
from typing import Literal

# Each line matches one group, by whose name it is told apart.
CONSOLE = re.compile(
    r"\s*(?:"
    r"(?P<turn>--- LLM Call \(Round \d+\).*)"
    r"|(?:Tool Call: \[(?P<old>.*)\])"
    r"|(?:Tool \d+: \[(?P<new>[^\]]*)\] args: (?P<args>.*))"
    r"|(?:Arguments: \[(?P<arguments>.*)\])"
    r"|(?:Tool Result: \[(?P<result>.*))"
    r"|(?P<other>(?:--- Agent Round \d+ \| )?LLM Decision: .*)"
    r")\s*\Z"
)
NO_CALL = "None"  # the name where the model called no tool
NAMELESS = "(no name)"
# Outcomes of an audit record whose call was executed.
RAN: tuple[Literal["success", "failure"], ...] = ("success", "failure")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def strip_colours(line: str) -> str:
    """Both logs have ANSI colours in the file too."""
    return _COLOUR.sub("", line)


def is_console(text: str) -> bool:
    """Whether one of the first lines is one that only the console writes."""
    lines = strip_colours(text[:10_000]).splitlines()[:100]
    matches = (CONSOLE.match(line) for line in lines)
    return any(match and match.lastgroup != "result" for match in matches)
