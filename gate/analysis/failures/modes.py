"""The mode of a failed trial, by rules over its status, its graders' codes and its answer.

A row of details.jsonl is all that is read, so that an old session, a resumed one and an import get
their modes by the same rules. docs/trajectories.md has the table for readers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from gate.records import FailureMode, TrialRow
from gate.text.late_pattern import late_pattern

_BEGINNING = 400  # characters in which a refusal declares itself
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'", "`": "'"})

_SORRY = (
    r"(?:(?:(?:i(?: am|'m) (?:\w+ )?(?:sorry|afraid)|sorry|my apologies|i apologi[sz]e"
    r"|thank(?:s| you) for|as an? (?:ai|large|language|virtual|assistant)\b)"
    r"(?:[^.,;:!?]{0,60}[.,;:!?]+)?|(?:unfortunately|regrettably|no)[,.]?)"
    r"\s*(?:but |however,? |that )?)"
)
_CANNOT = (
    r"(?:(?:can(?:not|'?t| not)|will not|won't|may not|must not|am not going to|'m not going to)"
    r"(?: be able to)?"
    r"|(?: ?am|'m| ?are|'re) (?:not (?:able|allowed|permitted|authori[sz]ed|willing)|unable) to)"
)
_DOING = (
    r"(?:\w+ly )?(?:help|assist|answer|comply|provide|fulfil+|respond|discuss|disclose|reveal|share"
    r"|support|process|proceed|engage|participate|give|offer|advise|grant|generate|create|write"
    r"|produce|perform|complete|carry out|do (?:that|this|it|so))\b"
)
_REFUSAL = late_pattern(
    rf"{_SORRY}{{0,3}}(?:"
    rf"(?:i|we) ?{_CANNOT} {_DOING}"
    r"|(?:i|we) (?:must |have to |need to |respectfully |will )*(?:decline|refuse)\b"
    r"|(?:this|that|your|the) (?:request|question|topic) (?:can(?:not|'t| not) be|violates"
    r"|goes against|is (?:against|outside|beyond|not something))\b"
    r"|(?:this|that|it)(?: is|'s| goes) (?:against|outside) (?:my|our)\b"
    r")",
)


def refuses(answer: str) -> bool:
    """`I am sorry, but I cannot help with that.` Not knowing, or having found nothing, is none."""
    text = " ".join(answer[:_BEGINNING].translate(_APOSTROPHES).casefold().split())
    return _REFUSAL.match(text.lstrip("\"'*_> ")) is not None


Codes = frozenset[str]

_WITHHELD = {"content_filter", "refusal", "safety", "guardrail_intervened", "prohibited_content"}
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "incomplete"}


def _never(row: TrialRow, codes: Codes) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Fits a failed trial with one of `codes` or with all of `both`, or that `shows` it; and one
    whose answer is wrong while a column has the value in `scores`: a grader without an opinion on
    passing gives no codes.
    """

    mode: FailureMode
    codes: Codes = frozenset()
    both: Codes = frozenset()
    scores: Mapping[str, float] = field(default_factory=dict)
    shows: Callable[[TrialRow, Codes], bool] = _never

    def fits(self, row: TrialRow, codes: Codes) -> bool:
        met = not self.codes.isdisjoint(codes) or (bool(self.both) and self.both <= codes)
        return met or self.shows(row, codes) or self._has_score(row, codes)

    def _has_score(self, row: TrialRow, codes: Codes) -> bool:
        if not self.scores or not _is_wrong(codes):
            return False
        return any(row["scores"].get(column) == value for column, value in self.scores.items())


def _unsafe(row: TrialRow, codes: Codes) -> bool:
    """A lesser violation explains a failure only where it failed the answer, which has a code."""
    violations = row.get("violations")
    if violations is None:
        return bool(row.get("safety_violations"))
    return any(violation["violation"]["severity"] == "high" for violation in violations)


def _broke(row: TrialRow, codes: Codes) -> bool:
    return bool(row["status"] == "agent_error")


def _is_refusal(row: TrialRow, codes: Codes) -> bool:
    ended = str(row.get("finish_reason") or "").casefold()
    return ended in _WITHHELD or refuses(row.get("output") or "")


def _has_wrong_documents(row: TrialRow, codes: Codes) -> bool:
    """It retrieved documents, and the wrong ones."""
    return bool(row.get("retrieved_ids")) and _RETRIEVAL.fits(row, codes)


