"""`gate open [SESSION]`: the page of a session in the browser; its path where there is none."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path

from gate.commands.options.records import find_stored
from gate.errors import UsageError
from gate.store.session import load_session, refuse_debugging
from gate.text.escaping import plain

PAGE = "report.html"


def run(
    options: argparse.Namespace,
    env: Mapping[str, str],
    show: Callable[[str], bool] = webbrowser.open,
) -> int:
    """Prints the path of the page and returns 0; shows it, but not in CI. Raises UsageError for a
    session without a page.
    """
    page = find_page(find_stored(options.session))
    print(plain(str(page)))
    if env.get("CI"):
        return 0
    try:
        shown = show(page.resolve().as_uri())
    except (OSError, webbrowser.Error):
        shown = False
    if not shown:
        print("There is no browser to open it; open this file in one.")
    return 0


def find_page(session: Path) -> Path:
    """The page of the session. Raises UsageError where there is none."""
    refuse_debugging(load_session(session))
    page = session / PAGE
    if page.is_symlink() or not page.is_file():
        raise UsageError(f"{page}: there is no such file; write it with `gate report {session}`")
    return page
