"""What people read, word for word: a change of wording or layout shows as a diff of these files."""

from pathlib import Path

import pytest

from gate.report.annotations import render_annotations
from gate.report.console import render_console
from gate.report.formats.comment import Comment
from tests.support.reports import SCENARIOS, rows_of

HERE = Path(__file__).parent


def comment(report):
    return Comment().render(report, rows_of(report))


def console(report):
    lines = render_console(report, color=False, unicode=True, width=100)
    return lines + "\n" + "\n".join(render_annotations(report)) + "\n"


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(
    ("render", "ending"), [(comment, ".md"), (console, ".txt")], ids=["comment", "console"]
)
def test_golden(name, render, ending, request):
    file = HERE / f"{name}{ending}"
    text = render(SCENARIOS[name]())
    if request.config.getoption("--update-golden", default=False):
        file.write_bytes(text.encode())
    assert file.read_text("utf-8") == text, (
        f"{file.name} differs; if that is meant: pytest tests/golden --update-golden"
    )


def test_no_golden_file_is_left_over():
    names = {file.stem for file in HERE.glob("*.md")} | {file.stem for file in HERE.glob("*.txt")}
    assert names == set(SCENARIOS)
