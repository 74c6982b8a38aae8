"""Questions and possible answers as cases that the grader `tool_calls` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, UsageError
from gate.files.json_values import as_list
from gate.files.problems import Findings
from gate.graders.tool_calling.actual import ArgsRules
from gate.graders.tool_calling.bfcl_rows import OPTIONS, case_keys
from gate.graders.tool_calling.compare import compare, limit_codes
from gate.graders.tool_calling.expected import read_expected_call
from gate.importers.formats.bfcl.categories import is_irrelevance, is_matched, is_relevance
from gate.importers.formats.bfcl.files import BfclRow, read_rows
from gate.records import CheckedJson, Json, ToolCall

_RULES = ArgsRules(strings=OPTIONS["strings"], numbers=OPTIONS["numbers"])


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclQuestion:
    """One question. `keys` and `plain_keys`, with `_` for the dots in names: what tool_calls reads;
    empty where there is no answer, or none that can be compared.
    """

    input: Json
    keys: Mapping[str, Json]
    plain_keys: Mapping[str, Json]


def read_questions(
    questions: Iterable[Path], answers: Iterable[Path], findings: Findings
) -> dict[str, BfclQuestion]:
    """By id, in the order of the files. Raises UsageError for what is no plain file."""
    truths: dict[str, Json] = {}
    for line in _read_all(answers, "ground_truth", findings):
        own = line.own
        if own in truths:
            findings.add(line.place, f"{own[:80]!r} has two answers - keep one")
        truths[own] = line.data["ground_truth"]
    found: dict[str, BfclQuestion] = {}
    for line in _read_all(questions, "question", findings):
        own = line.own
        if own in found:
            findings.add(line.place, f"{own[:80]!r} appears twice - keep one")
            continue
        found[own] = _read_question(line, truths.get(own), findings)
    return found


def _read_all(files: Iterable[Path], key: str, findings: Findings) -> Iterator[BfclRow]:
    for file in files:
        yield from findings.keep_good(read_rows(file, key))


def category_of(own: str) -> str:
    """`live_simple_3-1-0` is of live_simple."""
    return own.partition(":")[0].rpartition("_")[0]


def _read_question(line: BfclRow, truth: Json, findings: Findings) -> BfclQuestion:
    data, category = line.data, category_of(line.own)
    functions = data.get("function")
    compared = is_irrelevance(category) or (is_matched(category) and truth is not None)
    keys: tuple[Mapping[str, Json], ...] = ({}, {})
    if compared and not isinstance(functions, list):
        findings.add(line.place, "has no `function`, which must be a list of definitions")
    elif compared:
        truth = truth if is_matched(category) else []
        keys = _keys(functions, truth, line.place, findings)
    return BfclQuestion(input=_input(data["question"]), keys=keys[0], plain_keys=keys[1])


def _keys(
    functions: CheckedJson, truth: CheckedJson, place: Place, findings: Findings
) -> tuple[Mapping[str, Json], ...]:
    try:
        return tuple(case_keys(functions, truth, underscores=plain) for plain in (False, True))
    except UsageError as error:
        findings.add(place, f"{str(error)[:200]} - remove the question, or use the original file")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        form = f"its functions or answers have an unknown format ({type(error).__name__})"
        findings.add(place, f"{form} - use the original files of BFCL")
    return {}, {}


def _input(question: Json) -> Json:
    """The messages of the first turn; one message of a user is its text."""
    turns = as_list(question)
    first = turns[0] if turns and isinstance(turns[0], list) else turns
    alone = first[0] if len(first) == 1 and isinstance(first[0], dict) else {}
    said = alone.get("content")
    return said if alone.get("role") == "user" and isinstance(said, str) else first


# ------------------------------------------------------------------------------------------ verdict


def faults(
    category: str, calls: tuple[ToolCall, ...] | None, asked: BfclQuestion | None
) -> tuple[tuple[str, ...], ...]:
    """Failure codes by our own comparison, none where the calls are right: with dots in names, then
    with `_` instead. Empty where it cannot tell. A result that is no call (`calls` is None) calls
    nothing.
    """
    if is_irrelevance(category):
        return (("irrelevance_error:decoder_success",) if calls else (),)
    if is_relevance(category):
        return (() if calls else ("relevance_error:decoder_failed",),)
    if asked is None or not asked.keys:
        return ()
    return tuple(_codes(calls or (), keys) for keys in (asked.keys, asked.plain_keys))


def _codes(calls: tuple[ToolCall, ...], keys: Mapping[str, CheckedJson]) -> tuple[str, ...]:
    expected = [read_expected_call(call) for call in keys["expected_tool_calls"]]
    return limit_codes(compare(expected, calls, _RULES).codes("unordered"))
