"""A session that is being written."""

from gate.records import MetricSpec, Provenance
from gate.store.session import Meta, SessionWriter, SuiteMeta


def session_meta():
    spec = MetricSpec(name="correctness.contains", column="correctness.contains")
    return Meta(
        session_id="20260102-030405-0a0b0c0d",
        created_at="2026-01-02T03:04:05Z",
        provenance=Provenance(commit="abc", agent="sample"),
        suites={
            "s": SuiteMeta(
                dataset="d.jsonl", dataset_digest="x", rounds=2, cases=2, specs={spec.name: spec}
            )
        },
        options={"suite": ["s"]},
    )


def written_row(case, number, **more):
    return {"suite": "s", "case_id": case, "round": number, "output": "täxt", **more}


def open_session(tmp_path, redact=lambda text: text):
    return SessionWriter.create(tmp_path, session_meta(), redact)
