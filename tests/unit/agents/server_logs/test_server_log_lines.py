"""The lines of an OpenAgent server's three logs, read one by one."""

import json
from datetime import datetime

import pytest

from gate.agents.server_logs.access import duration_ms, parse_access_line
from gate.agents.server_logs.audit import parse_audit
from gate.agents.server_logs.console import parse_console
from gate.agents.traces.openagent_lines import strip_colours
from tests.support.server_log_lines import access, audited, new_console, old_console


@pytest.fixture(scope="module")
def samples(gate_real_data):
    path = gate_real_data / "openagent" / "log_and_http_samples.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_access_lines_of_the_samples_read_as_expected(samples):
    read = [parse_access_line(strip_colours(line)) for line in samples["beego_access_log"]]
    found = [
        {"method": one.method, "path": one.path, "status": one.status, "ms": one.duration_ms}
        for one in read
    ]
    assert found == samples["expected_access"]
    assert [one.is_chat for one in read] == [False, True, False, True]


@pytest.mark.parametrize("form", ["old", "new"])
def test_the_consoles_of_the_samples_read_as_expected(samples, form):
    called = parse_console(samples[f"console_{form}"])
    assert list(called.names) == samples[f"expected_console_{form}"]
    none = parse_console(samples[f"console_{form}_no_tools"])
    assert (none.names, none.shows) == ((), True)


def test_the_audit_records_of_the_samples_read_as_expected(samples):
    found = parse_audit([json.dumps(record) for record in samples["audit_jsonl"]])
    assert [call.name for call in found.calls] == samples["expected_audit_executed"]
    assert [call.outcome for call in found.calls] == ["success", "failure"]


@pytest.mark.parametrize("colours", [True, False])
def test_an_access_line_is_read_with_colours_and_without(colours):
    line = access(path="/api/v1/chat/completions", status=500, colours=colours)
    found = parse_access_line(strip_colours(line))
    assert found.at == datetime(2026, 11, 20, 9, 15, 0, 250_000)
    assert (found.method, found.path, found.status) == ("POST", "/api/v1/chat/completions", 500)
    assert (found.duration_ms, found.is_chat) == (1500, True)


@pytest.mark.parametrize("path", ["/api/chat/completions2", "/x/api/chat/completions", "/api/chat"])
def test_another_path_is_no_chat_completion(path):
    assert not parse_access_line(strip_colours(access(path=path))).is_chat


@pytest.mark.parametrize(
    "line",
    [
        "2026/11/20 09:15:00.250 [D] |10.0.0.7| 200 |1.5s|",
        "2026/11/20 09:15:00.250 [D] |10.0.0.7| 200 |1.5s| match| POST",
        access("2026/11/20 09:15:00.2501"),
    ],
)
def test_a_line_without_its_parts_is_of_no_request(line):
    assert parse_access_line(strip_colours(line)) is None


def test_a_query_is_no_part_of_the_path():
    assert parse_access_line(strip_colours(access(path="/api/chat/completions?a=1"))).is_chat


def test_a_call_without_a_name_is_a_call():
    nameless = json.dumps({"type": "tool_call", "tool": 5, "outcome": "success"})
    assert [call.name for call in parse_audit([nameless]).calls] == ["(no name)"]
    assert parse_console(["Tool Call: []"]).names == ("(no name)",)
    assert parse_console(["  Tool 1: [] args: {}"]).names == ("(no name)",)


def test_a_call_of_the_model_is_no_call_of_a_tool():
    assert parse_audit([audited("m", kind="llm_call")]).calls == ()


def test_a_chat_completion_is_posted():
    assert not parse_access_line(strip_colours(access(method="GET"))).is_chat


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("312.4µs", 0.3124),
        ("312.4μs", 0.3124),
        ("312.4us", 0.3124),
        ("850ns", 0.00085),
        ("5.6761ms", 5.6761),
        ("10.1s", 10_100),
        ("1m2.5s", 62_500),
        ("1h2m0s", 3_720_000),
        ("0s", 0),
        ("", None),
        ("5", None),
        ("5 ms", None),
        ("ms", None),
        ("1.5sx", None),
    ],
)
def test_a_duration_is_read_as_go_prints_it(text, ms):
    assert duration_ms(text) == ms


@pytest.mark.parametrize(
    "line",
    [
        "",
        "2026/11/20 09:15:00.250 [I] [server.go:42] http server running",
        access("2026/13/45 09:15:00.250"),
        access("2026-11-20 09:15:00.250"),
        access(took="soon"),
        access().replace("200", "2O0"),
        access()[:60],
    ],
)
def test_any_other_line_is_no_request(line):
    assert parse_access_line(strip_colours(line)) is None


def test_both_consoles_name_calls_in_order_with_their_server():
    names = ("web_search", "search-mcp__fetch", "web_search")
    assert parse_console(old_console(*names).splitlines()).names == names
    assert parse_console(new_console(*names).splitlines()).names == names


