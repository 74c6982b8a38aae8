"""OpenAgent's console and audit log, as steps."""

from gate.agents.traces.reading import read_trace

OLD = """\
Tool Call: [web_search]
Arguments: [{"query": "x"}]
Tool Result: [[{"type":"text","text":"{...}"}]]
Tool Call: [None]
"""
NEW = """\
\x1b[97;42m--- LLM Call (Round 0) | Tools available: [7] ---\x1b[0m
--- Agent Round 1 | LLM Decision: [2 tool call(s)] ---
  Tool 1: [web_search] args: {"query": "x"}
  Tool 2: [web_fetch] args: {oops
Tool Result: [first line
second line]
Tool Result: [timeout]

--- LLM Call (Round 1) | Tool results fed back ---
LLM Decision: [Final Answer — no more tool calls after round 1]
"""


def test_the_old_console_has_calls_and_results_and_no_turns():
    trace = read_trace(OLD)
    (step,) = trace.steps
    assert (trace.shape, trace.turns) == ("openagent", None)
    assert (step.name, step.arguments, step.turn) == ("web_search", {"query": "x"}, None)
    assert step.result == '[{"type":"text","text":"{...}"}]'


def test_the_new_console_shows_the_rounds_and_results_belong_to_calls_in_order():
    trace = read_trace(NEW)
    search, fetch = trace.steps
    assert (search.result, fetch.result) == ("first line\nsecond line", "timeout")
    assert (fetch.arguments, fetch.raw_arguments) == (None, "{oops")
    assert ([search.turn, fetch.turn], trace.turns) == ([0, 0], 2)


def test_no_tool_call_means_none():
    assert read_trace("Tool Call: [None]\n").steps == ()


def audit(tool, outcome, **more):
    return {"type": "tool_call", "sessionId": "s", "tool": tool, "outcome": outcome, **more}


def test_in_the_audit_log_only_what_ran_is_a_step():
    trace = read_trace(
        [
            audit("web_search", "attempted"),
            audit("web_search", "success", durationMs=812),
            audit("fetch", "failure", durationMs=-1, server="search-mcp"),
            audit("nope", "not_found"),
        ]
    )
    assert [(step.name, step.error) for step in trace.steps] == [
        ("web_search", None),
        ("fetch", "failure"),
    ]
    assert [step.latency_ms for step in trace.steps] == [812.0, None]
    assert trace.faults == (
        "1 value is not a number, negative or too large: it counts as unknown (durationMs)",
        "1 call never ran (nope)",
    )


def test_the_audit_log_may_show_model_calls_and_messages():
    llm = {"type": "llm_call", "sessionId": "s", "model": "m", "outcome": "success"}
    said = {"type": "message", "sessionId": "s", "role": "assistant", "text": "x"}
    trace = read_trace([llm, audit("f", "success"), llm, said])
    assert (trace.turns, trace.steps[0].turn, trace.answer, trace.model) == (2, 0, "x", "m")
    assert read_trace([audit("f", "success")]).turns is None
    assert read_trace([{**llm, "outcome": "attempted"}, llm, said]).turns == 1
