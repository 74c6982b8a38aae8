"""Every public metric name: what nothing here measures is told from what is misspelt, and what has
another name now is found under it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gate.records import MetricSpec

# Every public metric name, the benchmarks' too, whether or not a grader here measures it.
NAMES: dict[str, str] = {
    "retrieval": "precision@k recall@k hit_rate@k ndcg@k mrr map",
    "correctness": "exact_match contains fact_accuracy fact_pattern_match semantic_similarity "
    "factual_correctness reference_coverage faithfulness judge_score",
    "response_quality": "format_compliance instruction_following conciseness clarity structure "
    "readability coherence question_coverage stage_coverage",
    "operational": "mean_latency_ms p50_latency_ms p95_latency_ms p99_latency_ms worst_latency_ms "
    "std_latency_ms avg_tokens std_tokens input_tokens cached_tokens output_tokens "
    "reasoning_tokens estimated_cost_per_query hallucination_rate error_rate "
    "retry_rate judge_coverage judge_injection_rate hallucinated_answers unverified_rate "
    "unsupported_entities",
    "agent": "success_rate first_attempt_success_rate tool_call_accuracy tool_call_validity "
    "tool_call_precision tool_call_recall tool_type_errors tool_missing_args tool_unknown_args "
    "tool_unknown_tools tool_unparsable_args completion_rate "
    "trajectory_match trajectory_efficiency trajectory_score trajectory_quality avg_steps "
    "repeated_calls loop_rate recovery_rate silent_failure_rate "
    "cost_per_task cost_per_success pass@k pass^k consistency flip_rate reliable_rate "
    "consistently_failing_rate score_spread safety_violations_per_100 "
    "unsafe_rate injection_rate safety_quality goal_state",
    "swebench": "resolved_rate submitted_resolved_rate infra_rate",
    "mini_swe_agent": "submitted_rate",
    "webarena": "success_rate not_evaluable_rate",
    "thudm_agentbench": "main overall",
    "bfcl": "accuracy group_accuracy overall",
    "tau": "pass^k reward user_cost",
    "tau2": "db env_assertions communicate nl_assertions actions",
}
# What other tools measure, under the names that their users gave it.
IMPORTED = frozenset(
    {
        "promptfoo",
        "inspect",
        "deepeval",
        "pydantic_evals",
        "junit",
        "langfuse",
        "braintrust",
        "otel",
    }
)
# What no grader of ours measures, only an import.
OF_IMPORTS = IMPORTED | {"swebench", "mini_swe_agent", "thudm_agentbench", "bfcl", "tau", "tau2"}
CONTRACT = frozenset(f"{group}.{name}" for group, names in NAMES.items() for name in names.split())
DIMENSIONS = frozenset(NAMES) | IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """The name that a metric has now, and the criterion of which built-in rubric it scores, by the
    word that it had before. A user's own metric may still have the old name.
    """

    name: str
    rubric: str
    criterion: str

    def described_in(self, spec: MetricSpec) -> bool:
        """Whether it is this metric that an older version described so."""
        about = f"a judge model's score ({self.rubric}: {self.criterion}): "
        return spec.asks == "judge" and spec.description.startswith(about)


# Old name -> what it is now. Old names are read for ever, each with a warning.
RENAMED: Mapping[str, Renamed] = {
    "correctness.correctness": Renamed(
        name="correctness.factual_correctness", rubric="answer", criterion="correctness"
    ),
    "correctness.completeness": Renamed(
        name="correctness.reference_coverage", rubric="answer", criterion="completeness"
    ),
    "response_quality.completeness": Renamed(
        name="response_quality.question_coverage", rubric="quality", criterion="completeness"
    ),
}


def current_names(written: str, measured: Collection[str]) -> tuple[str, ...]:
    """What a name that somebody wrote stands for where these metrics are `measured`: itself, but an
    old name for the new one. Both where one suite measures the old name and another the new one.
    """
    renamed = RENAMED.get(written)
    if renamed is None or (written in measured and renamed.name not in measured):
        return (written,)
    return (written, renamed.name) if written in measured else (renamed.name,)


def current_name(written: str, measured: Collection[str]) -> str:
    """The same in one suite, where a name that is measured stands for itself."""
    return current_names(written, measured)[0]


def renamed_among(specs: Mapping[str, MetricSpec]) -> dict[str, str]:
    """Old name -> new name of the metrics that an older version stored here."""
    return {
        name: RENAMED[name].name
        for name, spec in specs.items()
        if name in RENAMED and RENAMED[name].described_in(spec)
    }


def renamed_beside(specs: Mapping[str, MetricSpec]) -> dict[str, str]:
    """Old name -> new name of what may stand beside these `specs`, which have the new names, in
    files that an older version wrote.
    """
    return {
        old: renamed.name
        for old, renamed in RENAMED.items()
        if renamed.name in specs and old not in specs
    }


def name_judged_by(rubric: str, metric: str) -> str:
    """What a metric that people rated by this rubric, or by its own name alone, is called now."""
    renamed = RENAMED.get(metric)
    return renamed.name if renamed and rubric in (renamed.rubric, metric) else metric


def describe_renamed(old: str, new: str) -> str:
    return f"`{old}` is called `{new}` now"


def describe_stored_names(renamed: Mapping[str, str]) -> tuple[str, ...]:
    """What is said of stored results with old names, a sentence for each."""
    return tuple(
        f"{describe_renamed(old, new)}: the stored results have the old name and count all the same"
        for old, new in renamed.items()
    )