def _nothing_whole(row: TrialRow, codes: Codes) -> bool:
    ended = str(row.get("finish_reason") or "").casefold()
    output = row.get("output")
    return ended in _CUT_OFF or (output is not None and not output.strip())


def _is_wrong(codes: Codes) -> bool:
    """Whether a grader, or nobody knows which, finds fault with what the answer says."""
    return not codes or bool(codes - _OTHERWISE)


def _anything(row: TrialRow, codes: Codes) -> bool:
    return True


_RETRIEVAL = Rule(
    mode="retrieval_miss",
    codes=frozenset({"retrieval_miss", "retrieval"}),
    scores={"retrieval.mrr": 0.0},
)

# The first rule that fits wins. The gravest comes first, then what left no answer; then what the
# agent did, in the order in which it does it, because a wrong call explains a refusal, the wrong
# documents explain a call that was not made, and both explain a wrong answer; then what is wrong
# with the answer, content before manner. A code stands for itself, or for all that begin with it
# and a colon; `judge_low:clarity` before `judge_low`. Names of modes are codes, too, so that a
# user's grader can name one; so are names of graders, for failures without any code.
RULES: tuple[Rule, ...] = (
    Rule(
        mode="safety",
        codes=frozenset({"safety", "judge_injection", "judge_low:safety_quality"}),
        shows=_unsafe,
    ),
    Rule(mode="timeout", codes=frozenset({"timeout"})),
    Rule(
        mode="agent_error",
        codes=frozenset({"agent_error", "api_error", "parse_error"}),
        shows=_broke,
    ),
    Rule(mode="loop", codes=frozenset({"loop"}), scores={"agent.loop_rate": 1.0}),
    Rule(
        mode="tool_args_wrong",
        codes=frozenset(
            {"tool_args_wrong", "wrong_tool_args", "invalid_tool_args", "missing_tool_arg"}
            | {"unknown_tool_arg", "unparsable_tool_args"}
        ),
    ),
    Rule(
        mode="wrong_tool",
        codes=frozenset({"wrong_tool", "unknown_tool"}),
        both=frozenset({"missing_tool_call", "unexpected_tool_call"}),
    ),
    Rule(mode="hallucinated_data", codes=frozenset({"fabricated_tool_call"})),
    Rule(mode="refusal", codes=frozenset({"refusal"}), shows=_is_refusal),
    Rule(mode="retrieval_miss", shows=_has_wrong_documents),
    Rule(
        mode="missing_tool_use",
        codes=frozenset(
            {"missing_tool_use", "missing_tool_call", "unrecovered_error", "min_tool_calls_not_met"}
            | {"tool_evidence_incomplete", "tool_evidence_unverified"}
        ),
    ),
    _RETRIEVAL,
    Rule(
        mode="hallucinated_data",
        codes=frozenset(
            {"hallucinated_data", "unsupported_number", "silent_failure"}
            | {"judge_low:faithfulness", "hallucination"}
        ),
        scores={
            "operational.hallucinated_answers": 1.0,
            "operational.unverified_rate": 1.0,
            "agent.silent_failure_rate": 1.0,
        },
    ),
    Rule(
        mode="format",
        codes=frozenset(
            {"format", "json_format_invalid", "json_object_expected", "json_array_expected"}
            | {"missing_key", "schema_mismatch", "number_ambiguous", "empty", "structure:empty"}
            | {"structure:end", "json_format", "empty_response", "output_parse"}
            | {"output_not_json_object", "output_not_json_only", "missing_field"}
            | {"response_not_json_object", "missing_stage", "empty_stage", "completion_failed"}
            | {"rubric_not_met:format"}
        ),
        shows=_nothing_whole,
    ),
    Rule(
        mode="wrong_tool",
        codes=frozenset(
            {"unexpected_tool_call", "wrong_tool_order", "judge_low:trajectory_quality"}
            | {"wrong_tool_turn", "tool_calls"}
        ),
    ),
    Rule(
        mode="wrong_answer",
        codes=frozenset(
            {"wrong_answer", "fact_missing", "forbidden_fact", "answer_mismatch", "not_similar"}
            | {"number_missing", "number_mismatch", "text_missing", "pattern_missing", "judge_low"}
            | {"factual_mismatch", "fact_pattern_missing", "rubric_not_met"}
        ),
    ),
    Rule(
        mode="format", codes=frozenset({"structure", "judge_low:coherence", "judge_low:structure"})
    ),
    Rule(
        mode="instruction",
        codes=frozenset(
            {"instruction", "too_long", "repetitive", "hard_to_read", "forbidden_pattern_hit"}
            | {"judge_low:conciseness", "judge_low:clarity", "conciseness", "readability"}
            | {"must_pattern_missing", "line_prefix_mismatch"}
            | {"min_chars_not_met", "max_chars_exceeded", "max_words_exceeded"}
            | {"min_words_not_met", "exact_words_not_met", "item_count_lines_not_met"}
            | {"comma_separated_item_count_not_met", "item_count_not_met", "item_count_exceeded"}
            | {"min_items_not_met", "max_items_exceeded", "count_not_met", "count_exceeded"}
            | {"min_sources_not_met", "min_diffs_not_met", "min_migration_steps_not_met"}
            | {"min_picked_not_met", "expected_path_missing"}
        ),
    ),
    Rule(mode="inefficient", codes=frozenset({"inefficient", "too_many_steps", "trajectory"})),
    Rule(mode="wrong_answer", shows=_anything),
)
# Also what breaks a tie between modes of as many cases and trials.
ORDER: tuple[FailureMode, ...] = tuple(dict.fromkeys(rule.mode for rule in RULES))
_KNOWN: Mapping[FailureMode, Codes] = {
    mode: frozenset(code for r in RULES if r.mode == mode for code in r.codes | r.both)
    for mode in ORDER
}
_CALLS = ("tool_calls", "trajectory_match")
_SPEAKERS: Mapping[FailureMode, tuple[str, ...]] = {
    "safety": ("safety",),
    "loop": ("trajectory",),
    "inefficient": ("trajectory",),
    **dict.fromkeys(("tool_args_wrong", "wrong_tool"), _CALLS),
    "missing_tool_use": (*_CALLS, "tool_evidence"),
    "retrieval_miss": ("retrieval",),
    "hallucinated_data": ("hallucination", "trajectory", "tool_evidence"),
    "format": ("json_format", "structure", "tool_evidence", "stages", "constraints"),
    "instruction": ("conciseness", "readability", "structure", "regex", "constraints", "stages"),
}
_ANY: Codes = frozenset().union(*_KNOWN.values())
_OTHERWISE: Codes = _ANY - _KNOWN["wrong_answer"]


