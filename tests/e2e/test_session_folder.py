"""What a run leaves behind: the folder's name, every file, their keys, and the two last lines."""

import json
import re

import pytest

from gate.files.json_schema import mismatches
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.session_files import sessions_in
from tests.support.yes_project import write_project


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("session")
    with ChatServer(lambda question, nth: "no" if question == "q3" else "yes") as server:
        write_project(folder, server.url, suite_more='rounds: 2\n    version: "7"')
        ended = gate(folder, "run", "--baseline", "none", env={"STUB_API_KEY": "sk-never-shown"})
    return ended, sessions_in(folder)[0], folder


def test_the_last_lines_are_the_outcome_and_the_folder(done):
    ended, session, folder = done
    *_, verdict, last = ended.stdout.rstrip().splitlines()
    assert last == f"Session written to: {session.relative_to(folder)}"
    assert verdict.startswith("NO BASELINE: ")
    assert re.fullmatch(r"session-\d{8}-\d{6}-[0-9a-f]{8}", session.name)


def test_every_promised_file_is_there_once_for_all_and_once_a_suite(done):
    _, session, _ = done
    names = {path.name for path in session.iterdir()}
    assert names >= {
        *("meta.json", "summary.json", "details.jsonl", "events.jsonl", "report.md"),
        *("report.html", "comment.md", "junit.xml", "s"),
    }
    assert {path.name for path in (session / "s").iterdir()} == {
        "report.md",
        "summary.json",
        "details.jsonl",
    }


def test_a_row_a_trial_with_the_promised_keys(done):
    _, session, _ = done
    rows = [json.loads(x) for x in (session / "details.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 24
    for row in rows:
        assert row.keys() >= {
            *("suite", "case_id", "category", "tags", "round", "attempts", "status", "passed"),
            *("failures", "scores", "dimension_scores", "reasons", "latency_ms", "usage"),
            *("cost_usd", "steps", "output", "retrieved_ids", "error", "started_at"),
        }
        assert row["attempts"][0].keys() >= {
            *("n", "status", "passed", "failures", "latency_ms", "usage"),
        }
    failed = [row for row in rows if not row["passed"]]
    assert {row["case_id"] for row in failed} == {"c3"}
    assert failed[0]["scores"] == {"correctness.exact_match": 0.0}
    assert failed[0]["dimension_scores"] == {"correctness": 0.0}
    assert failed[0]["reasons"]["exact_match"]


def test_the_summary_has_the_promised_keys_and_fits_its_schema(done):
    _, session, folder = done
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    schema = json.loads(gate(folder, "schema", "session").stdout)
    assert mismatches(schema, summary) == []
    assert summary.keys() >= {
        *("schema_version", "session_id", "outcome", "exit_code", "reason", "policy"),
        *("provenance", "suites", "comparisons", "gates", "cases", "calls", "cost", "baseline"),
    }
    suite = summary["suites"]["s"]
    assert (suite["version"], suite["cases"], len(suite["dataset_digest"])) == ("7", 12, 64)
    success = suite["metrics"]["agent.success_rate"]
    assert success["value"] == pytest.approx(22 / 24)
    assert success.keys() >= {
        *("value", "min", "max", "ci_low", "ci_high", "confidence", "n", "unit", "direction"),
        "method",
    }
    assert [n for _, n in suite["failures_top"]] == [2]
    low, high = suite["success_rate_ci95"]
    assert low < 22 / 24 < high
    assert summary["calls"] == {"planned": 24, "cap": 24, "made": 24, "saved": 0}


def test_no_file_and_no_line_shows_a_key(done):
    ended, session, _ = done
    files = [path for path in session.rglob("*") if path.is_file()]
    assert not any(b"sk-never-shown" in path.read_bytes() for path in files)
    assert "sk-never-shown" not in ended.stdout + ended.stderr
