"""Checks the demands of a text task: form, facts, patterns, lengths, items. Codes and their order
are those of the OpenAgent benchmark tool (dialogue suite, 810d388). docs/failure-codes.md shows
where the two modes differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.graders.openagent_rules import items, searching
from gate.graders.openagent_rules.findings import About, DemandFinding, Mode
from gate.graders.openagent_rules.items import Items
from gate.graders.openagent_rules.json_text import Fault, read_json, strip_fence
from gate.records import CheckedJson, Json
from gate.text.shortening import shorten

CODES = (
    *("completion_failed", "json_format_invalid", "json_object_expected", "missing_key"),
    *("json_array_expected", "factual_mismatch", "fact_pattern_missing", "must_pattern_missing"),
    *("forbidden_pattern_hit", "min_chars_not_met", "max_chars_exceeded", "max_words_exceeded"),
    *("item_count_lines_not_met", "line_prefix_mismatch", "comma_separated_item_count_not_met"),
    # of strict mode alone
    *("min_words_not_met", "exact_words_not_met", "item_count_not_met", "item_count_exceeded"),
    *("min_items_not_met", "max_items_exceeded"),
)
JSON_FORMATS = ("json_keys", "json_array")
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_LENGTH: Json = {"type": "integer", "minimum": 0}
KEYS: Mapping[str, Json] = {
    "format_type": _TEXT,
    "expected_keys": _TEXTS,
    "expected_answer_regex": _TEXT,
    **dict.fromkeys(("fact_patterns", "must_patterns", "forbid_patterns"), _TEXTS),
    **dict.fromkeys(("min_chars", "max_chars", "min_words", "max_words", "exact_words"), _LENGTH),
    "line_prefix": _TEXT,
    "item_count": {"type": "integer", "minimum": 1},
    **dict.fromkeys(("min_items", "max_items"), _LENGTH),
}
_SHOWN = 60  # characters of an answer in a reason
_TOO_FEW = {
    "lines": "item_count_lines_not_met",
    "commas": "comma_separated_item_count_not_met",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as the checks see it. `core`: without white space around it and, in strict mode for
    a JSON task, without a code fence. `searched`: what patterns are searched in; forbidden ones are
    searched in `raw`.
    """

    raw: str
    core: str
    searched: str
    data: Json | Fault
    mode: Mode


def check(keys: Mapping[str, Json], text: str, mode: Mode) -> tuple[DemandFinding, ...]:
    """Every demand of the case, held or not, in order. A blank answer has `completion_failed`
    first, and the others then tell nothing. Raises ValueError for a pattern that cannot be used.
    """
    answer = _read(keys, text, mode)
    return (
        *_completion(answer),
        *_form(keys, answer),
        *_facts(keys, answer),
        *_patterns(keys, answer),
        *_lengths(keys, answer),
        *_items(keys, answer),
    )


def _read(keys: Mapping[str, Json], text: str, mode: Mode) -> Answer:
    wants_json, strict = keys.get("format_type") in JSON_FORMATS, mode == "strict"
    core = strip_fence(text) if wants_json and strict else text.strip()
    return Answer(
        raw=text,
        core=core,
        searched=core if wants_json and strict else text,
        data=read_json(core, fence=False, constants=not strict) if wants_json else None,
        mode=mode,
    )


def _completion(answer: Answer) -> Iterator[DemandFinding]:
    if not answer.raw.strip():
        message = "the answer is empty"
        yield DemandFinding(about="completion", code="completion_failed", told=message, stops=True)


def _form(keys: Mapping[str, Json], answer: Answer) -> Iterator[DemandFinding]:
    form, data = keys.get("format_type"), answer.data
    if form not in JSON_FORMATS:
        return
    wanted, kind = ("object", dict) if form == "json_keys" else ("array", list)
    if isinstance(data, Fault):
        message = f"not JSON: {data.why}; it begins {_begin(answer.raw)}"
        yield DemandFinding(about="format", code="json_format_invalid", told=message)
    elif not isinstance(data, kind):
        message = f"expected a JSON {wanted}, got {_begin(answer.core)}"
        yield DemandFinding(about="format", code=f"json_{wanted}_expected", told=message)
    else:
        yield DemandFinding(about="format")
        for key in _texts(keys, "expected_keys") if form == "json_keys" else ():
            code = "" if key in data else f"missing_key:{key}"
            there = ", ".join(map(str, list(data)[:8])) or "none"
            yield DemandFinding(about="format", code=code, told=f"no key '{key}' (keys: {there})")


def _facts(keys: Mapping[str, CheckedJson], answer: Answer) -> Iterator[DemandFinding]:
    expected = keys.get("expected_answer_regex")
    if expected:
        code = "" if searching.is_in(expected, answer.searched) else "factual_mismatch"
        message = f"no match for the answer {expected!r} in {_begin(answer.raw)}"
        yield DemandFinding(about="fact", code=code, told=message)
    for pattern in _texts(keys, "fact_patterns"):
        code = "" if searching.is_in(pattern, answer.searched) else "fact_pattern_missing"
        yield _pattern("fact", code, pattern, "no match for the fact")


