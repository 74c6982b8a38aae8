"""What the values of options are: a text of the command line to a number, a share, a moment."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime


def parse_whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    end = "on" if most is None else f"to {most}"

    def convert(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} {end}")
        return int(text)

    return convert


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def seconds(text: str) -> float:
    from gate.records import LONGEST_S

    value = positive(text)
    if value > LONGEST_S:
        raise argparse.ArgumentTypeError(f"'{text}' is more than a week, {LONGEST_S:g} seconds")
    return value


def rate(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a rate from 0 to 1 or from 0% to 100%")
    return value


def shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I from 1 to N, e.g. 2/8")
    return int(index), int(count)


def moment(text: str) -> datetime:
    """A day, or a moment; UTC where it names no offset."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a date such as 2026-11-21 or 2026-11-21T03:17"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
