"""Sessions of the OpenAgent benchmark as every command takes them; docs/import.md as it stands."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.as_process import gate_as_process
from tests.support.import_page import blocks, commands, expanded
from tests.support.in_process import gate, output_of
from tests.support.paths import ROOT
from tests.support.session_files import sessions_in

SESSION = ROOT / "tests" / "data" / "openagent_session"
TASKS = ROOT / "tests" / "data" / "openagent_tasks"
SHOWN = ("openagent", "Comparing an import with a run")  # sections of docs/import.md
AGENT = """
ANSWERS = {}
import json, pathlib
for line in (pathlib.Path(__file__).parent / "details.jsonl").read_text().splitlines():
    row = json.loads(line)
    if row["suite"] == "dialogue" and row["ok"]:
        ANSWERS[row["task_id"]] = row["response_text"]


def answer(case):
    return ANSWERS[case["id"]]


def worse(case):
    return "It depends on quite a number of things that nobody could ever list in full here."
"""


def old_session(folder, session_id):
    shutil.copytree(SESSION, folder / f"session-{session_id}")
    meta = folder / f"session-{session_id}" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"session_id": session_id}))


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """Somebody who changes over: his old sessions and tasks, and gate.yml as the page has it."""
    folder = tmp_path_factory.mktemp("moved")
    for session_id in ("20260512-143052-1a2b3c4d", "20260519-080000-5e6f7a8b"):
        old_session(folder / "old", session_id)
    shutil.copytree(TASKS, folder / "old" / "datasets" / "dialogue")
    (folder / "gate.yml").write_text(blocks("yaml", *SHOWN)[0], encoding="utf-8")
    said = {}
    for words in commands(*SHOWN):
        said[" ".join(words)] = output_of(folder, *expanded(words, folder))
    return folder, said


def test_the_commands_of_the_page_say_what_it_says(moved):
    _, said = moved
    outputs = {line.split("/")[0]: text for line, text in said.items()}
    first = next(iter(said.values())).splitlines()
    assert first[-2].startswith("NO BASELINE: ")
    assert re.fullmatch(
        r"Session written to: imported.session-20260512-143052-[0-9a-f]{8}", first[-1]
    )
    assert "2026-05-12 14:30" in outputs["history imported"]
    assert "8 cases x 3 rounds" in outputs["plan imported"]
    assert outputs["compare imported"].splitlines()[-1].startswith("PASS: ")
    assert "8 cases" in outputs["baseline save regraded"]
    assert "dialogue: 8 cases x 3 rounds" in outputs["plan"]


def test_importing_twice_gives_the_same_bytes_and_takes_no_place_of_the_source(moved):
    folder, _ = moved
    source = folder / "old" / "session-20260512-143052-1a2b3c4d"
    again = gate_as_process(folder, "import", "openagent", str(source), "--out", "again")
    assert again.returncode == 0, again.stdout + again.stderr
    (twice,) = (folder / "again").glob("session-*")
    first = folder / "imported" / twice.name
    files = sorted(path.relative_to(twice) for path in twice.rglob("*") if path.is_file())
    kept = {Path(name) for name in ("comment.md", "details.jsonl", "junit.xml", "report.html")}
    assert kept <= set(files)
    assert [(twice / name).read_bytes() for name in files] == [
        (first / name).read_bytes() for name in files
    ]
    assert gate(folder, "import", "openagent", str(source), "--out", "again").returncode == 2
    assert not list(source.glob("events.jsonl"))


def test_a_run_is_compared_with_answers_that_were_graded_again(moved, tmp_path):
    folder, _ = moved
    shutil.copytree(folder / "old", tmp_path / "old")
    shutil.copytree(folder / "baselines", tmp_path / "baselines")
    shutil.copy(SESSION / "details.jsonl", tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    page = blocks("yaml", *SHOWN)[0]
    for name, code, status in (("answer", 0, "no_regression"), ("worse", 1, "regression")):
        agent = f'agent: {{type: python, callable: "./agent.py:{name}"}}'
        text = page.replace("agent: {type: openagent}", agent)
        (tmp_path / "gate.yml").write_text(text + "protect: false\nregression: {stop: off}\n")
        output_of(tmp_path, "run", "--baseline", "baselines", "--out", name, code=code)
        (session,) = (tmp_path / name).glob("session-*")
        report = json.loads((session / "summary.json").read_text())
        success = next(c for c in report["comparisons"] if c["metric"] == "agent.success_rate")
        assert (success["status"], success["n_paired"]) == (status, 8)


def test_against_a_run_of_ours_an_import_alone_says_why_it_is_not_comparable(moved):
    folder, _ = moved
    (imported, *_) = sorted((folder / "imported").glob("session-20260512-*"))
    (regraded,) = (folder / "regraded").glob("session-*")
    said = output_of(folder, "compare", str(imported), str(regraded), "--format", "json", code=5)
    report = json.loads(said)
    assert report["outcome"] == "not_comparable"
    assert len(report["cases"]["changed"]) == 8


def test_gates_of_gate_yml_judge_an_import(tmp_path):
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: openagent}\nsuites:\n  - name: dialogue\n    gates:\n"
        "      agent.success_rate: {min: 0.99, rule: point}\n"
    )
    said = output_of(tmp_path, "import", "openagent", str(SESSION), "--suite", "dialogue", code=1)
    assert said.splitlines()[-2].startswith("FAIL: ")
    (session,) = sessions_in(tmp_path)
    assert [part.name for part in session.iterdir() if part.is_dir()] == ["dialogue"]


def test_legacy_datasets_are_validated_counted_and_sampled_like_others(tmp_path):
    shutil.copytree(TASKS, tmp_path / "old" / "benchmark-tool")
    (tmp_path / "agent.py").write_text("def answer(case):\n    return case['input']\n")
    (tmp_path / "gate.yml").write_text(
        'version: 1\nagent: {type: python, callable: "./agent.py:answer"}\nprotect: false\n'
        "suites:\n  - {name: dialogue, dataset: old, rounds: 1}\n"
    )
    assert "old/benchmark-tool/tasks.yaml: 8 cases in 4 categories" in output_of(
        tmp_path, "validate"
    )
    stats = json.loads(output_of(tmp_path, "dataset", "stats", "old", "--format", "json"))
    assert stats["cases"] == 8
    output_of(tmp_path, "run", "--sample", "4", "--baseline", "none")
    (session,) = sessions_in(tmp_path)
    rows = [json.loads(line) for line in (session / "details.jsonl").read_text().splitlines()]
    assert sorted({row["category"] for row in rows}) == [
        *("factual", "format", "instruction", "readability"),
    ]
