"""`gate open` and `gate serve` as somebody types them."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.stored_session import store


@pytest.fixture
def results(tmp_path):
    for number in (1, 2):
        folder = store(tmp_path / "results", {"a": [True]}, number=number)
        (folder / "report.html").write_text(f"<p>page {number}</p>")
    return tmp_path


def test_open_prints_the_newest_page(results):
    done = subprocess.run(
        [sys.executable, "-m", "gate", "open"],
        cwd=results,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    page = Path("results") / "session-20261119-120002-0123abcd" / "report.html"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{page}\n", "")


def test_serve_gives_the_newest_page_until_it_is_stopped(results):
    command = [sys.executable, "-m", "gate", "serve"]
    with subprocess.Popen(command, cwd=results, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().split()[0]
            assert url.startswith("http://127.0.0.1:")
            root = url.split("/session-")[0]
            for address, page in ((url, 2), (root, 2), (url.replace("0002-", "0001-"), 1)):
                with urllib.request.urlopen(address, timeout=10) as answer:
                    assert answer.read() == f"<p>page {page}</p>".encode()
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0
