"""Zips that others made: what an honest upload does not have is refused, with the reason."""

from __future__ import annotations

import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from gate.errors import UsageError
from gate.github.unpack import Limits, unpack


def zipped(
    *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that comes twice
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def patched(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


def encrypted() -> bytes:
    data = bytearray(zipped(("a.json", b"{}")))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    return bytes(data)


def false_size(size: int) -> bytes:
    data = bytearray(zipped(("a.json", b"0123456789"), method=zipfile.ZIP_STORED))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", size)
    return bytes(data)


def test_only_the_named_members_come_out() -> None:
    data = zipped(("a.json", b"A"), ("b/c.json", b"C"), ("d.json", b"D"), ("b/", b""))
    assert unpack(data, ["a.json", "b/c.json", "z.json"], source="artifact 'x'") == {
        "a.json": b"A",
        "b/c.json": b"C",
    }


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: zipped(("../a.json", b"")), "leads out of its folder"),
        (lambda: zipped(("b/../../a.json", b"")), "leads out of its folder"),
        (lambda: zipped(("/etc/passwd", b"")), "absolute path"),
        (lambda: zipped(("C:/a.json", b"")), "absolute path"),
        (lambda: patched(zipped(("b_a.json", b"")), b"b_a", b"b\\a"), "backslash"),
        (lambda: patched(zipped(("b_a.json", b"")), b"b_a", b"b\0a"), "null"),
        (lambda: zipped((link("a.json"), b"/etc/passwd")), "symbolic link"),
        (lambda: zipped(("a.json", b"1"), ("a.json", b"2")), "comes twice"),
        (lambda: zipped(("a.json", b"1"), ("A.JSON", b"2")), "comes twice"),
        (encrypted, "is encrypted"),
        (lambda: zipped(("a.json", b"0" * (3 << 20))), "expands more than 200 times"),
        (lambda: zipped(*((f"{n}.json", b"") for n in range(1001))), "more than 1000 entries"),
        (lambda: false_size(1 << 30), "expands to more than 256 MB"),
        (lambda: false_size(11), "not as long as it says|no readable zip"),
        (lambda: false_size(9), "no readable zip|not as long as it says"),
        (lambda: patched(zipped(("a.json", b"0123"), method=0), b"0123", b"0124"), "no readable"),
        (lambda: zipped(("a.json", b"x"))[:-10], "no readable zip"),
        (lambda: b"PK not really", "no readable zip"),
        (lambda: b"", "no readable zip"),
    ],
)
def test_a_hostile_zip_is_refused(make: Callable[[], bytes], why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        unpack(make(), ["a.json"], source="artifact 'x'")
    assert str(caught.value).startswith("artifact 'x': refused, ")
    assert caught.value.exit_code == 2


def test_size_limits_are_parameters() -> None:
    data = zipped(("a.json", b"abc"))
    with pytest.raises(UsageError, match="it is larger than"):
        unpack(data, ["a.json"], source="x", limits=Limits(compressed=10))
    assert unpack(data, ["a.json"], source="x", limits=Limits(expanded=3)) == {"a.json": b"abc"}
    with pytest.raises(UsageError, match="expands to more"):
        unpack(data, ["a.json"], source="x", limits=Limits(expanded=2))


def test_a_bad_entry_that_nobody_asked_for_is_refused_too() -> None:
    with pytest.raises(UsageError, match="leads out"):
        unpack(zipped(("a.json", b""), ("../b", b"")), ["a.json"], source="x")
