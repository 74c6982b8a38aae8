"""Text that GitLab would act on. The patterns are those of GitLab's own filters; what is shown is
what a renderer of CommonMark makes of the note.
"""

from __future__ import annotations

import html.parser
import re
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from gate.gitlab.inert import make_inert
from gate.text.escaping import BREAK, block, cell, code, inline, markup, midline
from tests.support.paths import ROOT

# A reference to each kind of thing, as GitLab finds it in the text of a page.
REFERENCES = {
    "user": r"(?<!\w)@\w",
    "issue": r"#\d",
    "merge request": r"!\d",
    "snippet": r"\$\d",
    "epic": r"&\d",
    "label": r"~[\w\"]",
    "milestone": r"%[\w\"]",
    "alert": r"\^alert#\d",
    "iteration": r"\*iteration:",
    "named": r"\[[a-z_]+:[\w/.-]+\]",
    "project": r"[\w.-]+/[\w.-]+>",
}
SAMPLES = [
    *("@all", "#12", "acme/x!34", "!5", "$6", "&7", "~bug", '~"two words"', "%v1", '%"Sprint 1"'),
    *("^alert#8", "*iteration:9", "[issue:1]", "[vulnerability:a/b/2]", "acme/demo>", "~1", "%1"),
]
ACTIONS = ["/close", "/merge", "  /approve", "> /close", "- /label ~x", "1. /assign me"]
COMMENTS = sorted((ROOT / "tests" / "golden").glob("*.md"))
PIECES = st.lists(
    st.sampled_from([*SAMPLES, *ACTIONS, "`", "``", "```", "\\", "\n", " ", "|", "<b>", "](x)"]),
    max_size=8,
).map("".join)


class Shown(html.parser.HTMLParser):
    """The text outside code, links and styles, a piece a text node."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("pre", "code", "a", "style"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self.open:
            self.texts.append(data)


def find_acted_on(note: str) -> list[str]:
    """Kinds of references that GitLab would find, and "action" for a quick action."""
    page = cmarkgfm.github_flavored_markdown_to_html(note, Options.CMARK_OPT_UNSAFE)
    shown = Shown()
    shown.feed(page)
    text = "".join(shown.texts)
    found = [kind for kind, pattern in REFERENCES.items() if re.search(pattern, text)]
    acts = re.search(r"^/\w", note, re.MULTILINE)  # a line of the source, code or not
    return [*found, *(["action"] if acts else [])]


@pytest.mark.parametrize("text", [*SAMPLES, "/close", "x\n/merge"])
def test_what_gitlab_would_act_on_is_found_without_us(text: str) -> None:
    """The patterns of this test do find something."""
    assert find_acted_on(text) != []


@pytest.mark.parametrize("text", [*SAMPLES, *ACTIONS])
def test_nothing_of_it_is_left_and_it_looks_the_same(text: str) -> None:
    for escape in (inline, midline, markup, code, cell, block):
        note = make_inert(escape(text))
        assert find_acted_on(note) == [], (escape.__name__, note)
        wrapped = make_inert(f"<details><summary>{escape(text)}</summary>\n\nx\n\n</details>\n")
        if escape is markup:
            assert find_acted_on(wrapped) == []


@given(PIECES)
def test_no_mixture_gets_through(text: str) -> None:
    parts = (
        inline(text),
        f"- {inline(text)} {code(text)} {midline(text)}",
        f"| a | b |\n| :-- | :-- |\n| {cell(text)} | {midline(text)} |",
        f"> [!NOTE]\n> {inline(text)}",
        f"{code(text)} {midline(text)}",
        f"<details><summary>{markup(text)}</summary>\n\n{block(text)}\n\n</details>",
    )
    note = make_inert("\n\n".join(parts))
    assert find_acted_on(note) == []
    assert make_inert(note) == note


def test_our_own_words_stay_as_they_are() -> None:
    own = (
        "<!-- agent-gate id=gate sha=aa run=8.1 v=1 -->\n## ❌ Fail: analytics got worse\n\n"
        "**108 of 120 cases** pass; 98 % interval; [`4f1c9d2`](https://e.test/c/1#n?a=1&b=~2)\n\n"
        "> [!NOTE]\n> one\n\n| `retrieval.recall@5` | **0.85** |\n\n"
        "```sh\ngate run --case 'a!1' --config ~/x\n```\n"
    )
    assert make_inert(own) == own


@pytest.mark.parametrize("comment", COMMENTS, ids=lambda path: path.stem)
def test_whole_comments_are_inert_too(comment: Path) -> None:
    """As reviewers approved them for GitHub; one of them is hostile from end to end."""
    note = make_inert(comment.read_text(encoding="utf-8"))
    assert find_acted_on(note) == []
    assert note.replace(BREAK, "") == comment.read_text(encoding="utf-8").replace(BREAK, "")
