"""Vectors: a case, an answer, and the codes of the OpenAgent benchmark tool (810d388) in its order.

Written down by reading what its dialogue and hardchat suites do. `None` for strict: the same codes.
"""

import pytest

from gate.graders.openagent_rules import constraints, stages
from gate.graders.openagent_rules.findings import failure_codes

FENCE = "`" * 3
OBJECT = {"format_type": "json_keys", "expected_keys": ["city", "n"]}
ARRAY = {"format_type": "json_array"}
LINES = {"line_prefix": "- ", "item_count": 2}
COMMAS = {"must_patterns": [","], "item_count": 3}
MUST_NOT = {"must_patterns": ["x"], "forbid_patterns": ["y"]}
UNFENCED = {"format_type": "json_keys", "forbid_patterns": [FENCE]}
HIT = f"forbidden_pattern_hit:{FENCE}"
FEW = "comma_separated_item_count_not_met"
PREFIX = "line_prefix_mismatch:'- '"

TEXT_VECTORS = [  # case, answer, upstream, strict
    # blank answers
    ({"format_type": "text"}, "", ["completion_failed"], None),
    ({**OBJECT, "max_chars": 0, "fact_patterns": ["x"]}, " \n\t", ["completion_failed"], None),
    ({"min_chars": 0}, "\u2003", ["completion_failed"], None),
    # an object
    (OBJECT, '{"city": 1, "n": 2}', [], None),
    (OBJECT, '\n {"city": 1, "n": 2} \n', [], None),
    (OBJECT, "city: Oslo", ["json_format_invalid"], None),
    (OBJECT, '{"city": 1, "n": 2,}', ["json_format_invalid"], None),
    (OBJECT, '{"city": 1, "n": 2} ok', ["json_format_invalid"], None),
    (OBJECT, f'{FENCE}json\n{{"city": 1, "n": 2}}\n{FENCE}', ["json_format_invalid"], []),
    (OBJECT, f'{FENCE}\n{{"city": 1}}\n{FENCE}', ["json_format_invalid"], ["missing_key:n"]),
    (OBJECT, '["city", "n"]', ["json_object_expected"], None),
    (OBJECT, '"city n"', ["json_object_expected"], None),
    (OBJECT, "null", ["json_object_expected"], None),
    (OBJECT, "{}", ["missing_key:city", "missing_key:n"], None),
    (OBJECT, '{"City": 1, "n": null}', ["missing_key:city"], None),
    (OBJECT, '{"city": NaN, "n": Infinity}', [], ["json_format_invalid"]),
    (OBJECT, '{"city": 1, "city": 2, "n": 3}', [], None),
    (OBJECT, "[" * 100_000, ["json_format_invalid"], None),
    ({"format_type": "json_keys"}, "{}", [], None),
    # an array
    (ARRAY, "[]", [], None),
    (ARRAY, ' ["a"] ', [], None),
    (ARRAY, "{}", ["json_array_expected"], None),
    (ARRAY, "3", ["json_array_expected"], None),
    (ARRAY, "a, b", ["json_format_invalid"], None),
    (ARRAY, f"{FENCE}json\n[1]\n{FENCE}", ["json_format_invalid"], []),
    ({**ARRAY, "expected_keys": ["a"]}, "[]", [], None),
    ({"format_type": "text", "expected_keys": ["a"]}, "Oslo", [], None),
    # the expected answer and the facts: anywhere, any case, substrings too
    ({"expected_answer_regex": "paris"}, "It is PARIS.", [], None),
    ({"expected_answer_regex": "paris"}, "Rome", ["factual_mismatch"], None),
    ({"expected_answer_regex": "7"}, "17", [], None),
    ({"expected_answer_regex": r"\b7\b"}, "17", ["factual_mismatch"], None),
    ({"expected_answer_regex": r"(?-i:\bGo\b)"}, "go", ["factual_mismatch"], None),
    ({"expected_answer_regex": "^(PASS|FAIL)$"}, "pass\n", [], None),
    ({"expected_answer_regex": "^(PASS|FAIL)$"}, " PASS", ["factual_mismatch"], None),
    ({"expected_answer_regex": "^(PASS|FAIL)$"}, "PASS.", ["factual_mismatch"], None),
    ({"expected_answer_regex": r"^\s*96\s*$"}, "\n 96 \n", [], None),
    ({"expected_answer_regex": ""}, "anything", [], None),
    ({"fact_patterns": ["a", "a"]}, "b", ["fact_pattern_missing:a"], None),
    ({"fact_patterns": ["a", "b"]}, "B", ["fact_pattern_missing:a"], None),
    (
        {"fact_patterns": ["a", "b"]},
        "c",
        ["fact_pattern_missing:a", "fact_pattern_missing:b"],
        None,
    ),
    ({"fact_patterns": ["a.b"]}, "a\nb", ["fact_pattern_missing:a.b"], None),
    ({"fact_patterns": ["^b"]}, "a\nb", ["fact_pattern_missing:^b"], None),
    # demanded and forbidden patterns see white space, and in strict mode JSON has none around it
    ({**ARRAY, "must_patterns": [r"^\["]}, "\n[1]", [r"must_pattern_missing:^\["], []),
    ({**ARRAY, "expected_answer_regex": r"^\["}, "\n[1]", ["factual_mismatch"], []),
    ({**ARRAY, "fact_patterns": [r"^\["]}, "\n[1]", [r"fact_pattern_missing:^\["], []),
    ({"must_patterns": ["^Yes"]}, "\nYes", ["must_pattern_missing:^Yes"], None),
    (MUST_NOT, "Y", ["must_pattern_missing:x", "forbidden_pattern_hit:y"], None),
    ({"forbid_patterns": ["sorry", "cannot"]}, "I cannot", ["forbidden_pattern_hit:cannot"], None),
    (UNFENCED, f"{FENCE}json\n{{}}\n{FENCE}", ["json_format_invalid", HIT], [HIT]),
    ({"forbid_patterns": [r"\s$"]}, "Yes ", [r"forbidden_pattern_hit:\s$"], None),
    # lengths, without the white space at the ends
    ({"min_chars": 3}, "  ab  ", ["min_chars_not_met"], None),
    ({"min_chars": 3}, "abc", [], None),
    ({"max_chars": 3}, "\n abc \n", [], None),
    ({"max_chars": 3}, "a  b", ["max_chars_exceeded"], None),
    ({"max_chars": 2}, "日本", [], None),
    ({"max_words": 2}, "well-known fact", [], None),
    ({"max_words": 2}, "a -\nb", ["max_words_exceeded"], None),
    ({"min_chars": 5, "max_words": 1}, "a b", ["min_chars_not_met", "max_words_exceeded"], None),
    # lines with a prefix
    (LINES, "- a\n- b", [], None),
    (LINES, "  - a\n\n \n- b\n", [], None),
    (LINES, "- a", ["item_count_lines_not_met"], None),
    (LINES, "* a", ["item_count_lines_not_met"], ["item_count_lines_not_met", PREFIX]),
    (LINES, "- a\n* b", [PREFIX], None),
    (LINES, "- a\n  - b", [PREFIX], None),
    (LINES, "- a\n-b", [PREFIX], None),
    (LINES, "- a\n-", [PREFIX], None),
    (LINES, "- a\n- b\n- c", [], ["item_count_exceeded:2"]),
    (LINES, "Sure:\n- a\n- b", [PREFIX], ["item_count_exceeded:2", PREFIX]),
    (LINES, "- a\n- b\nDone.", [], ["item_count_exceeded:2", PREFIX]),
    ({"line_prefix": "it's", "item_count": 1}, "x", ['line_prefix_mismatch:"it\'s"'], None),
    ({"line_prefix": "- "}, "x", [], [PREFIX]),
    # items between commas, only where a pattern is a comma
    (COMMAS, "a, b, c", [], None),
    (COMMAS, "a,, b ,", [FEW], None),
    (COMMAS, "a, , b", [FEW], None),
    (COMMAS, "a b c", ["must_pattern_missing:,", FEW], None),
    (COMMAS, "a, b, c, d", [], ["item_count_exceeded:3"]),
    ({"must_patterns": [", "], "item_count": 3}, "a, b", [], [FEW]),
    ({"item_count": 3}, "a", [], [FEW]),
    ({**LINES, "must_patterns": [","]}, "- a,\n- b", [], None),
    # what upstream does not read
    ({"exact_words": 0}, "a", [], ["exact_words_not_met"]),
    ({"min_words": 2, "exact_words": 3}, "a", [], ["min_words_not_met", "exact_words_not_met"]),
    ({"min_items": 2, "max_items": 0}, "a", [], ["min_items_not_met", "max_items_exceeded"]),
    # all of them, in order
    (
        {
            **OBJECT,
            **COMMAS,
            "expected_answer_regex": "x",
            "fact_patterns": ["y"],
            "forbid_patterns": ["a"],
            "min_chars": 9,
            "max_chars": 1,
            "max_words": 0,
        },
        "ab",
        [
            *("json_format_invalid", "factual_mismatch", "fact_pattern_missing:y"),
            *("must_pattern_missing:,", "forbidden_pattern_hit:a", "min_chars_not_met"),
            *("max_chars_exceeded", "max_words_exceeded", "comma_separated_item_count_not_met"),
        ],
        [
            *("json_format_invalid", "factual_mismatch", "fact_pattern_missing:y"),
            *("must_pattern_missing:,", "forbidden_pattern_hit:a", "min_chars_not_met"),
            *("max_chars_exceeded", "max_words_exceeded"),  # an object has no items
        ],
    ),
]
ALL = ["missing_stage:collect", "missing_stage:normalize", "missing_stage:summarize"]
EMPTY = ["empty_stage:collect", "empty_stage:normalize", "empty_stage:summarize"]
NO_OBJECT = ["response_not_json_object"]
STAGE_VECTORS = [  # answer, upstream, strict
    ('{"collect": [1], "normalize": {"a": 0}, "summarize": "x"}', [], None),
    ('Here: {"collect": 1, "normalize": 2, "summarize": 3} Bye', [], None),
    (f'{FENCE}json\n{{"collect": 1, "normalize": 2, "summarize": 3}}\n{FENCE}', [], None),
    (f'A\n{FENCE}\n{{"collect": 1, "normalize": 2, "summarize": 3}}\n{FENCE}', [], None),
    ('{"collect": {}, "normalize": [], "summarize": null}', [], EMPTY),
    ('{"collect": {"a": [""]}, "normalize": [[], {}], "summarize": " "}', [], EMPTY),
    ('{"summarize": 1}', ALL[:2], None),
    ("{}", ALL, None),
    ('{"Collect": 1, "a": {"normalize": 1}}', ALL, None),
    ("", NO_OBJECT, None),
    ("null", NO_OBJECT, None),
    ('[{"collect": 1, "normalize": 2, "summarize": 3}]', NO_OBJECT, None),
    ("{collect} and {normalize}", NO_OBJECT, None),
    ('} then {"collect": 1', NO_OBJECT, None),
    ('{"collect": 1, "normalize": 2, "summarize": "cut of', NO_OBJECT, None),
    ('{"collect": NaN, "normalize": 1, "summarize": 1}', [], NO_OBJECT),
    ('[{"collect": NaN, "normalize": 1, "summarize": 1}]', NO_OBJECT, None),
    ('So: {"collect": NaN, "normalize": 1, "summarize": 1}', [], NO_OBJECT),
]


@pytest.mark.parametrize(("keys", "answer", "upstream", "strict"), TEXT_VECTORS)
def test_a_text_task_gives_these_codes(keys, answer, upstream, strict):
    assert list(failure_codes(constraints.check(keys, answer, "upstream"))) == upstream
    wanted = upstream if strict is None else strict
    assert list(failure_codes(constraints.check(keys, answer, "strict"))) == wanted


@pytest.mark.parametrize(("answer", "upstream", "strict"), STAGE_VECTORS)
def test_a_task_in_stages_gives_these_codes(answer, upstream, strict):
    assert list(failure_codes(stages.check({}, "", answer, "upstream"))) == upstream
    wanted = upstream if strict is None else strict
    assert list(failure_codes(stages.check({}, "", answer, "strict"))) == wanted
