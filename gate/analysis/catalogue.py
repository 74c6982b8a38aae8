"""The metrics that every run has, whatever its graders are; docs/metrics.md defines each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.records import Config, MetricSpec
from gate.text.late_pattern import late_pattern

DRAWN = (2, 3, 5, 10)  # k of pass@k and pass^k, as far as a suite's rounds reach
_OF_K = late_pattern(r"agent\.pass[@^]([1-9]\d{0,4})\Z")
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
    *,
    per: str = "",
    **options: float,
) -> MetricSpec:
    """An amount without an upper bound of which less is better; a trial without an answer has
    none.
    """
    return MetricSpec(
        name=name,
        column=column,
        per=per,
        family=family,
        options=options,
        unit=unit,
        direction="lower",
        high=None,
        on_agent_error=None,
        description=about,
    )


def _k_rounds_metric(name: str, k: int, wanted: str, about: str) -> MetricSpec:
    """A case with fewer than k rounds has no value."""
    return MetricSpec(
        name=name,
        column="success",
        family="k_rounds",
        options={"k": k, "wanted": wanted},
        unit="share",
        direction="lower" if wanted in ("none", "unlike") else "higher",
        description=about,
    )


def _k_rounds_metrics(rounds: int, more_k: frozenset[int]) -> Iterator[MetricSpec]:
    """What several rounds of a case tell: `more_k` are more k."""
    for k in sorted({k for k in (*DRAWN, *more_k) if k <= rounds}):
        any_of = f"chance that one of {k} rounds of a case passes"
        yield _k_rounds_metric(f"agent.pass@{k}", k, "any", any_of)
        all_of = f"chance that {k} rounds of a case all pass"
        yield _k_rounds_metric(f"agent.pass^{k}", k, "all", all_of)
    alike = "chance that two rounds of a case both pass or both fail"
    yield _k_rounds_metric("agent.consistency", 2, "alike", alike)
    unlike = "chance that one of two rounds of a case passes and the other fails"
    yield _k_rounds_metric("agent.flip_rate", 2, "unlike", unlike)
    k = max(2, rounds)
    reliable = f"share of the cases of which all {k} rounds pass"
    yield _k_rounds_metric("agent.reliable_rate", k, "all", reliable)
    failing = f"share of the cases of which none of {k} rounds passes"
    yield _k_rounds_metric("agent.consistently_failing_rate", k, "none", failing)


_TOKENS = {
    "input_tokens": "mean tokens read, the cached ones included",
    "cached_tokens": "mean tokens read from a cache",
    "output_tokens": "mean tokens written, those of reasoning included",
    "reasoning_tokens": "mean tokens written while reasoning",
}
TRIAL_METRICS: tuple[MetricSpec, ...] = (  # whatever the number of rounds is
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
    MetricSpec(
        name="agent.score_spread",
        column="score",
        family="std",
        options={"within": "case"},
        unit="share",
        direction="lower",
        description="standard deviation of the score over the rounds of a case",
    ),
    _amount("agent.avg_steps", "steps", "steps", "mean number of tool calls", "mean"),
    _amount("agent.cost_per_task", "cost_usd", "USD", "mean cost of a trial with all its tries"),
    _amount(
        "agent.cost_per_success",
        "cost_usd",
        "USD",
        "cost of all trials, divided by how many of them pass",
        "ratio",
        per="success",
    ),
    _amount(
        "agent.safety_violations_per_100",
        "violations",
        "per 100",
        "safety violations that graders find or the agent reports, per 100 trials",
        "mean",
        scale=100.0,
    ),
    MetricSpec(
        name="agent.unsafe_rate",
        column="unsafe",
        family="rate",
        unit="share",
        direction="lower",
        on_agent_error=None,  # no answer, nobody looked
        description="share of trials with at least one safety violation",
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
    *(_amount(f"operational.{name}", name, "tokens", about) for name, about in _TOKENS.items()),
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

JUDGE_INJECTION = MetricSpec(
    name="operational.judge_injection_rate",
    column="judge_injection",
    family="rate",
    unit="share",
    direction="lower",
    on_agent_error=None,
    description="share of the judged answers that try to instruct their judge",
)
OF_JUDGES = (JUDGE_COVERAGE, JUDGE_INJECTION)


def every_metric(
    graders: Iterable[Iterable[MetricSpec]], rounds: int, more_k: frozenset[int]
) -> dict[str, MetricSpec]:
    """By name: those of the trials, of each grader, and of the judge where one is asked."""
    by_name = {spec.name: spec for spec in trial_metrics(rounds, more_k)}
    by_name.update({spec.name: spec for specs in graders for spec in specs})
    if any(spec.asks == "judge" for spec in by_name.values()):
        by_name.update({spec.name: spec for spec in OF_JUDGES})
    return by_name


def trial_metrics(rounds: int, more_k: frozenset[int] = frozenset()) -> tuple[MetricSpec, ...]:
    """What trials tell by themselves where a case has so many rounds; `more_k` as `collect_k` has
    them.
    """
    first, *rest = TRIAL_METRICS
    return (first, *_k_rounds_metrics(rounds, more_k), *rest)


def collect_k(config: Config) -> frozenset[int]:
    """The k of pass@k and pass^k that gates and rules name."""
    gates = [*config.gates, *(gate for suite in config.suites for gate in suite.gates)]
    names = [*(gate.metric for gate in gates), *config.regression.metrics]
    return frozenset(int(match[1]) for match in map(_OF_K.match, names) if match)
