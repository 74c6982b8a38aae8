"""What people read, word for word: a change of wording or layout shows as a diff of these files."""

from functools import cache
from pathlib import Path

import pytest

from gate.report.console import render_console
from gate.report.formats.comment import Comment
from gate.report.wording.notes import render_annotations
from tests.support.golden_runs import RUNS

HERE = Path(__file__).parent


OUTCOMES = {
    "pass": "pass",
    "stopped_early": "pass",
    "inconclusive": "inconclusive",
    "no_baseline": "no_baseline",
    "not_comparable": "not_comparable",
    "error_agent_down": "error",
    "accepted": "pass",
    "trend": "pass",
    "quoted": "no_baseline",
}


@cache
def made(name):
    return RUNS[name]()


def comment(told):
    return Comment().render(told.report, told.rows)


def console(told):
    lines = render_console(told.report, color=False, unicode=True, width=100)
    return lines + "\n" + "\n".join(render_annotations(told.report)) + "\n"


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("render", "ending"), [(comment, ".md"), (console, ".txt")], ids=["comment", "console"]
)
def test_golden(name, render, ending, request):
    file = HERE / f"{name}{ending}"
    text = render(made(name))
    if request.config.getoption("--update-golden", default=False):
        file.write_bytes(text.encode())
    assert file.read_text("utf-8") == text, (
        f"{file.name} differs; if that is meant: pytest tests/golden --update-golden"
    )


def test_no_golden_file_is_left_over():
    names = {file.stem for file in HERE.glob("*.md")} | {file.stem for file in HERE.glob("*.txt")}
    assert names == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_each_is_what_its_name_says(name):
    assert made(name).report.outcome == OUTCOMES.get(name, "fail")
