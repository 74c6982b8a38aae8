"""A file of variables, `NAME=value` a line, as many tools read and write them (.env)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.plain import plain
from gate.text.late_pattern import late_pattern

# A quoted value is taken as it is; of any other the blanks around it and a comment are no part.
_LINE = late_pattern(
    r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"
    r"(?:'([^']*)'|\"([^\"]*)\"|([^'\"\s#](?:[^#]|(?<!\s)#)*?|))\s*(?:\s#.*)?"
)


def read_env_file(path: Path) -> Mapping[str, str]:
    """Name -> value; of a name that is there twice the last. Raises UsageError for what is no plain
    file, InvalidInput with every line that is none of these.
    """
    found: dict[str, str] = {}
    problems = []
    lines = decode(plain(path).read_bytes(), str(path)).splitlines()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if match := _LINE.fullmatch(text):
            name, *values = match.groups()
            found[name] = next((one for one in values[:2] if one is not None), values[2] or "")
        else:  # the line may hold a secret, so it is not shown
            message = (
                "is not NAME=value - quote a value with a space in front of a # or with quotes"
            )
            problems.append(Problem(Place(str(path), number), message))
    if problems:
        raise InvalidInput(problems)
    return found
