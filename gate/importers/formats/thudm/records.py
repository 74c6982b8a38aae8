"""The eight environments of AgentBench, the samples of a task, and overall.json compared with them.

Weights: Liu et al. 2023, arXiv 2308.03688, section 4.1: the overall score is the mean over the
eight of main metric in percent / weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gate.agents.traces.values import at
from gate.errors import Place, Problem, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import (
    CLOSE,
    as_amount,
    as_boolean,
    as_list,
    as_number,
    as_object,
    as_string,
)
from gate.files.plain import files_below, json_lines
from gate.files.problems import Findings
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import Json
from gate.text.shortening import tidy

_MOST_DAMAGE = 1600  # hit points of one game of cards: four of 400


class Environment(NamedTuple):
    """`starts`, `holds`: parts of its tasks' names. `main`: path of its metric in `custom`."""

    code: str
    name: str
    weight: float
    starts: tuple[str, ...]
    main: tuple[str, ...]
    holds: str = "\0"
    per: float = 1.0  # what the file's value is divided by to be a share

    def matches(self, task: str) -> bool:
        return task.startswith(self.starts) or self.holds in task


_ENVIRONMENTS = (  # in the order in which the benchmark tries them
    Environment("DCG", "digital card game", 12.0, ("cg", "dcg"), ("score",), holds="card"),
    Environment("HH", "house holding", 13.0, ("alf",), ("overall", "success_rate")),
    Environment("OS", "operating system", 10.8, ("os", "operating"), ("overall", "acc")),
    Environment("DB", "database", 13.0, ("db", "database"), ("overall_cat_accuracy",)),
    Environment("KG", "knowledge graph", 13.9, ("kg", "knowledge"), ("main",)),
    Environment("LTP", "lateral thinking puzzles", 3.5, ("ltp", "literal"), ("main",)),
    Environment("WB", "web browsing", 11.6, ("m2w", "mind2web"), ("step_sr",), per=100.0),
    Environment("WS", "web shopping", 30.7, ("ws", "webshop"), ("reward",)),
)
ENVIRONMENTS: Mapping[str, Environment] = {one.code: one for one in _ENVIRONMENTS}
SCORED = frozenset({"OS", "HH", "LTP", "WS", "DCG"})  # a sample's result tells what it is worth


def environment_of(task: str) -> Environment | None:
    """The environment by the name of a task's folder; None for a task of none."""
    return next((one for one in _ENVIRONMENTS if one.matches(task.lower())), None)


@dataclass(frozen=True, slots=True)
class Worth:
    """What one sample is worth. `value`: its part of the main metric, from 0 to 1; None: the result
    does not tell, or the benchmark leaves it out. `wins`, `games`, `damage`: of the card game.
    """

    value: float | None = None
    passed: bool | None = None
    wins: float = 0.0
    games: float = 0.0
    damage: float = 0.0
    fields: int = 0  # games that are told of, ended or not


def worth(environment: Environment, result: Json) -> Worth:
    """Raises ValueError for a result that is none of this environment's."""
    if result is not None and not isinstance(result, dict):
        raise ValueError("output.result is not an object")
    data = as_object(result)
    match environment.code:
        case "OS":
            return _flag(bool(data.get("result")))
        case "HH":
            return _flag(as_number(data.get("result")) == 1.0 or data.get("result") is True)
        case "LTP":
            progress = _share(data, "progress") if data else 0.0
            finished = data.get("finished") if data else False
            if finished is not None and not isinstance(finished, bool):
                raise ValueError("output.result.finished is not true or false")
            return Worth(progress, finished)
        case "WS":
            reward = _share(data, "reward") if data else None
            return Worth(reward, reward is not None and reward >= 1.0 - CLOSE)
        case "DCG":
            return _cards(data)
        case "DB" if (correct := as_boolean(data.get("is_correct"))) is not None:
            return Worth(None, correct)
    return Worth(None, None if data else False)


def _flag(passed: bool) -> Worth:
    return Worth(float(passed), passed)


def _share(data: Mapping[str, Json], key: str) -> float:
    share = as_number(data.get(key))
    if share is None or not 0.0 <= share <= 1.0 + CLOSE:
        raise ValueError(f"output.result.{key} is not a number from 0 to 1")
    return min(share, 1.0)


def _cards(data: Mapping[str, Json]) -> Worth:
    games = [as_object(game) for game in as_object(data.get("meta")).values()]
    if not games:
        return Worth(None, False)
    keys = ("win_round", "test_times", "damage")
    wins, rounds, damage = (sum(_count(game, key) for game in games) for key in keys)
    score = _score_cards(wins, rounds, damage, len(games))
    return Worth(score, 0 < rounds <= wins, wins, rounds, damage, len(games))


def _count(game: Mapping[str, Json], key: str) -> float:
    number = as_number(game.get(key))
    if number is None or number < 0:
        raise ValueError(f"output.result.meta.{key} is not a number of 0 or more")
    return number


