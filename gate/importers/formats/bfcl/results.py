"""A category's questions, results and scores, checked against each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import Place, Problem, UsageError
from gate.files.json_values import as_amount, as_list, as_object, as_strings, is_integer
from gate.files.plain import JsonLine, json_lines
from gate.files.problems import Findings
from gate.graders.tool_calling.actual import ArgsRules
from gate.graders.tool_calling.bfcl_rows import OPTIONS, case_keys
from gate.graders.tool_calling.compare import compare, limit_codes
from gate.graders.tool_calling.expected import read_expected_call
from gate.importers.formats.bfcl.calls import read_calls
from gate.importers.formats.bfcl.leaderboard import (
    IRRELEVANCE,
    RELEVANCE,
    SIZES,
    BfclRow,
    CategoryFiles,
    digest,
    is_matched,
    read_rows,
)
from gate.importers.trials.stated import Figure, compare_stated
from gate.records import CheckedJson, Json, ToolCall
from gate.text.shortening import tidy

_RULES = ArgsRules(strings=OPTIONS["strings"], numbers=OPTIONS["numbers"])


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclQuestion:
    """What tool_calls reads: `keys`, and `plain_keys` with `_` for dots; {}: not comparable."""

    input: Json
    keys: Mapping[str, Json]
    plain_keys: Mapping[str, Json]


Questions = Mapping[str, BfclQuestion]  # by id


def read_questions(
    questions: Iterable[Path], answers: Iterable[Path], findings: Findings
) -> dict[str, BfclQuestion]:
    """Questions by id, in the order of the files. Raises UsageError for what is no plain file."""
    truths: dict[str, Json] = {}
    for line in _read_all(answers, "ground_truth", findings):
        own = line.own
        if own in truths:
            findings.add(line.place, f"{own[:80]!r} has two answers - keep one")
        truths[own] = line.data["ground_truth"]
    asked: dict[str, BfclQuestion] = {}
    for line in _read_all(questions, "question", findings):
        own = line.own
        if own in asked:
            findings.add(line.place, f"{own[:80]!r} appears twice - keep one")
            continue
        asked[own] = _read_question(line, truths.get(own), findings)
    return asked


def _read_all(files: Iterable[Path], key: str, findings: Findings) -> Iterator[BfclRow]:
    for file in files:
        yield from findings.keep_good(read_rows(file, key))


def category_of(own: str) -> str:
    """`live_simple_3-1-0` is of live_simple."""
    return own.partition(":")[0].rpartition("_")[0]


def _read_question(line: BfclRow, truth: Json, findings: Findings) -> BfclQuestion:
    data, category = line.data, category_of(line.own)
    functions = data.get("function")
    compared = category in IRRELEVANCE or (is_matched(category) and truth is not None)
    keys: tuple[Mapping[str, Json], ...] = ({}, {})
    if compared and not isinstance(functions, list):
        message = "needs `function`, a list of function definitions - use BFCL's question file"
        findings.add(line.place, message)
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
        findings.add(place, f"{str(error)[:200]} - use BFCL's question file")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        form = "its functions or answers are not in the format of BFCL"
        findings.add(place, f"{form} - use BFCL's own files")
    return {}, {}


def _input(question: Json) -> Json:
    """The messages of the first turn; one message of a user is its text."""
    turns = as_list(question)
    first = turns[0] if turns and isinstance(turns[0], list) else turns
    alone = first[0] if len(first) == 1 and isinstance(first[0], dict) else {}
    said = alone.get("content")
    return said if alone.get("role") == "user" and isinstance(said, str) else first


def faults(
    category: str, calls: tuple[ToolCall, ...] | None, asked: BfclQuestion | None
) -> tuple[tuple[str, ...], ...]:
    """Failure codes by our comparison, names with dots, then with `_`; (): it cannot tell."""
    if category in IRRELEVANCE:
        return (("irrelevance_error:decoder_success",) if calls else (),)
    if category == RELEVANCE:
        return (() if calls else ("relevance_error:decoder_failed",),)
    if asked is None or not asked.keys:
        return ()
    return tuple(_codes(calls or (), keys) for keys in (asked.keys, asked.plain_keys))


def _codes(calls: tuple[ToolCall, ...], keys: Mapping[str, CheckedJson]) -> tuple[str, ...]:
    expected = [read_expected_call(call) for call in keys["expected_tool_calls"]]
    return limit_codes(compare(expected, calls, _RULES).codes("unordered"))


# ------------------------------------------------------------------------------------------ results


_SAME_RUN = "use a result file and a score file of the same run"
ANSWERS_OPTION = "to accept what the score file says, remove --option answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """`passed`: ids, where no result file tells them; `unnamed`: so many more passed of which
    nobody knows the id; `doubtful`: failed by the score file and right by our own comparison.
    """

    part: CategoryFiles
    total: int
    scored: BfclScores | None = None
    asked: Questions = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    unnamed: int = 0
    doubtful: tuple[str, ...] = ()
    judged: bool = True  # False: nobody says what passed

    @property
    def name(self) -> str:
        return self.part.category


def check_category(part: CategoryFiles, every: Questions, findings: Findings) -> Category | None:
    """A category's results and scores; None where something is wrong (in `findings`). `every`:
    questions, also of others.
    """
    asked = {own: one for own, one in every.items() if category_of(own) == part.category}
    score = read_scores(part.score, part.category, findings) if part.score else None
    if part.score and score is None:
        return None
    if part.result is None:
        return _without_results(part, score, asked) if score else None
    return _with_results(part, part.result, score, asked, findings)


def has_turns(category: str) -> bool:
    return any(part in category for part in ("multi_turn", "web_search", "memory"))


def _without_results(part: CategoryFiles, score: BfclScores, asked: Questions) -> Category:
    """Which passed is known where all questions are: then they are those that did not fail."""
    for known in (list(asked), all_ids(part.category, score.total)):
        if len(known) == score.total and score.failed.keys() <= set(known):
            passed = tuple(question for question in known if question not in score.failed)
            return Category(part=part, total=score.total, scored=score, asked=asked, passed=passed)
    unnamed = score.total - len(score.failed)
    return Category(part=part, total=score.total, scored=score, asked=asked, unnamed=unnamed)


def _with_results(
    part: CategoryFiles, path: Path, score: BfclScores | None, asked: Questions, findings: Findings
) -> Category | None:
    seen: set[str] = set()
    doubtful: list[str] = []
    judged = score is not None
    for line in findings.keep_good(read_rows(path, "result")):
        own = line.own
        if own in seen:
            findings.add(line.place, f"{own[:80]!r} appears twice - keep one")
        seen.add(own)
        if asked and own not in asked:
            findings.add(
                line.place,
                f"{own[:80]!r} is not among the questions - give the file that has its question",
            )
        calls = read_calls(line.data["result"], many_turns=has_turns(part.category)).calls
        codes = faults(part.category, calls, asked.get(own))
        judged = judged or bool(codes)
        if score and _agrees(line, score, codes if calls is not None else (), findings) is False:
            doubtful.append(own)
    _compare_sizes(path, score, seen, findings)
    if not seen:
        return None
    return Category(
        part=part,
        total=len(seen),
        scored=score,
        asked=asked,
        doubtful=tuple(doubtful),
        judged=judged,
    )


def _compare_sizes(
    path: Path, score: BfclScores | None, seen: set[str], findings: Findings
) -> None:
    if not seen and not findings:
        findings.add(Place(path.as_posix()), "empty - copy it again, or remove it")
    if score is None or findings:
        return
    absent = next((own for own in score.failed if own not in seen), None)
    if absent is not None:
        message = f"has no result for {absent[:80]!r}, which the score file has"
        findings.add(Place(path.as_posix()), f"{message} - {_SAME_RUN}")
    elif score.total != len(seen):
        message = f"has {len(seen)} results, but the score file counts {score.total}"
        findings.add(Place(path.as_posix()), f"{message} - {_SAME_RUN}")


def _agrees(
    line: BfclRow, score: BfclScores, codes: tuple[tuple[str, ...], ...], findings: Findings
) -> bool | None:
    """Whether our comparison agrees with the score file; None: it cannot tell. Adds findings."""
    own = line.own
    failed = score.failed.get(own)
    if failed and failed.raw and digest(line.data["result"]) not in failed.raw:
        message = "the score file has a different result for it"
        findings.add(line.place, f"{own[:80]!r}: {message} - {_SAME_RUN}")
        return None
    if not codes:
        return None
    right = any(not code for code in codes)
    if right or failed:
        return right is (failed is None)
    message = f"passed in the score file, but its calls are not the expected ones: {codes[0][0]}"
    findings.add(line.place, f"{own[:80]!r} {message} - {_SAME_RUN}; {ANSWERS_OPTION}")
    return None


def list_first(ids: tuple[str, ...]) -> str:
    """The first of them, for a note."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return ", ".join(one[:80] for one in ids[:5]) + more


