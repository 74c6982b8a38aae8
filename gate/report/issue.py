"""The issue that says what main has lost: its title and body, in Markdown."""

from __future__ import annotations

from gate.records import Report
from gate.report.wording import sentences
from gate.report.wording.rule_changes import list_falls_of_main
from gate.text.escaping import plain
from gate.text.figures import join_words
from gate.text.spans import code, markdown, say

TITLE = "Main has got worse"


def render_issue(report: Report) -> tuple[str, str] | None:
    """None where main has lost nothing. The body changes with every run that measured more."""
    fallen = {
        level.metric: None
        for suite in report.suites.values()
        if suite.anchor
        for level in suite.anchor.fallen
    }
    if not fallen:
        return None
    # A job without a name of its own is called gate.
    project = "" if report.comment_id == "gate" else f" ({report.comment_id})"
    title = f"{TITLE}{project}: {join_words(fallen, most=3)}"
    lines = [f"- {markdown(line)}" for line in list_falls_of_main(report, own=True)]
    meant = say(
        "If it is meant: {}. It closes by itself once main is back.",
        code("gate baseline accept --metric NAME --reason TEXT"),
    )
    parts = ["\n".join(lines), markdown(meant), markdown(sentences.report_links(report))]
    return plain(title), "\n\n".join(part for part in parts if part)
