"""Opens a zip that others made: in memory, the named members only, every trick refused."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from gate.errors import UsageError
from gate.files.zip import MemberLimits, member_fault

UTF8 = 0x800  # flag bit
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take memory that the sender chooses
HEADER = struct.Struct("<4s22xHH")  # an entry's own: signature, lengths of name and of extra field


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes."""

    compressed: int = 64 << 20
    expanded: int = 256 << 20
    entries: int = 1000


DEFAULT_LIMITS = Limits()
_MEMBER_LIMITS = MemberLimits(ratio=200.0, small=1 << 20, methods=PACKED)
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(NotImplementedError, RuntimeError, EOFError, OverflowError, ValueError),
)


def unpack(
    data: bytes, wanted: Iterable[str], *, source: str, limits: Limits = DEFAULT_LIMITS
) -> dict[str, bytes]:
    """The members of `wanted` that are in the zip. Raises UsageError, with `source` first, when
    any member, wanted or not, is one that an honest upload does not have.
    """
    if len(data) > limits.compressed:
        raise _refusal(source, f"it is larger than {limits.compressed >> 20} MB")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            _check(members, source, limits)
            _check_places(members, data, archive.start_dir, source)
            by_name = {member.filename: member for member in members if not member.is_dir()}
            return {
                name: _read_member(archive, by_name[name], source)
                for name in wanted
                if name in by_name
            }
    except (*_UNREADABLE, OSError) as error:
        raise _refusal(source, f"it is not a readable zip file ({error})") from error


def _check(members: list[zipfile.ZipInfo], source: str, limits: Limits) -> None:
    if len(members) > limits.entries:
        raise _refusal(source, f"it has more than {limits.entries} entries")
    if sum(member.file_size for member in members) > limits.expanded:
        raise _refusal(source, f"it expands to more than {limits.expanded >> 20} MB")
    seen: set[str] = set()
    for member in members:
        why = member_fault(member, _MEMBER_LIMITS)
        if "\\" in member.orig_filename:
            why = "has a backslash in its name"
        # Case is folded: on some disks a second spelling would be the same file.
        if not why and member.filename.casefold() in seen:
            why = "comes twice"
        if why:
            raise _refusal(source, f"its entry {member.orig_filename[:80]!r}: {why}")
        seen.add(member.filename.casefold())


def _check_places(members: list[zipfile.ZipInfo], data: bytes, index: int, source: str) -> None:
    """What the index at its end says of a zip must be what stands there: each entry under its own
    name, in bytes of its own. A few bytes that many entries share expand to any size.
    """
    end = 0
    for member in sorted(members, key=lambda info: info.header_offset):
        start, why = member.header_offset, ""
        if not 0 <= start <= len(data) - HEADER.size:
            raise _refusal(source, f"its entry {member.filename[:80]!r} is missing")
        signature, name, extra = HEADER.unpack_from(data, start)
        first = start + HEADER.size
        written = data[first : first + name]
        encoding = "utf-8" if member.flag_bits & UTF8 else "cp437"
        if signature != b"PK\x03\x04" or written.decode(encoding) != member.orig_filename:
            why = "has a different name in the index"
        elif start < end or first + name + extra + member.compress_size > index:
            why = "overlaps another entry"
        if why:
            raise _refusal(source, f"its entry {member.orig_filename[:80]!r} {why}")
        end = first + name + extra + member.compress_size


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> bytes:
    """One byte more than promised is asked for, so that a false size in the index shows."""
    with archive.open(member) as file:
        content = file.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise _refusal(
            source, f"its entry {member.filename[:80]!r} does not have the size it declares"
        )
    return content


def _refusal(source: str, why: str) -> UsageError:
    return UsageError(f"{source}: refused, {why}; delete the artifact or use `baseline: repo`")