def sum_amounts(value: Json) -> float | None:
    """A number, or the sum of the numbers in lists of lists; None if anything else is there."""
    waiting, total, any_number = [value], 0.0, False
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif (known := as_amount(one)) is not None:
            total, any_number = total + known, True
        else:
            return None
    return total if any_number else None


# ------------------------------------------------------------------------------------------- scores


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
    """The scores of a file; None where its first line is wrong (in `findings`)."""
    lines = json_lines(path)
    first = next(lines, None)
    if first is None:
        findings.add(Place(path.as_posix()), "empty - copy it again, or remove it")
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
    if not findings:
        shown = f"{len(failed)} of {total} failed"
        figure = Figure("correct_count", (total - len(failed),), shown)
        findings.take(*compare_stated({figure.key: correct}, [figure], first.place))
    if len(models) > 1:
        names = ", ".join([*models][:5])[:200]
        findings.add(first.place, f"answers of several models: {names} - import one at a time")
    return BfclScores(total=total, failed=failed, models=tuple(models))


def _header(line: JsonLine, findings: Findings) -> tuple[int, int] | None:
    data = as_object(line.data)
    correct, total = data.get("correct_count"), data.get("total_count")
    if (
        not (is_integer(correct) and is_integer(total) and data.get("accuracy") is not None)
        or not 0 <= correct <= total <= MOST_QUESTIONS
        or not total
    ):
        findings.add(
            line.place,
            "has no valid `accuracy`, `correct_count` and `total_count` - give a score file",
        )
        return None
    share = correct / total
    shown = f"{correct} of {total} is {share:.4f}"
    wrong = [*compare_stated(data, [Figure("accuracy", (share,), shown, _ROUNDED)], line.place)]
    findings.take(*wrong)
    return None if wrong else (correct, total)


