"""The value of an expression of an answer: "(412 - 398) / 398"."""

from __future__ import annotations

from collections.abc import Sequence

_OVER = frozenset(("/", "÷", "\\div", "divided by"))
_LESS = frozenset(("-", "−", "minus"))
_TIGHT = _OVER | {"*", "×", "x", "·", "\\times", "\\cdot", "times", "multiplied by"}


def value_of(amounts: Sequence[float], signs: Sequence[str], gaps: Sequence[str]) -> float | None:
    """Multiplications first. `gaps`: the texts before, between and after the amounts, which have
    the brackets; those that do not fit are as good as absent. None: a division by zero.
    """
    values: list[float] = []
    pending: list[str] = []
    for k, amount in enumerate(amounts):
        before, sign = gaps[k], signs[k - 1] if k else ""
        closing, opening = _brackets(before, sign)
        for _ in range(closing):
            if "(" in pending and not _close(values, pending):
                return None
        if sign:
            while pending and pending[-1] != "(" and not _binds_more(sign, pending[-1]):
                if not _apply(values, pending.pop()):
                    return None
            pending.append(sign)
        pending += ["("] * opening
        values.append(amount)
    while pending:
        sign = pending.pop()
        if sign != "(" and not _apply(values, sign):
            return None
    return values[0]


def _brackets(gap: str, sign: str) -> tuple[int, int]:
    """Those that close before the sign, and those that open right before the next amount."""
    head, tail = gap.split(sign, 1) if sign else ("", gap.rpartition("  ")[2])
    opening = 0
    for one in reversed(tail):
        if one in "([":
            opening += 1
        elif one not in " $€£":
            break
    closing = 0
    depth = 0
    for one in head:
        if one in "([":
            depth += 1
        elif one in ")]":
            closing, depth = (closing, depth - 1) if depth else (closing + 1, 0)
    return closing, opening


def _binds_more(sign: str, other: str) -> bool:
    return sign in _TIGHT and other not in _TIGHT


def _close(values: list[float], pending: list[str]) -> bool:
    while pending[-1] != "(":
        if not _apply(values, pending.pop()):
            return False
    pending.pop()
    return True


def _apply(values: list[float], sign: str) -> bool:
    b, a = values.pop(), values.pop()
    if sign in _OVER:
        if not b:
            return False
        values.append(a / b)
    elif sign in _TIGHT:
        values.append(a * b)
    else:
        values.append(a - b if sign in _LESS else a + b)
    return True