def _score_cards(wins: float, games: float, damage: float, fields: int) -> float | None:
    """0.7 share of games won + 0.3 share of the damage that can be done; None without a game."""
    if not games:
        return None
    return wins / games * 0.7 + min(0.3, 0.3 * (damage / (_MOST_DAMAGE * fields)))


RUNS, ERRORS, SUMMARY = "runs.jsonl", "error.jsonl", "overall.json"
FILES = (RUNS, ERRORS, SUMMARY)


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """One environment that one agent went through."""

    agent: str
    name: str
    folder: Path
    files: tuple[Path, ...]
    environment: Environment

    def file(self, name: str) -> Path | None:
        return next((path for path in self.files if path.name == name), None)

    @property
    def newness(self) -> tuple[bool, int, str]:
        """Finished before unfinished, then by the file's time, as the benchmark chooses."""
        done = self.file(SUMMARY)
        return done is not None, (done or self.files[-1]).stat().st_mtime_ns, str(self.folder)


@dataclass(frozen=True, slots=True)
class ChosenTasks:
    agent: str
    tasks: tuple[TaskFolder, ...]
    notes: tuple[str, ...]


def choose_tasks(path: Path, agent: str | None, split: str | None) -> ChosenTasks:
    """Raises UsageError where nothing is there, or where it is not clear what is meant."""
    found, others = _tasks(path)
    if not found:
        raise UsageError(
            f"{path}: has no AgentBench task; give the folder of all outputs, of one "
            f"agent, or of one task with {', '.join(FILES)}"
        )
    agents = sorted({task.agent for task in found})
    shown = ", ".join(tidy(name, 60) for name in agents[:20])
    if agent is None and len(agents) > 1:
        raise UsageError(
            f"{path}: has several agents; choose one with --option agent=NAME: {shown}"
        )
    if agent is not None and agent not in agents:
        raise UsageError(f"--option agent={agent[:80]}: not found; choose one of {shown}")
    own = [task for task in found if task.agent == (agent or agents[0])]
    newest, notes = _newest(own)
    ending = (split or "").lower()
    chosen = tuple(task for task in newest if task.name.lower().endswith(ending))
    _check_alone(chosen, path)
    if not chosen:
        names = ", ".join(sorted({tidy(task.name, 80) for task in own})[:10])
        raise UsageError(f"--option split={split}: no task name ends with it; tasks: {names}")
    left = (f"{tidy(name, 80)}: not one of the eight environments; left out" for name in others)
    return ChosenTasks(agent or agents[0], chosen, (*notes, *left))


def _tasks(path: Path) -> tuple[list[TaskFolder], list[str]]:
    """Tasks of the eight environments, and the names of other tasks."""
    folders: dict[Path, list[Path]] = {}
    for file in files_below(path):
        if file.name in FILES:
            folders.setdefault(file.parent, []).append(file)
    tasks, others = list[TaskFolder](), set[str]()
    for folder, files in folders.items():
        whole = folder.resolve()  # PATH may be `.`
        if environment := environment_of(whole.name):
            own = tuple(sorted(files))
            tasks.append(TaskFolder(whole.parent.name, whole.name, folder, own, environment))
        else:
            others.add(whole.name)
    return tasks, sorted(others)


def _newest(tasks: Iterable[TaskFolder]) -> tuple[list[TaskFolder], list[str]]:
    """The newest task of each name, and notes on those that were left."""
    by_name: dict[str, list[TaskFolder]] = {}
    for task in tasks:
        by_name.setdefault(task.name, []).append(task)
    newest = {name: max(some, key=lambda task: task.newness) for name, some in by_name.items()}
    notes = [
        f"{tidy(name, 80)}: appears {len(some)} times; the newest counts: "
        f"{tidy(str(newest[name].folder), 120)}"
        for name, some in sorted(by_name.items())
        if len(some) > 1
    ]
    return [newest[name] for name in sorted(newest)], notes


def _check_alone(tasks: Iterable[TaskFolder], path: Path) -> None:
    by_code: dict[str, list[str]] = {}
    for task in tasks:
        by_code.setdefault(task.environment.code, []).append(task.name)
    for code, names in by_code.items():
        if len(names) > 1:
            raise UsageError(
                f"{path}: has several tasks of the environment {code} ({', '.join(names)[:200]}); "
                "choose one with --option split=END, where END is the end of its name"
            )


# ------------------------------------------------------------------------------------------ samples


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


