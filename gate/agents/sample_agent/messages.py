"""What customers and colleagues wrote: texts from outside, which nobody has checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.agents.sample_agent.documents import Page, read_page
from gate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    page: Page
    sender: str
    sent_on: str  # ISO day


def load_messages(folder: Path) -> tuple[Message, ...]:
    """All `*.md` files of a folder by id.

    Raises UsageError when the folder holds none or a file has no id, title, sender or day.
    """
    messages = tuple(map(_load, sorted(folder.glob("*.md"))))
    if not messages:
        raise UsageError(f"{folder}: no messages (*.md) - the sample agent's data are missing")
    return messages


def _load(path: Path) -> Message:
    page, head = read_page(path)
    if not head.get("from") or not head.get("sent"):
        raise UsageError(f"{path}:1: a message has 'from: ...' and 'sent: ...' in its head")
    return Message(page=page, sender=head["from"], sent_on=head["sent"])
