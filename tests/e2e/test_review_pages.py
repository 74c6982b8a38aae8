"""The pages of `gate review` in a real browser: filled in with keys and mouse, saved, imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chromium import Chromium, Page
from tests.support.in_process import gate
from tests.support.judged_session import judged
from tests.support.page_checks import CONTRASTS

SUITE = """\
version: 1
agent: {type: sample}
judge: {type: python, callable: "./judge.py:judge", model: a-judge, votes: 2}
suites:
  - {name: analytics, dataset: DATASET, graders: [facts, judge], rounds: 1}
"""
# Its votes on a long answer differ, so that it is unsure of some cases and sure of others.
JUDGE = """
import itertools, re

votes = itertools.count()

def judge(case):
    token = re.search(r"canary`: (\\S+)", case["instructions"]).group(1)
    score = 3 + (next(votes) % 2 if len(case["material"]) > 700 else 0)
    names = ("correctness", "completeness", "faithfulness")
    scores = {name: {"reason": "so", "score": score} for name in names}
    return {**scores, "addressed_judge": False, "canary": token}
"""
HOSTILE = (
    "</div></script><script>document.title = 'owned'</script>"
    "<img src='http://example.test/x' onerror=\"document.title='owned'\">"
    "<iframe src='http://example.test/'></iframe>"
    "<style>@import 'http://example.test/s.css'; * {display: none}</style>"
    "<a href=\"javascript:document.title='owned'\">a link</a>"
)
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 360, "height": 740}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the sample agent answered, and six of its answers are to be reviewed."""
    folder = tmp_path_factory.mktemp("project")
    dataset = Path("datasets/analytics/dataset.jsonl").resolve()
    (folder / "gate.yml").write_text(SUITE.replace("DATASET", str(dataset)), encoding="utf-8")
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    gate(folder, "run", "--baseline", "none", "--sample", "12", "--quiet")
    (session,) = (folder / "results").glob("session-*")
    drawn = gate(folder, "review", "sample", str(session), "--size", "6", "--period", "first")
    assert drawn.returncode == 0, drawn.stderr
    return folder


@pytest.fixture
def page(browser: Chromium, project: Path) -> Iterator[Page]:
    """The form of the project, with nothing kept of an earlier test."""
    with browser.page((project / "reviews/first.html").as_uri(), **WIDE) as opened:
        opened.see("localStorage.clear()")
        opened.open((project / "reviews/first.html").as_uri())
        yield opened


def told(page: Page) -> Any:
    return page.see("document.getElementById('told').textContent")


def done(page: Page) -> Any:
    return page.see("document.getElementById('done').textContent")


def saved(browser: Chromium, page: Page, name: str) -> dict[str, Any]:
    """What the button hands out."""
    (browser.downloads / name).unlink(missing_ok=True)
    page.click("#save")
    found: dict[str, Any] = json.loads(browser.downloaded(name).read_text("utf-8"))
    return found


def labels(project: Path) -> list[dict[str, Any]]:
    file = project / "reviews/labels.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_form_is_filled_in_with_the_keyboard_saved_and_imported(browser, page, project):
    page.write("Ada Lovelace")
    page.press("Enter")
    for _ in range(5):
        page.press("4", "5", "3", "Enter")
    page.press("x", "n")
    page.write("Nobody can tell: 1 or 2?")
    page.press("Escape")
    assert done(page) == "6 of 6"
    data = saved(browser, page, "labels-first-Ada-Lovelace.json")
    assert told(page) == "Saved as labels-first-Ada-Lovelace.json. Thank you."
    assert [label["cannot_judge"] for label in data["labels"]] == [False] * 5 + [True]
    file = browser.downloads / "labels-first-Ada-Lovelace.json"
    imported = gate(project, "review", "import", str(file))
    assert (imported.returncode, imported.stderr) == (0, "")
    assert "15 labels added, 1 answer not judged" in imported.stdout
    rows = labels(project)
    assert {row["reviewer"] for row in rows} == {"Ada Lovelace"}
    by_metric = {row["metric"]: row["human"] for row in rows}
    assert by_metric == {
        "correctness.factual_correctness": 4.0,
        "correctness.reference_coverage": 5.0,
        "correctness.faithfulness": 3.0,
    }
    shown = json.loads((project / "reviews/first.json").read_text("utf-8"))["cases"]
    assert {row["case_id"] for row in rows} == {one["case_id"] for one in shown[:5]}
    judged = {one["case_id"]: one["judge"] for one in shown}
    assert all(row["judge"] == judged[row["case_id"]][row["metric"]] for row in rows)
    agreed = gate(project, "review", "agreement")
    assert (agreed.returncode, agreed.stderr) == (0, "")
    assert "correctness.faithfulness" in agreed.stdout
    assert page.complaints == []


