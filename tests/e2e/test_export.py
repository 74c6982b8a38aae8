"""`gate export` as users meet it; docs/export.md as it stands."""

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from gate.plugins import EXPORTERS
from gate.records.codec import to_json
from tests.support.as_process import gate_as_process
from tests.support.in_process import gate, output_of
from tests.support.paths import ROOT
from tests.support.stored_session import store

OLD = ROOT / "tests" / "data" / "openagent_session"
PAGE = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
CASES = {"a": [True, False], "b": [True, True]}


def refused(folder, *arguments):
    found = gate(folder, "export", *map(str, arguments))
    assert found.returncode == 2, found.stdout + found.stderr
    assert found.stdout == ""
    return found.stderr


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("session")
    output_of(folder, "import", "openagent", str(OLD), "--out", "imported")
    (found,) = (folder / "imported").glob("session-*")
    return found


@pytest.mark.parametrize("name", EXPORTERS.names())
def test_a_session_is_exported_the_same_to_a_file_and_to_the_output(session, tmp_path, name):
    printed = output_of(tmp_path, "export", str(session), "--format", name)
    output_of(tmp_path, "export", str(session), "--format", name, "--out", "x")
    assert (tmp_path / "x").read_bytes() == printed.encode()
    assert len(printed) > 2_000
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_junit_is_the_sessions_own(session, tmp_path):
    printed = output_of(tmp_path, "export", str(session), "--format", "junit")
    assert printed == (session / "junit.xml").read_text("utf-8")


def test_one_suite_alone(session, tmp_path):
    printed = output_of(tmp_path, "export", str(session), "--format", "csv", "--suite", "tool")
    rows = list(csv.DictReader(io.StringIO(printed, newline="")))
    assert {row["suite"] for row in rows} == {"tool"}
    everything = output_of(tmp_path, "export", str(session), "--format", "csv", "--suite", "all")
    assert everything == output_of(tmp_path, "export", str(session), "--format", "csv")
    told = refused(tmp_path, session, "--format", "csv", "--suite", "tol")
    assert "--suite tol: not in this session - did you mean 'tool'?" in told


def test_what_is_there_is_kept_unless_it_is_forced(session, tmp_path):
    file = tmp_path / "x"
    file.write_text("mine")
    told = refused(tmp_path, session, "--format", "csv", "--out", "x")
    assert "--out x: already exists; choose another file, or add --force" in told
    assert file.read_text() == "mine"
    output_of(tmp_path, "export", str(session), "--format", "csv", "--out", "x", "--force")
    assert file.read_text().startswith("session_id,")
    assert "not a regular file" in refused(
        tmp_path, session, "--format", "csv", "--out", ".", "--force"
    )


def test_what_cannot_be_exported_is_named(session, tmp_path):
    told = refused(tmp_path, session, "--format", "cvs")
    assert "unknown export format 'cvs' - did you mean 'csv'?" in told
    assert "not a session folder" in refused(tmp_path, tmp_path, "--format", "csv")
    cut = store(tmp_path, CASES, finished=False)
    assert "has no verdict" in refused(tmp_path, cut, "--format", "csv")
    (there,) = (tmp_path / "none").parent.glob("session-*")
    found = gate(tmp_path, "export", str(session), "--format", "csv", "--out", "no/such/folder")
    assert found.returncode == 6
    assert "choose another file" in found.stderr
    assert there == cut


def test_a_row_that_no_run_writes_is_refused_before_anything_is_written(tmp_path):
    folder = store(tmp_path, CASES)
    details = folder / "details.jsonl"
    rows = details.read_text().splitlines()
    rows[-1] = json.dumps({**json.loads(rows[-1]), "latency_ms": "fast"})
    details.write_text("\n".join(rows))
    told = refused(tmp_path, folder, "--format", "jsonl", "--out", "x")
    assert "trial 4: latency_ms" in told
    assert not (tmp_path / "x").exists()
    assert not list(tmp_path.glob(".x*"))


def test_the_control_of_a_session_is_exported_without_its_verdict(tmp_path):
    whole = store(tmp_path, CASES)
    (inner,) = [store(tmp_path / "other", {"a": [False, False]}, finished=False)]
    shutil.move(inner, whole / "_control")
    for name in EXPORTERS:
        printed = output_of(tmp_path, "export", str(whole / "_control"), "--format", name)
        assert "analytics" in printed
    (first, second) = csv.DictReader(
        io.StringIO(
            output_of(tmp_path, "export", str(whole / "_control"), "--format", "csv"), newline=""
        )
    )
    assert [first["verdict"], second["verdict"]] == ["failed", "failed"]


