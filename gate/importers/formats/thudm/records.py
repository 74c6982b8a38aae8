"""runs.jsonl and error.jsonl of one task: a sample a line, finished or broken off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_amount, as_list, as_object, as_string
from gate.files.plain import json_lines
from gate.files.problems import Findings
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Json
from gate.text.escaping import one_line

# The benchmark's own part failed, or the way to it: nobody asked the agent.
_NOBODY = frozenset({"START_FAILED", "INTERACT_FAILED", "NETWORK_ERROR", "NOT_AVAILABLE"})
_INFO = 500  # characters of what is kept of an error
_KEPT = 10  # errors of one sample


@dataclass(frozen=True, slots=True)
class FinishedSample:
    """A finished sample. `status`: lower case, with blanks. `at`: ms since 1970 when it ended."""

    place: Place
    index: str
    status: str
    result: Json
    history: list[Json]
    at: float | None


@dataclass(frozen=True, slots=True)
class BrokenSample:
    """A try that came to no result."""

    place: Place
    index: str
    code: str
    info: str
    infra: bool  # nobody's fault
    at: float | None


def read_finished(path: Path, found: Findings) -> Iterator[FinishedSample]:
    """What is wrong with a line goes to `found`."""
    for place, data in _lines(path, found):
        index, output = _index(data.get("index")), as_object(data.get("output"))
        status, history = output.get("status"), output.get("history")
        wrong = [
            *([] if index is not None else ["index is no number or name"]),
            *([] if isinstance(status, str) and status else ["output.status is no text"]),
            *([] if history is None or isinstance(history, list) else ["history is no list"]),
            *([] if data.get("error") is None else ["error is set: it belongs to error.jsonl"]),
        ]
        if wrong or index is None or not isinstance(status, str):
            found.add(place, f"{'; '.join(wrong)} - no finished sample of AgentBench")
            continue
        result, turns = output.get("result"), as_list(history)
        yield FinishedSample(place, index, normalize_status(status), result, turns, _at(data))


def read_broken(path: Path, found: Findings) -> Iterator[BrokenSample]:
    for place, data in _lines(path, found):
        index, code = _index(data.get("index")), data.get("error")
        if index is None or not isinstance(code, str) or not code:
            found.add(place, "no index or no error - no broken sample of AgentBench")
            continue
        said = as_string(data.get("info"))[:20_000]
        infra = code in _NOBODY or is_nobodys(said)
        yield BrokenSample(place, index, code, one_line(said, _INFO), infra, _at(data))


def by_index(path: Path | None, found: Findings) -> dict[str, list[BrokenSample]]:
    """Sample -> its last tries that were broken off, in their order."""
    kept: dict[str, list[BrokenSample]] = {}
    for one in read_broken(path, found) if path else ():
        tries = kept.setdefault(one.index, [])
        tries.append(one)
        del tries[:-_KEPT]
    return kept


def normalize_status(status: str) -> str:
    """TASK_LIMIT_REACHED and `task limit reached` are one status."""
    return one_line(status.replace("_", " ").lower(), 60)


def _lines(path: Path, found: Findings) -> Iterator[tuple[Place, Mapping[str, Json]]]:
    for line in found.keep_good(json_lines(path)):
        if not isinstance(line.data, dict):
            found.add(line.place, "no object - no sample of AgentBench")
        elif is_too_deep(line.data):
            found.add(line.place, "nested too deeply - no sample is")
        else:
            yield line.place, line.data


def _index(value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    text = str(value)
    return text if 0 < len(text) <= 200 else None


def _at(data: Mapping[str, Json]) -> float | None:
    return as_amount(as_object(data.get("time")).get("timestamp"))
