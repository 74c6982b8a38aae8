"""Lines as an OpenAgent server writes them."""

import json
from collections.abc import Callable

CHAT = "/api/chat/completions"


def access(
    at: str = "2026/11/20 09:15:00.250",
    *,
    method: str = "POST",
    path: str = CHAT,
    status: int = 200,
    took: str = "1.5s",
    colours: bool = True,
) -> str:
    paint = "\x1b[97;42m", "\x1b[97;46m", "\x1b[0m"
    green, cyan, plain = paint if colours else ("", "", "")
    return (
        f"{at} [D] [router.go:1013]  |{'10.0.0.7':>15}|{green} {status} {plain}|{took:>13}|"
        f"{'match':>8}|{cyan} {method:<7} {plain} {path:<3}   r:{path}\n"
    )


def old_console(*names: str) -> str:
    shown = (f'Tool Call: [{name}]\nArguments: [{{"q": 1}}]\nTool Result: [ok]\n' for name in names)
    return "".join(shown) or "Tool Call: [None]\n"


def new_console(*names: str) -> str:
    lines = ["", "--- LLM Call (Round 0) | Tools available: [3] ---"]
    if names:
        lines += ["", f"--- Agent Round 1 | LLM Decision: [{len(names)} tool call(s)] ---"]
    lines += [f'  Tool {n}: [{name}] args: {{"q": 1}}' for n, name in enumerate(names, 1)]
    lines += ["Tool Result: [ok]" for _ in names]
    made = "no more tool calls after round 1" if names else "no tool calls"
    return "\n".join([*lines, f"LLM Decision: [Final Answer — {made}]", ""])


def audited(
    tool: str,
    outcome: str = "success",
    *,
    at: str | None = "2026-11-20T09:15:00.100Z",
    chat: str = "chat_1",
    kind: str = "tool_call",
) -> str:
    record = {"timestamp": at, "sessionId": chat, "type": kind, "tool": tool, "outcome": outcome}
    return json.dumps({key: value for key, value in record.items() if value is not None}) + "\n"


class Ticking:
    """A clock that only sleeping moves. `during` has what happens at the n-th sleep, from 1."""

    def __init__(self, during: dict[int, Callable[[], object]] | None = None) -> None:
        self.now = 0.0
        self.slept = 0
        self._during = during or {}

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += 1
        self._during.get(self.slept, lambda: None)()
