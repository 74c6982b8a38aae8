"""What a change puts around a grader whose own file it leaves alone: told, or without effect."""

import json
import py_compile
import zipfile
from pathlib import Path

import pytest

from tests.support.git_repository import git
from tests.support.in_process import gate, run_command, run_session, save_baseline
from tests.support.own_grader import GRADER
from tests.support.session_files import summary_of
from tests.support.yes_project import CASES

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
LOST = "this change edits a file of its grader, {}"


def write(
    folder: Path,
    *,
    answer: str = "yes",
    checks: str = HELPED,
    helper: str = STRICT,
    config: str = CONFIG,
) -> None:
    (folder / "gate.yml").write_text(config)
    (folder / "agent.py").write_text(f"def answer(case):\n    return '{answer}'\n")
    (folder / "gate_checks.py").write_text(checks)
    (folder / "gate_help.py").write_text(helper)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / ".gitignore").write_text("results\n.venv\n")


def branched(folder: Path, **files: str) -> Path:
    write(folder, **files)
    git(folder, "init", "-q", "-b", "main")
    save_baseline(folder, run_session(folder, "--baseline", "none"))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    git(folder, "checkout", "-q", "-b", "work")
    return folder


@pytest.mark.parametrize("checks", [HELPED, LATE], ids=["at its start", "while it judges"])
def test_an_edited_helper_makes_its_metrics_not_comparable(tmp_path: Path, checks: str) -> None:
    folder = branched(tmp_path, checks=checks)
    write(folder, answer="no", checks=checks, helper=LENIENT)
    report = summary_of(session := run_session(folder, "--protect", code=5))
    assert LOST.format("gate_help.py") in report["reason"]
    assert "gate_help.py: its metrics are not compared" in " ".join(report["loosened"])
    assert "gate_help.py" in (session / "comment.md").read_text("utf-8")


def test_a_package_in_the_place_of_the_graders_module_is_told(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    (folder / "gate_checks").mkdir()
    (folder / "gate_checks" / "__init__.py").write_text(GRADER)
    report = summary_of(run_session(folder, "--protect", code=5))
    assert LOST.format("gate_checks/__init__.py") in report["reason"]


def test_a_module_that_is_called_like_an_installed_one_has_no_effect(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    for name in ("numpy", "jinja2", "requests", "gate"):
        (folder / f"{name}.py").write_text("raise SystemExit('planted')\n")
    report = summary_of(run_session(folder, "--protect"))
    assert (report["outcome"], report["loosened"]) == ("pass", [])


def test_a_compiled_helper_is_not_run(tmp_path: Path) -> None:
    folder = branched(tmp_path)
    source = folder / "gate_help.py"
    source.write_text(LENIENT)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), invalidation_mode=unchecked)
    write(folder, answer="no")
    report = summary_of(run_session(folder, "--protect", code=1))
    assert report["outcome"] == "fail"


def test_a_session_that_is_gone_on_with_keeps_what_its_graders_were(tmp_path: Path) -> None:
    """What was judged by an edited helper is not made good by not judging it again."""
    folder = branched(tmp_path, checks=LATE)
    write(folder, answer="no", checks=LATE, helper=LENIENT)
    session = run_session(folder, "--protect", "--stop", "off", code=5)
    again = run_command(
        folder, "run", "--protect", "--stop", "off", "--resume", str(session), code=5
    )
    assert "gate_help.py" in again.stdout
    assert "gate_help.py" in (session / "comment.md").read_text("utf-8")


def test_merged_shards_bring_along_what_their_graders_were(tmp_path: Path) -> None:
    folder = branched(tmp_path, checks=LATE)
    write(folder, answer="no", checks=LATE, helper=LENIENT)
    for n in (1, 2):
        gate(folder, "run", "--protect", "--shard", f"{n}/2", "--out", f"r{n}")
    shards = [str(one) for n in (1, 2) for one in (folder / f"r{n}").glob("session-*")]
    merged = gate(folder, "merge", *shards, "--out", "r3")
    assert merged.returncode == 5, merged.stdout
    assert "gate_help.py" in merged.stdout


