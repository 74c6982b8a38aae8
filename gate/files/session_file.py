"""Files of a session, which anybody may have written: plain ones only, of bounded size."""

from __future__ import annotations

from pathlib import Path

from gate.errors import UsageError
from gate.files.plain_file import kind_of
from gate.records import Json
from gate.records.codec import parse_json


def regular(path: Path, most: int | None = None) -> Path:
    """The same path; raises UsageError for a link, a device or a file of more than `most` bytes."""
    try:
        status = path.lstat()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not readable: {error}") from error
    if kind := kind_of(status.st_mode):
        raise UsageError(f"{path}: {kind}; not a file that gate writes")
    if most is not None and status.st_size > most:
        raise UsageError(
            f"{path}: larger than {most >> 20} MB; too large to publish from an untrusted run"
        )
    return path


def read_json(path: Path, most: int | None = None) -> Json:
    """At most `most` bytes. Raises UsageError, also for numbers that are none."""
    try:
        return parse_json(regular(path, most).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not readable: {error}") from error
