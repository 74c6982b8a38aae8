"""The last words of a command, as lines: the verdict in the form that was asked for."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from gate.plugins import REPORTERS, Rows
from gate.records import Report
from gate.records.settings import OutputOptions
from gate.report.write_all import summary
from gate.store.code_marks import take_marks
from gate.store.session import load_session
from gate.system.outlet import wants_color
from gate.text.escaping import plain
from gate.text.spans import markdown, prose, say, strong


def tell(
    report: Report,
    session: Path,
    options: OutputOptions,
    env: Mapping[str, str],
    unlisted: str = "",
) -> list[str]:
    """The verdict, then where the session is: the two last lines of `gate run`. `unlisted`: why the
    list of sessions does not have it.
    """
    if unlisted:
        sys.stderr.write(plain(f"gate: warning: {unlisted}") + "\n")
    show = _open_command(session, env)
    text = verdict_text(report, lambda: load_session(session).rows(), options, env, show)
    where = f"Session written to: {session}"
    if options.as_text:
        return [text, where]
    sys.stderr.write(where + "\n")  # what is printed stays whole JSON or Markdown
    return [text]


def _open_command(session: Path, env: Mapping[str, str]) -> str:
    """What shows its page to somebody at this machine; empty where there is none."""
    if env.get("CI") or not (session / "report.html").is_file():
        return ""
    return "gate open" if session.parent == Path("results") else f"gate open {quote(str(session))}"


def verdict_text(
    report: Report,
    rows: Rows,
    options: OutputOptions,
    env: Mapping[str, str],
    show: str = "",
    page: str = "report.html",
) -> str:
    """The verdict in `options.format`; the last line of text is the outcome and one sentence, and
    the only one of text and of Markdown that is to be quiet. JSON is whole.
    `show`: a command that opens the whole report; `page`: the file that has it.
    """
    if options.format == "json":
        return summary(report).rstrip("\n")
    if options.format == "github" and options.quiet:
        line = say("{}: {}", strong(report.outcome), prose(report.reason))
        return markdown(line, limit=1_000)
    if options.format == "github":
        return REPORTERS.get_class("markdown")().render(report, rows).rstrip("\n")
    if options.quiet:
        return plain(f"{report.outcome}: {take_marks(report).reason}")
    from gate.report.console import render_console  # rich

    encoding = getattr(sys.stdout, "encoding", "") or ""
    return render_console(
        report,
        show=show,
        page=page,
        folded=sys.stdout.isatty(),
        color=wants_color(sys.stdout, env, no_color=options.colorless),
        unicode="utf" in encoding.lower(),
        width=shutil.get_terminal_size((100, 24)).columns,
    ).rstrip("\n")
