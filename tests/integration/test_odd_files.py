"""Whatever stands where a file of the user should be: refused at once, with exit 2 and its name.

A device without an end is left out where the code before would have read it for ever: one that
is empty (/dev/null) is refused by the same rule.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.agents.recordings.answers import recording_line
from gate.plugins import IMPORTERS
from gate.records import Case, Response
from tests.support.in_process import gate

KINDS = ("dangling", "loop", "folder", "pipe", "device")
CONFIG = """version: 1
agent: {type: replay, file: answers.jsonl}
suites:
  - {name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}
protect: false
"""


def replace_by(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"dangling": "nowhere", "loop": path.name, "device": "/dev/null"}[kind])


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a session and a baseline of it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "gate.yml").write_text(CONFIG)
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(6)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases))
    (folder / "answers.jsonl").write_text(
        "".join(
            recording_line(
                Case(id=one["id"], input=one["input"], keys=one), 1, Response(answer="yes"), 5.0
            )
            + "\n"
            for one in cases
        )
    )
    done = gate(folder, "run", "--baseline", "none")
    assert done.returncode == 0, done.stderr
    (session,) = (folder / "results").glob("session-*")
    session.rename(folder / "session")
    done = gate(folder, "baseline", "save", "session")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def project(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "project", symlinks=True))


PLACES = {
    "gate.yml": ("gate.yml", ["run", "--baseline", "none"]),
    "gate.yml, validate": ("gate.yml", ["validate"]),
    "gate.yml, compare": ("gate.yml", ["compare", "session", "session"]),
    "gate.yml, plan": ("gate.yml", ["plan"]),
    "gate.yml, history": ("gate.yml", ["history"]),
    "gate.yml, baseline show": ("gate.yml", ["baseline", "show"]),
    "gate.yml, by name": ("gate.yml", ["run", "--config", "gate.yml"]),
    "dataset": ("cases.jsonl", ["run", "--baseline", "none"]),
    "recording": ("answers.jsonl", ["run", "--baseline", "none"]),
    "replay": ("answers.jsonl", ["run", "--baseline", "none", "--replay", "answers.jsonl"]),
    "baseline": ("baselines/s.json", ["run"]),
    "baseline, validate": ("baselines/s.json", ["validate"]),
    "baseline, plan": ("baselines/s.json", ["plan"]),
    "baseline, show": ("baselines/s.json", ["baseline", "show"]),
    "baseline, save": ("baselines/s.json", ["baseline", "save", "session"]),
    "baseline, accept": ("baselines/s.json", ["baseline", "accept", "--reason", "meant"]),
    "baseline by path": ("baselines/s.json", ["run", "--baseline", "baselines/s.json"]),
    "baseline by folder": ("baselines/s.json", ["run", "--baseline", "baselines"]),
    "baseline that is a session": ("session/meta.json", ["run", "--baseline", "session"]),
    "rows of that session": ("session/details.jsonl", ["run", "--baseline", "session"]),
    "compare": ("baselines/s.json", ["compare", "baselines/s.json", "session"]),
    "compare a folder": ("baselines/s.json", ["compare", "baselines", "session"]),
    "compare, meta.json": ("session/meta.json", ["compare", "session", "session"]),
    "compare, rows": ("session/details.jsonl", ["compare", "session", "session"]),
    "compare, summary": ("session/summary.json", ["compare", "session", "session"]),
    "history": ("baselines/s.json", ["history", "baselines"]),
    "report, meta.json": ("session/meta.json", ["report", "session"]),
    "report, rows": ("session/details.jsonl", ["report", "session"]),
    "report, summary": ("session/summary.json", ["report", "session"]),
    "export, rows": ("session/details.jsonl", ["export", "session", "--format", "csv"]),
    "merge, meta.json": ("session/meta.json", ["merge", "session", "--out", "joined"]),
    "resume, log": ("session/events.jsonl", ["run", "--resume", "session"]),
    "resume, meta.json": ("session/meta.json", ["run", "--resume", "session"]),
    "resume, lock": ("session/.lock", ["run", "--resume", "session"]),
    "record": ("kept.jsonl", ["run", "--baseline", "none", "--record", "kept.jsonl"]),
    "out of history": ("history.html", ["history", "baselines", "--out", "history.html"]),
    "out of export": ("s.csv", ["export", "session", "--format", "csv", "--out", "s.csv"]),
    "dataset stats": ("cases.jsonl", ["dataset", "stats", "cases.jsonl"]),
    "dataset approve": (
        "cases.jsonl",
        ["dataset", "approve", "cases.jsonl", "--case", "c1", "--reviewer", "me"],
    ),
    "import": ("answers.jsonl", ["import", "messages", "answers.jsonl"]),
    "import, auto": ("answers.jsonl", ["import", "auto", "answers.jsonl"]),
    "review sample": ("reviews/w1.json", ["review", "sample", "session", "--period", "w1"]),
    "report of a session": ("session/report.md", ["report", "session"]),
    "report of compare": ("out/report.md", ["compare", "session", "session", "--out", "out"]),
    "init": ("new/gate.yml", ["init", "new"]),
    "init, by force": ("new/gate.yml", ["init", "new", "--force"]),
    "review import": ("filled.json", ["review", "import", "filled.json"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", PLACES)
def test_refused_at_once(what: str, kind: str, project: Path) -> None:
    name, arguments = PLACES[what]
    (project / "reviews").mkdir()
    replace_by(kind, project / name)
    done = gate(project, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert Path(name).name in done.stderr or "export" in what
    assert "bug" not in done.stderr
    assert not (project / "results").exists() or not list((project / "results").glob("session-*"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("importer", sorted(IMPORTERS))
def test_no_importer_waits(importer: str, kind: str, project: Path) -> None:
    replace_by(kind, project / "odd")
    done = gate(project, "import", importer, "odd")
    assert done.returncode == 2, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["dangling", "loop", "file", "device"])
@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("results", ["run", "--baseline", "none"]),
        ("other", ["run", "--baseline", "none", "--out", "other"]),
        ("other", ["compare", "session", "session", "--out", "other"]),
        ("other", ["merge", "session", "--out", "other"]),
        ("other", ["baseline", "save", "session", "--out", "other"]),
        ("baselines", ["baseline", "save", "session"]),
        ("baselines", ["run"]),
        ("reviews", ["review", "sample", "session"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_no_folder(option: str, arguments: list[str], kind: str, project: Path) -> None:
    """Where a folder should be."""
    path = project / option
    if kind == "file":
        shutil.rmtree(path, ignore_errors=True)
        path.write_text("a file")
    else:
        replace_by(kind, path)
    done = gate(project, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert option in done.stderr


READ: dict[str, Callable[[Path], list[str]]] = {
    "gate.yml": lambda folder: ["validate"],
    "cases.jsonl": lambda folder: ["validate"],
    "baselines/s.json": lambda folder: ["run"],
    "answers.jsonl": lambda folder: ["run", "--baseline", "none"],
}


@pytest.mark.parametrize("name", READ)
def test_a_link_to_a_file_works(name: str, project: Path) -> None:
    """Links are how a monorepo shares its datasets."""
    real = project / "real"
    (project / name).rename(real)
    (project / name).symlink_to(real)
    done = gate(project, *READ[name](project))
    assert done.returncode == 0, done.stdout + done.stderr


WRITTEN = {
    "a time-out": ("file: answers.jsonl", "file: answers.jsonl, timeout_s: 1e10", "604800"),
    "no number": ("file: answers.jsonl", "file: answers.jsonl, timeout_s: 1e400", "not a number"),
    "a line end": ("name: s,", 'name: "s\\n",', "suites[0].name"),
    "300 characters": ("name: s,", f"name: {'s' * 300},", "suites[0].name"),
    "NUL in a dataset": ("cases.jsonl", '"a\\0b.jsonl"', "NUL"),
    "NUL in a file": ("file: answers.jsonl", 'file: "a\\0b"', "NUL"),
    "days": ("protect: false", "protect: false\nbaseline: {max_age_days: 1e10}", "max_age_days"),
    "alpha": ("protect: false", "protect: false\nregression: {alpha: 1e-300}", "alpha"),
    "power": ("protect: false", "protect: false\nregression: {power: 1e-300}", "power"),
    "a price": (
        "protect: false",
        "protect: false\npricing: {m: {input: 1e300, output: 1}}",
        "pric",
    ),
    "a limit": ("protect: false", "protect: false\ngates: {agent.avg_steps: {max: 1e999}}", "max"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_gate_yml_may_not_say(name: str, project: Path) -> None:
    old, new, said = WRITTEN[name]
    text = (project / "gate.yml").read_text()
    assert old in text
    (project / "gate.yml").write_text(text.replace(old, new))
    for command in ("run", "validate"):
        done = gate(project, command)
        assert done.returncode == 2, done.stdout + done.stderr
        assert said in done.stderr
    assert not list((project / "results").glob("session-*"))


@pytest.mark.parametrize(
    "key", ["timeout_sec", "input", "expected_answer", "metadata", "relevance_scores", "status"]
)
def test_a_number_that_no_dataset_has(key: str, project: Path) -> None:
    line = '{"id": "x", "input": "q", "expected_answer": "a"}'.removesuffix("}")
    (project / "cases.jsonl").write_text(f'{line}, "{key}": {{"a": 1e400}}}}\n'.replace("\\", ""))
    done = gate(project, "run", "--baseline", "none")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "cases.jsonl:1" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        *(["run", f"--{name}", ""] for name in ("resume", "config", "out", "suite", "baseline")),
        *(["run", f"--{name}="] for name in ("case", "record", "replay", "model", "base-url")),
        ["report", ""],
        ["compare", "session", ""],
        ["merge", "session", "--out", ""],
        ["history", ""],
        ["run", "--timeout", "1e10"],
        ["run", "--timeout", "1e400"],
        ["run", "--budget-usd", "nan"],
        ["run", "--rounds", "9" * 5000],
    ],
    ids=" ".join,
)
def test_options_without_a_value(arguments: list[str], project: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        gate(project, *arguments)
    assert ended.value.code == 2
    assert not list((project / "results").glob("session-*"))


@pytest.mark.parametrize("left", [0, 1, 100])
@pytest.mark.parametrize("name", ["meta.json", "summary.json"])
def test_a_session_that_was_cut_off(name: str, left: int, project: Path) -> None:
    path = project / "session" / name
    path.write_bytes(path.read_bytes()[:left])
    arguments = ["run", "--resume", "session"] if name == "meta.json" else ["report", "session"]
    done = gate(project, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert name in done.stderr


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        *(["run", f"--{name}", LONG] for name in ("baseline", "config", "resume", "replay")),
        *(["run", "--baseline", "none", f"--{name}", LONG] for name in ("out", "record")),
        *([name, LONG] for name in ("report", "history", "verify", "calibrate", "plan")),
        ["compare", LONG, "session"],
        ["compare", "session", "session", "--out", LONG],
        ["merge", LONG, "--out", "joined"],
        ["import", "auto", LONG],
        ["dataset", "stats", LONG],
        ["init", LONG],
    ],
    ids=lambda arguments: " ".join(arguments).replace(LONG, "LONG"),
)
def test_a_path_longer_than_any_file_s(arguments: list[str], project: Path) -> None:
    done = gate(project, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
