"""A sample of AgentBench as a trial, with the tries that were broken off before; and an environment
as a case of the whole benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.importers.formats.thudm.environments import SCORED, Environment, Worth
from gate.importers.formats.thudm.records import BrokenSample, FinishedSample
from gate.importers.trials.build import case_of, trial_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.names import snake_case
from gate.records import Attempt, Case, Json, MetricSpec, Response, Trial, TrialStatus

TOOL = "thudm-agentbench"  # what measured, and what judged
SUITE = "agentbench"
MAIN = "thudm_agentbench.main"
OVERALL = "thudm_agentbench.overall"
# The environment broke, or the run was stopped: not the agent's failure. The benchmark's own
# metric counts them as 0 all the same.
_UNASKED = ("task error", "cancelled", "running")
_MODES = {  # failure modes of ours, as codes
    "agent validation failed": ("format",),
    "agent invalid action": ("format",),
    "agent context limit": ("loop",),
    "task limit reached": ("loop",),
}


def main_spec() -> MetricSpec:
    about = "main metric of an environment: accuracy, F1, score, progress, success or reward"
    return MetricSpec(name=MAIN, column=MAIN, unit="share", description=about)


def overall_spec() -> MetricSpec:
    return MetricSpec(
        name=OVERALL,
        column=OVERALL,
        unit="points",
        high=None,
        description="mean over the eight environments of main metric in percent / weight",
    )


def sample_trial(
    suite: str, run: FinishedSample, found: Worth, before: Sequence[BrokenSample]
) -> Trial:
    done = run.status not in _UNASKED
    passed = found.passed if run.status == "completed" or found.passed is not None else None
    codes = () if run.status == "completed" else (snake_case(run.status), *_modes(run.status))
    made = trial_of(
        TOOL,
        suite,
        _case(suite, run.index, run),
        status="completed" if done else "infra_error",
        passed=passed,
        failures=() if passed else codes or (("wrong_result",) if passed is False else ()),
        values={MAIN: found.value},
        reason="" if run.status == "completed" else f"ended with: {run.status}",
        response=_response(run) if done else None,
        error=None if done else run.status,
    )
    return _add_attempts(made, before)


def _modes(status: str) -> tuple[str, ...]:
    return _MODES.get(status, ())


def unfinished_trial(suite: str, tries: Sequence[BrokenSample]) -> Trial:
    """A sample without a result: the last try counts that was the agent's failure, or the last."""
    last = next((one for one in reversed(tries) if not one.infra), tries[-1])
    at = list(tries).index(last)
    made = trial_of(
        TOOL,
        suite,
        _case(suite, last.index, last),
        status=_status(last),
        passed=None if last.infra else False,
        failures=(_code(last),),
        values={MAIN: None if last.infra else 0.0},
        error=_error_text(last),
    )
    return _add_attempts(made, tries[:at])


def _add_attempts(made: Trial, before: Sequence[BrokenSample]) -> Trial:
    earlier = tuple(_attempt(n, one) for n, one in enumerate(before, 1))
    last = replace(made.attempts[0], n=len(earlier) + 1)
    return replace(made, attempts=(*earlier, last), judged=len(earlier))


def _attempt(n: int, broken_sample: BrokenSample) -> Attempt:
    return Attempt(
        n=n,
        status=_status(broken_sample),
        latency_ms=None,
        passed=None if broken_sample.infra else False,
        failures=(_code(broken_sample),),
        error=_error_text(broken_sample),
    )


def _status(broken_sample: BrokenSample) -> TrialStatus:
    return "infra_error" if broken_sample.infra else "agent_error"


def _code(broken_sample: BrokenSample) -> str:
    return (
        "".join(sign for sign in broken_sample.code.lower() if sign.isalnum() or sign == "_")[:60]
        or "error"
    )


def _error_text(broken_sample: BrokenSample) -> str:
    return (
        f"{broken_sample.code[:60]}: {broken_sample.info}"
        if broken_sample.info
        else broken_sample.code[:60]
    )


def _case(suite: str, index: str, source: FinishedSample | BrokenSample) -> Case:
    return case_of(TOOL, suite, index, place=source.place)


def _response(run: FinishedSample) -> Response:
    """The history has the examples that the environment showed, too: they count as turns."""
    return conversation([_message(item) for item in run.history], shows_calls=False)


def _message(item: Json) -> Json:
    if isinstance(item, dict) and item.get("role") == "agent":
        return {**item, "role": "assistant"}
    return item


def environment_trial(environment: Environment, task: str, value: float, *, whole: bool) -> Trial:
    """`whole`: all eight are there, so that the overall score can be told."""
    case = case_of(TOOL, SUITE, environment.code, input=environment.name)
    values = {MAIN: value}
    if whole:
        values[OVERALL] = 100.0 * value / environment.weight
    said = Response(answer=f"{'.'.join(environment.main)} of {task}: {value:.6g}")
    return trial_of(TOOL, SUITE, case, values=values, response=said)


def sample_specs(environment: Environment) -> tuple[MetricSpec, ...]:
    return (main_spec(),) if environment.code in SCORED else ()
