"""Numbers that are none: where nothing passed, nothing was spent, or a figure is absurd. Every file
keeps them as null, is read back, and every command goes on to a verdict.
"""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gate.agents.recordings.answers import recording_line
from gate.plugins import EXPORTERS
from gate.records import Case, Response, Usage
from gate.records.codec import parse_json, to_json
from gate.store.code_marks import take_marks
from gate.store.session import load_session
from tests.support.in_process import gate
from tests.support.session_files import files_below

CONFIG = """version: 1
agent: {type: replay, file: answers.jsonl}
pricing: {m: {input: 1.0, output: 2.0}}
suites:
  - {name: s, dataset: cases.jsonl, graders: [exact_match], rounds: %d}
regression: {stop: "off", metrics: {agent.cost_per_success: {}, operational.p95_latency_ms: {}}}
gates: {agent.cost_per_success: {max: 1000000}}
policy: {not_comparable: warn, missing_metric: warn}
protect: false
"""
CASES = 6
# Who is right, what a trial costs in tokens (None: unknown), how long it takes.
ARMS: dict[str, tuple[str, int | None, float]] = {
    "all wrong": ("none", 1000, 5.0),
    "all right": ("all", 1000, 5.0),
    "some right": ("half", 1000, 5.0),
    "for nothing": ("half", 0, 0.0),
    "wrong for nothing": ("none", 0, 0.0),
    "no cost known": ("half", None, 5.0),
    "huge": ("half", 10**15, 1e15),
    "tiny": ("half", 1, 1e-300),
}


def answers(folder: Path, arm: str, rounds: int) -> None:
    who, tokens, latency = ARMS[arm]
    right = {"none": 0, "half": CASES // 2, "all": CASES}[who]
    lines = []
    for n in range(CASES):
        row = {"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"}
        case = Case(id=row["id"], input=row["input"], keys=row)
        usage = None if tokens is None else Usage(input_tokens=tokens, output_tokens=tokens)
        said = Response(
            answer="yes" if n < right else "no",
            model="m",
            **({} if usage is None else {"usage": usage}),
        )
        lines += [recording_line(case, r, said, latency) for r in range(1, rounds + 1)]
    (folder / "answers.jsonl").write_text("".join(f"{line}\n" for line in lines))


def project(folder: Path, rounds: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gate.yml").write_text(CONFIG % rounds)
    rows = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(CASES)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def ran(folder: Path, *arguments: str) -> Path:
    """The session of `gate run`, which came to a verdict."""
    before = set((folder / "results").glob("session-*"))
    done = gate(folder, "run", *arguments)
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    (session,) = set((folder / "results").glob("session-*")) - before
    return session


def whole(path: Path) -> None:
    """Each JSON value of the file, without a word that is no JSON."""
    written = path.read_bytes()
    text = (gzip.decompress(written) if path.suffix == ".gz" else written).decode()
    for one in [text] if path.suffix == ".json" else text.splitlines():
        parse_json(one)


def check_session(session: Path) -> None:
    for path in session.rglob("*.json*"):
        whole(path)
    kept = load_session(session)
    assert kept.report is not None
    text = json.loads((session / "summary.json").read_text("utf-8"))
    assert to_json(take_marks(kept.report)) == text
    before = files_below(session)
    done = gate(session.parent, "report", session.name)
    assert done.returncode == 0, done.stderr
    assert files_below(session) == before


def check_exports(session: Path) -> None:
    for name in EXPORTERS:
        done = gate(session.parent, "export", session.name, "--format", name)
        assert done.returncode == 0, done.stderr
        if name in ("jsonl", "otel", "promptfoo"):
            for line in done.stdout.splitlines() if name != "promptfoo" else [done.stdout]:
                parse_json(line)


def told(folder: Path, *arguments: str) -> Any:
    done = gate(folder, *arguments, "--format", "json")
    assert done.returncode in (0, 1, 3, 4), done.stdout + done.stderr
    return parse_json(done.stdout)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Main with each of the arms, as a project whose baseline that is."""
    found = {}
    for name in ARMS:
        folder = project(tmp_path_factory.mktemp("main") / "p", 2)
        answers(folder, name, 2)
        session = ran(folder, "--baseline", "none")
        check_session(session)
        check_exports(session)
        session.rename(folder / "session")
        done = gate(folder, "baseline", "save", "session")
        assert done.returncode == 0, done.stderr
        whole(folder / "baselines" / "s.json")
        found[name] = folder
    return found


PAIRS = (
    *(("all wrong", name) for name in ARMS),
    *((name, "wrong for nothing") for name in ARMS),
    *(("huge", "tiny"), ("tiny", "huge"), ("all right", "all right")),
)


@pytest.mark.parametrize(("before", "now"), PAIRS)
def test_every_pair_comes_to_a_verdict(
    before: str, now: str, measured: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(measured[before], tmp_path / "p"))
    answers(folder, now, 2)
    session = ran(folder)
    check_session(session)
    told(folder, "compare", "session", os.path.relpath(session, folder))


@pytest.mark.parametrize("name", ARMS)
def test_what_is_told_of_it(name: str, measured: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(measured[name], tmp_path / "p"))
    told(folder, "plan")
    told(folder, "plan", "session")
    told(folder, "history", "baselines")
    few = gate(folder, "calibrate", "session", "--reps", "20")  # half of two rounds
    assert few.returncode == 2 * ("could be distinguished from chance" in few.stderr), few.stderr


def test_a_mended_agent_passes_beside_a_main_that_fails_every_case(
    measured: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(measured["all wrong"], tmp_path / "p"))
    answers(folder, "all right", 2)
    summary = json.loads((ran(folder) / "summary.json").read_text("utf-8"))
    assert (summary["outcome"], summary["exit_code"]) == ("pass", 0)
    rows = {row["metric"]: row for row in summary["comparisons"]}
    cost = rows["agent.cost_per_success"]
    assert (cost["baseline"], cost["tolerance"], cost["relative"]) == (None, 0.05, True)
    assert cost["status"] == "new"
    assert rows["agent.success_rate"]["status"] == "improvement"
