"""A headless Chromium, driven over a pipe in its DevTools protocol: no package, no open port."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
# Becomes the browser, which wants the two ends of the pipe as 3 and 4; the first is the lower one.
AT_3_AND_4 = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
    " os.execv(sys.argv[3], sys.argv[3:])"
)
DEADLINE = 30.0  # seconds for an answer, a page or a file


def program() -> str | None:
    """GATE_CHROMIUM, or what the machine has; None when it has none."""
    found = (shutil.which(name) for name in NAMES)
    return os.environ.get("GATE_CHROMIUM") or next((path for path in found if path), None)


class Chromium:
    """One browser with a profile and a folder for downloads of its own."""

    def __init__(self, program: str, folder: Path) -> None:
        self.downloads = folder / "downloads"
        self.downloads.mkdir(parents=True, exist_ok=True)
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        os.set_blocking(self._in, False)

        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        arguments += ["--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
        arguments += [
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
        started = [sys.executable, "-c", AT_3_AND_4, str(reads), str(writes), program]
        self._process = subprocess.Popen(
            [*started, *arguments, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(reads, writes),
        )
        os.close(reads)
        os.close(writes)
        self._rest, self._number = b"", 0
        self.events: list[Mapping[str, Any]] = []
        where = {"behavior": "allow", "downloadPath": str(self.downloads)}
        self.call("Browser.setDownloadBehavior", **where)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait(DEADLINE)
        os.close(self._out)
        os.close(self._in)

    @contextmanager
    def page(self, url: str, **size: int) -> Iterator[Page]:
        """A tab; what its console said and what it asked the network for is kept in `events`."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        if size:
            page.call(
                "Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False
            )
        page.open(url)
        yield page
        self.call("Target.closeTarget", targetId=target)

    def downloaded(self, name: str) -> Path:
        path = self.downloads / name
        end = time.monotonic() + DEADLINE
        while not path.exists():
            assert time.monotonic() < end, f"{name} was not downloaded"
            time.sleep(0.02)
        return path

    def call(self, method: str, session: str | None = None, /, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def until(self, method: str) -> None:
        """Reads on until such an event has come."""
        while not any(one.get("method") == method for one in self.events):
            self.events.append(self._next())

    def _next(self) -> Mapping[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], DEADLINE)
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        found: Mapping[str, Any] = json.loads(message)
        return found


class Page:
    """One tab, used as a person does: keys and clicks, and a look at what it shows."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **parameters: Any) -> Any:
        return self._browser.call(method, self._session, **parameters)

    def open(self, url: str) -> None:
        self._browser.events.clear()
        self.call("Page.navigate", url=url)
        self._browser.until("Page.loadEventFired")

    def see(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            code = KEYS.get(key) or ord(key.upper())
            told = {"key": key, "windowsVirtualKeyCode": code}
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **told, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def write(self, text: str) -> None:
        """Types into what has the focus."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """The middle of the first visible element; fails where something else lies above it."""
        found = self.see(
            f"""(() => {{
              const one = [...document.querySelectorAll({json.dumps(selector)})]
                .find((each) => each.getClientRects().length);
              one.scrollIntoView({{block: "center"}});
              const box = one.getBoundingClientRect();
              const x = box.x + box.width / 2, y = box.y + box.height / 2;
              const top = document.elementFromPoint(x, y);
              return {{x, y, hit: top !== null && (one.contains(top) || top.contains(one))}};
            }})()"""
        )
        assert found["hit"], f"{selector} is covered"
        for kind in ("mousePressed", "mouseReleased"):
            at = {"x": found["x"], "y": found["y"], "button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, **at)

    def prefer(self, scheme: str) -> None:
        """`dark` or `light`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    @property
    def _events(self) -> list[Mapping[str, Any]]:
        return [one for one in self._browser.events if one.get("sessionId") == self._session]

    @property
    def complaints(self) -> list[str]:
        """Errors that the page threw or the console told, such as broken content policies."""
        found = []
        for event in self._events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            if event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
        return found

    @property
    def requests(self) -> list[str]:
        """Every address that the page asked for."""
        sent = [e for e in self._events if e.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]
