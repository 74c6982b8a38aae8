"""What the machine is short of."""

import errno

import pytest

from gate.errors import InfrastructureError
from gate.system.shortage import Shortage, shortage

SAID = {
    "no thread": (RuntimeError("can't start new thread"), "`ulimit -u`"),
    "memory": (MemoryError(), "`ulimit -v`"),
    "files": (OSError(errno.EMFILE, "Too many open files", "x.json"), "x.json: .*`ulimit -n`"),
    "size": (OSError(errno.EFBIG, "File too large"), "`ulimit -f`"),
    "room": (OSError(errno.ENOSPC, "No space left on device"), "free space"),
    "a library": (
        ImportError("a page\nof advice\nlibx.so: failed to map segment from shared object"),
        r"^libx\.so: failed to map.*`ulimit -v`",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_it_is_told_with_what_to_do(name: str) -> None:
    error, said = SAID[name]
    found = shortage(error)
    assert found is not None
    assert found.exit_code == 6
    with pytest.raises(InfrastructureError, match=said):
        raise found
    assert shortage(found) is found


@pytest.mark.parametrize(
    "error",
    [RuntimeError("no"), OSError(errno.ENOENT, "no"), ImportError("no module"), ValueError()],
)
def test_other_errors_are_none(error: Exception) -> None:
    assert shortage(error) is None
    assert not isinstance(error, Shortage)
