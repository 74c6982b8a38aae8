"""Hidden characters have visible signs; what writing needs stays as it is."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.text.hidden import drop_hidden, show_hidden
from tests.support.hostile_text import PIECES

EVERY = [chr(code) for code in range(0x110000)]
NOTATION = ("⟨", "⟩", "⟨ZWSP⟩", "⟨U+202E⟩", "ZWSP⟩", "␛", "␀", "U+", "⟨U+27E8⟩")
HIDDEN = ("\x1b", "\u200b", "\u202e", "\u00a0", "\u200d", "\ufe0f", "\u0301", "👩", "न", "्", "ی")
hostile = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES + NOTATION + HIDDEN), max_size=12).map("".join)
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\x00b\x7fc\x9bd", "a␀b␡c⟨U+009B⟩d"),
        ("\u202egnp.exe\u202c", "⟨U+202E⟩gnp.exe⟨U+202C⟩"),
        ("a\u200bb\ufeffc\u00add\u2060", "a⟨ZWSP⟩b⟨BOM⟩c⟨SHY⟩d⟨WJ⟩"),
        ("1\u00a0000\u202f€", "1⟨NBSP⟩000⟨NNBSP⟩€"),
        ("a\u2003b\u2028c", "a⟨U+2003⟩b⟨U+2028⟩c"),
        ("a\ud800b\ue000c\uffff", "a⟨U+D800⟩b⟨U+E000⟩c⟨U+FFFF⟩"),
        ("a\u3164b\u2800c\u034f", "a⟨U+3164⟩b⟨U+2800⟩c⟨U+034F⟩"),
        ("a\ufe0fb\U000e0100", "a⟨U+FE0F⟩b⟨U+E0100⟩"),
        ("\U000e0061\U000e0062", "⟨U+E0061⟩⟨U+E0062⟩"),
        ("e" + "\u0301" * 5 + "x", "e\u0301\u0301\u0301⟨U+0301⟩⟨U+0301⟩x"),
        ("a\u200cb\u200dc", "a⟨ZWNJ⟩b⟨ZWJ⟩c"),
        ("日\u200d本", "日⟨ZWJ⟩本"),
        ("\r\n", "␍\n"),
    ],
)
def test_a_hidden_character_has_a_sign(text, shown):
    assert show_hidden(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("␛[31m", "⟨U+241B⟩[31m"), ("⟨ZWSP⟩", "⟨U+27E8⟩ZWSP⟩"), ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩")],
)
def test_the_signs_cannot_be_forged(text, shown):
    assert show_hidden(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Größe 日本語 العربية हिन्दी עברית ✅ 4,2 %",
        "cafe\u0301 Việt",
        "👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🙂\u200d↔\ufe0f ❤\ufe0f ℹ\ufe0f",
        "1\ufe0f\u20e3",
        "☎\ufe0e 🇫🇷",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "کتاب\u200cها می\u200cخواهم",
        "क्\u200dष র\u200d্য ශ්\u200dරී",
        "日本\u3000語",
        "⟨x|y⟩ ⟨a⟩ ⟩⟨",
        "\u0661\u06dd",
        "tab\there\nline",
    ],
)
def test_what_writing_needs_stays(text):
    assert show_hidden(text) == text


@given(hostile, hostile)
@example("\x1b", "␛")
@example("\u200b", "⟨ZWSP⟩")
@example("⟨\u200b", "⟨⟨ZWSP⟩")
def test_texts_that_differ_look_different(first, second):
    assert (show_hidden(first) == show_hidden(second)) == (first == second)


@given(hostile)
def test_nothing_hidden_is_left_but_what_belongs_to_its_neighbours(text):
    kept = {unicodedata.category(sign) for sign in show_hidden(text) if sign not in "\n\t"}
    assert kept.isdisjoint({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
    lone = show_hidden(text.replace("\u200d", "").replace("\u200c", ""))
    assert all(
        unicodedata.category(s) != "Cf" or unicodedata.bidirectional(s) == "AN" for s in lone
    )


def test_of_every_character_alone_only_what_is_drawn_is_shown_as_it_is():
    shown = {sign: show_hidden(f"a{sign}") for sign in EVERY}
    as_they_are = {sign for sign, text in shown.items() if text == f"a{sign}"}
    categories = {unicodedata.category(sign) for sign in as_they_are - {*"\t\n "}}
    assert categories.isdisjoint({"Cc", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
    formats = {sign for sign in as_they_are if unicodedata.category(sign) == "Cf"}
    assert {unicodedata.bidirectional(sign) for sign in formats} == {"AN"}
    # Default_Ignorable_Code_Point of Unicode, beyond the categories above.
    ignorable = {*"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"}
    ignorable |= {chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))}
    assert not as_they_are & ignorable
    assert len({*shown.values()}) == len(EVERY)


def test_what_is_dropped_is_what_is_hidden():
    assert drop_hidden("\x1b[31;1mred\x1b[0m \x1b]8;;https://x\x07link\x1b]8;;\x07") == "red link"
    assert drop_hidden("a\u202eb\u2066c\u200bd\ufeffe") == "abcde"
    assert drop_hidden("a\x85b\u2028c\rd\r\ne\u00a0f\ud800") == "a\nb\nc\nd\ne f\ufffd"
    assert drop_hidden("e" + "\u0301" * 40 + "x") == "e" + "\u0301" * 3 + "x"
