"""Finds demands of a text task that no answer can meet, or that would never be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.graders.openagent_rules import searching
from gate.graders.openagent_rules.constraints import JSON_FORMATS
from gate.graders.openagent_rules.findings import Mode
from gate.records import CheckedJson, Json
from gate.text.suggestions import did_you_mean

FORMATS = ("text", *JSON_FORMATS)
_PATTERNS = ("fact_patterns", "must_patterns", "forbid_patterns")
# A lower and an upper limit of the same thing; an exact number is both.
_LIMITS = (
    ("min_chars", "max_chars"),
    *(("min_words", "max_words"), ("exact_words", "max_words"), ("min_words", "exact_words")),
    *(("min_items", "max_items"), ("item_count", "max_items"), ("min_items", "item_count")),
)


def faults(keys: Mapping[str, Json], mode: Mode) -> Iterator[str]:
    """A sentence for each. Upstream mode takes what the upstream tool takes, but for patterns that
    cannot be used.
    """
    yield from _pattern_faults(keys)
    if mode == "strict":
        yield from _form_faults(keys)
        yield from _limit_faults(keys)


def _pattern_faults(keys: Mapping[str, CheckedJson]) -> Iterator[str]:
    places = [("expected_answer_regex", keys.get("expected_answer_regex") or "")]
    for key in _PATTERNS:
        places += [(f"{key}[{n}]", pattern) for n, pattern in enumerate(keys.get(key) or ())]
    for place, pattern in places:
        wrong = searching.fault(pattern)
        if wrong:
            yield f"{place}: {wrong}"
    demanded = {*(keys.get("fact_patterns") or ()), *(keys.get("must_patterns") or ())}
    for pattern in keys.get("forbid_patterns") or ():
        if pattern in demanded:
            yield f"forbid_patterns: {pattern!r} is also required - remove it from one of the lists"


def _form_faults(keys: Mapping[str, CheckedJson]) -> Iterator[str]:
    form = keys.get("format_type")
    if form and form not in FORMATS:
        yield f"format_type: unknown '{form}'{did_you_mean(form, FORMATS)}"
    if keys.get("expected_keys") and form != "json_keys":
        yield "expected_keys: has no effect here - set format_type to json_keys"
    if form == "json_keys":
        for key in ("item_count", "min_items", "max_items"):
            if keys.get(key) is not None:
                yield f"{key}: a JSON object has no items - remove it, or set expected_keys"
    if form in JSON_FORMATS and keys.get("line_prefix") is not None:
        yield "line_prefix: has no effect on JSON - remove it"


def _limit_faults(keys: Mapping[str, CheckedJson]) -> Iterator[str]:
    for low, high in _LIMITS:
        least, most = keys.get(low), keys.get(high)
        if least is not None and most is not None and least > most:
            yield f"{low}: {least} is more than {high}, {most} - no answer can meet both"
    least = max(keys.get("min_words") or 0, keys.get("exact_words") or 0)
    most = keys.get("max_chars")
    if most is not None and 2 * least - 1 > most:
        yield f"max_chars: {least} words do not fit in {most} characters - allow more"
