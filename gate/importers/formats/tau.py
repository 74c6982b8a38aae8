"""What tau-bench and tau2-bench share, and the simulations of tau2-bench with their rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from gate.errors import Place, Problem, UsageError
from gate.files.json_values import CLOSE, as_list, as_number, as_object, as_objects, is_integer
from gate.files.plain import files_below, json_of
from gate.files.problems import Findings
from gate.importers.trials.build import ToolSuite, name_judge, score_metric
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import Json, MetricSpec
from gate.records.imported import ImportedSuite

REWARD = "tau.reward"
USER_COST = "tau.user_cost"
_MOST_K = 32  # of pass^k, so that a report stays readable


@dataclass(slots=True)
class TrialCounts:
    """Which trials each task has: those that pass^k counts, and those that nobody ran."""

    tasks: dict[str, set[int]] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)

    def add(self, task: str, trial: int, *, counts: bool = True) -> bool:
        """Whether it is the first of this task and trial."""
        trials = self.tasks.setdefault(task, set())
        if trial in trials:
            return False
        trials.add(trial)
        if counts:
            self.counted[task] = self.counted.get(task, 0) + 1
        return True

    @property
    def rounds(self) -> Mapping[int, int]:
        """Trial as the file numbers it -> round, from 1 without gaps."""
        every = sorted({trial for trials in self.tasks.values() for trial in trials})
        return {trial: n for n, trial in enumerate(every, 1)}

    @property
    def least(self) -> int:
        """The fewest trials that any task has of those that count: up to there pass^k is told."""
        return min(self.counted.values(), default=0)

    def suite(
        self, suite: ToolSuite, judged_by: str, more: Sequence[MetricSpec] = ()
    ) -> ImportedSuite:
        """`more`: metrics beside those that both benchmarks have."""
        specs = (*metrics(self.least), *more)
        return ImportedSuite(
            rounds=len(self.rounds),
            cases=len(self.tasks),
            dataset=f"{suite.name}: tasks of {suite.tool}",
            metrics=specs,
            graders=name_judge(f"{suite.tool}: {judged_by}", *(spec.column for spec in specs)),
        )

    def notes(self, suite: str) -> Iterator[str]:
        """Which trials other tasks have and nobody ran, in order."""
        missing = [
            f"task {task[:40]} trial {trial}"
            for task, trials in sorted(self.tasks.items())
            for trial in self.rounds
            if trial not in trials
        ]
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            yield (
                f"{suite}: some tasks have fewer trials than others: {len(missing)} missing "
                f"({', '.join(missing[:5])}{more}); tau.pass^k is reported up to k = "
                f"{self.least}, because a task has no more trials"
            )


def metrics(least: int) -> tuple[MetricSpec, ...]:
    """`least`: the fewest trials of a task."""
    return (
        MetricSpec(
            name=REWARD,
            column=REWARD,
            unit="share",
            description="mean reward of all trials; a crashed trial counts as 0",
        ),
        *(
            MetricSpec(
                name=f"tau.pass^{k}",
                column=REWARD,
                family="k_rounds",
                options={"k": k, "wanted": "all"},
                unit="share",
                description=f"chance that {k} trials of a task all have the reward 1",
            )
            for k in range(1, min(least, _MOST_K) + 1)
        ),
        MetricSpec(
            name=USER_COST,
            column=USER_COST,
            family="log_mean",
            unit="USD",
            direction="lower",
            high=None,
            on_agent_error=None,
            description="mean cost of the simulated user",
        ),
    )


def trial_number(value: Json) -> int | None:
    """A whole number from 0 on."""
    return value if is_integer(value) and 0 <= value < 1 << 31 else None


def steps(actions: Json, key: str = "kwargs") -> list[dict[str, Json]]:
    """Gold actions as `reference_trajectory` spells them; `key` holds their arguments."""
    return [
        {"name": action["name"], "args": as_object(action.get(key))}
        for action in as_objects(actions)
        if isinstance(action.get("name"), str) and action["name"]
    ]


# -------------------------------------------------------------------------------------- simulations


RESULTS = "results.json"
FOLDER = "simulations"
EARNING = ("user_stop", "agent_stop")  # the only ends with which a reward can be earned
REASONS = (
    *EARNING,
    *("max_steps", "timeout", "too_many_errors", "agent_error", "user_error"),
    *("infrastructure_error", "context_window_exceeded", "unexpected_error"),
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """`reward` None: not evaluated. `trial`: if the file has none, how many came before."""

    place: Place
    id: str
    task: str
    trial: int
    reason: str
    reward: float | None
    data: Mapping[str, Json]

    @property
    def judged(self) -> Mapping[str, Json]:
        return as_object(self.data.get("reward_info"))

    @property
    def counts(self) -> bool:
        """Whether pass^k counts it: the benchmark leaves out what its infrastructure broke."""
        return self.reason != "infrastructure_error"


@dataclass(frozen=True, slots=True)
class SimulationFiles:
    """A run as it lies there: `meta` without its simulations, which are `in_files` of their own."""

    meta: Mapping[str, Json]
    files: tuple[Path, ...]
    in_files: bool = False

    def simulations(self, findings: Findings) -> Iterator[Simulation]:
        """The simulations that can be read; other problems go to `findings`."""
        before: dict[str, int] = {}
        for item, place in self._items(findings):
            one = _simulation(item, place, before, findings)
            if one is None:
                continue
            if self.in_files and one.id != Path(place.file).stem:
                findings.add(
                    place,
                    f"has the id '{one.id[:80]}', but its file name has another - rename the file",
                )
            before[one.task] = before.get(one.task, 0) + 1
            yield one

    def _items(self, findings: Findings) -> Iterator[tuple[Json, Place]]:
        if not self.in_files:
            for n, item in enumerate(as_list(as_object(json_of(self.files[0])).get("simulations"))):
                yield item, Place(self.files[0].as_posix(), key=f"simulations[{n}]")
        for file in self.files[1:]:
            with findings.taking():
                yield json_of(file), Place(file.as_posix())


def source_of(path: Path) -> SimulationFiles:
    """Raises UsageError for what is no run, InvalidInput for what is no JSON."""
    folder = path.is_dir() and not path.is_symlink()
    file = path / RESULTS if folder else path
    meta = json_of(file)
    if not isinstance(meta, dict) or not {"simulations", "simulation_index"} & {*meta}:
        raise UsageError(f"{file}: not a result of tau2-bench: it has no simulations")
    own = {key: value for key, value in meta.items() if key != "simulations"}
    if meta.get("simulations") or not (folder or meta.get("simulation_index")):
        return SimulationFiles(own, (file,))
    if not folder:
        raise UsageError(
            f"{file}: its simulations are in other files; give the folder {path.parent}"
        )
    parts = files_below(path / FOLDER, "*.json", deep=False)
    return SimulationFiles(own, (file, *parts), in_files=True)


def _simulation(
    item: Json, place: Place, before: Mapping[str, int], findings: Findings
) -> Simulation | None:
    data = as_object(item)
    named, task = data.get("id"), data.get("task_id")
    reason, trial = data.get("termination_reason"), data.get("trial")
    info = data.get("reward_info")
    reward = as_number(as_object(info).get("reward"))
    wrong = [
        *([] if _is_name(named) else ["id is not a string"]),
        *([] if _is_name(task) else ["task_id is not a string"]),
        *([] if reason in REASONS else [f"termination_reason is not one of {', '.join(REASONS)}"]),
        *([] if trial is None or trial_number(trial) is not None else ["trial is not a number"]),
        *([] if info is None or reward is not None else ["reward_info has no reward"]),
        *([] if reward is None or 0 <= reward <= 1 + CLOSE else ["reward is not from 0 to 1"]),
    ]
    if wrong:
        message = f"not a simulation of tau2-bench: {'; '.join(wrong)}"
        findings.add(place, f"{message} - export the results again")
        return None
    counted = trial_number(trial)
    return Simulation(
        place=place,
        id=str(named),
        task=str(task),
        trial=before.get(str(task), 0) if counted is None else counted,
        reason=str(reason),
        reward=reward,
        data=data,
    )


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 500


def compare_with_index(
    source: SimulationFiles, seen: Mapping[str, Simulation]
) -> Iterator[Problem]:
    """Where the index in results.json and the simulations contradict each other."""
    index = source.meta.get("simulation_index")
    if not isinstance(index, list) or not source.in_files:
        return
    place = Place(source.files[0].as_posix(), key="simulation_index")
    entries = {str(entry.get("id")): entry for entry in map(as_object, index)}
    for name in [name for name in entries if name not in seen]:
        yield Problem(place, f"has '{name[:80]}', but its file is missing - copy it too")
    for name, one in seen.items():
        entry = entries.get(name)
        if entry is None:
            yield Problem(one.place, "not in the index of results.json - move it elsewhere")
            continue
        own = {
            "task_id": one.task,
            "trial": one.trial,
            "termination_reason": one.reason,
            "reward": one.reward,
        }
        for key, value in own.items():
            stated = entry.get(key)
            if stated is not None and stated != value:
                message = f"{key} is {str(value)[:40]}, but {str(stated)[:40]} in the index"
                yield Problem(one.place, f"{message} of {RESULTS} - use both original files")


# Component -> our metric, and what it says.
COMPONENTS: Mapping[str, tuple[str, str]] = {
    "DB": ("tau2.db", "share of trials that end with the expected database"),
    "ENV_ASSERTION": (
        "tau2.env_assertions",
        "share of trials that meet all assertions on the environment",
    ),
    "COMMUNICATE": (
        "tau2.communicate",
        "share of trials in which the agent told the user everything required",
    ),
    "NL_ASSERTION": (
        "tau2.nl_assertions",
        "share of trials that meet all assertions in natural language",
    ),
    "ACTION": ("tau2.actions", "share of trials with all expected tool calls"),
}
_MODES = dict.fromkeys(("max_steps", "context_window_exceeded"), ("inefficient",))  # as codes
_CHECKS = {  # where each lies in reward_info, and the key that says how it went
    "ENV_ASSERTION": ("env_assertions", "met"),
    "COMMUNICATE": ("communicate_checks", "met"),
    "NL_ASSERTION": ("nl_assertions", "met"),
    "ACTION": ("action_checks", "action_match"),
}


def reward_metrics() -> tuple[MetricSpec, ...]:
    parts = COMPONENTS.values()
    return tuple(score_metric(name, share=True, about=about) for name, about in parts)


def components(simulation: Simulation) -> dict[str, float | None]:
    """Metric -> 1 or 0 as the checks went; None where nothing was checked."""
    checked = {
        name: _check_component(simulation.judged, part) for part, (name, _) in COMPONENTS.items()
    }
    return {name: None if value is None else float(value >= 1.0) for name, value in checked.items()}


def find_contradictions(simulation: Simulation) -> Iterator[Problem]:
    """What it says twice and not alike, and checks of which it does not say how they went."""
    judged, place = simulation.judged, simulation.place
    for message in _find_unclear_checks(judged):
        yield Problem(place, f"{message} - the file was changed; export it again")
    if simulation.reward is not None:
        key = ".".join(filter(None, (place.key, "reward_info")))
        yield from compare_stated(judged, _figures(simulation), replace(place, key=key))


def _figures(simulation: Simulation) -> Iterator[Figure]:
    judged = simulation.judged
    if simulation.reason not in EARNING:
        yield Figure("reward", (0.0,), f"{simulation.reason} earns none", near=CLOSE)
    stated = as_object(judged.get("reward_breakdown"))
    for part in COMPONENTS:
        own = _check_component(judged, part)
        if own is not None:
            shown = f"its checks give {own:g}"
            yield Figure(f"reward_breakdown.{part}", (own,), shown, near=CLOSE)
    basis = judged.get("reward_basis")
    if not isinstance(basis, list) or not basis or simulation.reason not in EARNING:
        return
    product = prod(_part(judged, stated, part) for part in dict.fromkeys(map(str, basis)))
    parts = ", ".join(map(str, basis[:5]))
    yield Figure("reward", (product,), f"the product of {parts} is {product:g}", near=CLOSE)


def _find_unclear_checks(judged: Mapping[str, Json]) -> Iterator[str]:
    db = judged.get("db_check")
    told = [as_object(db).get("db_match"), as_object(db).get("db_reward")]
    if db is not None and not (
        isinstance(told[0], bool) and (told[1] is None or as_number(told[1]) == float(told[0]))
    ):
        yield "db_check needs a db_match and a db_reward that agree"
    for key, says in _CHECKS.values():
        listed = judged.get(key)
        whole = isinstance(listed, list) and all(
            isinstance(as_object(check).get(says), bool) for check in listed
        )
        if listed is not None and not whole:
            yield f"{key} must be a list of checks with `{says}` true or false"


def _part(judged: Mapping[str, Json], told: Mapping[str, Json], part: str) -> float:
    """One of the basis; 1 where nothing had to be checked, as the benchmark counts it."""
    own = _check_component(judged, part)
    given = as_number(told.get(part))
    return own if own is not None else 1.0 if given is None else given


def _check_component(judged: Mapping[str, Json], part: str) -> float | None:
    """1 or 0 by the checks of a component; None without any."""
    if part == "DB":
        check = as_object(judged.get("db_check"))
        reward = as_number(check.get("db_reward"))
        return reward if reward is not None else _flag(check.get("db_match"))
    key, says = _CHECKS.get(part, ("", ""))
    listed = judged.get(key)
    checks = [as_object(check) for check in listed] if isinstance(listed, list) else []
    flags = [flag for check in checks if (flag := _flag(check.get(says))) is not None]
    return min(flags, default=None)


def _flag(value: Json) -> float | None:
    return float(value) if isinstance(value, bool) else None


def list_failures(simulation: Simulation) -> Sequence[str]:
    """Codes: why it has no full reward."""
    if simulation.reason not in EARNING:
        return (simulation.reason, *_MODES.get(simulation.reason, ()))
    basis = simulation.judged.get("reward_basis")
    named = {str(part) for part in basis} if isinstance(basis, list) else {*COMPONENTS}
    values = components(simulation)
    wrong = [
        f"{name.removeprefix('tau2.')}_failed"
        for part, (name, _) in COMPONENTS.items()
        if part in named and values[name] == 0.0
    ]
    return wrong or ("no_reward",)
