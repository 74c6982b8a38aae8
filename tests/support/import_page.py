"""docs/import.md by sections, and the commands that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from gate.plugins import IMPORTERS
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "tests" / "data" / "imports"  # what the sections of formats import
SECTIONS = {
    part.partition("\n")[0].strip("`# "): part
    for part in re.split(r"^(?=## )", PAGE, flags=re.MULTILINE)[1:]
}
FORMATS = tuple(name for name in IMPORTERS if name != "openagent")


def blocks(language: str, *sections: str) -> list[str]:
    text = "".join(SECTIONS.get(name, "") for name in sections)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(*sections: str) -> list[list[str]]:
    """Words after `gate` of every line of the sections' `sh` blocks."""
    lines = "".join(blocks("sh", *sections)).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.strip()]


def expanded(words: list[str], folder: Path) -> list[str]:
    """As a shell would have them."""
    found: list[str] = []
    for word in words:
        paths = sorted(folder.glob(word)) if "*" in word and "=" not in word else []
        found += [path.relative_to(folder).as_posix() for path in paths] or [word]
    return found