def test_a_merged_session_is_exported(tmp_path):
    cases = [{"id": f"c{n}", "input": "q", "expected_answer": "yes"} for n in range(4)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    (tmp_path / "mine.py").write_text("def answer(case):\n    return 'yes'\n")
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: python, callable: './mine.py:answer'}\nprotect: false\n"
        "suites: [{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}]\n"
    )
    for part in ("1/2", "2/2"):
        output_of(tmp_path, "run", "--shard", part, "--baseline", "none", "--out", "parts")
    parts = [str(folder) for folder in sorted((tmp_path / "parts").glob("session-*"))]
    output_of(tmp_path, "merge", *parts, "--baseline", "none", "--out", "whole")
    (whole,) = (tmp_path / "whole").glob("session-*")
    found = output_of(tmp_path, "export", str(whole), "--format", "jsonl").splitlines()
    assert [json.loads(line)["case_id"] for line in found] == ["c0", "c1", "c2", "c3"]


def test_one_reader_who_goes_away_is_no_bug(session):
    command = [sys.executable, "-m", "gate", "export", str(session), "--format", "jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as one:
        assert one.stdout.readline().startswith(b'{"session_id"')
        one.stdout.close()
        assert one.stderr.read() == b""
        assert one.wait(timeout=60) in (0, 130)


def test_bytes_come_out_as_they_are_whatever_the_console_is(session, tmp_path):
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PATH": ""}
    command = [sys.executable, "-m", "gate", "export", str(session), "--format", "csv"]
    found = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, check=True)
    output_of(tmp_path, "export", str(session), "--format", "csv", "--out", "x")
    assert found.stdout == (tmp_path / "x").read_bytes()
    assert found.stdout.count(b"\r\n") > 40
    assert b"\r\r\n" not in found.stdout


def test_a_format_of_ones_own_is_a_file(session, tmp_path):
    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = recipe[recipe.index('"""The trials that failed, one a line."""') :].split("\n#\n")[0]
    (tmp_path / "mine.py").write_text(code)
    command = ("export", str(session), "--format", "./mine.py:Failing")
    assert "fact-2\t2\n" in gate_as_process(tmp_path, *command).stdout


def test_what_promptfoo_would_show_is_imported_again_with_the_same_verdicts(session, tmp_path):
    arguments = ("--format", "promptfoo", "--suite", "dialogue", "--out", "eval.json")
    output_of(tmp_path, "export", str(session), *arguments)
    output_of(tmp_path, "import", "promptfoo", "eval.json", "--out", "back")
    (back,) = (tmp_path / "back").glob("session-*")
    assert verdicts(back) == verdicts(session, "dialogue")


def verdicts(folder, suite="dialogue"):
    rows = map(json.loads, (folder / "details.jsonl").read_text("utf-8").splitlines())
    return sorted(
        (row["suite"], row["case_id"], row["round"], row["passed"], row["status"])
        for row in rows
        if row["suite"] == suite
    )


def test_the_commands_of_the_page_run(tmp_path):
    shutil.copytree(OLD, tmp_path / "old" / "session-20260512-143052-1a2b3c4d")
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 1 + len(EXPORTERS.names())
    for line in lines:
        words = [
            str(next(tmp_path.glob(word), word)) if "*" in word else word
            for word in shlex.split(line)[1:]
        ]
        output_of(tmp_path, *words)
    for name in ("trials.csv", "trials.jsonl", "junit.xml", "events.jsonl", "eval.json"):
        assert (tmp_path / name).stat().st_size > 500


def test_the_page_names_every_format_and_column(session, tmp_path):
    line = output_of(tmp_path, "export", str(session), "--format", "jsonl").splitlines()[0]
    assert not [name for name in json.loads(line) if f"`{name}`" not in PAGE]
    assert not [name for name in EXPORTERS if f"`{name}`" not in PAGE]
    events = json.loads(
        output_of(tmp_path, "export", str(session), "--format", "otel").splitlines()[0]
    )["resourceLogs"][0]
    keys = [one["key"] for one in events["resource"]["attributes"]]
    for record in events["scopeLogs"][0]["logRecords"]:
        keys += [one["key"] for one in record["attributes"]]
    assert not [key for key in keys if f"`{key}`" not in PAGE]
    assert to_json(events)
