"""The page of `gate history` in a real browser: its control used, every width and theme."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.report.history.page import as_html
from tests.support.chromium import Chromium, Page
from tests.support.long_history import LATENCY, long_history
from tests.support.page_checks import CONTRASTS

WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 360, "height": 740}
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
HOSTILE += "\x1b[31m\u202egnp\u202c\u200b\x00|`{{7*7}}"
SHOWN = "[...document.querySelectorAll('figure.metric')].filter((one) => one.checkVisibility())"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "index.html"
    text = as_html(long_history(), lambda run: f"reports/{run.run_id}/report.html")
    file.write_text(text, "utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Chromium, url: str) -> Iterator[Page]:
    with browser.page(url, **WIDE) as opened:
        yield opened
        assert opened.complaints == []
        assert [one for one in opened.requests if one.partition("#")[0] != url] == []


def shown(page: Page) -> list[str]:
    return page.see(f"{SHOWN}.map((one) => one.dataset.metric)")


def until(page: Page, expression: str) -> None:
    end = time.monotonic() + 10
    while not page.see(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.02)


def choose(page: Page, metric: str) -> None:
    page.see(
        f"(() => {{ const one = document.querySelector('#metric');"
        f" one.value = {json.dumps(metric)}; one.dispatchEvent(new Event('change')); }})()"
    )


def test_any_metric_can_be_chosen_and_the_address_says_which(page, browser, url):
    assert shown(page) == ["agent.success_rate", "agent.avg_steps", "agent.cost_per_task"]
    for metric in (LATENCY.name, "retrieval.ndcg@5", "agent.avg_steps"):
        choose(page, metric)
        until(page, f"{SHOWN}.length === 1")
        assert shown(page) == [metric]
    address = page.see("location.href")
    choose(page, "")
    until(page, f"{SHOWN}.length === 3")
    with browser.page(address, **WIDE) as again:
        assert shown(again) == ["agent.avg_steps"]
    with browser.page(f"{url}#metric=nothing", **WIDE) as unknown:
        assert len(shown(unknown)) == 3


def test_a_dot_can_be_reached_by_key_and_leads_to_the_report(page):
    dot = "document.querySelector('figure.metric a:has(circle)')"
    assert page.see(f"{dot}.href.baseVal") == "reports/0/report.html"
    page.see(f"{dot}.focus()")
    assert page.see(f"document.activeElement === {dot}")
    said = page.see(f"{dot}.getAttribute('aria-label')")
    assert said == "2026-08-01 03:17, 0000000: 0.93"


def test_without_scripts_the_leading_metrics_are_shown(browser, url):
    with browser.page(url, **WIDE) as page:
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(url)
        page.call("Emulation.setScriptExecutionDisabled", value=False)
        assert len(shown(page)) == 3
        assert page.see("document.querySelector('#choose').getClientRects().length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW, {"width": 3840, "height": 2160}], ids=str)
def test_it_fits_the_window_and_can_be_read(browser, url, size, scheme):
    with browser.page(url, **size) as page:
        page.prefer(scheme)
        root = "document.documentElement"
        assert page.see(f"{root}.scrollWidth <= {root}.clientWidth")
        assert page.see(CONTRASTS) == []
        assert page.see(OVERLAPS) == []


# Texts of a drawing that lie on each other, or outside of the page.
OVERLAPS = """(() => {
  const found = [];
  for (const plot of document.querySelectorAll(".plot")) {
    const boxes = [...plot.querySelectorAll("text")]
      .map((one) => [one.textContent, one.getBoundingClientRect()])
      .filter(([, box]) => box.width);
    boxes.forEach(([text, box], at) => {
      if (box.left < 0 || box.right > document.documentElement.clientWidth) found.push(text);
      for (const [other, its] of boxes.slice(at + 1)) {
        const apart = box.right <= its.left || its.right <= box.left;
        if (!apart && box.bottom > its.top && its.bottom > box.top) found.push(`${text} ${other}`);
      }
    });
  }
  return found;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_the_history(browser, url, gate_node_modules, scheme):
    axe = gate_node_modules / "axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is not in GATE_NODE_MODULES; .ci/run installs it")
    with browser.page(url, **WIDE) as page:
        page.prefer(scheme)
        page.see(axe.read_text("utf-8") + ";0")
        page.see("axe.run().then((told) => { window.told = told.violations; }); 0")
        until(page, "window.told !== undefined")
        found = page.see("told.map((one) => [one.id, one.nodes.map((node) => node.html)])")
        assert found == []


def test_printed_it_is_light(page):
    page.prefer("dark")
    dark = page.see("getComputedStyle(document.body).backgroundColor")
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.see("getComputedStyle(document.body).backgroundColor") != dark
    assert page.see("document.querySelector('#choose').getClientRects().length") == 0


def test_hostile_texts_are_shown_and_do_nothing(browser, tmp_path):
    file = tmp_path / "hostile.html"
    long = HOSTILE + "x" * 5_000_000
    file.write_text(as_html(long_history(8, hostile=HOSTILE)), "utf-8")
    assert len(as_html(long_history(4, cases=3, hostile=long))) < 20_000_000
    with browser.page(file.as_uri(), **NARROW) as page:
        text = page.see("document.body.textContent")
        for sign in ("</script><script>document.title", "␛[31m", "⟨U+202E⟩gnp", "⟨ZWSP⟩", "␀"):
            assert sign in text, sign
        assert page.see("document.title") != "owned"
        assert page.see("document.querySelectorAll('img').length") == 0
        metric = page.see("[...document.querySelectorAll('#metric option')].at(-1).value")
        choose(page, metric)
        until(page, f"{SHOWN}.length === 1")
        root = "document.documentElement"
        assert page.see(f"{root}.scrollWidth <= {root}.clientWidth")
        assert page.complaints == []


def test_a_large_history_stays_small(tmp_path: Path):
    """10,000 cases over 100 runs: the worst cases of the newest runs, and every metric."""
    page = as_html(long_history(100, cases=10_000))
    assert len(page) < 2_000_000
    assert "more cases failed in these runs: only the 200 worst are listed" in page
