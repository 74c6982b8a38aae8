"""What LangGraph streams, in each of its modes and in each way of naming them."""

import json

import pytest

from gate.agents.traces.reading import read_trace
from gate.errors import AgentFailure


def dumped(kind, content, **more):
    return {"type": kind, "content": content, "response_metadata": {}, **more}


ASKED = dumped("human", "How many?", id="1")
CALLS = dumped("ai", "", id="2", tool_calls=[{"name": "count", "args": {"of": "pens"}, "id": "c"}])
RESULT = dumped("tool", "4", id="3", tool_call_id="c", name="count")
SAYS = dumped("ai", "Four.", id="4", tool_calls=[])
STATES = [{"messages": [ASKED, CALLS, RESULT, SAYS][:n]} for n in range(1, 5)]
# A node may give one message alone, several changes, or nothing.
UPDATES = [
    {"model": {"messages": [CALLS]}},
    {"tools": [{"messages": [RESULT]}, {"left": 3}]},
    {"model": {"messages": SAYS}},
    {"tidy": None},
    {"__interrupt__": [{"value": "sure?", "id": "i"}]},
]
GIVEN = [("model", [CALLS]), ("tools", [RESULT]), ("model", SAYS)]


def task(node, n, **more):
    return {"id": f"t{n}", "name": node, **more}


TASKS = [
    row
    for n, (node, messages) in enumerate(GIVEN)
    for row in (
        task(node, n, input=STATES[n], triggers=["x"]),
        task(node, n, error=None, result={"messages": messages}, interrupts=[]),
    )
]
DEBUG = [
    {"step": n, "type": "task_result" if "result" in one else "task", "payload": one}
    for n, one in enumerate(TASKS)
]
OLD_DEBUG = [
    {"step": n, "type": "task_result", "payload": task(node, n, result=[["messages", messages]])}
    for n, (node, messages) in enumerate(GIVEN)
]
BESIDE = {"langgraph_step": 1, "langgraph_node": "model"}
MESSAGES = [[one, BESIDE] for one in (CALLS, RESULT, SAYS)]
STREAMS = {"updates": UPDATES, "values": STATES, "tasks": TASKS, "debug": DEBUG}
WAYS = {
    **STREAMS,
    "messages": MESSAGES,
    "debug of before": OLD_DEBUG,
    **{f"{m}, named": [[m, one] for one in s] for m, s in STREAMS.items()},
    **{f"{m}, of a subgraph": [[["sub:1"], one] for one in s] for m, s in STREAMS.items()},
    **{f"{m}, both": [[[], m, one] for one in s] for m, s in STREAMS.items()},
    **{
        f"{m}, version 2": [{"type": m, "ns": [], "data": one} for one in s]
        for m, s in [*STREAMS.items(), ("messages", MESSAGES)]
    },
    **{
        f"{m}, of the server": [
            {"event": "metadata", "data": {"run_id": "r"}},
            *({"event": f"{m}|sub:1", "data": one} for one in s),
        ]
        for m, s in STREAMS.items()
    },
    "updates beside values": [
        row
        for update, state in zip(UPDATES[:3], STATES[1:], strict=True)
        for row in (["updates", update], ["values", state])
    ],
    "updates beside messages": [
        *(["messages", pair] for pair in MESSAGES),
        *(["updates", one] for one in UPDATES),
    ],
}


@pytest.mark.parametrize("stream", WAYS.values(), ids=WAYS)
def test_each_stream_comes_to_the_same_steps(stream):
    for data in (stream, "".join(json.dumps(one) + "\n" for one in stream)):
        trace = read_trace(data)
        (step,) = trace.steps
        assert (step.name, step.arguments, step.result) == ("count", {"of": "pens"}, "4")
        assert (trace.shape, trace.answer, trace.turns) == ("langgraph", "Four.", 2)


def test_chunks_are_refused_and_not_counted_as_turns():
    chunks = [[{**SAYS, "type": "AIMessageChunk", "content": one}, BESIDE] for one in ("Fo", "ur")]
    with pytest.raises(AgentFailure, match="it is a chunk - stream `updates`"):
        read_trace(chunks)
