"""Arithmetic on written numbers, without evaluating anything else."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

_LONGEST = 200  # characters of an expression
_OPERATIONS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_WANTED = "an expression holds numbers like 1234.5, + - * / and brackets"


def evaluate(expression: str) -> float:
    """The value, rounded to four decimals. Raises ValueError: no such expression, a division by
    zero, or a result beyond floats.
    """
    if len(expression) > _LONGEST:
        raise ValueError(f"{_WANTED}, {_LONGEST} characters at most")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{_WANTED}, not {expression!r}") from error
    except ZeroDivisionError as error:
        raise ValueError(f"division by zero in {expression!r}") from error
    if not math.isfinite(value):
        raise ValueError(f"the result of {expression!r} is too large")
    return round(value, 4)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant):
        number = node.value
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return float(number)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError(f"{_WANTED}, not {ast.unparse(node)!r}")
