"""A score file: what its first line says, and a line for each answer that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import Place, Problem
from gate.files.json_values import as_object, as_strings, is_integer, is_number
from gate.files.plain import JsonLine, json_lines
from gate.files.problems import Findings
from gate.importers.formats.bfcl.categories import SIZES
from gate.importers.formats.bfcl.files import digest
from gate.records import Json
from gate.text.escaping import one_line

MOST_QUESTIONS = 1_000_000
_ROUNDED = 0.5e-4 + 1e-9  # an accuracy may be written with four digits
_CHECKERS = re.compile(r"^(?:simple|multiple|parallel)_function_checker(?:_\w+?_order)?:")
_NOT_IN_A_CODE = re.compile(r"[^a-z0-9_:/.-]+")
_RAW = ("model_result_raw", "model_result")


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclFailure:
    """`raw`: digests of the model's result, as it is or as a text; empty: it is not there."""

    code: str
    reason: str
    raw: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclScores:
    total: int
    failed: Mapping[str, BfclFailure] = field(
        default_factory=dict
    )  # by id, in the order of the file
    models: tuple[str, ...] = ()  # as the failures name them


def read_scores(path: Path, category: str, findings: Findings) -> BfclScores | None:
    """None where the first line is wrong: what is wrong is among the findings."""
    lines = json_lines(path)
    first = next(lines, None)
    if first is None:
        findings.add(Place(path.as_posix()), "empty - copy it again, or leave it out")
        return None
    if isinstance(first, Problem):
        findings.take(first)
        return None
    header = _header(first, findings)
    failed: dict[str, BfclFailure] = {}
    models: dict[str, None] = {}
    for line in findings.keep_good(lines):
        models |= dict.fromkeys(_take(line, category, failed, findings))
    if header is None:
        return None
    correct, total = header
    if not findings and len(failed) != total - correct:
        findings.add(
            first.place,
            f"says {correct} of {total} are correct, but {len(failed)} failures follow instead of "
            f"{total - correct} - the file was changed or cut off",
        )
    if len(models) > 1:
        findings.add(first.place, f"answers of two models: {', '.join([*models][:5])[:200]}")
    return BfclScores(total=total, failed=failed, models=tuple(models))


def _header(line: JsonLine, findings: Findings) -> tuple[int, int] | None:
    data = as_object(line.data)
    accuracy: Json = data.get("accuracy")
    correct: Json = data.get("correct_count")
    total: Json = data.get("total_count")
    counts = _is_count(correct) and _is_count(total) and 0 < total <= MOST_QUESTIONS
    if not counts or correct > total:
        findings.add(
            line.place, "no `accuracy`, `correct_count` and `total_count` - name a score file"
        )
        return None
    share = correct / total
    if not is_number(accuracy) or abs(accuracy - share) > _ROUNDED:
        findings.add(
            Place(line.place.file, line.place.line, "accuracy"),
            f"says {str(accuracy)[:40]}, but {correct} of {total} are {share:.4f} - it was changed",
        )
        return None
    return correct, total


def _is_count(value: Json) -> bool:
    return is_integer(value) and value >= 0


def _take(
    line: JsonLine, category: str, failed: dict[str, BfclFailure], findings: Findings
) -> Iterator[str]:
    """Takes one failure; yields the model that it names."""
    data = as_object(line.data)
    own, told = data.get("id"), data.get("test_category", category)
    if not isinstance(own, str) or not own:
        findings.add(line.place, "a failure without an `id`")
    elif data.get("valid") is not False:
        findings.add(line.place, f"{own[:80]!r}: `valid` is not false, and it stands here")
    elif told != category:
        findings.add(line.place, f"{own[:80]!r} is of {str(told)[:80]!r}, the file of {category}")
    elif own in failed:
        findings.add(line.place, f"{own[:80]!r} is there twice - keep one")
    else:
        failed[own] = _read_failure(data)
        if isinstance(data.get("model_name"), str):
            yield one_line(data["model_name"], 100)


def _read_failure(data: Mapping[str, Json]) -> BfclFailure:
    error = data.get("error")
    inner = as_object(error)
    told = inner.get("error_message", error) if inner else error
    texts = told if isinstance(told, list) else [told]
    reason = next(iter(as_strings(texts)), "")
    raw = [data[key] for key in _RAW if key in data]
    return BfclFailure(
        code=code_of(data.get("error_type") or inner.get("error_type")),
        reason=one_line(reason, 300),
        raw=frozenset(digest(form) for one in raw for form in (one, str(one))),
    )


def code_of(error_type: Json) -> str:
    """`simple_function_checker:wrong_count` is wrong_count; `type_error:simple` stays."""
    if not isinstance(error_type, str):
        return "wrong_answer"
    known = _CHECKERS.sub("", error_type[:200].lower())
    return _NOT_IN_A_CODE.sub("_", known)[:80] or "wrong_answer"


# Beginnings of error types -> the failure mode whose name stands beside them as a code: the answers
# are calls, and most have no text by which a mode could be told.
_MODES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "tool_args_wrong",
        ("type_error", "value_error", "unexpected_param", "missing_re", "missing_op"),
    ),
    ("tool_args_wrong", ("cannot_find_match", "dict_checker", "list_dict_checker")),
    ("wrong_tool", ("wrong_count", "wrong_func_name", "irrelevance_error")),
    ("wrong_tool", ("multi_turn:instance_state", "multi_turn:method", "multi_turn:irrelevance")),
    ("missing_tool_use", ("relevance_error", "multi_turn:empty", "multi_turn:execution")),
    ("loop", ("multi_turn:force_terminated",)),
    ("format", ("ast_decoder", "agentic:no_last_message")),
    ("wrong_answer", ("agentic:answer_not_found",)),
)


def with_mode(code: str) -> tuple[str, ...]:
    """The code, and the failure mode that it stands for."""
    mode = next((mode for mode, starts in _MODES if code.startswith(starts)), None)
    return (code, mode) if mode else (code,)


def all_ids(category: str, total: int) -> list[str]:
    """The ids of a category of which every question was asked; empty where they are not known."""
    if SIZES.get(category) != total:
        return []
    return [f"{category}_{n}" for n in range(total)]
