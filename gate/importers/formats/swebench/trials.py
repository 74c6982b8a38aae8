"""An instance of SWE-bench as a trial, and the metrics of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gate.importers.formats.mini_swe_agent.trajectory import TrajectoryFile
from gate.importers.formats.swebench.outcomes import InstanceVerdict
from gate.importers.trials.build import ToolSuite, name_judge
from gate.importers.trials.names import repository_of
from gate.records import Case, MetricSpec, Response, Trial, TrialStatus, Usage

TOOL = "swebench"
RESOLVED = "swebench.resolved_rate"
_SUBMITTED = "swebench.submitted_resolved_rate"
_INFRA = "swebench.infra_rate"
MOST_REPOSITORIES = 60  # with a metric each


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What is known of every instance of a run."""

    repositories: tuple[str, ...]
    submitted: bool
    infra: bool

    def specs(self) -> Iterator[MetricSpec]:
        yield _rate(RESOLVED, "share of all instances that are resolved; whatever else became of")
        if self.submitted:
            yield _rate(
                _SUBMITTED, "of the instances with a prediction, the share that is resolved"
            )
        if self.infra:
            about = "of all instances, the share whose test environment broke"
            yield _rate(_INFRA, about, lower=True)
        for repository in self.repositories:
            about = f"share of the instances of {repository} that are resolved"
            yield _rate(f"{RESOLVED}[{repository}]", about)

    def graders(self) -> dict[str, str]:
        return name_judge(TOOL, *(spec.column for spec in self.specs()))

    def values(self, verdict: InstanceVerdict, repository: str | None) -> dict[str, float | None]:
        """Over all instances, those of a broken environment too: what the benchmark publishes."""
        resolved = float(verdict.outcome == "resolved")
        values: dict[str, float | None] = {RESOLVED: resolved}
        if self.submitted:
            values[_SUBMITTED] = None if verdict.outcome == "incomplete" else resolved
        if self.infra:
            values[_INFRA] = float(verdict.infra)
        if repository in self.repositories:
            values[f"{RESOLVED}[{repository}]"] = resolved
        return values


def _rate(name: str, about: str, *, lower: bool = False) -> MetricSpec:
    return MetricSpec(
        name=name,
        column=name,
        family="rate",
        unit="share",
        direction="lower" if lower else "higher",
        # without bounds it is no part of a trial's score, which is about what was resolved
        high=None if lower else 1.0,
        description=about,
    )


def instance_case(suite: str, instance: str, task: str = "") -> Case:
    """The hash is made of suite and id alone, since prompts differ from agent to agent."""
    plain = ToolSuite(TOOL, suite).case(instance, category=repository_of(instance))
    return replace(plain, input=task) if task else plain


def instance_trial(
    suite: str,
    instance: str,
    verdict: InstanceVerdict,
    measures: Measures,
    *,
    patch: str | None = None,
    trajectory: TrajectoryFile | None = None,
) -> Trial:
    """`patch`: of its prediction; None where nobody has it."""
    case = instance_case(suite, instance, trajectory.task if trajectory else "")
    resolved = verdict.outcome == "resolved"
    ended = trajectory.codes if trajectory and not resolved else ()
    status = _status(verdict)
    return ToolSuite(TOOL, suite).trial(
        case,
        status=status,
        passed=resolved,
        failures=(*verdict.codes, *ended),
        values=measures.values(verdict, case.category),
        reason=verdict.reason,
        response=_response(verdict, patch, trajectory),
        latency_ms=trajectory.latency_ms if trajectory else None,
        error=_ERRORS.get(status),
        started_at=trajectory.started_at if trajectory else "",
    )


_ERRORS: Mapping[TrialStatus, str] = {
    "agent_error": "no prediction",
    "infra_error": "the environment of the tests broke",
}


def _status(verdict: InstanceVerdict) -> TrialStatus:
    if verdict.infra:
        return "infra_error"
    return "agent_error" if verdict.outcome == "incomplete" else "completed"


def _response(
    verdict: InstanceVerdict, patch: str | None, trajectory: TrajectoryFile | None
) -> Response | None:
    if trajectory is not None:
        own = trajectory.response
        return own if patch is None else replace(own, answer=patch)
    if patch is None and verdict.cost_usd is None and verdict.api_calls is None:
        return None
    return Response(
        answer=patch or "",
        kept=patch is not None,
        usage=Usage(cost_usd=verdict.cost_usd),
        turns=verdict.api_calls,
    )
