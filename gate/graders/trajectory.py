"""Did the agent get there without detours, loops and unrepaired errors?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gate.errors import AgentFailure, GraderFailure, UsageError
from gate.graders.tool_calling.actual import NOT_TOLD
from gate.graders.tool_calling.definitions import definition
from gate.graders.tool_calling.reference import KEY, SCHEMA, reference_faults
from gate.graders.trajectories.loops import Loop, count_repeated, find_loops
from gate.graders.trajectories.recovery import FailedStep, admits, find_failures
from gate.graders.trajectories.reference import reference_length
from gate.graders.trajectories.scoring import (
    BEST,
    Penalties,
    Way,
    seed_bounds,
    seed_score,
    strict_score,
)
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score, ToolCall

EFFICIENCY, SCORE = "agent.trajectory_efficiency", "agent.trajectory_score"
REPEATED, LOOPS = "agent.repeated_calls", "agent.loop_rate"
RECOVERY, SILENT = "agent.recovery_rate", "agent.silent_failure_rate"
METRICS = (EFFICIENCY, SCORE, REPEATED, LOOPS, RECOVERY, SILENT)

Fault = Literal["loop", "inefficient", "unrecovered_error", "silent_failure"]
_NAME_LIMIT, _MOST_CODES, _TOLD, _REASON = 80, 20, 3, 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryFacts:
    """The properties of one trajectory. `way`: None if the necessary number of steps is unknown."""

    way: Way | None
    steps: int
    calls: int  # of them that were handed over
    repeated: int
    loops: tuple[Loop, ...]
    failed: tuple[FailedStep, ...]
    left: tuple[FailedStep, ...]  # of them that were never mended, for certain
    hidden: bool  # and the answer does not say so
    whole: bool  # every step was handed over


@GRADERS.register("trajectory")
@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Measures the steps, not the answer. A trial fails by what `fail_on` names, and by more steps
    than `max_steps`.

    `formula` of the score: strict (0 to 10) or seed (3 to 11). `flag_above`: a ratio of actual to
    necessary steps above it is inefficient. `loop_at`: how often calls repeat in a row in a loop.
    Calls of the tools in `may_repeat` are never a loop. `admits`: more words with which an answer
    says that something did not work.
    """

    formula: Literal["strict", "seed"] = "strict"
    penalties: Penalties = field(default_factory=Penalties)
    flag_above: float = 3.0
    max_steps: int | None = None
    fail_on: tuple[Fault, ...] = ("loop",)
    loop_at: int = 3
    may_repeat: tuple[str, ...] = ()
    admits: tuple[str, ...] = ()

    keys: ClassVar[Mapping[str, Json]] = {
        "optimal_steps": {"type": "integer", "minimum": 1},
        KEY: SCHEMA,
        "tools": {"type": "array", "items": {"type": "object"}},
    }
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.flag_above < float("inf"):
            raise UsageError("trajectory: flag_above must be 1 or more - 1 is the shortest way")
        if self.loop_at < 2:
            raise UsageError("trajectory: loop_at must be 2 or more")
        if self.max_steps is not None and self.max_steps < 0:
            raise UsageError("trajectory: max_steps must be 0 or more")

    @property
    def decides(self) -> bool:
        return bool(self.fail_on) or self.max_steps is not None

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        if keys.get(KEY):
            yield from reference_faults(keys[KEY])

    def metrics(self) -> tuple[MetricSpec, ...]:
        low, high = seed_bounds(self.penalties) if self.formula == "seed" else (0.0, BEST)
        return (
            MetricSpec(
                name=EFFICIENCY,
                column=EFFICIENCY,
                unit="ratio",
                direction="lower",
                low=1.0,
                high=None,
                on_agent_error=None,
                description="steps made, divided by those needed",
                only_passed=True,
            ),
            MetricSpec(
                name=SCORE,
                column=SCORE,
                unit="points",
                low=low,
                high=high,
                on_agent_error=low,
                description="points for the way: less for extra steps, errors and violations",
            ),
            _share(REPEATED, "share of the calls that repeat an identical earlier one"),
            _share(LOOPS, "share of the trials in which the agent goes round in a loop", "rate"),
            _share(RECOVERY, "share of the failed steps that the agent mends", better="higher"),
            _share(SILENT, "share of the trials whose answer hides an error left lying", "rate"),
        )

    def grade(self, case: Case, response: Response) -> Score:
        if all(key in case.keys and case.keys[key] is None for key in self.keys):
            return Score(values=dict.fromkeys(METRICS))
        if response.steps is None:
            return Score(unscored=NOT_TOLD)
        facts = self._measure(case, response, response.steps)
        codes = tuple(dict.fromkeys(self._codes(facts)))[:_MOST_CODES]
        return Score(
            values=self._values(facts),
            passed=not codes if self.decides else None,
            failures=codes,
            reason="; ".join(self._sentences(facts))[:_REASON],
        )

    def _measure(
        self, case: Case, response: Response, steps: Sequence[ToolCall]
    ) -> TrajectoryFacts:
        tools = frozenset(definition(tool)[0] for tool in case.keys.get("tools") or ())
        failed = find_failures(steps, tools)
        is_whole = response.omitted_steps == 0
        left = tuple(step for step in failed if not step.mended) if is_whole else ()
        total = len(steps) + response.omitted_steps
        flawed = {step.number for step in failed}
        flawed |= {number for number, call in enumerate(steps, 1) if call.correction}
        return TrajectoryFacts(
            way=_way(case, response, total, len(flawed)),
            steps=total,
            calls=len(steps),
            repeated=count_repeated(steps, self.may_repeat),
            loops=find_loops(steps, at_least=self.loop_at, may_repeat=self.may_repeat),
            failed=failed,
            left=left,
            hidden=bool(left) and not admits(response.answer, self.admits),
            whole=is_whole,
        )

    def _values(self, facts: TrajectoryFacts) -> dict[str, float | None]:
        way, any_call = facts.way, facts.calls > 0
        points = seed_score if self.formula == "seed" else strict_score
        mended = sum(one.mended for one in facts.failed)
        is_known = facts.whole or mended == len(facts.failed)
        return {
            EFFICIENCY: max(1.0, way.ratio) if way and facts.steps else None,
            SCORE: points(way, self.penalties) if way else None,
            REPEATED: facts.repeated / facts.calls if any_call else None,
            LOOPS: float(bool(facts.loops)) if any_call else None,
            RECOVERY: mended / len(facts.failed) if facts.failed and is_known else None,
            SILENT: float(facts.hidden) if any_call and is_known else None,
        }

    def _codes(self, facts: TrajectoryFacts) -> Iterator[str]:
        way = facts.way
        if "loop" in self.fail_on:
            yield from (f"loop:{_cut_text(loop.tools[0])}" for loop in facts.loops)
        if self.max_steps is not None and facts.steps > self.max_steps:
            yield f"too_many_steps:{facts.steps}"
        if "inefficient" in self.fail_on and way and way.ratio > self.flag_above:
            yield f"inefficient:{_ratio(way)}"
        if "silent_failure" in self.fail_on and facts.hidden:
            yield from (f"silent_failure:{_cut_text(step.tool)}" for step in facts.left)
        if "unrecovered_error" in self.fail_on:
            yield from (f"unrecovered_error:{_cut_text(step.tool)}" for step in facts.left)

    def _sentences(self, facts: TrajectoryFacts) -> Iterator[str]:
        way = facts.way
        if way is None:
            yield f"{facts.steps} steps; it is unknown how many are needed"
        else:
            flag = ", inefficient" if way.ratio > self.flag_above else ""
            few = ", fewer than needed" if way.ratio < 1 else ""
            yield f"{way.steps} steps, {way.optimal} needed (ratio {_ratio(way)}{flag}{few})"
        yield from (loop.about for loop in facts.loops[:_TOLD])
        if facts.repeated:
            yield f"{facts.repeated} repeated calls"
        for step in facts.failed[:_TOLD]:
            end = (
                "mended" if step.mended else "not mended" if facts.whole else "the rest is unknown"
            )
            yield f"step {step.number}, {_cut_text(step.tool)}, failed: {end}"
        if facts.hidden:
            yield "the answer does not say that something failed"


def _share(
    name: str,
    about: str,
    family: str = "mean",
    better: Literal["higher", "lower"] = "lower",
) -> MetricSpec:
    """A trial that ended in an agent error told no steps and has none."""
    return MetricSpec(
        name=name,
        column=name,
        family=family,
        unit="share",
        direction=better,
        on_agent_error=None,
        description=about,
    )


def _way(case: Case, response: Response, steps: int, flawed: int) -> Way | None:
    """Violations are those that the agent reports of itself: other graders have their own say."""
    try:
        optimal = case.keys.get("optimal_steps") or reference_length(case.keys.get(KEY))
    except AgentFailure as failure:
        raise GraderFailure(f"{KEY}: {failure}"[:300]) from failure
    if not optimal:
        return None
    violations = len(response.safety_violations or ())
    return Way(steps=steps, optimal=optimal, flawed=flawed, violations=violations)


def _ratio(way: Way) -> str:
    return f"{way.ratio:.2f}".rstrip("0").rstrip(".")


def _cut_text(name: str) -> str:
    return name[:_NAME_LIMIT]