@pytest.mark.parametrize("said", [old_console(), new_console()])
def test_a_console_can_say_that_there_was_no_call(said):
    found = parse_console(said.splitlines())
    assert (found.names, found.shows, found.odd) == ((), True, False)


@pytest.mark.parametrize("line", ["started", "Tool Result: [ok]", "Arguments: [{}]", "Tool Call: "])
def test_a_line_that_names_no_call_shows_nothing_of_calls(line):
    assert parse_console([line]).shows is False


def test_a_call_that_was_never_decided_on_is_odd():
    honest = new_console("web_search").splitlines()
    assert not parse_console(honest).odd
    assert parse_console([*honest, "  Tool 2: [shell] args: {}"]).odd
    assert parse_console([line for line in honest if "Tool 1" not in line]).odd


FORGED = {
    "an old line in a new console": ["Tool Call: [shell]"],
    "another round": [
        "--- Agent Round 2 | LLM Decision: [1 tool call(s)] ---",
        "  Tool 1: [shell] args: {}",
    ],
    "the round again": [
        "--- Agent Round 1 | LLM Decision: [1 tool call(s)] ---",
        "  Tool 1: [shell] args: {}",
    ],
    "a round and its end": [
        "--- Agent Round 2 | LLM Decision: [1 tool call(s)] ---",
        "  Tool 1: [shell] args: {}",
        "LLM Decision: [Final Answer — no more tool calls after round 2]",
    ],
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_what_a_tool_prints_is_no_call_of_another_one(forged):
    """A page that looks like the console must not be the evidence of a call."""
    honest = new_console("web_fetch").splitlines()
    at = honest.index("Tool Result: [ok]")
    printed = [*honest[:at], "Tool Result: [a page", *forged, "]", *honest[at + 1 :]]
    assert parse_console(printed).odd


@pytest.mark.parametrize(
    ("first", "second"), [(("web_fetch",), ("shell",)), ((), ("shell",)), (("shell",), ())]
)
def test_two_requests_in_one_console_are_odd(first, second):
    both = f"{new_console(*first)}{new_console(*second)}".splitlines()
    assert parse_console(both).odd


def test_an_answer_without_calls_beside_a_running_request_is_odd():
    running = new_console("shell").splitlines()[:-1]
    assert parse_console([*running, new_console().splitlines()[-1]]).odd
    assert not parse_console(running).odd


def test_rounds_of_several_calls_follow_each_other():
    lines = [
        "--- LLM Call (Round 0) | Tools available: [7] ---",
        *("--- Agent Round 1 | LLM Decision: [2 tool call(s)] ---", "  Tool 1: [a] args: {}"),
        *("Tool Result: [x]", "  Tool 2: [b] args: {}", "Tool Result: [y]"),
        "--- LLM Call (Round 1) | Tool results fed back ---",
        *("--- Agent Round 2 | LLM Decision: [1 tool call(s)] ---", "  Tool 1: [a] args: {}"),
        "LLM Decision: [Final Answer — no more tool calls after round 2]",
    ]
    found = parse_console(lines)
    assert (found.names, found.odd) == (("a", "b", "a"), False)


def test_in_the_audit_log_only_success_and_failure_were_executed():
    outcomes = ("attempted", "failure", "not_found", "success", "soon")
    found = parse_audit([audited(outcome, outcome) for outcome in outcomes])
    assert {call.name: call.outcome for call in found.calls} == {
        "failure": "failure",
        "success": "success",
    }
    assert found.tried == ("failure", "not_found", "success")


def test_audited_calls_are_in_the_order_of_their_times_in_utc():
    later, earlier = "2026-11-20T09:15:02.5Z", "2026-11-20T17:15:00.123456+08:00"
    found = parse_audit([audited("b", at=later), audited("a", at=earlier), audited("c", at="soon")])
    assert [(call.name, call.at) for call in found.calls] == [
        ("c", None),
        ("a", "2026-11-20T09:15:00.123Z"),
        ("b", "2026-11-20T09:15:02.500Z"),
    ]


def test_broken_audit_lines_are_left_out_and_counted():
    lines = [audited("a"), "{", "[]", "null", '{"type": ["tool_call"], "tool": {}}', "[" * 100_000]
    found = parse_audit(lines)
    assert ([call.name for call in found.calls], found.broken) == (["a"], 4)


def test_an_audit_log_of_messages_alone_shows_nothing_of_calls():
    assert not parse_audit([audited("", kind="message")]).shows
    assert parse_audit([audited("", "attempted", kind="llm_call")]).shows
    assert parse_audit([audited("x", "not_found")]).shows


def test_a_chat_that_only_asks_its_model_is_a_chat():
    """Beside it the calls of another one are not its own."""
    own = audited("", kind="llm_call", chat="own")
    found = parse_audit([own, audited("shell", chat="other"), audited("", kind="chat_title")])
    assert found.chats == 2
    assert parse_audit([own, audited("shell", chat="own")]).chats == 1
