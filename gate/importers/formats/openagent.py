"""The files of a session of the OpenAgent benchmark: found, read line by line and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import as_object
from gate.files.plain import JsonLine, json_lines
from gate.files.session_file import read_json, regular
from gate.records import LARGEST, MOST_ROUNDS, CheckedJson, Json

META, SUMMARY, DETAILS = "meta.json", "summary.json", "details.jsonl"
MOST_JSON = 64 << 20  # of meta.json and summary.json
MOST_ATTEMPTS = 1000
_EXPECTED = f"{META}, {SUMMARY} and {DETAILS}"

# Folders of other tools: a file of theirs -> what to say.
_OTHERS = {
    "events.jsonl": "this is an Agent Gate session, which needs no import: all commands read it",
    "overall.json": "this looks like an output folder of THUDM's AgentBench; use `gate import "
    "thudm-agentbench`",
    "runs.jsonl": "this looks like an output folder of THUDM's AgentBench; use `gate import "
    "thudm-agentbench`",
}

_TEXT: Json = {"type": ["string", "null"]}
_AMOUNT: Json = {"type": ["number", "null"], "minimum": 0, "maximum": LARGEST}
_TOKENS: Json = {"type": ["integer", "null"], "minimum": 0, "maximum": LARGEST}
_TEXTS: Json = {"type": ["array", "null"], "items": {"type": "string"}}
_LOGS: Json = {
    "type": ["object", "null"],
    "properties": {
        "tools_log_verdict": {"enum": ["complete", "incomplete", "unknown", None]},
        "tool_calls_observed_union": _TEXTS,
        "required_tools": _TEXTS,
        "missing_tools_in_tool_log": _TEXTS,
        "log_paths_checked": _TEXTS,
        "notes": _TEXTS,
    },
}
# It becomes a folder beside the files of a session.
_SUITE = r"^(?!.*\.(jsonl?|md|html|xml|lock)$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$(?!\n)"
RECORD: dict[str, Json] = {
    "type": "object",
    "properties": {
        "suite": {"type": "string", "pattern": _SUITE},
        "task_id": {"type": "string", "minLength": 1},
        "category": _TEXT,
        "round": {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS},
        "attempt": {"type": "integer", "minimum": 1, "maximum": MOST_ATTEMPTS},
        "ok": {"type": "boolean"},
        "latency_ms": _AMOUNT,
        "total_tokens": _TOKENS,
        "prompt_tokens": _TOKENS,
        "completion_tokens": _TOKENS,
        "response_status": {"type": ["integer", "null"], "minimum": 0, "maximum": 999},
        "api_error": _TEXT,
        "parse_error": _TEXT,
        "validation_errors": _TEXTS,
        "response_text": _TEXT,
        "evidence": {"type": ["object", "null"], "properties": {"log_verification": _LOGS}},
        "extra": {"type": ["object", "null"]},
    },
    "required": ["suite", "task_id", "round", "attempt", "ok"],
}
_CHECK = SchemaCheck(RECORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRecord:
    """A line of details.jsonl that is what it should be."""

    place: Place
    data: Mapping[str, CheckedJson]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.data["suite"], self.data["task_id"], self.data["round"]

    @property
    def codes(self) -> list[str]:
        """The failure codes, as upstream counts them."""
        found = list(self.data.get("validation_errors") or ())
        return found + [name for name in ("api_error", "parse_error") if self.data.get(name)]


def detail_files(folder: Path) -> tuple[Path, ...]:
    """details.jsonl, or those of its suites where the common one is gone. Raises UsageError for
    what is no such session.
    """
    if not folder.is_dir():
        there = "a file" if folder.exists() else "not there"
        raise UsageError(f"{folder}: {there}; give the folder of a session, with {_EXPECTED}")
    for name, looks in _OTHERS.items():
        if (folder / name).exists():
            raise UsageError(f"{folder}: {looks}")
    if not (folder / META).exists() and (folder.parent / META).exists():
        whole = folder.resolve().parent
        raise UsageError(
            f"{folder}: is the folder of one suite; give {whole} and --suite "
            f"{folder.resolve().name}"
        )
    common = folder / DETAILS
    if common.exists() or common.is_symlink():
        return (common,)
    parts = tuple(sorted(folder.glob(f"*/{DETAILS}")))
    linked = next((part.parent for part in parts if part.parent.is_symlink()), None)
    if linked:
        raise UsageError(f"{linked}: is a symbolic link; copy the folder itself")
    if not parts:
        raise UsageError(
            f"{folder}: has no {DETAILS}; a session of the OpenAgent benchmark has {_EXPECTED}"
        )
    return parts


def records(files: tuple[Path, ...]) -> Iterator[BenchmarkRecord | Problem]:
    """Every line of the files, in order. Raises UsageError for a link or a device."""
    for path in files:
        for line in json_lines(regular(path)):
            yield line if isinstance(line, Problem) else _check_record(line)


def _check_record(line: JsonLine) -> BenchmarkRecord | Problem:
    if wrong := _CHECK.list_problems(line.data, line.place):
        return wrong[0]
    record = BenchmarkRecord(place=line.place, data=as_object(line.data))
    if record.data["ok"] and record.codes:
        code = record.codes[0][:80]
        return Problem(line.place, f"ok is true, but it failed with {code!r} - correct one")
    return record


def read_object(path: Path) -> dict[str, Json] | None:
    """meta.json or summary.json; None where it is missing. Raises UsageError."""
    if not path.exists() and not path.is_symlink():
        return None
    data = read_json(path, MOST_JSON)
    if not isinstance(data, dict):
        raise UsageError(f"{path}: must be a JSON object, not a {type(data).__name__}")
    return data
