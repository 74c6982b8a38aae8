"""The OpenAgent benchmark as a user runs it: no gate.yml, four suites, a server on loopback."""

import json
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.server_log import ServerLog
from gate.files.json_schema import mismatches
from gate.store.trial_row_schema import schema
from tests.support.in_process import gate
from tests.support.sample_service import serving
from tests.support.session_files import sessions_in

STORE, PROVIDER = "sk-store-k3y", "sk-provider-k3y"
SIZES = {"baseperf": 40, "dialogue": 32, "hardchat": 6, "tool": 12}


@dataclass(frozen=True)
class Done:
    """A run and what it left."""

    ended: CompletedProcess[str]
    folder: Path

    @property
    def said(self) -> str:
        return self.ended.stdout + self.ended.stderr

    @property
    def session(self) -> Path:
        return sessions_in(self.folder)[-1]

    def read(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.session / name).read_text("utf-8"))
        return found

    def rows(self, name: str = "details.jsonl") -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.session / name).read_text("utf-8").splitlines()]


@contextmanager
def server(folder: Path, options: SampleOptions | None = None) -> Iterator[str]:
    """It writes its logs where a run in `folder` looks for them."""
    log = ServerLog(logs=folder / "logs", audits=folder / "audit", form="new", now=datetime.now)
    with serving(options, STORE, PROVIDER, log, folder / "results") as url:
        yield url


def run(folder: Path, url: str, *arguments: str, key: str = STORE) -> Done:
    env = {"OPENAGENT_PROVIDER_KEY": key} if key else {"OPENAGENT_PROVIDER_KEY": ""}
    return Done(gate(folder, "run", "--base-url", url, *arguments, env=env), folder)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    folder = tmp_path_factory.mktemp("everything")
    with server(folder) as url:
        once = ("--rounds", "1", "--stop", "off")
        yield run(folder, url, "--suite", "all", *once, "--model", "acme/m-1")


