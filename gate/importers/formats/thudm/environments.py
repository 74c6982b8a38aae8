"""The eight environments of AgentBench: names, weights, main metric, and what one sample is worth.

Weights: Liu et al. 2023, arXiv 2308.03688, section 4.1: the overall score is the mean over the
eight of main metric in percent / weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import UsageError
from gate.files.json_values import CLOSE, as_boolean, as_number, as_object
from gate.files.plain import files_below
from gate.records import Json
from gate.text.escaping import one_line

_MOST_DAMAGE = 1600  # hit points of one game of cards: four of 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """`starts`: how the names of its tasks begin; `holds`: a word in them. `main`: where its main
    metric lies in `custom` of overall.json.
    """

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
    Environment(
        code="DCG",
        name="digital card game",
        weight=12.0,
        starts=("cg", "dcg"),
        main=("score",),
        holds="card",
    ),
    Environment(
        code="HH",
        name="house holding",
        weight=13.0,
        starts=("alf",),
        main=("overall", "success_rate"),
    ),
    Environment(
        code="OS",
        name="operating system",
        weight=10.8,
        starts=("os", "operating"),
        main=("overall", "acc"),
    ),
    Environment(
        code="DB",
        name="database",
        weight=13.0,
        starts=("db", "database"),
        main=("overall_cat_accuracy",),
    ),
    Environment(
        code="KG",
        name="knowledge graph",
        weight=13.9,
        starts=("kg", "knowledge"),
        main=("main",),
    ),
    Environment(
        code="LTP",
        name="lateral thinking puzzles",
        weight=3.5,
        starts=("ltp", "literal"),
        main=("main",),
    ),
    Environment(
        code="WB",
        name="web browsing",
        weight=11.6,
        starts=("m2w", "mind2web"),
        main=("step_sr",),
        per=100.0,
    ),
    Environment(
        code="WS", name="web shopping", weight=30.7, starts=("ws", "webshop"), main=("reward",)
    ),
)
ENVIRONMENTS: Mapping[str, Environment] = {one.code: one for one in _ENVIRONMENTS}
SCORED = frozenset({"OS", "HH", "LTP", "WS", "DCG"})  # a sample's result tells what it is worth


def environment_of(task: str) -> Environment | None:
    """By the name of the task's folder; None for a task that is none of the eight."""
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
            told = data.get("finished") if data else False
            if told is not None and not isinstance(told, bool):
                raise ValueError("output.result.finished is not true or false")
            return Worth(progress, told)
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
    found = as_number(data.get(key))
    if found is None or not 0.0 <= found <= 1.0 + CLOSE:
        raise ValueError(f"output.result.{key} is not a number from 0 to 1")
    return min(found, 1.0)


def _cards(data: Mapping[str, Json]) -> Worth:
    games = [as_object(game) for game in as_object(data.get("meta")).values()]
    if not games:
        return Worth(None, False)
    sums = {
        key: sum(_count(game, key) for game in games)
        for key in ("win_round", "test_times", "damage")
    }
    found = Worth(None, None, sums["win_round"], sums["test_times"], sums["damage"], len(games))
    passed = found.games > 0 and found.wins >= found.games
    return Worth(card_score(found), passed, found.wins, found.games, found.damage, found.fields)


def _count(game: Mapping[str, Json], key: str) -> float:
    found = as_number(game.get(key))
    if found is None or found < 0:
        raise ValueError(f"output.result.meta: {key} is not a number from 0 on")
    return found


def card_score(found: Worth) -> float | None:
    """0.7 share of games won + 0.3 share of the damage that can be done; None without a game."""
    if not found.games:
        return None
    dealt = found.damage / (_MOST_DAMAGE * found.fields)
    return found.wins / found.games * 0.7 + min(0.3, 0.3 * dealt)


# ------------------------------------------------------------------------------------------ folders


RUNS, ERRORS, SUMMARY = "runs.jsonl", "error.jsonl", "overall.json"
FILES = (RUNS, ERRORS, SUMMARY)


@dataclass(frozen=True, slots=True, kw_only=True)
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
    if agent is None and len(agents) > 1:
        shown = ", ".join(one_line(name, 60) for name in agents[:20])
        raise UsageError(f"{path}: several agents; choose one with --option agent=NAME: {shown}")
    if agent is not None and agent not in agents:
        shown = ", ".join(one_line(name, 60) for name in agents[:20])
        raise UsageError(f"--option agent={agent[:80]}: not found; choose one of {shown}")
    own = [task for task in found if task.agent == (agent or agents[0])]
    newest, notes = _newest(own)
    _check_alone(
        newest := [t for t in newest if not split or t.name.lower().endswith(split.lower())], path
    )
    if not newest:
        raise UsageError(f"--option split={split}: no task has a name that ends so")
    left = (f"{one_line(name, 80)}: not one of the eight environments; left out" for name in others)
    return ChosenTasks(agent or agents[0], tuple(newest), (*notes, *left))


def _tasks(path: Path) -> tuple[list[TaskFolder], list[str]]:
    """Those of the eight environments, and the names of other tasks."""
    folders: dict[Path, list[Path]] = {}
    for file in files_below(path):
        if file.name in FILES:
            folders.setdefault(file.parent, []).append(file)
    found, others = [], []
    for folder, files in folders.items():
        whole = folder.resolve()  # PATH may be `.`
        environment = environment_of(whole.name)
        if environment is None:
            others.append(whole.name)
            continue
        found.append(
            TaskFolder(
                agent=whole.parent.name,
                name=whole.name,
                folder=folder,
                files=tuple(sorted(files)),
                environment=environment,
            )
        )
    return found, sorted(set(others))


def _newest(tasks: Iterable[TaskFolder]) -> tuple[list[TaskFolder], list[str]]:
    """The newest task of each name, and notes on those that were left."""
    by_name: dict[str, list[TaskFolder]] = {}
    for task in tasks:
        by_name.setdefault(task.name, []).append(task)
    found = {name: max(some, key=lambda task: task.newness) for name, some in by_name.items()}
    notes = [
        f"{one_line(name, 80)}: appears {len(some)} times; the newest counts: "
        f"{one_line(str(found[name].folder), 120)}"
        for name, some in sorted(by_name.items())
        if len(some) > 1
    ]
    return [found[name] for name in sorted(found)], notes


def _check_alone(tasks: Iterable[TaskFolder], path: Path) -> None:
    by_code: dict[str, list[str]] = {}
    for task in tasks:
        by_code.setdefault(task.environment.code, []).append(task.name)
    for code, names in by_code.items():
        if len(names) > 1:
            raise UsageError(
                f"{path}: has several tasks of the environment {code} "
                f"({', '.join(names)[:200]}); choose one with --option split=TEXT, the "
                "end of its name"
            )
