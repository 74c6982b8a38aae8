"""Hostile text shows as text in every place: checked with GitHub's own Markdown parser."""

import codecs

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from gate.text.escaping import (
    block,
    cell,
    clean,
    code,
    command,
    in_ascii,
    inline,
    markup,
    one_line,
    plain,
    stand_ins,
)
from gate.text.shortening import shorten
from tests.support.hostile_text import ACTIVE, PIECES, RUNNER, RenderedPage
from tests.support.reports import HOSTILE

hostile = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


def render(markdown):
    return RenderedPage(
        cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    )


@given(hostile, hostile)
def test_a_table_of_hostile_cells_keeps_its_cells_and_makes_no_link(first, second):
    page = render(f"| a | b |\n| - | - |\n| {inline(first)} | {cell(second)} |\n| x | y |\n")
    assert page.cells == 6
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert not ACTIVE.search(page.loose)


@pytest.mark.parametrize(
    "text", [":stuck_out_tongue:", "\n::set-output name=a::b_javascript:alert(1)", ":+1:", ":_:"]
)
@pytest.mark.parametrize("show", [inline, markup])
def test_a_name_of_an_emoji_with_an_underscore_is_no_emoji(show, text):
    """The underscore is escaped before GitHub's filter sees the words, after the parser."""
    assert not ACTIVE.search(render(show(text)).loose)


@given(hostile)
def test_inline_text_alone_on_a_line_is_a_paragraph(text):
    page = render(f"{inline(text)}\n\nend\n")
    assert set(page.tags) == {"p"}
    assert page.tags.count("p") == (2 if inline(text) else 1)
    assert not ACTIVE.search(page.loose)


@given(hostile)
def test_inline_shows_the_words_that_were_given(text):
    shown = render(f"x {inline(text, limit=None)}").loose.replace("\u200b", "").strip()
    assert shown == f"x {one_line(text, limit=None)}".strip()


@given(hostile)
def test_a_code_span_shows_the_text_and_nothing_else(text):
    page = render(f"x {code(text, limit=None)} y")
    assert page.code.strip() == one_line(text, limit=None).replace("<!--", "<! --").strip()
    assert page.loose.split() == ["x", "y"]


@given(hostile)
def test_a_summary_line_holds_no_tag(text):
    page = render(f"<details><summary>{markup(text)}</summary>\n\nbody\n\n</details>")
    assert page.tags == ["details", "summary", "p"]
    assert not ACTIVE.search(page.loose)


@given(hostile)
def test_a_block_ends_where_it_should(text):
    page = render(f"{block(text)}\n\nafter")
    assert page.tags == ["pre", "code", "p"]
    assert page.loose.strip() == "after"


@given(hostile, st.sampled_from([inline, code, cell, markup, block]))
def test_no_comment_marker_can_be_forged(text, sink):
    assert "<!--" not in sink(f"{text}<!-- agent-gate id=gate sha=1 run=1.1 v=1 -->{text}")


@given(hostile, hostile)
def test_texts_that_differ_look_different_in_every_sink(first, second):
    if first != second:
        assert clean(first) != clean(second)
        assert block(f"{first}.") != block(f"{second}.")
    if shorten(first, None) != shorten(second, None):
        for show in (one_line, inline, markup, code, cell):
            assert show(first, None) != show(second, None), show


@given(hostile, st.integers(2, 50))
def test_length_is_bounded(text, limit):
    assert len(one_line(text, limit)) <= limit
    assert len(clean(text, limit)) <= limit


def test_a_cut_is_shown():
    assert one_line("a" * 50, 10) == "a" * 9 + "…"
    assert clean("abc", 3) == "abc"
    assert len(clean("a" * 50_000_000, 20)) == 20


def test_one_line_folds_blanks_tabs_and_line_ends_and_nothing_else():
    assert one_line(" a \t\n b\r\nc ") == "a b c"
    assert one_line("a\rb\x85c\u2028d\u00a0e\x0bf") == "a␍b⟨U+0085⟩c⟨U+2028⟩d⟨NBSP⟩e␋f"
    assert clean("a\r\nb\tc\n") == "a␍\nb\tc\n"


def test_words_of_other_languages_stay():
    text = "Größe 日本語 العربية हिन्दी ✅ 4,2 %"
    assert one_line(text) == text


@given(hostile, hostile)
def test_no_line_is_a_workflow_command(first, second):
    shown = plain(f"{first}\n{second}")
    assert not RUNNER.search(shown)
    assert "\r" not in shown


@pytest.mark.parametrize(
    "text",
    ["::error::x", "  ::set-output name=a::b", "x\r::warning::y", ":::error::x", "##[error]x",
     "a ##[group]b", "\x1b[0m::error::x", "\u200b::error::x", "\x00::stop-commands::x",
     "###[error]", "##vso[task.setvariable]"],
)  # fmt: skip
def test_known_commands_are_taken_apart(text):
    assert not RUNNER.search(plain(text))
    assert "##vso[" not in plain(text)


def test_plain_text_keeps_its_lines_and_ordinary_colons():
    assert plain("a::b\n  File x.py\n") == "a::b\n  File x.py\n"


def test_a_command_escapes_what_separates_its_parts():
    line = command("error", "50 % of\r\nit", {"title": "a,b:c%\n::x", "file": None, "line": 3})
    assert line == "::error title=a%2Cb%3Ac%25 %3A%3Ax,line=3::50 %25 of␍%0Ait"
    assert command("notice", "x", {}) == "::notice::x"


@given(hostile)
def test_a_command_is_one_line(text):
    line = command("error", text, {"title": text})
    assert len(line.splitlines()) == 1
    assert line.startswith("::error title=")


def test_the_worst_text_of_all_shows_in_every_sink():
    for sink in (inline, code, cell, markup, block, plain, one_line):
        assert "alert(1)" in sink(HOSTILE), sink


def test_a_stream_without_a_sign_gets_its_stand_in() -> None:
    codecs.register_error("stand-ins", stand_ins)
    assert "± 3 … ≤ 4 × \u4e2d".encode("ascii", "stand-ins") == b"+- 3 ... <= 4 x <U+4E2D>"
    assert in_ascii(clean("\x1b[0m\u200b\x07")) == "<U+001B>[0m<ZWSP><U+0007>"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", "stand-ins")
