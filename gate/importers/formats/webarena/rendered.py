"""One run of a task as WebArena's own runner shows it: render_<id>.html.

Nothing in these files is escaped, a page's text least of all. Only what the runner writes last, the
final step, is taken from the end; a text that imitates it can change what is shown of a run, never
how it was judged.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.plain import plain
from gate.graders.webarena_rules.task import SITES
from gate.records import ToolCall
from gate.text.escaping import one_line

_MOST = 128 << 20  # bytes of a file, with its screenshots
_STEP = "<h2>New Page</h2>"
_URL = "<h3 class='url'><a href="
_PARSED = "<div class='parsed_action'"
_PREDICTED = "<div class='predict_action'>"
_MOST_STEPS, _SHOWN = 1_000, 2_000  # steps kept, characters of one


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """`answer` None: the run ended without a stop action. `steps` without that action."""

    intent: str
    sites: tuple[str, ...]
    answer: str | None
    final_url: str | None
    steps: tuple[ToolCall, ...]
    omitted: int


def read_page(path: Path, task: str) -> RenderedPage:
    """Raises InvalidInput for what the runner did not write, or of another task."""
    if plain(path).stat().st_size > _MOST:
        _refuse(path, f"larger than {_MOST >> 20} MB - no run is")
    text = path.read_bytes().decode("utf-8", "replace")
    head, *pieces = text.split(_STEP)
    told = _config(head)
    if told.get("task_id") != task:
        _refuse(path, "its first lines are not those of the task in its name")
    actions = [_action(piece) for piece in pieces]
    answer = _stop(actions[-1]) if actions else None
    done = actions if answer is None else actions[:-1]
    return RenderedPage(
        intent=one_line(told.get("intent", ""), _SHOWN),
        sites=tuple(site for site in SITES if f"'{site}'" in told.get("sites", "")),
        answer=answer,
        final_url=_url(pieces[-1]) if pieces else None,
        steps=tuple(_call(action) for action in done[:_MOST_STEPS]),
        omitted=max(0, len(done) - _MOST_STEPS),
    )


def _config(head: str) -> dict[str, str]:
    """Its lines `key: value`; of a key that is there again the first."""
    found: dict[str, str] = {}
    block = head.partition("<body>")[2].partition("<pre>")[2].partition("</pre>")[0]
    for line in block.splitlines():
        key, colon, value = line.partition(": ")
        if colon:
            found.setdefault(key, value)
    return found


def _url(piece: str) -> str | None:
    begins = piece.find(_URL)
    address = piece[begins + len(_URL) :].partition(">")[0] if begins >= 0 else ""
    return address.strip() or None


def _action(piece: str) -> str:
    """As `click [12] where ...`; the code of a run by Playwright's own calls."""
    begins = piece.rfind(_PARSED)
    if begins >= 0:
        inner = piece[begins:].partition("<pre>")[2]
        return inner[: max(0, inner.rfind("</pre>"))]
    inner = piece[piece.rfind(_PREDICTED) :].removeprefix(_PREDICTED)
    return inner[: max(0, inner.rfind("</div>"))]


def _stop(action: str) -> str | None:
    for begins, ends in (("stop [", "]"), ("page.stop(", ")")):
        if action.startswith(begins) and action.endswith(ends):
            inner = action[len(begins) : -len(ends)]
            return inner if begins == "stop [" else inner.strip("\"'")
    return None


def _call(action: str) -> ToolCall:
    name, _, rest = action.partition(" ")
    given = {"text": html.unescape(rest[:_SHOWN])} if rest else {}
    return ToolCall(name=one_line(name, 100) or "none", arguments=given)


def _refuse(path: Path, message: str) -> None:
    raise InvalidInput([Problem(Place(path.as_posix()), message)])
