"""report.html of many cases in Chromium: `python -m benchmarks.report_page [CASES] [ROUNDS]`.

Answers of 1 KB, all different, of English words. It prints the size beside what `gzip -9` makes of
the texts, the processor time that making the page takes, and what a person waits for in the
browser: opening, a filter, a sort, a search through all texts; and the memory of its page.
"""

from __future__ import annotations

import gzip
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from gate.records import TrialRow
from gate.report.formats.html import Html
from tests.support.chromium import Chromium, Page, program
from tests.support.paths import ROOT
from tests.support.reports import regression, row

WORDS = sorted(set((ROOT / "docs/semantics.md").read_text("utf-8").split()))
LONG = 1_000  # characters of an answer


def write_rows(cases: int, rounds: int) -> Iterator[TrialRow]:
    random = Random(1)
    for number in range(cases):
        question = " ".join(random.choices(WORDS, k=12))
        for place in range(1, rounds + 1):
            answer = " ".join(random.choices(WORDS, k=LONG // 5))[:LONG]
            passed = random.random() > 0.1
            yield {
                **row(f"case-{number:06}", passed=passed, question=question, output=answer),
                "round": place,
                "latency_ms": random.uniform(100, 3_000),
                "category": f"category {number % 20}",
            }


def wait_for(page: Page, does: str, done: str) -> float:
    """Milliseconds in the page from the first expression to when the second is true, at a frame."""
    page.see(
        f"(() => {{ const start = performance.now(); window.took = null; {does};"
        f" const look = () => {{ if ({done}) window.took = performance.now() - start;"
        " else requestAnimationFrame(look); }; requestAnimationFrame(look); })()"
    )
    end = time.monotonic() + 60
    while (took := page.see("window.took")) is None:
        assert time.monotonic() < end, done
        time.sleep(0.01)
    return float(took)


def most_memory(browser: Chromium) -> float:
    """MB, of the renderer that had most."""
    found = browser.call("SystemInfo.getProcessInfo")["processInfo"]
    files = [Path(f"/proc/{one['id']}/status") for one in found if one["type"] == "renderer"]
    lines = (line for file in files for line in file.read_text().splitlines())
    return max(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main() -> None:
    cases, rounds = (int(word) for word in [*sys.argv[1:], "10000", "3"][:2])
    found = list(write_rows(cases, rounds))
    texts = "\n".join(
        [one["question"] for one in found if one["round"] == 1]
        + [one["output"] or "" for one in found]
    )
    packed = len(gzip.compress(texts.encode(), 9))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    page_text = Html().render(regression(), lambda: iter(found))
    made = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    size = len(page_text.encode())
    bound = 1.4 * packed + 2e6
    print(
        f"{cases:,} cases x {rounds}: {size / 1e6:.1f} MB, gzip -9 of the texts {packed / 1e6:.1f}"
    )
    verdict = "met" if size <= bound else "missed"
    print(f"  at most 1.4 x that + 2 MB = {bound / 1e6:.1f} MB: {verdict}")
    print(f"  made in {made:.2f} s of processor time, {1e6 * made / len(found):.0f} µs a trial")
    chromium = program()
    if chromium is None:
        sys.exit("no Chromium: set GATE_CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, Chromium(chromium, Path(folder)) as browser:
        file = Path(folder) / "report.html"
        file.write_text(page_text, encoding="utf-8", errors="replace")
        with browser.page("about:blank", width=1440, height=1000) as page:
            start = time.monotonic()
            page.open(file.as_uri())
            while not page.see("document.querySelectorAll('.frame tbody th').length > 10"):
                time.sleep(0.005)
            print(f"  open to the list: {1000 * (time.monotonic() - start):.0f} ms")
            select = "document.querySelector('#app select')"
            change = "dispatchEvent(new Event('change'))"
            filtered = wait_for(page, f"{select}.value = 'flaky'; {select}.{change}", "true")
            cleared = wait_for(page, f"{select}.value = ''; {select}.{change}", "true")
            head = "document.querySelector('.col-latency button')"
            ordered = wait_for(page, f"{head}.click()", "true")
            print(f"  filter {filtered:.0f} ms, cleared {cleared:.0f} ms, sort {ordered:.0f} ms")
            field = "document.querySelector('#app input')"
            told = "!document.querySelector('#app output').textContent.includes('%')"
            for word in ("nowhere-to-be-found", "not-there-either", "a", "of the"):
                search = wait_for(
                    page,
                    f"{field}.value = '{word}'; {field}.dispatchEvent(new Event('input'))",
                    f"performance.now() - start > 200 && {told}",
                )
                print(
                    f"  search through all texts for {word!r} {search:.0f} ms,"
                    f" the renderer's most memory so far {most_memory(browser):.0f} MB"
                )
            page.call("Performance.enable")
            metrics = {
                m["name"]: m["value"] for m in page.call("Performance.getMetrics")["metrics"]
            }
            print(f"  JavaScript heap {metrics['JSHeapUsedSize'] / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
