"""docs/commands.md says what the parser says."""

from tests.support.command_page import render
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "commands.md"


def test_the_page_of_commands_is_made_from_the_code(request):
    if request.config.getoption("--update-golden", default=False):
        PAGE.write_text(render(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == render(), "run: pytest tests/golden --update-golden"
