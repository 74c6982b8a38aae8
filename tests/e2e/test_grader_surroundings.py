"""What a change puts around a grader whose own file it leaves alone: told, or without effect."""

import json
import py_compile
from pathlib import Path

import pytest

from tests.e2e.test_bad_input import CASES
from tests.e2e.test_everyday import run, save, summary
from tests.e2e.test_fresh_control import git
from tests.own_grader import GRADER

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
suites: [{name: s, dataset: cases.jsonl, graders: ["gate_checks:Mine"], rounds: 3}]
"""
LENIENT = "def right(answer):\n    return True\n"
STRICT = "def right(answer):\n    return answer == 'yes'\n"
HELPED = "from gate_help import right\n" + GRADER.replace(
    "passed=True", "passed=right(response.answer)"
)
LATE = GRADER.replace(
    "        return Score(", "        from gate_help import right\n        return Score("
).replace("passed=True", "passed=right(response.answer)")
LOST = "this change edits a file of its grader, `{}`"


def write(folder: Path, *, answer: str = "yes", checks: str = HELPED, helper: str = STRICT) -> None:
    (folder / "gate.yml").write_text(CONFIG)
    (folder / "agent.py").write_text(f"def answer(case):\n    return '{answer}'\n")
    (folder / "gate_checks.py").write_text(checks)
    (folder / "gate_help.py").write_text(helper)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / ".gitignore").write_text("results\n.venv\n")


def branched(folder: Path, **files: str) -> Path:
    write(folder, **files)
    git(folder, "init", "-q", "-b", "main")
    save(folder, run(folder, "--baseline", "none"))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    git(folder, "checkout", "-q", "-b", "work")
    return folder


@pytest.mark.parametrize("checks", [HELPED, LATE], ids=["at its start", "while it judges"])
def test_an_edited_helper_makes_its_metrics_not_comparable(tmp_path: Path, checks: str) -> None:
    folder = branched(tmp_path, checks=checks)
    write(folder, answer="no", checks=checks, helper=LENIENT)
    report = summary(session := run(folder, code=5))
    assert LOST.format("gate_help.py") in report["reason"]
    assert "`gate_help.py`: its metrics are not compared" in " ".join(report["loosened"])
    assert "gate_help.py" in (session / "comment.md").read_text("utf-8")


def test_a_package_in_the_place_of_the_graders_module_is_told(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    (folder / "gate_checks").mkdir()
    (folder / "gate_checks" / "__init__.py").write_text(GRADER)
    report = summary(run(folder, code=5))
    assert LOST.format("gate_checks/__init__.py") in report["reason"]


def test_a_module_that_is_called_like_an_installed_one_has_no_effect(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    for name in ("numpy", "jinja2", "requests", "gate"):
        (folder / f"{name}.py").write_text("raise SystemExit('planted')\n")
    report = summary(run(folder))
    assert (report["outcome"], report["loosened"]) == ("pass", [])


def test_a_compiled_helper_is_not_run(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    source = folder / "gate_help.py"
    source.write_text(LENIENT)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), invalidation_mode=unchecked)
    write(folder, answer="no")
    report = summary(run(folder, code=1))
    assert report["outcome"] == "fail"
