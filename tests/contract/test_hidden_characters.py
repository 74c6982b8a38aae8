"""No hidden character is left in what people read, and each is shown once."""

import html
import json
import unicodedata

import pytest

from gate.plugins import REPORTERS
from gate.records.settings import OutputOptions
from gate.records.shown_case import ShownCase
from gate.report.console import render_console
from gate.report.debugging import render
from gate.report.formats.comment import step_summary
from gate.report.wording.notes import render_annotations
from tests.support.reports import hostile, hostile_rows, row

TEXT = "x\x1b[31m\u202e\u200b\ud800y"
SHOWN = "x␛[31m⟨U+202E⟩⟨ZWSP⟩⟨U+D800⟩y"
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def check(text: str, *, own: str = "\n\t") -> None:
    found = {sign for sign in text if unicodedata.category(sign) in HIDDEN} - {*own}
    assert not found, [hex(ord(sign)) for sign in found]
    assert SHOWN in text
    assert "⟨U+27E8⟩" not in text, "shown twice"
    assert "⟨U+24" not in text, "shown twice"


@pytest.mark.parametrize("name", REPORTERS.names())
def test_every_report_shows_hidden_characters(name):
    written = REPORTERS.get_class(name)().render(hostile(TEXT), hostile_rows)
    shown = written.replace("\\[", "[").replace("\\\\", "\\")
    if name == "sarif":
        shown = json.dumps(json.loads(written), ensure_ascii=False)
    check(html.unescape(shown).replace("\u200b", "")) if "&#8203;" in shown else check(shown)


@pytest.mark.parametrize("color", [True, False])
def test_the_terminal_shows_them(color):
    shown = render_console(hostile(TEXT), color=color, unicode=True, width=10_000)
    check(shown, own="\n\x1b" if color else "\n")


def test_annotations_and_the_job_summary_show_them():
    check("\n".join(render_annotations(hostile(TEXT))))
    check(step_summary(hostile(TEXT), hostile_rows).replace("\\[", "["))


def test_the_rounds_of_a_case_show_them(tmp_path):
    failed = row(TEXT, passed=False, output=TEXT, reasons={TEXT: TEXT}, failures=[TEXT])
    case = ShownCase(
        suite="s", case_id=TEXT, question=TEXT, expected={TEXT: TEXT}, rows=(failed,), planned=1
    )
    for form in ("plain", "github"):
        options = OutputOptions(format=form)
        told = "\n".join(render([case], [TEXT], 1, tmp_path, options, {}))
        check(told)
        assert told.count(SHOWN) >= 6
