"""The live line of a run on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text


@contextmanager
def live_line(stream: TextIO, line: Callable[[], str]) -> Iterator[None]:
    """What `line` says, four times a second, folded at words; gone in the end. A trial costs it
    nothing.
    """
    with Live(
        get_renderable=lambda: Text(line()),
        console=Console(file=stream),
        refresh_per_second=4,
        transient=True,
    ):
        yield