def _patterns(keys: Mapping[str, Json], answer: Answer) -> Iterator[DemandFinding]:
    for pattern in _texts(keys, "must_patterns"):
        code = "" if searching.is_in(pattern, answer.searched) else "must_pattern_missing"
        yield _pattern("instruction", code, pattern, "no match for")
    for pattern in _texts(keys, "forbid_patterns"):
        code = "forbidden_pattern_hit" if searching.is_in(pattern, answer.raw) else ""
        yield _pattern("instruction", code, pattern, "it holds the forbidden")


def _pattern(about: About, code: str, pattern: str, message: str) -> DemandFinding:
    named = f"{code}:{pattern}" if code else ""
    return DemandFinding(about=about, code=named, told=f"{message} {pattern!r}")


def _lengths(keys: Mapping[str, Json], answer: Answer) -> Iterator[DemandFinding]:
    chars, words = len(answer.core), len(answer.core.split())
    yield from _check_minimum(keys, "min_chars", chars, "characters", "min_chars_not_met")
    yield from _check_maximum(keys, "max_chars", chars, "characters", "max_chars_exceeded")
    yield from _check_maximum(keys, "max_words", words, "words", "max_words_exceeded")
    if answer.mode == "strict":
        yield from _check_minimum(keys, "min_words", words, "words", "min_words_not_met")
        exact = _number(keys, "exact_words")
        if exact is not None:
            code = "" if words == exact else "exact_words_not_met"
            message = f"{words} words, expected exactly {exact}"
            yield DemandFinding(about="instruction", code=code, told=message)


def _items(keys: Mapping[str, Json], answer: Answer) -> Iterator[DemandFinding]:
    """The number of items, then how their lines begin."""
    count, prefix = _number(keys, "item_count"), keys.get("line_prefix")
    if answer.mode == "upstream":
        yield from _items_upstream(keys, answer, count, prefix)
        return
    if keys.get("format_type") == "json_keys":
        return
    limits = (count, _number(keys, "min_items"), _number(keys, "max_items"))
    if limits != (None, None, None):
        counted = _count_items(keys, answer)
        yield from _check_exact_count(count, counted)
        yield from _check_minimum(keys, "min_items", counted.count, "items", "min_items_not_met")
        yield from _check_maximum(keys, "max_items", counted.count, "items", "max_items_exceeded")
    if prefix is not None:
        yield _check_prefix(str(prefix), items.lines_of(answer.core))


def _items_upstream(
    keys: Mapping[str, Json], answer: Answer, count: int | None, prefix: Json
) -> Iterator[DemandFinding]:
    """Minima: of lines where there is a prefix, of commas where a pattern demands one."""
    if count is None:
        return
    if prefix is not None:
        lines = items.lines_of(answer.core)
        few = _check_fewest(Items(count=len(lines), how="lines"), count)
        yield few if few.code else _check_prefix(str(prefix), lines[:count])
    elif "," in _texts(keys, "must_patterns"):
        yield _check_fewest(items.between_commas(answer.core), count)


def _count_items(keys: Mapping[str, Json], answer: Answer) -> Items:
    if keys.get("format_type") == "json_array":
        return items.in_array(answer.data)
    if keys.get("line_prefix") is not None:
        return Items(count=len(items.lines_of(answer.core)), how="lines")
    if "," in _texts(keys, "must_patterns"):
        return items.between_commas(answer.core)
    return items.in_text(answer.core)


def _check_exact_count(count: int | None, counted: Items) -> Iterator[DemandFinding]:
    if count is None:
        return
    few = _check_fewest(counted, count)
    if counted.count <= count:
        yield few
    else:
        message = f"{counted.count} items, expected exactly {count}"
        yield DemandFinding(about="instruction", code=f"item_count_exceeded:{count}", told=message)


def _check_fewest(counted: Items, count: int) -> DemandFinding:
    code = _TOO_FEW.get(counted.how, f"item_count_not_met:{count}")
    what = {"lines": "items or lines", "commas": "items between commas"}.get(counted.how, "items")
    message = f"{counted.count} {what}, expected {count}"
    return DemandFinding(
        about="instruction", code="" if counted.count >= count else code, told=message
    )


def _check_prefix(prefix: str, lines: Sequence[str]) -> DemandFinding:
    wrong = next((line for line in lines if not line.startswith(prefix)), None)
    if wrong is None:
        return DemandFinding(about="instruction")
    message = f"the line {_begin(wrong)} does not begin with {prefix!r}"
    return DemandFinding(about="instruction", code=f"line_prefix_mismatch:{prefix!r}", told=message)


def _check_minimum(
    keys: Mapping[str, Json], key: str, count: int, what: str, code: str
) -> Iterator[DemandFinding]:
    limit = _number(keys, key)
    if limit is not None:
        message = f"{count} {what}, expected at least {limit}"
        yield DemandFinding(about="instruction", code=code if count < limit else "", told=message)


def _check_maximum(
    keys: Mapping[str, Json], key: str, count: int, what: str, code: str
) -> Iterator[DemandFinding]:
    limit = _number(keys, key)
    if limit is not None:
        message = f"{count} {what}, expected at most {limit}"
        yield DemandFinding(about="instruction", code=code if count > limit else "", told=message)


def _number(keys: Mapping[str, CheckedJson], key: str) -> int | None:
    value = keys.get(key)
    return None if value is None else int(value)


def _texts(keys: Mapping[str, CheckedJson], key: str) -> list[str]:
    return list(keys.get(key) or ())


def _begin(text: str) -> str:
    return repr(shorten(text, _SHOWN))
