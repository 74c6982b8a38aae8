"""Makes the pictures of the README and of docs/: runs the demo's agent as the main branch has it,
unchanged, worse and a little worse, and takes pictures of what Agent Gate says of each.

`make pictures`, or `python docs/images/make.py [FOLDER]`. Wants Chromium and git.
"""

from __future__ import annotations

import io
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import cmarkgfm
from cmarkgfm.cmark import Options
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))


from gate.commands.demo import CONFIG, GATE  # noqa: E402
from gate.report.console import render_console  # noqa: E402
from gate.store.session import load_session  # noqa: E402
from tests.support.chromium import Chromium, Page, program  # noqa: E402

NAMES = (
    *("comment-fail", "comment-pass", "comment-inconclusive"),
    *("page-overview", "page-cases", "page-case", "terminal", "history"),
)
FLAKY = ("--flaky", "0.02")
WIDE, NARROW, SMALL, HIGH = 1200, 860, 700, 780  # pixels
COLUMNS = 98
_BASIC = [(22, 25, 29), (255, 107, 107), (95, 211, 120), (229, 192, 90), (97, 175, 239)]
_BASIC += [(198, 120, 221), (86, 190, 200), (223, 227, 232)]
THEME = TerminalTheme((22, 25, 29), (223, 227, 232), _BASIC, _BASIC)
DRAWN = "document.fonts.ready.then(() => new Promise(r => setTimeout(r, 400)))"
STYLE = """
body { margin: 0; background: #fff; color: #1f2328; font: 13px/1.45 system-ui, "Liberation Sans",
  "DejaVu Sans", sans-serif; }
main { padding: 16px 24px 24px; }
h2 { margin: 0 0 12px; padding-bottom: 6px; border-bottom: 1px solid #d1d9e0; font-size: 21px; }
code { padding: 2px 5px; border-radius: 5px; background: #eff1f3;
  font: 11px "Liberation Mono", "DejaVu Sans Mono", monospace; }
table { margin: 12px 0; border-collapse: collapse; }
th, td { padding: 5px 11px; border: 1px solid #d1d9e0; }
tr:nth-child(2n) td { background: #f6f8fa; }
blockquote { margin: 12px 0; padding: 2px 14px; border-left: 4px solid #9a6700; }
a { color: #0969da; text-decoration: none; }
details { margin: 6px 0; }
pre { margin: 0; padding: 20px 24px; background: #16191d; color: #dfe3e8;
  font: 11px/1.4 "DejaVu Sans Mono", "Liberation Mono", monospace; }
"""


def lacks_emoji() -> bool:
    """Whether this machine surely has no font of emoji."""
    fonts = shutil.which("fc-list")
    if fonts is None:
        return False
    return not subprocess.run([fonts, ":lang=und-zsye"], capture_output=True, check=False).stdout


def main(out: Path, main_runs: int = 6) -> None:
    """Takes a minute. `main_runs`: of the main branch, before the change."""
    browser = program()
    if browser is None:
        raise SystemExit("no browser: install chromium, or name one in GATE_CHROMIUM")
    if shutil.which("git") is None:
        raise SystemExit("no git: install it")
    if lacks_emoji():
        raise SystemExit("no font of emoji, icons would be boxes: install fonts-noto-color-emoji")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "shop"
        runs = run_demo(place, main_runs)
        with Chromium(browser, Path(folder) / "browser") as chromium:
            take_pictures(chromium, runs, place, out)
    for name in NAMES:
        print(out / f"{name}.png")


