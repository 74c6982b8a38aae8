"""Lines that are cut for messages and tables."""

from hypothesis import given
from hypothesis import strategies as st

from gate.text.shortening import shorten


def test_white_space_is_one_blank_and_hidden_characters_stay():
    assert shorten("  a \t b\r\nc\n") == "a b c"
    assert shorten("a\u00a0\u200b\x1b[1m\r b") == "a\u00a0\u200b\x1b[1m\r b"


@given(st.text(), st.integers(2, 50))
def test_a_line_has_its_limit(text, limit):
    assert len(shorten(text, limit)) <= limit
    assert "\n" not in shorten(text, limit)


def test_a_cut_is_told():
    assert shorten("a" * 50, 10) == "a" * 9 + "…"
    assert shorten(f"a{' ' * 10_000}b", 10) == "a…"
    assert len(shorten("a" * 50_000_000, 20)) == 20
    assert shorten("x👩\u200d👧y", 4) == "x👩…"
