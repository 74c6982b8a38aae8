"""A run against agents that hand over the trace of what they did, in three shapes."""

import json

import pytest

from gate.files.json_schema_quick import compile_check
from gate.store.trial_row_schema import schema
from tests.support.in_process import run_session
from tests.support.session_files import details_of

CONFIG = """\
version: 1
agent: {{type: python, callable: "./agents.py:{name}"}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: [{{contains: {{text: "yes"}}}}], rounds: 1}}
baseline: {{source: none}}
"""
AGENTS = """
def call(name, id): return {"id": id, "function": {"name": name, "arguments": "{}"}}

def openai(case):
    return [
        {"role": "user", "content": case["input"]},
        {"role": "assistant", "content": None, "tool_calls": [call("f", "1"), call("g", "2")]},
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        {"role": "assistant", "content": "yes"},
    ]

def langchain(case):
    calls = [{"name": n, "args": {}, "id": i} for n, i in (("f", "1"), ("g", "2"))]
    return {"messages": [
        {"type": "ai", "content": "", "tool_calls": calls},
        {"type": "tool", "content": "r", "tool_call_id": "1"},
        {"type": "ai", "content": "yes"},
    ]}

def anthropic(case):
    calls = [{"type": "tool_use", "id": i, "name": n, "input": {}} for n, i in
             (("f", "1"), ("g", "2"))]
    results = [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]
    return {"answer": "yes", "trajectory": [
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
        {"role": "assistant", "content": "something else"},
    ]}
"""


@pytest.mark.parametrize("name", ["openai", "langchain", "anthropic"])
def test_steps_turns_and_what_is_odd_stand_in_the_row(tmp_path, name):
    (tmp_path / "gate.yml").write_text(CONFIG.format(name=name), encoding="utf-8")
    (tmp_path / "agents.py").write_text(AGENTS, encoding="utf-8")
    case = {"id": "c1", "input": "?"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (row,) = details_of(run_session(tmp_path))
    assert compile_check(schema())(row)
    assert (row["output"], row["passed"], row["turns"]) == ("yes", True, 2)
    assert [(step["name"], step["result"], step["turn"]) for step in row["steps"]] == [
        ("f", "r", 0),
        ("g", None, 0),
    ]
    assert row["trace_faults"] == ["1 call has no result (g 2)"]
    assert row["omitted_steps"] == 0
