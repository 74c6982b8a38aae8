"""Every public metric name: what nothing here measures is told from what is misspelt."""

from __future__ import annotations

# Every public metric name, the benchmarks' too, whether or not a grader here measures it.
NAMES: dict[str, str] = {
    "retrieval": "precision@k recall@k hit_rate@k ndcg@k mrr map",
    "correctness": "exact_match contains fact_accuracy fact_pattern_match semantic_similarity "
    "correctness completeness faithfulness judge_score",
    "response_quality": "format_compliance instruction_following conciseness clarity structure "
    "readability coherence completeness stage_coverage",
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
