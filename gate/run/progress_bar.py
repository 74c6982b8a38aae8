"""The progress bar of a run on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gate.records import TrialRow


@contextmanager
def bar(
    stream: TextIO, planned: int, describe_pace: Callable[[], str] = str
) -> Iterator[Callable[[TrialRow], None]]:
    """A bar that advances by one with each row, and counts failed and unanswered trials; beside it
    stands what `describe_pace` says.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[red]{task.fields[failed]} failed[/] [yellow]{task.fields[errors]}[/]"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as display:
        task = display.add_task("trials", total=planned, failed=0, errors="", pace="")
        done = failed = errors = 0

        def advance(row: TrialRow) -> None:
            nonlocal done, failed, errors
            done += 1
            failed += row["passed"] is False
            errors += row["status"] == "infra_error"
            unanswered = f"{errors} not answered" if errors else ""
            most = max(planned, done)
            display.update(
                task,
                completed=done,
                total=most,
                failed=failed,
                errors=unanswered,
                pace=describe_pace(),
            )

        yield advance
