"""`make pictures`: the demo's agent, real runs and a real browser, in a folder of its own."""

import importlib.util
import shutil

import pytest

from tests.support.chromium import program
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(program() is None, reason="chromium: not on this machine"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git: not on this machine"),
]


def load():
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs" / "images" / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make


def test_a_terminal_is_as_wide_as_its_columns(browser, tmp_path):
    make = load()
    page = tmp_path / "terminal.html"
    page.write_text(make.whole_page(f"<pre>{'x' * make.COLUMNS}</pre>"), "utf-8")
    with browser.page(page.as_uri(), width=make.SMALL, height=200) as shown:
        assert shown.see("document.documentElement.scrollWidth") <= make.SMALL, "nothing is cut"


def test_one_command_makes_every_picture(tmp_path, capsys):
    make = load()
    if make.lacks_emoji():
        pytest.skip("fonts-noto-color-emoji: not on this machine")
    make.main(tmp_path, main_runs=2)
    there = {path.stem: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert set(there) == set(make.NAMES)
    assert len(set(there.values())) == len(there), "no two are the same"
    for picture in there.values():
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert int.from_bytes(picture[16:20]) <= 1280, "pixels of width"
    assert capsys.readouterr().out.split() == [str(tmp_path / f"{n}.png") for n in make.NAMES]