def _take(
    line: JsonLine, category: str, failed: dict[str, BfclFailure], findings: Findings
) -> Iterator[str]:
    """Takes one failure; yields the model that it names."""
    data = as_object(line.data)
    own, stated = data.get("id"), data.get("test_category", category)
    if not isinstance(own, str) or not own:
        findings.add(line.place, "a failed question has no `id` - get the score file again")
    elif data.get("valid") is not False:
        message = "`valid` must be false, because a score file lists only failures"
        findings.add(line.place, f"{own[:80]!r}: {message} - get the score file again")
    elif stated != category:
        message = f"{own[:80]!r} is of the category {str(stated)[:80]!r}, not of {category}"
        findings.add(line.place, f"{message} - get the score file again")
    elif own in failed:
        findings.add(line.place, f"{own[:80]!r} appears twice - keep one")
    else:
        failed[own] = _read_failure(data)
        if isinstance(model := data.get("model_name"), str):
            yield tidy(model, 100)


def _read_failure(data: Mapping[str, Json]) -> BfclFailure:
    error = data.get("error")
    inner = as_object(error)
    message = inner.get("error_message", error) if inner else error
    texts = message if isinstance(message, list) else [message]
    reason = next(iter(as_strings(texts)), "")
    raw = [data[key] for key in _RAW if key in data]
    return BfclFailure(
        code=code_of(data.get("error_type") or inner.get("error_type")),
        reason=tidy(reason, 300),
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
    ("inefficient", ("multi_turn:force_terminated",)),
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
