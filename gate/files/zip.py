"""Archives of other tools: checked before anything is read, members read by name into memory.

Nothing is ever written to disk, and an archive within an archive is bytes like any other.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gate.errors import Place, UsageError
from gate.files.plain import MOST_JSON, plain
from gate.files.problems import Findings
from gate.files.zstd import find_zstd, tell_no_zstd, zstd_errors

SIGN = b"PK\x03\x04"  # how an archive begins
MOST_MEMBERS = 500_000
MOST_UNPACKED = 64 << 30  # bytes of all members together
MOST_LISTED = 256 << 20  # bytes of the list of members at the end
_ZSTD = 93  # the number of the method
_DRIVE_OR_CONTROL = re.compile(r"^[A-Za-z]:|[\x00-\x1f\x7f]")
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLimits:
    """What a member may be. Bytes: `size` unpacked; `ratio`, out of one byte, for a member of more
    than `small` bytes. `methods`: numbers of the ways to pack it.
    """

    size: int = MOST_JSON
    ratio: float = 2_000.0
    small: int = 16 << 20
    methods: tuple[int, ...] = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD)


def member_fault(info: zipfile.ZipInfo, limits: MemberLimits) -> str:
    """What is wrong with one entry of an archive's list; empty if nothing is. Its name is judged as
    it stands there, before zipfile mends it.
    """
    name = info.orig_filename
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or not parts[0] or _DRIVE_OR_CONTROL.search(name):
        return "unsafe path: it points outside the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symbolic link, which is not followed; pack the file itself"
    if info.flag_bits & 0x1:
        return "encrypted; pack it without a password"
    if info.compress_type not in limits.methods:
        return f"compression method {info.compress_type} is not supported; pack it with deflate"
    if info.file_size > limits.size:
        most = limits.size >> 20
        return f"unpacks to {info.file_size:,} bytes; {most} MB is the limit per file"
    if info.file_size > max(limits.small, limits.ratio * info.compress_size):
        return f"{info.compress_size:,} bytes unpack to {info.file_size:,}, a zip bomb"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An open one. `members`: files by name, in the order of the archive; of those written twice
    the last one. `rewritten`: how many were.
    """

    path: Path
    members: Mapping[str, zipfile.ZipInfo]
    rewritten: int = 0
    convert: str = ""  # what else can be done with one that this Python does not unpack
    _zip: zipfile.ZipFile = field(repr=False)
    _file: BinaryIO = field(repr=False)

    def place(self, name: str) -> Place:
        return Place(self.path.as_posix(), key=name[:200])

    def read(self, name: str) -> bytes:
        """What a member holds, exactly as much as it declares. Raises UsageError (broken, or packed
        in a way that this Python does not read), KeyError.
        """
        info = self.members[name]
        if info.compress_type == _ZSTD and find_zstd() is None:
            raise UsageError(tell_no_zstd(str(self.path), self.convert))
        try:
            with self._opened(info) as stream:
                content = stream.read(info.file_size + 1)
        except _broken() as error:
            raise UsageError(f"{self.place(name)}: broken ({error}); copy it again") from error
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise UsageError(
                f"{self.place(name)}: does not match the archive's file list; copy it again"
            )
        return content

    @contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
        decoder = find_zstd() if info.compress_type == _ZSTD else None
        if decoder is None:
            with self._zip.open(info) as stream:
                yield stream  # type: ignore[misc]
        else:
            yield decoder(io.BytesIO(self._packed(info)))

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """As they lie there: behind a head of 30 bytes, the name and a further field."""
        self._file.seek(info.header_offset)
        head = self._file.read(30)
        if len(head) < 30 or not head.startswith(SIGN):
            raise zipfile.BadZipFile("there is no file at the position in the file list")
        name, more = struct.unpack("<HH", head[26:])
        self._file.seek(name + more, io.SEEK_CUR)
        return self._file.read(info.compress_size)


@contextmanager
def open_archive(path: Path, *, convert: str = "") -> Iterator[Archive]:
    """Of two members of one name the last counts: tools append a member again to change it. Raises
    UsageError (no archive, cut off) and InvalidInput with all that is wrong with its list.
    """
    with plain(path).open("rb") as file:
        _check_list(file, path)
        try:
            opened = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error) as error:
            raise UsageError(f"{path}: not a valid zip archive ({error}); copy it again") from error
        with opened:
            size = file.seek(0, io.SEEK_END)
            members, again = _check_members(opened.infolist(), path, size)
            yield Archive(
                path=path,
                members=members,
                rewritten=again,
                convert=convert,
                _zip=opened,
                _file=file,
            )


def _check_list(file: BinaryIO, path: Path) -> None:
    """The list of members is read whole when an archive is opened. Raises UsageError for one that
    is too long for that, and where there is none.
    """
    size = file.seek(0, io.SEEK_END)
    start = max(0, size - (1 << 16) - 22)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise UsageError(f"{path}: not a complete zip archive: its end is missing; copy it again")
    (length,) = struct.unpack("<L", tail[at + 12 : at + 16])
    if tail[at - 20 : at - 16] == _LOCATOR64 and at >= 20:
        (begins,) = struct.unpack("<Q", tail[at - 12 : at - 4])
        file.seek(min(begins, size))
        record = file.read(56)
        if len(record) == 56 and record.startswith(_END64):
            (length,) = struct.unpack("<Q", record[40:48])
    file.seek(0)
    if length > MOST_LISTED:
        raise UsageError(
            f"{path}: its file list has {length:,} bytes, too many for a valid archive"
        )


def _check_members(
    infos: list[zipfile.ZipInfo], path: Path, size: int
) -> tuple[dict[str, zipfile.ZipInfo], int]:
    findings, members, again = Findings(), dict[str, zipfile.ZipInfo](), 0
    if len(infos) > MOST_MEMBERS:
        raise UsageError(f"{path}: {len(infos):,} files; the limit is {MOST_MEMBERS:,}")
    for info in infos:
        place = Place(path.as_posix(), key=info.filename[:200])
        if fault := member_fault(info, MemberLimits()):
            findings.add(place, fault)
        elif not info.is_dir():
            again += info.filename in members
            members[info.filename] = info
    unpacked, packed = (sum(getattr(i, n) for i in infos) for n in ("file_size", "compress_size"))
    if unpacked > MOST_UNPACKED:
        findings.add(Place(path.as_posix()), f"unpacks to {unpacked:,} bytes (a zip bomb)")
    if packed > size:
        findings.add(Place(path.as_posix()), "its files overlap (a zip bomb)")
    findings.refuse()
    return members, again


def _broken() -> tuple[type[Exception], ...]:
    """What is raised for bytes that cannot be unpacked."""
    own = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
    return (*zstd_errors(), *own)