def test_a_folder_that_becomes_a_link_is_told(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    inner = HELPED.replace("from gate_help", "from gate_lib.inner")
    (project / "gate_lib").mkdir()
    (project / "gate_lib" / "inner.py").write_text(STRICT)
    folder = branched(project, checks=inner)
    (folder / "gate_lib" / "inner.py").unlink()
    (folder / "gate_lib").rmdir()
    (folder / "gate_lib").symlink_to(elsewhere)
    (elsewhere / "inner.py").write_text(LENIENT)
    write(folder, answer="no", checks=inner)
    report = summary_of(run_session(folder, "--protect", code=5))
    assert "gate_lib/inner.py" in report["reason"]


@pytest.mark.parametrize(
    "loading",
    [
        "import sys; sys.path.append('gate_lib.zip'); from gate_zipped import right",
        "import runpy; right = runpy.run_path('gate_help.py')['right']",
    ],
    ids=["an archive", "runpy"],
)
def test_code_that_comes_in_another_way_is_told(tmp_path: Path, loading: str) -> None:
    def packed(content: str) -> None:
        with zipfile.ZipFile(tmp_path / "gate_lib.zip", "w") as archive:
            archive.writestr("gate_zipped.py", content)

    packed(STRICT)
    checks = HELPED.replace("from gate_help import right", loading)
    folder = branched(tmp_path, checks=checks)
    packed(LENIENT)
    write(folder, answer="no", checks=checks, helper=LENIENT)
    report = summary_of(run_session(folder, "--protect", code=5))
    named = "gate_lib.zip" if "zip" in loading else "gate_help.py"
    assert named in " ".join(report["loosened"])


def test_a_helper_that_one_grader_imports_by_name_counts_for_it_too(tmp_path: Path) -> None:
    """Another grader's import statement must not take it from the first one."""
    by_name = "import importlib\nright = importlib.import_module('gate_help').right\n"
    first = HELPED.replace("from gate_help import right\n", by_name)
    other = "import gate_help\n" + GRADER.replace("correctness.mine", "correctness.other")
    config = CONFIG.replace('["gate_checks:Mine"]', '["gate_checks:Mine", "gate_other:Mine"]')
    (tmp_path / "gate_other.py").write_text(other)
    folder = branched(tmp_path, checks=first, config=config)
    write(folder, answer="no", checks=first, helper=LENIENT, config=config)
    report = summary_of(run_session(folder, "--protect", code=5))
    found = {one["metric"]: one["status"] for one in report["comparisons"]}
    assert found["correctness.mine"] == found["correctness.other"] == "not_comparable"


def test_an_archive_counts_for_a_grader_beside_one_that_imports_by_name(tmp_path: Path) -> None:
    def packed(content: str) -> None:
        with zipfile.ZipFile(tmp_path / "gate_lib.zip", "w") as archive:
            archive.writestr("gate_zipped.py", content)

    packed(STRICT)
    zipped = "import sys; sys.path.append('gate_lib.zip'); from gate_zipped import right"
    checks = HELPED.replace("from gate_help import right", zipped)
    by_name = "import importlib\nimportlib.import_module('gate_help')\n"
    other = by_name + GRADER.replace("correctness.mine", "correctness.other")
    config = CONFIG.replace('["gate_checks:Mine"]', '["gate_checks:Mine", "gate_other:Mine"]')
    (tmp_path / "gate_other.py").write_text(other)
    folder = branched(tmp_path, checks=checks, config=config)
    packed(LENIENT)
    write(folder, answer="no", checks=checks, config=config)
    report = summary_of(run_session(folder, "--protect", code=5))
    found = {one["metric"]: one["status"] for one in report["comparisons"]}
    assert found["correctness.mine"] == "not_comparable"