def test_a_form_is_filled_in_with_the_mouse(browser, page):
    page.click("#name")
    page.write("Ben")
    page.click("article:not([hidden]) fieldset:nth-of-type(1) input[value='2']")
    page.click("article:not([hidden]) fieldset:nth-of-type(3) input[value='5']")
    page.click("article:not([hidden]) [data-note]")
    page.write("2 < 3")
    page.click("article:not([hidden]) [data-go='1']")
    page.click("article:not([hidden]) [data-skip]")
    assert done(page) == "1 of 6"
    first, second = saved(browser, page, "labels-first-Ben.json")["labels"]
    assert first["ratings"] == {"answer.factual_correctness": 2, "answer.faithfulness": 5}
    assert (first["note"], second["cannot_judge"]) == ("2 < 3", True)
    assert told(page).endswith("1 of 6 cases. Go on whenever you like and save again.")


def test_a_label_without_a_name_is_not_saved(page):
    page.press("Escape", "4")
    page.click("#save")
    assert told(page) == "Enter your name first: each label says whose it is."


def test_what_was_filled_in_is_there_after_the_page_is_opened_again(page, project):
    page.write("Ada")
    page.press("Enter", "4", "5", "3", "Enter", "2")
    page.open((project / "reviews/first.html").as_uri())
    assert told(page) == "Welcome back: what you filled in is still here."
    assert done(page) == "1 of 6"
    assert page.see("document.getElementById('name').value") == "Ada"
    assert page.see("document.querySelector('article:not([hidden])').dataset.item") == "2"


def test_a_browser_that_keeps_nothing_says_so_and_still_saves(browser, page, project):
    refuse = "Object.defineProperty(window, 'localStorage', {get() {throw new Error('no');}})"
    page.call("Page.addScriptToEvaluateOnNewDocument", source=refuse)
    page.open((project / "reviews/first.html").as_uri())
    assert "save your labels before you close it" in told(page)
    page.click("#name")
    page.write("Cy")
    page.press("Enter", "4", "4", "4")
    assert len(saved(browser, page, "labels-first-Cy.json")["labels"]) == 1


def test_keys_move_between_cases_and_criteria_and_a_rating_can_be_changed(page):
    page.press("Escape", "1", "ArrowUp", "5", "ArrowRight", "ArrowLeft")
    chosen = "[...document.querySelectorAll('article:not([hidden]) input:checked')]"
    assert page.see(f"{chosen}.map((one) => one.value)") == ["5"]
    active = "document.querySelector('article:not([hidden]) fieldset.active').dataset.name"
    assert page.see(active) == "answer.reference_coverage"


def test_the_page_asks_the_network_for_nothing(page, project):
    assert page.requests == [(project / "reviews/first.html").as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_it_fits_the_window_and_can_be_read(browser, project, size, scheme):
    """No scrolling sideways, and a contrast of text to its ground of at least 4.5 (WCAG AA)."""
    with browser.page((project / "reviews/first.html").as_uri(), **size) as page:
        page.prefer(scheme)
        page.press("Escape", "4")
        root = "document.documentElement"
        assert page.see(f"{root}.scrollWidth <= {root}.clientWidth")
        assert page.see(CONTRASTS) == []


def test_printed_each_case_is_there(page):
    page.call("Emulation.setEmulatedMedia", media="print")
    visible = "[...document.querySelectorAll('article')].filter((x) => x.getClientRects().length)"
    assert page.see(f"{visible}.length") == 6
    assert page.see("document.querySelector('nav').getClientRects().length") == 0


def test_hostile_answers_are_text_and_nothing_else(browser, tmp_path):
    session = judged(tmp_path, {HOSTILE: HOSTILE, "plain": "x"})
    drawn = gate(tmp_path, "review", "sample", str(session), "--period", "p")
    assert drawn.returncode == 0, drawn.stderr
    url = (tmp_path / "reviews/p.html").as_uri()
    with browser.page(url, **WIDE) as page:
        page.write("<b>Eve</b>/../x")
        page.press("Enter", *"444", "Enter", *"555")
        assert page.see("document.title") == "Review p: analytics"
        assert page.see("document.querySelectorAll('script, iframe, img').length") == 1
        assert page.requests == [url]
        assert page.complaints == []
        assert len(saved(browser, page, "labels-p-b-Eve-b-x.json")["labels"]) == 2
    file = browser.downloads / "labels-p-b-Eve-b-x.json"
    imported = gate(tmp_path, "review", "import", str(file))
    assert imported.stdout.startswith("reviews/labels.jsonl: 6 labels added"), imported.stderr
    assert {row["case_id"] for row in labels(tmp_path)} == {HOSTILE, "plain"}


def test_even_a_script_that_got_in_could_not_run(page):
    """The content policy is the second wall: markup put there by force stays dead."""
    page.see(
        "document.body.insertAdjacentHTML('beforeend', "
        '"<img src=x onerror=\\"document.title=\'owned\'\\">")'
    )
    page.see(
        "(() => { const one = document.createElement('script');"
        " one.textContent = \"document.title = 'owned'\"; document.body.append(one); })()"
    )
    assert page.see("document.title") == "Review first: analytics"
    assert any("Content Security Policy" in text for text in page.complaints)