def run_demo(place: Path, main_runs: int) -> dict[str, Path]:
    """The sessions by outcome, of the demo's agent and suite in a repository of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shutil.copytree(ROOT / "datasets" / "analytics", place / "datasets" / "analytics")
    agent = f'type: openai, base_url: "http://127.0.0.1:{port}", model: sample-analytics-1'
    text = CONFIG.format(agent=agent) + "baseline: {answers: repo}\n"
    (place / "gate.yml").write_text(text, "utf-8")
    git(place, "init", "-q", "-b", "main")
    commit(place, "The agent and its suite")
    for number in range(main_runs):
        measure(place, port, "--seed", str(number), *FLAKY)
    git(place, "checkout", "-q", "-b", "change")
    commit(place, "A change")
    few = ("--sample", "60", "--rounds", "1", "--stop", "off")
    runs = {
        "pass": run(place, port, "--seed", "90", *FLAKY),
        "inconclusive": run(place, port, "--flaky", "0.08", "--seed", "91", options=few),
        "fail": run(place, port, "--seed", "92", "--top-k", "1", *FLAKY, expect=1),
    }
    git(place, "checkout", "-q", "main")
    for number in range(2):  # somebody merges it all the same
        measure(place, port, "--seed", str(93 + number), "--top-k", "1", *FLAKY)
    return runs


def measure(place: Path, port: int, *switches: str) -> None:
    """A run of the main branch, kept as its baseline."""
    session = run(place, port, *switches, options=("--baseline", "none", "--stop", "off"))
    gate(place, "baseline", "save", str(session))
    commit(place, "A change on main")


def run(
    place: Path, port: int, *switches: str, options: tuple[str, ...] = (), expect: int = 0
) -> Path:
    """The session of one `gate run` against the agent with `switches`."""
    results = place / "results"
    before = set(results.glob("session-*"))
    with serve(port, *switches):
        gate(place, "run", *options, expect=expect)
    return next(iter(set(results.glob("session-*")) - before))


@contextmanager
def serve(port: int, *switches: str) -> Iterator[None]:
    command = [*GATE, "agent", "--port", str(port), *switches]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        agent.stdout.readline()  # it listens
        try:
            yield
        finally:
            agent.terminate()


def gate(place: Path, *arguments: str, expect: int = 0) -> None:
    done = subprocess.run([*GATE, *arguments], cwd=place, capture_output=True, text=True)
    if done.returncode != expect:
        said = done.stdout + done.stderr
        raise SystemExit(f"gate {' '.join(arguments)}: exit {done.returncode}\n{said}")


def git(place: Path, *arguments: str) -> None:
    name = ("-c", "user.name=demo", "-c", "user.email=demo@example.org")
    subprocess.run(["git", *name, *arguments], cwd=place, check=True)


def commit(place: Path, title: str) -> None:
    (place / ".gitignore").write_text("results/\n", "utf-8")
    git(place, "add", "-A")
    git(place, "commit", "-q", "--allow-empty", "-m", title)


def take_pictures(chromium: Chromium, runs: dict[str, Path], place: Path, out: Path) -> None:
    drawn = place.parent
    for outcome, session in runs.items():
        page = drawn / f"{outcome}.html"
        page.write_text(draw_comment((session / "comment.md").read_text("utf-8")), "utf-8")
        take(chromium, page.as_uri(), out / f"comment-{outcome}.png", NARROW)
    page = drawn / "terminal.html"
    page.write_text(draw_terminal(runs["fail"]), "utf-8")
    take(chromium, page.as_uri(), out / "terminal.png", SMALL)
    report = (runs["fail"] / "report.html").as_uri()
    failing = load_session(runs["fail"]).report
    assert failing is not None
    # Which question lies in which cause differs: a run ends early after another round each time.
    failed = [case for cause in failing.causes for case in cause.cases]
    case = next((one for one in failed if one.startswith("comparison")), failed[0])
    take(chromium, report, out / "page-overview.png", WIDE, HIGH)
    take(chromium, f"{report}#f=new", out / "page-cases.png", WIDE, HIGH, "#app")
    address = f"{report}#case={quote(f'analytics/{case}', safe='')}&f=new"
    take(chromium, address, out / "page-case.png", WIDE, HIGH)
    gate(place, "history", "--format", "html", "--out", "site")
    take(chromium, (place / "site" / "index.html").as_uri(), out / "history.png", WIDE, HIGH)


def take(
    chromium: Chromium, address: str, file: Path, width: int, height: int = 0, start: str = ""
) -> None:
    """`height`: of the picture, else all; `start`: an element whose section is at its top."""
    with chromium.page(address, width=width, height=height or 200) as page:
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        settle(page)
        if start:
            page.see(f"document.querySelector({start!r}).closest('section').scrollIntoView()")
        if not height:
            whole = int(page.see("document.documentElement.scrollHeight"))
            page.call(
                "Emulation.setDeviceMetricsOverride",
                **{"width": width, "height": whole, "deviceScaleFactor": 1, "mobile": False},
            )
        settle(page)
        page.picture(file)
    file.write_bytes(squeeze(file.read_bytes()))


def squeeze(picture: bytes) -> bytes:
    """The same PNG, packed as well as zlib can: browsers pack for speed."""
    chunks, at = [], 8
    while at < len(picture):
        size = int.from_bytes(picture[at : at + 4])
        chunks.append((picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]))
        at += 12 + size
    data = zlib.compress(zlib.decompress(b"".join(d for kind, d in chunks if kind == b"IDAT")), 9)
    packed = [chunks[0], (b"IDAT", data), chunks[-1]]
    return picture[:8] + b"".join(
        len(d).to_bytes(4) + kind + d + zlib.crc32(kind + d).to_bytes(4) for kind, d in packed
    )


def settle(page: Page) -> None:
    page.call("Runtime.evaluate", expression=DRAWN, awaitPromise=True)


def draw_comment(text: str) -> str:
    """The comment much as GitHub has it, its folds closed."""
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS
    html = cmarkgfm.github_flavored_markdown_to_html(text, options)
    marks = re.compile(r"<p>\[!(NOTE|WARNING|CAUTION)\](?:<br />)?\s*")
    return whole_page(f"<main>{marks.sub(lambda m: f'<p><b>{m[1].title()}</b><br>', html)}</main>")


def draw_terminal(session: Path) -> str:
    """What `gate run` printed at its end."""
    report = load_session(session).report
    assert report is not None
    shown = render_console(
        report, color=True, unicode=True, width=COLUMNS, folded=True, show="gate open"
    )
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(f"$ gate run\n{shown}"))
    html = console.export_html(theme=THEME, inline_styles=True, code_format="<pre>{code}</pre>")
    return whole_page(html)


def whole_page(body: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{body}'


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
