"""The scripts and styles of HTML pages; browsers get modules as one text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_REPORT = Path(__file__).parent


@cache
def read_asset(name: str) -> str:
    """A file below this folder: several pages have the same ones."""
    return (_REPORT / name).read_text("utf-8")


@cache
def join_modules(names: tuple[str, ...]) -> str:
    """All modules in one scope: no name stands in two of them, and nothing is renamed. Types are
    left out. `names`: files below this folder, without their suffix, each after those whose names
    it uses.
    """
    texts = [read_asset(f"{name}.js") for name in names]
    joined = re.sub(r"^import .*\n|^export ", "", "".join(texts), flags=re.M)
    joined = re.sub(r"^ */\*\*(?:(?!\*/).)*\*/\n", "", joined, flags=re.M | re.S)
    return f'"use strict";\n(() => {{\n{joined}}})();\n'


def list_modules(folder: str, names: Iterable[str]) -> tuple[str, ...]:
    """The modules of one page's folder, as `join_modules` wants them."""
    return tuple(f"{folder}/script/{name}" for name in names)
