"""The calls in a model's result: objects of name and arguments, or Python calls in a text."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.files.json_stream import decode_json
from gate.files.json_values import as_objects, as_string
from gate.records import Json, ToolCall

_MOST_CODE = 20_000  # characters of a text that is read as Python
_MOST_CALLS = 10_000
_FAILED = "Error during inference:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalls:
    """`calls`: None where the result cannot be read as calls; `answer`: its last text."""

    calls: tuple[ToolCall, ...] | None
    answer: str = ""
    turns: int | None = None  # calls of the model


def inference_error(result: Json) -> str | None:
    """What the benchmark wrote where the model could not be asked."""
    return result if isinstance(result, str) and result.startswith(_FAILED) else None


def read_calls(result: Json, *, many_turns: bool) -> ModelCalls:
    """`many_turns`: a list of turns, each a list of what the model said step by step."""
    if not many_turns:
        read = _read_step(result, None)
        answer = as_string(result)
        return ModelCalls(calls=None if read is None else tuple(read), answer=answer)
    said = list(_steps(result))
    calls = [call for n, one in enumerate(said) for call in _read_step(one, n) or ()]
    texts = [one for one in said if isinstance(one, str)]
    return ModelCalls(
        calls=tuple(calls[:_MOST_CALLS]), answer=texts[-1] if texts else "", turns=len(said)
    )


def _steps(result: Json) -> Iterator[Json]:
    for turn in result if isinstance(result, list) else (result,):
        yield from turn if isinstance(turn, list) else (turn,)


def _read_step(said: Json, turn: int | None) -> Sequence[ToolCall] | None:
    if isinstance(said, str):
        return _python_calls(said, turn)
    items = (said if isinstance(said, list) else [said])[:_MOST_CALLS]
    calls = as_objects(items)
    if len(calls) < len(items) or any(len(one) > 1 for one in calls):
        return None
    made = (pair for call in calls for pair in call.items())
    return [_call(name, given, turn) for name, given in made]


def _call(name: str, given: Json, turn: int | None) -> ToolCall:
    if isinstance(given, str):
        try:
            return ToolCall(name=name, arguments=decode_json(given), turn=turn)
        except (ValueError, RecursionError):
            return ToolCall(name=name, raw_arguments=given, turn=turn)
    return ToolCall(name=name, arguments=given, turn=turn)


def _python_calls(text: str, turn: int | None) -> list[ToolCall] | None:
    """Calls as in `[f(a=1), g.h(b="x")]`; None for any other text. Nothing is executed."""
    code = text.strip("`\n ").strip("'")
    code = code if code.startswith("[") else f"[{code}"
    code = code if code.endswith("]") else f"{code}]"
    if len(code) > _MOST_CODE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in the model's texts
            tree = ast.parse(code, mode="eval").body
        items = tree.elts if isinstance(tree, ast.List) else [tree]
        return [_python_call(item, turn) for item in items]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python_call(node: ast.expr, turn: int | None) -> ToolCall:
    """Arguments without a name are left out, as upstream has it."""
    if not isinstance(node, ast.Call):
        raise ValueError("no call")
    return ToolCall(name=_dotted_name(node.func), arguments=_keyword_arguments(node), turn=turn)


def _dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise ValueError("no name of a function")
    return ".".join([node.id, *reversed(parts)])


def _keyword_arguments(call: ast.Call) -> dict[str, Json]:
    if any(one.arg is None for one in call.keywords):
        raise ValueError("arguments without a name")
    return {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}


def _value(node: ast.expr) -> Json:
    """JSON of a literal; a bare name is its text, as upstream has it."""
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:  # no mapping is unpacked
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_value(key)): _value(value) for key, value in pairs if key is not None}
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and node.keywords and not node.args:
        return {_dotted_name(node.func): _keyword_arguments(node)}
    raise ValueError("no literal")


def _constant(value: object) -> Json:
    if value is ...:
        return "..."
    if value is not None and not isinstance(value, (int, float, str)):  # bytes, complex
        raise ValueError("no JSON value")
    json.dumps(value, allow_nan=False)  # 1e999 is infinite
    return value
