"""Takes from a finished comment what GitLab would act on and GitHub does not: quick actions, and
references to people, issues, merge requests, labels and more.

GitLab looks for quick actions at the start of each line of the source, code or not, and for
references in the text that is shown, but for code and links. Sources: GitLab's "Quick actions" and
"GitLab Flavored Markdown". A zero-width space behind the sign keeps the text as it looks.
"""

from __future__ import annotations

import re

from gate.text.escaping import BREAK

_FENCE = re.compile(r" {0,3}(`{3,})[^`]*$")  # with more ticks on its line it is a code span
_ACTION = re.compile(r"^((?:[ \t>*+-]|\d+[.)])*)/(?=\w)")
_TICKS = re.compile(r"`+")
# What stays as it is: tags and comments, where a link leads to, and characters by their number or
# name, but for those that are a sign below.
_KEPT = re.compile(
    r"<!--.*?-->|</?[A-Za-z][^>]*>|\]\([^)\s]*\)|&(?!(?:amp|gt|quot|dollar|#36|#64);)#?\w+;"
)
_SIGN = re.compile(
    r"(?:\\?@|&#64;)(?=[\w])"  # people and groups
    # issues, merge requests, snippets, epics
    r"|(?:\\?(?<!&)#|\\?[!^]|\$|&amp;|&#36;|&dollar;)(?=\w*\d)"
    r"|\\?[~%](?=[\w\"]|&quot;)"  # labels, milestones
    r"|\\?\^(?=alert)|\\?\*(?=iteration:)"
    r"|\\?\[(?=[a-z_]+:)"  # [issue:1], [vulnerability:1] and others
    r"|(?<=\w)(?=&gt;)"  # namespace/project>
)


def make_inert(markdown: str) -> str:
    """The same comment, in which GitLab finds no quick action and no reference. `markdown`: as our
    own reports write it, where a code span ends on its line and a fence has three ticks or more.
    """
    lines, fence = [], ""
    for line in markdown.split("\n"):
        ticks = _FENCE.match(line)
        if fence:
            # A line of code is shown as it is, so an entity would show: a blank before it does.
            lines.append(f" {line}" if line.startswith("/") else line)
            fence = "" if ticks and ticks[1] == line.strip() == fence else fence
        else:
            fence = ticks[1] if ticks else ""
            lines.append(line if ticks else _make_line_inert(line))
    return "\n".join(lines)


def _make_line_inert(line: str) -> str:
    started = _ACTION.sub(lambda start: f"{start[1]}{BREAK}/", line)
    return "".join(
        part if is_code else _make_text_inert(part) for part, is_code in _split_code(started)
    )


def _split_code(line: str) -> list[tuple[str, bool]]:
    """Pieces of a line, and which of them are code spans; a line of HTML has none."""
    if line.lstrip().startswith("<"):
        return [(line, False)]
    pieces, start, place = [], 0, 0
    while (opened := _TICKS.search(line, place)) is not None:
        place = opened.end()
        before = line[: opened.start()]
        if (len(before) - len(before.rstrip("\\"))) % 2:  # an escaped tick opens nothing
            place = opened.start() + 1
            continue
        closed = next((t for t in _TICKS.finditer(line, place) if t[0] == opened[0]), None)
        if closed is not None:
            pieces += [(line[start : opened.start()], False)]
            pieces += [(line[opened.start() : closed.end()], True)]
            start = place = closed.end()
    return [*pieces, (line[start:], False)]


def _make_text_inert(part: str) -> str:
    made, start = [], 0
    for kept in _KEPT.finditer(part):
        made += [_SIGN.sub(_break_after, part[start : kept.start()]), kept[0]]
        start = kept.end()
    return "".join([*made, _SIGN.sub(_break_after, part[start:])])


def _break_after(sign: re.Match[str]) -> str:
    return sign[0] + BREAK
