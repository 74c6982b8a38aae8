"""The metrics that every run has, whatever its graders are; docs/metrics.md defines each."""

from __future__ import annotations

from collections.abc import Iterable

from gate.records import MetricSpec

DRAWN = (2, 3)  # rounds of pass@k and pass^k: what the default of 3 rounds can tell
_MS = "operational.{}_latency_ms"


def _share(
    name: str, column: str, about: str, *, on_agent_error: float | None = None
) -> MetricSpec:
    return MetricSpec(
        name=name,
        column=column,
        family="rate",
        unit="share",
        direction="lower" if name.startswith("operational.") else "higher",
        on_agent_error=on_agent_error,
        description=about,
    )


def _amount(
    name: str,
    column: str,
    unit: str,
    about: str,
    family: str = "log_mean",
    **options: float,
) -> MetricSpec:
    """An amount without an upper bound of which less is better; a trial without an answer has
    none.
    """
    return MetricSpec(
        name=name,
        column=column,
        family=family,
        options=options,
        unit=unit,
        direction="lower",
        high=None,
        on_agent_error=None,
        description=about,
    )


def _of_k_rounds(name: str, k: int, wanted: str, about: str) -> MetricSpec:
    """A case with fewer than k rounds has no value."""
    return MetricSpec(
        name=name,
        column="success",
        family="k_rounds",
        options={"k": k, "wanted": wanted},
        unit="share",
        description=about,
    )


TRIAL_METRICS: tuple[MetricSpec, ...] = (
    _share(
        "agent.success_rate",
        "success",
        "share of trials that pass every grader with an opinion",
        on_agent_error=0.0,
    ),
    _share(
        "agent.first_attempt_success_rate",
        "first_success",
        "share of trials that pass at the first try; an infrastructure error counts as failed",
        on_agent_error=0.0,
    ),
    *(
        _of_k_rounds(f"agent.pass@{k}", k, "any", f"chance that one of {k} rounds of a case passes")
        for k in DRAWN
    ),
    *(
        _of_k_rounds(f"agent.pass^{k}", k, "all", f"chance that {k} rounds of a case all pass")
        for k in DRAWN
    ),
    _of_k_rounds(
        "agent.consistency", 2, "alike", "chance that two rounds of a case both pass or both fail"
    ),
    _amount("agent.avg_steps", "steps", "steps", "mean number of tool calls", "mean"),
    _amount("agent.cost_per_task", "cost_usd", "USD", "mean cost of a trial with all its tries"),
    _amount(
        "agent.safety_violations_per_100",
        "violations",
        "per 100",
        "safety violations that the agent reports, per 100 trials",
        "mean",
        scale=100.0,
    ),
    _amount(_MS.format("mean"), "latency_ms", "ms", "mean time to the whole answer"),
    *(
        _amount(
            _MS.format(f"p{percent}"),
            "latency_ms",
            "ms",
            f"{percent} % of the answers come within this time",
            "quantile",
            q=percent / 100,
        )
        for percent in (50, 95, 99)
    ),
    _amount(_MS.format("worst"), "latency_ms", "ms", "the slowest answer", "max"),
    _amount(_MS.format("std"), "latency_ms", "ms", "standard deviation of the times", "std"),
    _amount("operational.avg_tokens", "total_tokens", "tokens", "mean input and output tokens"),
    _amount(
        "operational.std_tokens", "total_tokens", "tokens", "standard deviation of them", "std"
    ),
    _amount(
        "operational.estimated_cost_per_query",
        "cost_usd",
        "USD",
        "mean cost of a trial: as the agent reports it, else tokens times prices",
    ),
    _share(
        "operational.error_rate",
        "agent_error",
        "share of the answered trials in which the agent failed: an error, a crash, a time-out",
        on_agent_error=1.0,
    ),
    _share("operational.retry_rate", "retried", "share of trials that needed more than one try"),
)
JUDGE_COVERAGE = MetricSpec(
    name="operational.judge_coverage",
    column="judge_coverage",
    unit="share",
    on_agent_error=None,
    description="share of the answers for a judge that the judge gave a score",
)


def every_metric(graders: Iterable[Iterable[MetricSpec]]) -> dict[str, MetricSpec]:
    """By name: those of the trials, of each grader, and of the judge where one is asked."""
    found = {spec.name: spec for spec in TRIAL_METRICS}
    found.update({spec.name: spec for specs in graders for spec in specs})
    if any(spec.asks == "judge" for spec in found.values()):
        found[JUDGE_COVERAGE.name] = JUDGE_COVERAGE
    return found
