"""The lines that the sample agent's server writes are those of a real OpenAgent server."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gate.agents.sample_agent.server_lines import (
    EndedRequest,
    access_line,
    audit,
    console,
    go_duration,
)
from gate.records import Response, ToolCall

AT = datetime(2026, 5, 12, 14, 31, 3, 977_000)
SEARCH = ToolCall(
    name="web_search",
    arguments={"query": "WebGPU 2026", "count": 5},
    result="{...}",
    turn=0,
)


@pytest.fixture(scope="module")
def samples(gate_real_data: Path) -> dict[str, Any]:
    path = gate_real_data / "openagent" / "log_and_http_samples.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def ended(**changes: Any) -> EndedRequest:
    usual = {
        "address": "127.0.0.1",
        "method": "POST",
        "path": "/api/chat/completions",
        "status": 200,
        "ns": 10_123_456_000,
        "known": True,
    }
    return EndedRequest(**usual | changes)


@pytest.mark.parametrize(
    ("ns", "written"),
    [
        (0, "0s"),
        (12, "12ns"),
        (312_400, "312.4µs"),
        (5_676_100, "5.6761ms"),
        (10_100_000_000, "10.1s"),
        (1_000_000_000, "1s"),
        (62_500_000_000, "1m2.5s"),
        (3_600_000_000_000, "1h0m0s"),
    ],
)
def test_durations_are_written_as_go_does(ns: int, written: str) -> None:
    assert go_duration(ns) == written


def test_an_access_line_is_that_of_beego(samples: dict[str, Any]) -> None:
    assert access_line(ended(), at=AT) == samples["beego_access_log"][1]


def test_a_path_cannot_break_or_colour_a_line() -> None:
    line = access_line(ended(path="/a\x1b[31m\r\n2026/05/12", status=404, known=False), at=AT)
    assert "\n" not in line
    assert "\x1b[31m" not in line
    assert "| nomatch|" in line
    assert "\x1b[97;43m 404 " in line


def test_the_old_console_is_written(samples: dict[str, Any]) -> None:
    written = list(console([SEARCH], "old", offered=7))
    assert written == samples["console_old"][:3]
    assert list(console([], "old", offered=7)) == samples["console_old_no_tools"]


def test_the_new_console_is_written(samples: dict[str, Any]) -> None:
    fetch = ToolCall(
        name="web_fetch", arguments={"url": "https://example.com"}, error="timeout", turn=0
    )
    assert list(console([SEARCH, fetch], "new", offered=7)) == samples["console_new"]
    assert list(console([], "new", offered=7)) == samples["console_new_no_tools"]


def test_calls_of_two_rounds_are_told_apart() -> None:
    second = ToolCall(name="time", arguments={}, result=1, turn=1)
    written = list(console([SEARCH, second], "new", offered=7))
    assert [line for line in written if "Agent Round" in line] == [
        "--- Agent Round 1 | LLM Decision: [1 tool call(s)] ---",
        "--- Agent Round 2 | LLM Decision: [1 tool call(s)] ---",
    ]
    assert written[-1].endswith("no more tool calls after round 2]")


def test_a_result_stays_on_its_line() -> None:
    hostile = ToolCall(name="read", arguments={}, error="a\nTool Call: [shell]", turn=0)
    assert not [line for line in console([hostile], "old", offered=1) if "\n" in line]


def test_the_audit_log_tells_attempt_and_outcome(samples: dict[str, Any]) -> None:
    steps = (
        SEARCH,
        ToolCall(name="fetch", arguments={}, error="timeout", turn=1),
        ToolCall(name="nope", arguments={}, error="there is no tool 'nope'", turn=2),
    )
    response = Response(answer="Paris", steps=steps, model="m")
    lines = audit(response, session="chat_abc", at=AT.replace(tzinfo=UTC))
    records = [json.loads(line) for line in lines]
    calls = [record for record in records if record["type"] == "tool_call"]
    assert [(call["tool"], call["outcome"]) for call in calls] == [
        ("web_search", "attempted"),
        ("web_search", "success"),
        ("fetch", "attempted"),
        ("fetch", "failure"),
        ("nope", "attempted"),
        ("nope", "not_found"),
    ]
    known = {key for record in samples["audit_jsonl"] for key in record}
    assert {key for call in calls for key in call} <= known
    assert {record["timestamp"] for record in records} == {"2026-05-12T14:31:03.977Z"}
    assert "Paris" not in json.dumps(records)
    assert re.fullmatch(r"chat_\w+", records[0]["sessionId"])
