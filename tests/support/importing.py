"""What an importer says of a file that it refuses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gate.errors import GateError, InvalidInput


def told_of(
    read: Callable[..., object],
    path: Path,
    kind: type[GateError] = InvalidInput,
    **options: object,
) -> str:
    """The message of `read(path, **options)`; files are named from the folder that `path` is in."""
    with pytest.raises(kind) as caught:
        read(path, **options)
    return str(caught.value).replace(f"{path.parent.as_posix()}/", "")
