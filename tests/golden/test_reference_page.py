"""docs/reference.md says what the code says."""

from tests.support.paths import ROOT
from tests.support.reference_page import render

PAGE = ROOT / "docs" / "reference.md"


def test_the_reference_is_made_from_the_code(request):
    if request.config.getoption("--update-golden", default=False):
        PAGE.write_text(render(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == render(), "run: pytest tests/golden --update-golden"
