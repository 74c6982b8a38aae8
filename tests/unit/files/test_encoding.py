"""Text that is not UTF-8 is named with its line and byte."""

import pytest

from gate.errors import InvalidInput
from gate.files.encoding import decode, foreign_mark


def test_utf8_with_and_without_mark_is_the_same_text() -> None:
    assert decode("é\n".encode("utf-8-sig"), "f") == decode("é\n".encode(), "f") == "é\n"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf16_and_utf32_are_named(codec: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
    with pytest.raises(InvalidInput, match=r"d\.jsonl:1: the file is UTF-(16|32) - save it as"):
        decode(mark + '{"id": "a"}'.encode(codec), "d.jsonl")


def test_latin1_names_line_byte_and_column() -> None:
    with pytest.raises(InvalidInput, match=r"f:2: byte 0xE9 at column 4 is not UTF-8"):
        decode(b"ok\ncaf\xe9\n", "f")


def test_a_piece_counts_from_its_own_line() -> None:
    with pytest.raises(InvalidInput, match=r"f:8: byte 0xFF at column 1"):
        decode(b"\xff\xfe", "f", line=8)


def test_nul_bytes_are_named_and_utf16_without_mark_is_guessed() -> None:
    with pytest.raises(InvalidInput, match=r"f:2: a NUL byte - not a UTF-8"):
        decode(b"abcdef\nx\0y\n", "f")
    with pytest.raises(InvalidInput, match="UTF-16 without a byte order mark"):
        decode("abc".encode("utf-16-le"), "f")


def test_no_mark_in_plain_text() -> None:
    assert foreign_mark(b"{}") is None
    assert foreign_mark("x".encode("utf-32")) == "UTF-32"
