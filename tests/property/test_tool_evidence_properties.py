"""Whatever an answer declares and a log shows: a score comes, and the verdict keeps its word."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.graders.openagent_rules.declared import is_same_tool, list_unmatched
from gate.graders.tool_evidence import FABRICATED, VERIFIED, ToolEvidence
from gate.records import Case, LoggedCall, LogRead, Response, ServerLogs

NAMES = st.sampled_from(["shell", "web_search", "a__shell", "b__shell", "x.Shell", "", "__", "."])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | JUNK,
        "tool": NAMES | JUNK,
        "function": st.fixed_dictionaries({}, optional={"name": NAMES | JUNK, "arguments": JUNK}),
        "arguments": JUNK,
    },
)
CALLS = st.lists(ENTRY | JUNK, max_size=5) | JUNK
SOURCES = st.lists(JUNK | st.just({"url": "https://a.example"}), max_size=3) | JUNK
EVIDENCE = st.fixed_dictionaries({}, optional={"tool_calls": CALLS, "sources": SOURCES}) | JUNK
ANSWERS = st.fixed_dictionaries(
    {}, optional={"evidence": EVIDENCE, "tool_calls": CALLS, "picked": JUNK, "path": JUNK}
)
LOGGED = st.builds(LoggedCall, name=NAMES, log=st.sampled_from(["audit", "console"]))
LOGS = st.none() | st.builds(
    ServerLogs,
    calls=st.none() | st.lists(LOGGED, max_size=5).map(tuple),
    requests=st.none() | st.integers(0, 3),
    alone=st.booleans(),
    logs=st.lists(st.builds(LogRead, kind=st.just("audit"), path=st.text(), bound=st.none())).map(
        tuple
    ),
    files=st.none() | st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
WANTED = {
    "must_include_fields": ["evidence.sources", "picked"],
    "must_include_tool_calls": ["shell"],
    "min_sources": 1,
    "min_tool_calls": 2,
    "min_picked": 1,
    "expected_path": "./scratch/a.md",
}
CASE = Case(id="a", input="?", keys={"required_tools": ["shell"], "output_requirements": WANTED})


@settings(max_examples=120)
@given(answer=ANSWERS | JUNK, logs=LOGS)
def test_the_verdict_keeps_its_word(answer, logs):
    response = Response(answer=json.dumps(answer), server_logs=logs)
    score = ToolEvidence(on_unknown="fail").grade(CASE, response)
    found = score.evidence
    shows = logs is not None and logs.calls is not None
    alone = shows and logs.alone and (logs.requests or 0) <= 1
    assert (found.verdict == "unknown") is not alone
    assert score.values[VERIFIED] == {"complete": 1.0, "incomplete": 0.0}.get(found.verdict)
    assert (found.verdict == "incomplete") is bool(found.missing)
    assert (score.values[FABRICATED] is None) is not shows
    assert len(found.fabricated) <= len(found.declared)
    assert set(found.fabricated) <= set(found.declared)
    assert score.passed is not bool(score.failures)


@given(answer=ANSWERS, one=LOGS, other=LOGS)
def test_logs_never_change_what_upstream_says(answer, one, other):
    judged = [
        ToolEvidence(mode="upstream").grade(
            CASE, Response(answer=json.dumps(answer), server_logs=x)
        )
        for x in (one, other)
    ]
    assert judged[0].failures == judged[1].failures


@given(
    names=st.lists(st.sampled_from(["t", "a__t", "b__t"]), max_size=4),
    others=st.lists(st.sampled_from(["t", "a__t", "c__t"]), max_size=4),
)
def test_nobody_is_blamed_who_could_be_paired(names, others):
    """Against all pairings, tried one by one."""

    def most(left, free):
        if not left:
            return 0
        skipped = most(left[1:], free)
        taken = (
            1 + most(left[1:], free[:n] + free[n + 1 :])
            for n, other in enumerate(free)
            if is_same_tool(left[0], other)
        )
        return max(skipped, *taken, 0)

    assert len(list_unmatched(names, others)) == len(names) - most(names, others)
