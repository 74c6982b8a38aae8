"""What a pull request is told of a run that came to no verdict."""

from __future__ import annotations

from collections.abc import Sequence

from gate.report.wording.headline import icon
from gate.report.wording.markdown import alert, start_heading
from gate.text.spans import code, link, markdown, prose, say, strong

_SHOWN = (20, 5, 1, 0)  # problems, until it fits


def no_verdict(
    message: str,
    limit: int,
    *,
    exit_code: int,
    commit: str | None,
    run_url: str | None,
    hints: Sequence[str] = (),
    title: str = "",
) -> str:
    """At most `limit` bytes of Markdown, empty when nothing fits. `message` is hostile, a problem a
    line; `hints` tell what GitHub keeps from such a run; `title` stands first in the heading.
    """
    at = say(" at {}", code(commit[:7])) if commit else ()
    judged = say("Nothing was judged{} (exit code {}).", at, str(exit_code))
    run = link(strong("Open the run"), run_url)
    end = markdown((*judged, *(say(" {}", run) if run.url else ())))
    why = alert("NOTE", "", [prose(hint) for hint in hints]) if hints else ""
    problems = [line for line in message.splitlines() if line.strip()]
    for shown in _SHOWN:
        parts = (
            f"## {icon('error')} {start_heading(title)}Error: no verdict",
            _list_problems(problems, shown),
            why,
            end,
        )
        text = "\n\n".join(part for part in parts if part) + "\n"
        if len(text.encode()) <= limit:
            return text
    return ""


def _list_problems(problems: list[str], most: int) -> str:
    lines = [markdown(prose(line, 400), limit=400) for line in problems[:most]]
    if len(problems) > most:
        lines.append(f"{len(problems) - most} more in the log of the run")
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
