"""The script of report.html: modules that browsers get as one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent / "script"
# Each after those whose names it uses.
MODULES = ("elements", "hidden", "words", "blocks", "figures", "cases", "list", "case", "main")


@cache
def join_script() -> str:
    """All modules in one scope: no name stands in two of them, and nothing is renamed. Types
    are left out.
    """
    texts = [(_HERE / f"{name}.js").read_text("utf-8") for name in MODULES]
    joined = re.sub(r"^import .*\n|^export ", "", "".join(texts), flags=re.M)
    joined = re.sub(r"^ */\*\*(?:(?!\*/).)*\*/\n", "", joined, flags=re.M | re.S)
    return f'"use strict";\n(() => {{\n{joined}}})();\n'
