"""Server-sent events: the body of a streamed answer into its data, one JSON object an event."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.agents.http_client.reply import HttpReply
from gate.agents.wire.answer import parse
from gate.errors import AgentFailure
from gate.records import Json

_LINES = re.compile(r"\r\n|\r|\n")


def is_stream(reply: HttpReply) -> bool:
    """A server may answer in one piece although a stream was asked for, and mislabel either."""
    if "event-stream" in reply.headers.get("content-type", ""):
        return True
    return reply.body[:100].lstrip().startswith((b"data:", b"event:"))


def events(reply: HttpReply) -> Iterator[dict[str, Json]]:
    """The events up to `[DONE]`, which becomes `{"done": True}`.

    Raises AgentFailure for an event that is no JSON object, as a cut leaves one behind.
    """
    lines: list[str] = []
    for line in [*_LINES.split(reply.body.decode("utf-8", "replace")), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            data = "\n".join(lines)
            lines = []
            if data.strip() == "[DONE]":
                yield {"done": True}
                return
            yield _parse_event(data, reply)


def _parse_event(data: str, reply: HttpReply) -> dict[str, Json]:
    try:
        event = parse(data.encode())
    except ValueError:
        event = None
    if isinstance(event, dict):
        return event
    raise AgentFailure(
        f"{reply.address} ended its stream early, or sent an event that is not a JSON object: "
        f"{reply.mask(data)}",
        transport="cut_off",
    )
