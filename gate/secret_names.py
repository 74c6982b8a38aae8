"""Which variables of the environment hold secrets: those that a config names or puts into headers,
and those that look it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_LOOKS_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)


def secrets_of(
    env: Mapping[str, str], named: Iterable[str], headers: Iterable[str] = ()
) -> Iterator[str]:
    """The values; a proxy's address with a password in it is one too. `headers`: values that an
    agent is sent, variables replaced.
    """
    wanted, sent = set(named), "\0".join(headers)
    for name, value in env.items():
        if name in wanted or _LOOKS_SECRET.search(name) or (value and value in sent):
            yield value
        elif name.upper().endswith("_PROXY") and "@" in value:
            yield value.rpartition("@")[0].partition("://")[2]
