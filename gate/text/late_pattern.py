"""Regular expressions that are compiled at their first use: a command uses few of all those in the
modules that it loads, and to compile one takes longer than to search a page with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, AnyStr, cast

_USED = (
    *("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"),
    *("pattern", "flags", "groups", "groupindex"),
)


class _LatePattern:
    """After its first use as fast as what it stands for: its methods are those of that."""

    def __init__(self, compile_it: Callable[[], object]) -> None:
        self._compile = compile_it

    def __getattr__(self, name: str) -> Any:  # whatever the pattern has
        if name not in _USED:
            raise AttributeError(name)
        compiled = self._compile()
        for each in _USED:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def late_pattern(written: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile`, later: for a module's own patterns, as a mistake is seen at the first use."""
    return cast("re.Pattern[AnyStr]", _LatePattern(partial(re.compile, written, flags)))
