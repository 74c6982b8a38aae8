"""The list of sessions in a real browser, from a disk and from `gate serve`: every control used."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from gate.commands.report_server import ReportServer
from gate.records import Report
from gate.records.codec import json_text
from gate.report.formats.html import Html
from gate.report.session_index.keep import keep_index
from tests.support.chromium import Chromium, Page
from tests.support.page_checks import CONTRASTS
from tests.support.reports import regression, row
from tests.support.stored_session import store

WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 360, "height": 740}
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
HOSTILE += "\x1b[31m\u202egnp\u202c\u200b\x00{{7*7}}"
FOLDERS = [f"session-20261119-12000{number}-0123abcd" for number in (1, 2, 3)]

pytestmark = pytest.mark.browser


def answers(number: int) -> Iterator[dict]:
    """300 cases: of the second session the first ten fail, of the first one the last five."""
    for n in range(300):
        failed = n < 10 if number == 2 else n >= 295
        text = f"answer {n} of session {number}"
        made = row(f"case-{n:03}", passed=not failed, output=text, question=f"Which {n}?")
        yield {**made, "expected": {"expected_answer": f"answer {n}"}}
    yield row(f"only-{number}", passed=True, output="x", question="y")
    long = HOSTILE + "x" * 5_000_000 if number == 2 else HOSTILE
    yield row(HOSTILE, passed=False, output=long, question=HOSTILE)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sessions")
    for number in (1, 2, 3):
        session = store(folder, {"a": [True] * number}, number=number, commit=HOSTILE)
        report: Report = regression()
        text = Html().render(report, lambda number=number: answers(number))
        if number == 3:
            text = "<p>written by an older version</p>"
        (session / "report.html").write_text(text, "utf-8", "replace")
        summary = json.loads((session / "summary.json").read_text("utf-8"))
        changed = {"created_at": f"2026-11-19T12:00:0{number}Z", "duration_s": 30.0 / number}
        (session / "summary.json").write_text(json_text({**summary, **changed}))
    assert keep_index(session) == ""
    return folder


@pytest.fixture(scope="module")
def served(results: Path) -> Iterator[str]:
    with ReportServer(results, 0, first=FOLDERS[0]) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"{server.url}/index.html"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Chromium, results: Path) -> Iterator[Page]:
    with browser.page((results / "index.html").as_uri(), **WIDE) as opened:
        yield opened
        assert opened.complaints == []
        assert all(one.startswith(results.as_uri()) for one in opened.requests)


def until(page: Page, expression: str) -> None:
    end = time.monotonic() + 60  # of a busy machine
    while not page.see(f"Boolean({expression})"):
        assert time.monotonic() < end, page.see("document.querySelector('#pair').textContent")
        time.sleep(0.02)


def dates(page: Page) -> list[str]:
    rows = "[...document.querySelectorAll('#sessions tbody th')]"
    return [text[-2:] for text in page.see(f"{rows}.map((one) => one.textContent)")]


def pick(page: Page, *numbers: int) -> None:
    """Clicks each box; again where the table moved away under the click."""
    for number in numbers:
        box = f"tr[data-folder='{FOLDERS[number - 1]}'] input"
        checked = f"document.querySelector({json.dumps(box)}).checked"
        before = page.see(checked)
        for _ in range(5):
            page.click(box)
            if page.see(checked) != before:
                break
            time.sleep(0.2)


def kinds(page: Page) -> list[str]:
    until(page, "document.querySelector('#pair .kinds')")
    return page.see("[...document.querySelectorAll('.kinds button')].map((x) => x.textContent)")


def test_every_column_sorts_both_ways(page):
    assert dates(page) == ["03", "02", "01"]
    titles = page.see("document.querySelectorAll('#sessions thead th').length")
    assert titles == 9
    for column in range(2, 2 + titles):
        button = f"#sessions thead :nth-child({column}) button"
        orders = []
        for sign in ("ascending", "descending"):
            before = page.see("location.hash")
            page.click(button)
            until(page, f"location.hash !== {json.dumps(before)}")
            head = f"document.querySelector('#sessions thead :nth-child({column})')"
            until(page, f"{head}.getAttribute('aria-sort') === '{sign}'")
            orders.append(dates(page))
            assert sorted(orders[-1]) == ["01", "02", "03"]
        if column in (2, 9):  # dates and durations differ
            assert orders[0] == orders[1][::-1]


def test_two_sessions_are_compared_with_both_answers(page):
    assert page.see("document.querySelector('#pair').hidden")
    pick(page, 2, 1)
    assert kinds(page) == [
        "10 regressed",
        "5 fixed",
        "1 still failing",
        "285 unchanged",
        "1 only before",
        "1 only after",
    ]
    rows = "document.querySelectorAll('#pair details')"
    assert page.see(f"{rows}.length") == 10
    page.click("#pair details summary")
    until(page, "document.querySelector('#pair .two')")
    assert page.see("document.querySelector('#pair .two').textContent").startswith(
        "Before, round 1 passedanswer 0 of session 1After, round 1 failedanswer 0 of session 2"
    )
    assert page.see("document.querySelector('#pair .two del').textContent") == "1"
    for button, shown in (("1 still failing", 1), ("285 unchanged", 200), ("5 fixed", 5)):
        one = f"[...document.querySelectorAll('.kinds button')].find((x) => x.textContent === {json.dumps(button)})"  # noqa: E501
        page.see(f"{one}.click()")
        until(page, f"{one}.getAttribute('aria-pressed') === 'true'")
        assert page.see(f"{rows}.length") == shown
        if shown == 200:
            page.click("#pair > button")
            assert page.see(f"{rows}.length") == 285
            assert page.see("document.querySelector('#pair > button').hidden")


def test_an_address_says_which_sessions_and_a_third_takes_the_place_of_the_first(browser, results):
    url = f"{(results / 'index.html').as_uri()}#before={FOLDERS[0]}&after={FOLDERS[1]}&k=fixed"
    with browser.page(url, **WIDE) as page:
        assert "5 fixed" in kinds(page)
        pressed = "document.querySelector('.kinds [aria-pressed=true]').textContent"
        assert page.see(pressed) == "5 fixed"
        pick(page, 3)
        ticked = "[...document.querySelectorAll('tr.picked')].map((x) => x.dataset.folder)"
        until(page, f"{ticked}.includes('{FOLDERS[2]}')")
        assert sorted(page.see(ticked)) == FOLDERS[1:]
        pick(page, 3)
        until(page, "document.querySelector('#pair').hidden")
    with browser.page(f"{url.partition('#')[0]}#before=../x&after=javascript:1", **WIDE) as page:
        assert page.see("document.querySelector('#pair').hidden")
        assert page.see("document.querySelectorAll('iframe').length") == 0


def test_a_report_of_an_older_version_is_told_with_what_to_do(browser, results):
    url = f"{(results / 'index.html').as_uri()}#before={FOLDERS[0]}&after={FOLDERS[2]}"
    with browser.page(url, **WIDE) as page:
        until(page, "document.querySelector('#pair .note')")
        said = page.see("document.querySelector('#pair .note').textContent")
        assert f"`gate report {FOLDERS[2]}`" in said


def test_from_a_server_it_compares_as_well(browser, served):
    with browser.page(served, **WIDE) as page:
        pick(page, 1, 2)
        assert "10 regressed" in kinds(page)
        assert page.complaints == []


def test_a_page_elsewhere_gets_nothing_of_a_report(browser, served, results, tmp_path):
    """Neither a report in a frame of another server, nor an answer from one."""
    other = tmp_path / "other"
    store(other, {"a": [True]})
    inside = served.replace("index.html", f"{FOLDERS[0]}/report.html")
    (other / "index.html").write_text(
        f"<iframe src='{inside}'></iframe><script>const c = new MessageChannel();"
        "c.port1.onmessage = () => { document.title = 'got it'; };"
        "document.querySelector('iframe').onload = (e) => {"
        " e.target.contentWindow.postMessage('cases', '*', [c.port2]);"
        " c.port1.postMessage({id: 1, at: null}); document.title = 'asked'; };</script>"
    )
    with browser.page((other / "index.html").as_uri(), **WIDE) as page:
        until(page, "document.title === 'asked'")
        time.sleep(0.5)
        assert page.see("document.title") == "asked"


def test_hostile_texts_are_shown_and_do_nothing(page):
    pick(page, 1, 2)
    kinds(page)
    page.see("[...document.querySelectorAll('.kinds button')][2].click()")
    until(page, "document.querySelectorAll('#pair details').length === 1")
    page.click("#pair details summary")
    until(page, "document.querySelector('#pair .two')")
    shown = page.see("document.querySelector('#pair').textContent.slice(0, 3000)")
    for sign in ("</script><script>document.title", "␛[31m", "⟨U+202E⟩gnp", "⟨ZWSP⟩", "␀"):
        assert sign in shown, sign
    assert page.see("document.title") == "Sessions"
    assert page.see("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW, {"width": 3840, "height": 2160}], ids=str)
def test_it_fits_the_window_and_can_be_read(browser, results, size, scheme):
    url = f"{(results / 'index.html').as_uri()}#before={FOLDERS[0]}&after={FOLDERS[1]}"
    with browser.page(url, **size) as page:
        page.prefer(scheme)
        kinds(page)
        page.click("#pair details summary")
        until(page, "document.querySelector('#pair .two')")
        root = "document.documentElement"
        assert page.see(f"{root}.scrollWidth <= {root}.clientWidth")
        assert page.see(CONTRASTS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_the_list(browser, results, gate_node_modules, scheme):
    axe = gate_node_modules / "axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is not in GATE_NODE_MODULES; .ci/run installs it")
    url = f"{(results / 'index.html').as_uri()}#before={FOLDERS[0]}&after={FOLDERS[1]}"
    with browser.page(url, **WIDE) as page:
        page.prefer(scheme)
        kinds(page)
        page.click("#pair details summary")
        until(page, "document.querySelector('#pair .two')")
        page.see(axe.read_text("utf-8") + ";0")
        page.see("axe.run().then((told) => { window.told = told.violations; }); 0")
        until(page, "window.told !== undefined")
        found = page.see("told.map((one) => [one.id, one.nodes.map((node) => node.html)])")
        assert found == []


def test_without_scripts_the_table_and_its_links_are_there(browser, results):
    url = (results / "index.html").as_uri()
    with browser.page(url, **WIDE) as page:
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(url)
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        assert len(dates(page)) == 3
        assert page.see("document.querySelectorAll('#sessions a').length") == 3
        assert page.see("document.querySelectorAll('input, button').length") == 0
