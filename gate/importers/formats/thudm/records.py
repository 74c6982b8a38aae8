"""The files of one task: its finished and broken samples, and overall.json compared with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.errors import Place, Problem
from gate.files.json_stream import is_too_deep
from gate.files.json_values import (
    CLOSE,
    as_amount,
    as_list,
    as_number,
    as_object,
    as_string,
)
from gate.files.plain import json_lines
from gate.files.problems import Findings
from gate.importers.formats.thudm.environments import Environment, Worth, card_score
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.importers.trials.stated import Figure, compare_stated
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
            *([] if index is not None else ["index is not a number or name"]),
            *([] if isinstance(status, str) and status else ["output.status is not a string"]),
            *([] if history is None or isinstance(history, list) else ["history is not a list"]),
            *([] if data.get("error") is None else ["error is set: it belongs in error.jsonl"]),
        ]
        if wrong or index is None or not isinstance(status, str):
            found.add(place, f"{'; '.join(wrong)} - not a finished sample of AgentBench")
            continue
        result, turns = output.get("result"), as_list(history)
        yield FinishedSample(place, index, normalize_status(status), result, turns, _at(data))


def by_index(path: Path | None, found: Findings) -> dict[str, list[BrokenSample]]:
    """Sample -> its last tries that were broken off, in their order."""
    kept: dict[str, list[BrokenSample]] = {}
    for place, data in _lines(path, found) if path else ():
        index, code = _index(data.get("index")), data.get("error")
        if index is None or not isinstance(code, str) or not code:
            found.add(place, "has no index or no error - not a failed sample of AgentBench")
            continue
        said = as_string(data.get("info"))[:20_000]
        infra = code in _NOBODY or is_nobodys(said)
        tries = kept.setdefault(index, [])
        tries.append(BrokenSample(place, index, code, one_line(said, _INFO), infra, _at(data)))
        del tries[:-_KEPT]
    return kept


def normalize_status(status: str) -> str:
    """TASK_LIMIT_REACHED and `task limit reached` are one status."""
    return one_line(status.replace("_", " ").lower(), 60)


def _lines(path: Path, found: Findings) -> Iterator[tuple[Place, Mapping[str, Json]]]:
    for line in found.keep_good(json_lines(path)):
        if not isinstance(line.data, dict):
            found.add(line.place, "not an object - not a sample of AgentBench")
        elif is_too_deep(line.data):
            found.add(line.place, "nested too deeply - not a sample of AgentBench")
        else:
            yield line.place, line.data


def _index(value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    text = str(value)
    return text if 0 < len(text) <= 200 else None


def _at(data: Mapping[str, Json]) -> float | None:
    return as_amount(as_object(data.get("time")).get("timestamp"))


# ------------------------------------------------------------------------------------------ overall


_CATEGORIES = ("SELECT_accuracy", "INSERT_accuracy", "UPDATE_accuracy")
_LENGTHS = ("average_history_length", "max_history_length", "min_history_length")


@dataclass(slots=True)
class SampleTally:
    """What the finished samples of a task come to."""

    statuses: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # of samples that the main metric counts
    passed: int = 0
    wins: float = 0.0
    games: float = 0.0
    damage: float = 0.0
    fields: int = 0

    def add(self, run: FinishedSample, found: Worth) -> None:
        self.statuses[run.status] += 1
        self.lengths.append(len(run.history))
        self.passed += found.passed is True
        self.wins += found.wins
        self.games += found.games
        self.damage += found.damage
        self.fields += found.fields
        if found.value is not None:
            self.values.append(found.value)

    @property
    def total(self) -> int:
        return len(self.lengths)


def main_metric(environment: Environment, overall: Mapping[str, Json]) -> float | None:
    """A share from 0 to 1; None where overall.json has none. Raises ValueError for one that is no
    share.
    """
    value: Json = as_object(overall.get("custom"))
    for key in environment.main:
        value = as_object(value).get(key)
    if value is None and environment.code == "DCG":  # before the score was made of win and damage
        value = as_object(overall.get("custom")).get("win_rate")
    if value is None or (environment.code == "DCG" and value == -1):  # -1: no game was played
        return None
    found = as_number(value)
    share = None if found is None else found / environment.per
    if share is None or not -CLOSE <= share <= 1.0 + CLOSE:
        raise ValueError(f"custom.{'.'.join(environment.main)} is not a share of the maximum")
    return min(max(share, 0.0), 1.0)


def contradictions(
    environment: Environment, overall: Mapping[str, Json], seen: SampleTally | None, place: Place
) -> Iterator[Problem]:
    """What overall.json says twice, and not alike, or what the runs do not bear out. `seen`: None
    where there are no runs.
    """
    custom = as_object(overall.get("custom"))
    within = replace(place, key="custom")
    parts = _figures(_sum_parts(environment, custom), "its own parts come to")
    yield from compare_stated(custom, parts, within)
    if seen is None:
        return
    validation = {
        normalize_status(key): value for key, value in as_object(overall.get("validation")).items()
    }
    yield from compare_stated(overall, _figures({"total": seen.total}, "runs.jsonl has"), place)
    if not seen.total:
        return
    shares = {
        status: seen.statuses[status] / seen.total
        for status in {*seen.statuses, *validation} - {normalize_status(key) for key in _LENGTHS}
    }
    told = {"average": sum(seen.lengths) / seen.total, "max": max(seen.lengths)}
    told["min"] = min(seen.lengths)
    lengths = {f"{key} history length": float(value) for key, value in told.items()}
    every = _figures({**dict(sorted(shares.items())), **lengths}, "the runs give")
    yield from compare_stated(validation, every, replace(place, key="validation"))
    yield from compare_stated(
        custom, _figures(_sum_samples(environment, seen), "the runs give"), within
    )


def _figures(own: Mapping[str, float], who: str) -> Iterator[Figure]:
    return (Figure(key, (value,), f"{who} {value:g}", near=CLOSE) for key, value in own.items())


def _sum_parts(environment: Environment, custom: Mapping[str, Json]) -> dict[str, float]:
    """What parts of `custom` say of others."""
    inner = as_object(custom.get("overall"))
    total, passed = as_number(inner.get("total")), as_number(inner.get("pass"))
    if environment.code in ("OS", "HH") and total and passed is not None:
        return {f"overall.{environment.main[1]}": passed / total}
    parts = [as_number(custom.get(key)) for key in _CATEGORIES]
    known = [part for part in parts if part is not None]
    if environment.code == "DB" and len(known) == len(_CATEGORIES):
        return {environment.main[0]: sum(known) / len(known)}
    same = {"KG": "F1", "LTP": "GP"}.get(environment.code)
    other = as_number(custom.get(same)) if same else None
    return {} if other is None else {environment.main[0]: other}


def _sum_samples(environment: Environment, seen: SampleTally) -> dict[str, float]:
    """`custom` as the samples give it, as far as they do."""
    match environment.code:
        case "OS" | "HH":
            counts = {"total": float(seen.total), "pass": float(seen.passed)}
            share = {environment.main[1]: seen.passed / seen.total}
            return {f"overall.{key}": value for key, value in {**counts, **share}.items()}
        case "LTP":
            return {"main": sum(seen.values) / seen.total}
        case "WS":
            counted = len(seen.values)
            return {"reward": sum(seen.values) / counted if counted else 0.0}
        case "DCG" if seen.games:
            whole = Worth(None, None, seen.wins, seen.games, seen.damage, seen.fields)
            score = card_score(whole)
            rate = {"win_rate": seen.wins / seen.games}
            return rate if score is None else {**rate, "score": score}
    return {}
