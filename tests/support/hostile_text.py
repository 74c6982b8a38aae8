"""Text that would act if it were not escaped, and what a page shows of it."""

import re
from html.parser import HTMLParser

PIECES = (
    "`", "``", "|", "\\", "\\|", "*", "_", "~~", "<", ">", "<!--", "-->", "<b>", "&amp;", "&#64;",
    "[x](y)", "![i](j)", "@octocat", "#12", "GH-3", "a/b#4", "deadbeef1", "https://evil.example",
    "www.evil.example", "x@evil.example", "mailto:x@evil.example", ":smile:", ":a_b:", "$x$", "\n",
    "\r", "\t", " ", "- ", "1. ", "1) ", "+", "=", "# ", "> ", "```", "::error::x", "##[error]",
    "\x1b[1m", "\x00", "\u202e", "\u200b", "\ud800", "é", "日本", "</details>", "</table>",
    "<td>", "{{ 1 }}",
)  # fmt: skip


class RenderedPage(HTMLParser):
    """The tags of a rendered page and its text outside code."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.cells, self.loose, self.code = [], 0, "", ""
        self._inside = 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.cells += tag in ("td", "th")
        self._inside += tag in ("code", "pre")

    def handle_endtag(self, tag):
        self._inside -= tag in ("code", "pre")

    def handle_data(self, data):
        if self._inside:
            self.code += data
            self.loose += " "  # what stands before and after is no one word
        else:
            self.loose += data


# What GitHub's filters turn into links, images or pings, in text outside code.
ACTIVE = re.compile(
    r"@\w|#\d|\bGH-\d|https?://|\bwww\.|:[\w+-]+:|\b[0-9a-f]{7,40}\b", re.ASCII | re.IGNORECASE
)
RUNNER = re.compile(r"^\s*::|##\[", re.MULTILINE)
