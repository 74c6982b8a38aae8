"""docs/server-logs.md: its example reads as it says, and its tables name what there is."""

import re
from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.paths import candidates
from gate.agents.server_logs.request_logs import NO_CHAT, LogBook
from gate.records import LogKind
from gate.records.server_logs import NO_CALLS, NOT_ALONE, NOTHING_READ, SEVERAL
from gate.suites.config.load import load
from tests.support.paths import ROOT
from tests.support.server_log_lines import Ticking

PAGE = (ROOT / "docs" / "server-logs.md").read_text(encoding="utf-8")
AT = int(datetime(2026, 11, 20, 9, 15, tzinfo=UTC).timestamp() * 1000)
FILES: dict[LogKind, str] = {"access": "a.log", "console": "c.log", "audit": "audit/chat_1.jsonl"}


def example(kind):
    (text,) = re.findall(rf"```text {kind}\n(.*?)```", PAGE, re.DOTALL)
    return text


def shown(root, *kinds, bind):
    options = LogOptions(
        access="a.log", console="c.log", audit="audit", bind=bind, timezone="Asia/Shanghai"
    )
    time = Ticking()
    book = LogBook(options, env={}, root=root, clock=time.clock, sleep=time.sleep)
    mark = book.before()
    for kind in kinds:
        (root / FILES[kind]).parent.mkdir(exist_ok=True)
        (root / FILES[kind]).write_text(example(kind), encoding="utf-8")
    return book.after(mark, started_ms=AT, ended_ms=AT + 2500, alone=True)


@pytest.mark.parametrize("bind", ["offset", "window"])
def test_the_example_shows_what_the_page_says(tmp_path, bind):
    found = shown(tmp_path, "access", "console", "audit", bind=bind)
    assert found.requests == 1
    assert [(call.name, call.outcome) for call in found.calls] == [
        ("web_search", "success"),
        ("fetch", "failure"),
    ]


def test_without_the_audit_log_the_console_shows_what_the_page_says(tmp_path):
    found = shown(tmp_path, "access", "console", bind="offset")
    assert [call.name for call in found.calls] == [
        "web_search",
        "search-mcp__fetch",
        "no_such_tool",
    ]


def test_the_options_of_the_page_load_and_are_all_there_are():
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    suites = "suites: [{name: a, dataset: a.jsonl, graders: [exact_match]}]\n"
    loaded = load(
        lambda path: (block + suites).encode(),
        "gate.yml",
        env={},
        root=Path(),
        today=date(2026, 11, 20),
    )
    assert sorted(loaded.agent.options["logs"]) == sorted(f.name for f in fields(LogOptions))


def test_every_place_that_is_looked_at_is_named():
    for env in ({}, {"OPENAGENT_CONSOLE_LOG": "x", "AGENTBENCH_CONSOLE_LOG_FALLBACK": "y"}):
        for some in candidates(LogOptions(), env, Path(), nearby=True).values():
            for one in some:
                assert f"`{one.named_by or one.shown}" in PAGE


@pytest.mark.parametrize("note", [NOT_ALONE, SEVERAL, NO_CHAT, NO_CALLS, NOTHING_READ])
def test_every_note_of_the_request_is_explained(note):
    assert f"| {note.partition(':')[0]} |" in PAGE