def mode_of(row: TrialRow) -> FailureMode | None:
    """The mode of a row of details.jsonl; None where it passed, or nobody knows whether it did."""
    if not _is_failed(row):
        return None
    codes = frozenset(map(_known_code, _list_codes(row)))
    return next(rule.mode for rule in RULES if rule.fits(row, codes))


def mode_in(row: TrialRow) -> FailureMode | None:
    """The mode that a stored row has; of a row that was written without one, `mode_of` it."""
    if not _is_failed(row):
        return None
    mode = row.get("mode")
    return mode if mode in ORDER else mode_of(row)


def deciding(row: TrialRow, mode: FailureMode) -> Iterator[str]:
    """The row's codes that speak for its mode, or all of them where none is known to."""
    codes = list(_list_codes(row))
    meant = [code for code in codes if _known_code(code) in _KNOWN[mode]]
    yield from meant or (code for code in codes if _known_code(code) not in _ANY)


def speaks(grader: str, mode: FailureMode | None) -> bool:
    """Whether what a grader of ours says is about the mode: then it is told first."""
    return grader.partition("#")[0] in _SPEAKERS.get(mode or "wrong_answer", ())


def most_frequent(modes: Counter[FailureMode]) -> FailureMode | None:
    """Ties go to the one that stands first in the table."""
    return min(modes, key=lambda mode: (-modes[mode], ORDER.index(mode)), default=None)


def _is_failed(row: TrialRow) -> bool:
    return row["status"] == "agent_error" or (
        row["status"] == "completed" and row.get("passed") is False
    )


def _list_codes(row: TrialRow) -> Iterator[str]:
    """Codes, or who said no where there are none."""
    if row["failures"]:
        return iter(row["failures"])
    return (name.partition("#")[0] for name in row.get("failed_by") or ())


def _known_code(code: str) -> str:
    """The code as the rules have it: whole, or without its detail."""
    return code if code in _ANY else code.partition(":")[0]
