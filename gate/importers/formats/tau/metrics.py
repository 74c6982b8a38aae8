"""What tau-bench and tau2-bench share: the reward, pass^k over a task's trials, gold actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.files.json_values import as_object, as_objects, is_integer
from gate.records import Json, MetricSpec

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
                f"{suite}: {len(missing)} trials that other tasks have are missing "
                f"({', '.join(missing[:5])}{more}); tau.pass^k is reported up to k = "
                f"{self.least}, the fewest trials of a task"
            )


def metrics(least: int) -> tuple[MetricSpec, ...]:
    """`least`: the fewest trials of a task."""
    return (
        MetricSpec(
            name=REWARD,
            column=REWARD,
            unit="share",
            description="mean reward of all trials; a crash has 0",
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