def by_case(rows: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {row["case_id"]: row for row in rows}


# ------------------------------------------------------------------------------------- everything


def test_all_four_suites_run_and_the_folder_is_named_last(done: Done) -> None:
    *_, verdict, last = done.ended.stdout.rstrip().splitlines()
    assert done.ended.returncode == 1, done.said
    assert verdict.startswith("FAIL: hardchat: agent.success_rate is 0"), "of which nothing passes"
    assert last == f"Session written to: {done.session.relative_to(done.folder)}"
    assert Counter(row["suite"] for row in done.rows()) == SIZES


def test_the_promised_files_are_there_for_the_run_and_for_each_suite(done: Done) -> None:
    assert {path.name for path in done.session.iterdir()} >= {
        *("meta.json", "summary.json", "details.jsonl", "report.md", *SIZES),
    }
    for suite, size in SIZES.items():
        files = {path.name for path in (done.session / suite).iterdir()}
        assert files == {"summary.json", "details.jsonl", "report.md"}
        assert len(done.rows(f"{suite}/details.jsonl")) == size
        assert list(done.read(f"{suite}/summary.json")["suites"]) == [suite]


def test_meta_tells_when_with_what_and_how_the_server_was(done: Done) -> None:
    meta = done.read("meta.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", meta["created_at"])
    assert meta["health"]["ok"] is True
    assert meta["health"]["status"] == 200
    assert meta["health"]["latency_ms"] > 0
    assert meta["provenance"]["tool_version"]
    assert "commit" in meta["provenance"]
    assert "acme/m-1" in meta["provenance"]["agent"]
    digests = [meta["suites"][name]["dataset_digest"] for name in SIZES]
    assert [len(digest) for digest in digests] == [64] * 4


def test_rows_fit_the_published_schema(done: Done) -> None:
    assert [mismatches(schema(), row) for row in done.rows()] == [[]] * 90


def test_no_file_and_no_line_holds_the_key(done: Done) -> None:
    files = [path for path in done.folder.rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [path for path in files if STORE.encode() in path.read_bytes()] == []
    assert STORE not in done.said


def test_what_the_agent_can_do_passes_and_what_it_cannot_fails_by_its_code(done: Done) -> None:
    rows = by_case(done.rows())
    assert rows["dl-format-3"]["passed"], "the prompt holds what the answer is made of"
    assert "factual_mismatch" in rows["dl-factual-1"]["failures"]
    assert "missing_stage:collect" in rows["HC-1"]["failures"]
    assert "missing_tool_call:web_search" in rows["WS-1"]["failures"]


def test_evidence_of_tools_that_ran_is_complete(done: Done) -> None:
    rows = by_case(done.rows("tool/details.jsonl"))
    for case in ("FI-1", "FI-2"):
        assert rows[case]["passed"], rows[case]["failures"]
        assert rows[case]["evidence"]["verdict"] == "complete"
        assert rows[case]["evidence"]["declared"] == rows[case]["evidence"]["observed"]
    assert rows["WS-1"]["evidence"]["verdict"] == "incomplete"
    assert "2 of 12 answers verified" in (done.session / "tool" / "report.md").read_text("utf-8")


def test_a_task_writes_below_its_session_and_nowhere_else(done: Done) -> None:
    notes = list(done.folder.rglob("fi2_note.md"))
    assert len(notes) == 1
    assert notes[0].is_relative_to(done.session)
    assert not (done.folder / "scratch").exists()


# ---------------------------------------------------------------------------- other keys, options


def test_with_a_provider_key_there_is_a_warning_and_no_evidence(tmp_path: Path) -> None:
    with server(tmp_path) as url:
        cases = ("--suite", "tool", "--case", "FI-1", "--case", "WS-1")
        found = run(tmp_path, url, *cases, "--rounds", "1", key=PROVIDER)
    assert "provider key" in found.ended.stderr
    assert found.ended.returncode == 1, "nothing passes"
    verdicts = {row["evidence"]["verdict"] for row in found.rows()}
    assert verdicts <= {"unknown", "incomplete"}


def test_invented_calls_are_told_from_those_that_ran(tmp_path: Path) -> None:
    with server(tmp_path, SampleOptions(invent=True)) as url:
        found = run(tmp_path, url, "--suite", "tool", "--case", "WS-1", "--rounds", "1")
    (row,) = found.rows()
    assert "fabricated_tool_call:web_search" in row["failures"]
    assert row["evidence"]["fabricated"] == ["web_search"] * 2
    assert found.ended.returncode == 1


def test_options_are_honoured(tmp_path: Path) -> None:
    with server(tmp_path, SampleOptions(latency_ms=900.0)) as url:
        options = ("--rounds", "2", "--max-attempts", "1", "--timeout", "0.4")
        found = run(tmp_path, url, "--suite", "baseperf", "--case", "bp-factual-4", *options)
    rows = found.rows()
    assert [row["round"] for row in rows] == [1, 2]
    assert {len(row["attempts"]) for row in rows} == {1}
    assert {row["status"] for row in rows} == {"agent_error"}
    assert all("0.4 s" in row["error"] for row in rows)


def test_no_server_is_6_and_names_the_address(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = run(tmp_path, url, "--suite", "all", "--rounds", "1")
    assert found.ended.returncode == 6
    assert url in found.said


def test_a_missing_key_is_2_and_names_the_variable(tmp_path: Path) -> None:
    found = run(tmp_path, "http://127.0.0.1:9", "--suite", "all", key="")
    assert found.ended.returncode == 2
    assert "OPENAGENT_PROVIDER_KEY is not set" in found.ended.stderr
    assert list((tmp_path / "results").glob("session-*")) == []


def test_a_wrong_key_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    with server(tmp_path) as url:
        found = run(tmp_path, url, "--suite", "hardchat", "--rounds", "1", key="sk-other")
    assert found.ended.returncode == 6
    assert all("The provider is not found" in row["error"] for row in found.rows())
    assert {row["status"] for row in found.rows()} == {"infra_error"}
    assert "The provider is not found" in found.ended.stdout
