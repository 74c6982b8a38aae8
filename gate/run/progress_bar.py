"""The live line of a run on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text


@contextmanager
def live_line(stream: TextIO, line: Callable[[int], str]) -> Iterator[None]:
    """What `line` says for so many columns, four times a second; gone in the end. A trial costs it
    nothing.
    """
    console = Console(file=stream)
    with Live(
        get_renderable=lambda: Text(line(console.width), no_wrap=True, overflow="ellipsis"),
        console=console,
        refresh_per_second=4,
        transient=True,
    ):
        yield
