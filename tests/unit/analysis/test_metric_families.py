"""Metrics that say nearly the same: one leads, the others are counted."""

from gate.analysis.metric_families import collapse


def led(**weights):
    names = [name.replace("__", ".").replace("_at_", "@") for name in weights]
    weight = dict(zip(names, weights.values(), strict=True))
    found = collapse(names, lambda name: ("s", name), weight.__getitem__)
    return [(lead, sorted(others)) for lead, others in found]


def test_the_member_that_changed_most_leads_its_family():
    assert led(retrieval__recall_at_5=1.0, retrieval__ndcg_at_10=3.0, retrieval__mrr=2.0) == [
        ("retrieval.ndcg@10", ["retrieval.mrr", "retrieval.recall@5"])
    ]


def test_of_members_that_are_alike_the_family_s_own_leads_then_the_smallest_number():
    assert led(operational__p99_latency_ms=0.0, operational__p95_latency_ms=0.0)[0][0] == (
        "operational.p95_latency_ms"
    )
    assert led(retrieval__recall_at_10=0.0, retrieval__recall_at_3=0.0)[0][0] == (
        "retrieval.recall@3"
    )


def test_metrics_without_a_family_stand_alone_and_suites_are_kept_apart():
    assert led(correctness__fact_accuracy=1.0, agent__success_rate=1.0) == [
        ("correctness.fact_accuracy", []),
        ("agent.success_rate", []),
    ]
    rows = [("a", "retrieval.mrr"), ("b", "retrieval.mrr")]
    assert [lead for lead, _ in collapse(rows, lambda row: row, lambda row: 0.0)] == rows
