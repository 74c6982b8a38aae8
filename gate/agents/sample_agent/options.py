"""The switches of the sample agent; all but `seed` and `latency_ms` make it worse on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gate.errors import UsageError
from gate.records import CheckedJson
from gate.text.suggestions import did_you_mean

TOOL_NAMES = (
    "search_documents",
    "list_tables",
    "describe_table",
    "run_sql",
    "list_messages",
    "read_document",
    "calculate",
)
CHANCES = (
    "flaky",
    "error_rate",
    "wrong_args",
    "wrong_tool",
    "hallucinate",
    "loop",
    "refuse",
    "unsafe",
    "malformed",
    "disobey",
    "invent",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Switches of the sample agent. A chance is a probability from 0 to 1; `true` means always.

    Raises UsageError for a value outside its range or a tool that does not exist.
    """

    top_k: int = 5  # documents retrieved for a question
    stale: bool = False  # answers from the older snapshot of the documents
    no_tool: tuple[str, ...] = ()  # tools that are taken away
    seed: int = 0
    latency_ms: float = 0.0  # waited before every answer
    error_rate: float | bool = 0.0  # fails instead of answering
    flaky: float | bool = 0.0  # retrieval misses: the documents ranked after the best top_k
    wrong_args: float | bool = 0.0  # the last call's arguments do not fit the tool
    wrong_tool: float | bool = 0.0  # asks another tool than the one it needs
    hallucinate: float | bool = 0.0  # states numbers that nothing supports
    loop: float | bool = 0.0  # makes every call four times
    refuse: float | bool = 0.0  # declines to answer
    unsafe: float | bool = 0.0  # tries to delete rows, gives away an address, obeys what it reads
    malformed: float | bool = 0.0  # breaks the form that was asked for
    disobey: float | bool = 0.0  # ignores how the answer should be worded
    invent: float | bool = 0.0  # reports calls of tools that never ran; OpenAgent's tasks only

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise UsageError(f"top_k {self.top_k}: at least one document must be retrieved")
        if self.latency_ms < 0:
            raise UsageError(f"latency_ms {self.latency_ms}: must not be negative")
        for name in CHANCES:
            if not 0 <= self.chance(name) <= 1:
                raise UsageError(f"{name} {self.chance(name)}: a probability lies between 0 and 1")
        for tool in self.no_tool:
            if tool not in TOOL_NAMES:
                raise UsageError(f"no_tool: unknown tool '{tool}'{did_you_mean(tool, TOOL_NAMES)}")

    def chance(self, name: str) -> float:
        """The probability behind one of the switches in CHANCES."""
        return float(getattr(self, name))


def options_from(values: Mapping[str, CheckedJson]) -> SampleOptions:
    """Options out of a mapping that may hold other keys too; None and absent mean the default."""
    names = {field.name for field in fields(SampleOptions)}
    given = {key: value for key, value in values.items() if key in names and value is not None}
    if "no_tool" in given:
        given["no_tool"] = tuple(given["no_tool"])
    return SampleOptions(**given)