def read_finished(path: Path, findings: Findings) -> Iterator[FinishedSample]:
    """What is wrong with a line goes to `findings`."""
    for place, data in _lines(path, findings):
        index, output = _index(data.get("index")), as_object(data.get("output"))
        status, history = output.get("status"), output.get("history")
        wrong = [
            *([] if index is not None else ["index is not a number or name"]),
            *([] if isinstance(status, str) and status else ["output.status is not a string"]),
            *([] if history is None or isinstance(history, list) else ["history is not a list"]),
            *([] if data.get("error") is None else ["error is set, as only in error.jsonl"]),
        ]
        if wrong or index is None or not isinstance(status, str):
            findings.add(place, f"{'; '.join(wrong)} - not a finished sample of AgentBench")
            continue
        result, turns = output.get("result"), as_list(history)
        yield FinishedSample(place, index, normalize_status(status), result, turns, _at(data))


def by_index(path: Path | None, findings: Findings) -> dict[str, list[BrokenSample]]:
    """Sample -> its last tries that were broken off, in their order."""
    kept: dict[str, list[BrokenSample]] = {}
    for place, data in _lines(path, findings) if path else ():
        index, code = _index(data.get("index")), data.get("error")
        if index is None or not isinstance(code, str) or not code:
            findings.add(place, "has no index or no error - not a failed sample of AgentBench")
            continue
        said = as_string(data.get("info"))[:20_000]
        infra = code in _NOBODY or is_nobodys(said)
        tries = kept.setdefault(index, [])
        tries.append(BrokenSample(place, index, code, tidy(said, _INFO), infra, _at(data)))
        del tries[:-_KEPT]
    return kept


def normalize_status(status: str) -> str:
    """TASK_LIMIT_REACHED and `task limit reached` are one status."""
    return tidy(status.replace("_", " ").lower(), 60)


def _lines(path: Path, findings: Findings) -> Iterator[tuple[Place, Mapping[str, Json]]]:
    for line in findings.keep_good(json_lines(path)):
        if not isinstance(line.data, dict):
            findings.add(line.place, "not an object - not a sample of AgentBench")
        elif is_too_deep(line.data):
            findings.add(line.place, "nested too deeply - use the original file")
        else:
            yield line.place, line.data


def _index(value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    text = str(value)
    return text if 0 < len(text) <= 200 else None


def _at(data: Mapping[str, Json]) -> float | None:
    return as_amount(as_object(data.get("time")).get("timestamp"))


_CATEGORIES = ("SELECT_accuracy", "INSERT_accuracy", "UPDATE_accuracy")
_LENGTHS = ("average_history_length", "max_history_length", "min_history_length")


@dataclass(slots=True)
class SampleTally:
    """What the finished samples of a task come to."""

    statuses: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    worths: list[Worth] = field(default_factory=list)

    def add(self, run: FinishedSample, found: Worth) -> None:
        self.statuses[run.status] += 1
        self.lengths.append(len(run.history))
        self.worths.append(found)

    @property
    def total(self) -> int:
        return len(self.lengths)


def main_metric(environment: Environment, overall: Mapping[str, Json]) -> float | None:
    """A share from 0 to 1; None without one. Raises ValueError for what is no share."""
    value = at(overall, "custom", *environment.main)
    if value is None and environment.code == "DCG":  # before the score was made of win and damage
        value = at(overall, "custom", "win_rate")
    if value is None or (environment.code == "DCG" and value == -1):  # -1: no game was played
        return None
    number = as_number(value)
    share = None if number is None else number / environment.per
    if share is None or not -CLOSE <= share <= 1.0 + CLOSE:
        main = ".".join(environment.main)
        raise ValueError(f"custom.{main} is not from 0 to {environment.per:g}")
    return min(max(share, 0.0), 1.0)


def contradictions(
    environment: Environment, overall: Mapping[str, Json], seen: SampleTally | None, place: Place
) -> Iterator[Problem]:
    """Where overall.json contradicts itself or the runs; `seen` is None without runs."""
    custom = as_object(overall.get("custom"))
    within = replace(place, key="custom")
    parts = _figures(_sum_parts(environment, custom), "its own parts give")
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
    lengths = (sum(seen.lengths) / seen.total, max(seen.lengths), min(seen.lengths))
    named = zip(map(normalize_status, _LENGTHS), map(float, lengths), strict=True)
    every = _figures({**dict(sorted(shares.items())), **dict(named)}, "the runs give")
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
    values = [one.value for one in seen.worths if one.value is not None]
    match environment.code:
        case "OS" | "HH":
            passed = sum(one.passed is True for one in seen.worths)
            counts = {"total": float(seen.total), "pass": float(passed)}
            share = {environment.main[1]: passed / seen.total}
            return {f"overall.{key}": value for key, value in {**counts, **share}.items()}
        case "LTP":
            return {"main": sum(values) / seen.total}
        case "WS":
            return {"reward": sum(values) / max(1, len(values))}
        case "DCG":
            wins, games = (sum(getattr(w, key) for w in seen.worths) for key in ("wins", "games"))
            damage, fields = sum(w.damage for w in seen.worths), sum(w.fields for w in seen.worths)
            score = _score_cards(wins, games, damage, fields)
            return {} if score is None else {"win_rate": wins / games, "score": score}
    return {}
