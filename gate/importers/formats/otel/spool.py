"""What does not fit into memory, in a file without a name that ends with the process."""

from __future__ import annotations

from tempfile import TemporaryFile

from gate.errors import InfrastructureError

_LENGTH = 4  # bytes of a record's length


class Spool:
    """Records found again by where they begin. Nobody else can write to it, so that they are
    trusted when they come back. Raises InfrastructureError when the disk is full.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the spool is used
        self._at_end = True
        self._size = 0

    def put(self, record: bytes) -> int:
        """Where it begins."""
        start = self._size
        try:
            if not self._at_end:
                self._file.seek(start)
                self._at_end = True
            self._file.write(len(record).to_bytes(_LENGTH, "little") + record)
        except OSError as error:
            raise _full(error) from error
        self._size = start + _LENGTH + len(record)
        return start

    def get(self, start: int) -> bytes:
        self._at_end = False
        try:
            self._file.seek(start)
            return self._file.read(int.from_bytes(self._file.read(_LENGTH), "little"))
        except OSError as error:
            raise _full(error) from error

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def _full(error: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"spans cannot be put aside ({error.strerror}); name a folder with as much room as the "
        "source takes, in the environment variable TMPDIR"
    )
