"""Which variables of the environment hold secrets: those that a config names, and those that look
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_LOOKS_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)


def secrets_of(env: Mapping[str, str], named: Iterable[str]) -> Iterator[str]:
    """The values; a proxy's address with a password in it is one too."""
    wanted = set(named)
    for name, value in env.items():
        if name in wanted or _LOOKS_SECRET.search(name):
            yield value
        elif name.upper().endswith("_PROXY") and "@" in value:
            yield value.rpartition("@")[0].partition("://")[2]
