"""docs/architecture.md walks one case through the code: what it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| +\d+ \| \[`(\w+)`\]\(\.\./(gate/[\w/]+\.py)\)", PAGE, re.MULTILINE)
BOXES = dict(re.findall(r'(\w+)\["([\w/]+\.py)"\]', PAGE))
ARROWS = re.findall(r"^  (\w+)(?:\[\S+?\])? (?:-->|-\. .+ \.->) (\w+)", PAGE, re.MULTILINE)
MOST_FILES, MOST_LINES = 12, 2_600  # 2,577: sessions that are finished, the end of a budget


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def imports(path: str) -> set[str]:
    """Modules that a file imports at run time, and those whose name it hands on to be loaded."""
    checked_only = {
        id(inner)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree(path)):
        if id(node) in checked_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def test_the_page_has_steps_and_arrows() -> None:
    assert len(STEPS) == MOST_FILES
    assert {f"gate/{file}" for file in BOXES.values()} == {file for _, file in STEPS}
    assert len(ARROWS) >= len(BOXES) - 1


@pytest.mark.parametrize(("name", "file"), STEPS)
def test_what_a_step_names_is_in_its_file(name: str, file: str) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    assert name in {node.name for node in tree(file).body if isinstance(node, kinds)}


@pytest.mark.parametrize(("source", "target"), ARROWS)
def test_an_arrow_is_an_import(source: str, target: str) -> None:
    assert module(f"gate/{BOXES[target]}") in imports(f"gate/{BOXES[source]}")


def test_the_path_is_short_and_never_climbs_back() -> None:
    """Back means: a function of an earlier file. Its records flow down, and may be named."""
    files = list(dict.fromkeys(file for _, file in STEPS))
    lines = sum((ROOT / file).read_text("utf-8").count("\n") for file in files)
    assert (len(files) <= MOST_FILES, lines <= MOST_LINES) == (True, True), (len(files), lines)
    for place, later in enumerate(files):
        for earlier in files[:place]:
            functions = {n.name for n in tree(earlier).body if isinstance(n, ast.FunctionDef)}
            back = {f"{module(earlier)}.{name}" for name in functions} & imports(later)
            assert not back, f"{later} calls {back}"


def test_files_that_answer_a_question_are_there() -> None:
    named = re.findall(r"\(\.\./([\w/.]+\.py)\)", PAGE)
    assert named
    assert [file for file in named if not (ROOT / file).is_file()] == []
