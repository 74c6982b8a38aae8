"""Zips that others made: what an honest upload does not have is refused, with the reason."""

from __future__ import annotations

import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def renamed_in_the_index() -> bytes:
    """Read by its index it is a.json, read from the start b.json."""
    data = zipped(("b.json", b"{}"))
    central = data.index(b"PK\x01\x02")
    return data[:central] + data[central:].replace(b"b.json", b"a.json")


def overlapping(*, same: bool) -> bytes:
    """A second entry of the index that leads to the first one's bytes, or into them."""
    data = bytearray(zipped(("a.json", b"x" * 100), ("b.json", b"y" * 100), method=0))
    second = data.rindex(b"PK\x01\x02")
    if same:
        data[second + 46 : second + 52] = b"a.jsoN"
        data[30:36] = b"a.jsoN"
        first = data.index(b"PK\x01\x02")
        data[first + 46 : first + 52] = b"a.jsoN"
        data[second + 46 : second + 52] = b"z.json"
    data[second + 42 : second + 46] = struct.pack("<I", 0 if same else 20)
    return bytes(data)


def nested_quote() -> bytes:
    """The first entry's content holds the second entry whole: both are honest on their own."""
    inner = zipped(("b.json", b"y" * 100), method=0)
    local = inner[: inner.index(b"PK\x01\x02")]
    data = bytearray(zipped(("a.json", local), ("b.json", b"y" * 100), method=0))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 36)
    return bytes(data)


def zip64(size: int, packed: int) -> bytes:
    """An index whose 64-bit sizes are others than the entry's."""
    data = zipped(("a.json", b"0123456789"), method=0)
    central, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    extra = struct.pack("<HHQQ", 1, 16, size, packed)
    entry = bytearray(data[central:end])
    entry[20:28] = b"\xff" * 8
    entry[30:32] = struct.pack("<H", len(extra))
    tail = bytearray(data[end:])
    tail[12:16] = struct.pack("<I", len(entry) + len(extra))
    return data[:central] + bytes(entry) + extra + bytes(tail)


def broken_stream() -> bytes:
    data = bytearray(zipped(("a.json", bytes(range(256)) * 9)))
    data[60:90] = b"\xff" * 30
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
        (lambda: zipped(("../a.json", b"")), "points outside the archive"),
        (lambda: zipped(("b/../../a.json", b"")), "points outside the archive"),
        (lambda: zipped(("/etc/passwd", b"")), "points outside the archive"),
        (lambda: zipped(("C:/a.json", b"")), "points outside the archive"),
        (lambda: patched(zipped(("b_a.json", b"")), b"b_a", b"b\\a"), "backslash"),
        (lambda: patched(zipped(("b_a.json", b"")), b"b_a", b"b\0a"), "points outside the archive"),
        (
            lambda: zipped((link("a.json"), b"/etc/passwd")),
            "a symbolic link, which is not followed",
        ),
        (lambda: zipped(("a.json", b"1"), ("a.json", b"2")), "comes twice"),
        (lambda: zipped(("a.json", b"1"), ("A.JSON", b"2")), "comes twice"),
        (encrypted, "encrypted; pack it without"),
        (lambda: zipped(("a.json", b"0" * (3 << 20))), "3,145,728, a zip bomb"),
        (lambda: zipped(*((f"{n}.json", b"") for n in range(1001))), "more than 1000 entries"),
        (lambda: false_size(1 << 30), "expands to more than 256 MB"),
        (lambda: false_size(11), "not have the size it declares|not a readable zip"),
        (lambda: false_size(9), "not a readable zip|not have the size it declares"),
        (
            lambda: patched(zipped(("a.json", b"0123"), method=0), b"0123", b"0124"),
            "not a readable",
        ),
        (lambda: zipped(("a.json", b"x"))[:-10], "not a readable zip"),
        (renamed_in_the_index, "a different name in the index"),
        (lambda: overlapping(same=True), "a different name|overlaps"),
        (lambda: overlapping(same=False), "a different name in the index"),
        (nested_quote, "overlaps another entry"),
        (lambda: zip64(1 << 40, 10), "expands to more than 256 MB"),
        (lambda: zip64(10, 1 << 40), "overlaps|not a readable"),
        (lambda: zip64((1 << 64) - 1, (1 << 64) - 1), "expands to more"),
        (lambda: zip64(11, 10), "not a readable zip|not have the size it declares"),
        (broken_stream, "not a readable zip"),
        (lambda: zipped(("a.json", b"x"), method=zipfile.ZIP_LZMA), "compression method"),
        (lambda: zipped(("a.json", b"x"), method=zipfile.ZIP_BZIP2), "compression method"),
        (lambda: b"PK not really", "not a readable zip"),
        (lambda: b"", "not a readable zip"),
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
    with pytest.raises(UsageError, match="points outside"):
        unpack(zipped(("a.json", b""), ("../b", b"")), ["a.json"], source="x")


def test_a_zip_in_a_zip_stays_packed() -> None:
    bomb = zipped(("a.json", b"0" * (3 << 20)))
    found = unpack(zipped(("inner.zip", bomb), ("a.json", b"A")), ["a.json"], source="x")
    assert found == {"a.json": b"A"}


def test_what_is_expanded_is_bounded_by_what_was_promised() -> None:
    """The index says 10 bytes; the stream would give 3 MB."""
    data = bytearray(zipped(("a.json", b"0" * (3 << 20))))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 10)
    with pytest.raises(UsageError, match=r"not have the size it declares|not a readable zip"):
        unpack(bytes(data), ["a.json"], source="x")


WHOLE = zipped(("a.json", b"A" * 50), ("b/c.json", b"C" * 50), ("d/", b""))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=4),
    st.integers(0, 40),
)
def test_any_damage_gives_the_content_or_a_refusal(
    changes: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    try:
        found = unpack(bytes(data[: len(data) - cut]), ["a.json"], source="x")
    except UsageError:
        return
    assert found in ({}, {"a.json": b"A" * 50})
