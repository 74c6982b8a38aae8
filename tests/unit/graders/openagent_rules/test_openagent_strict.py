"""What strict mode adds: items, counts of entries, and cases that cannot be checked."""

import pytest

from gate.graders.openagent_rules import case_limits, constraints, counts, searching, stages
from gate.graders.openagent_rules.counts import CountRule
from gate.graders.openagent_rules.findings import (
    DemandFinding,
    failure_codes,
    failure_reason,
    share_held,
)

LIST = "Three drinks:\n\n1. tea\n   - green\n   - black\n2. milk,\n   cold\n3. rum"


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        (LIST, 3),
        ("tea\nmilk\n\nrum", 3),
        ("tea, milk, and rum", 3),
        ("Tea is hot. Milk is cold, e.g. from the fridge. Rum burns.", 3),
        ("tea", 1),
        ("tea, milk,\nrum", 2),
    ],
)
def test_items_are_list_entries_or_lines_or_sentences_or_between_commas(answer, count):
    for wanted, right in ((count - 1, False), (count, True), (count + 1, False)):
        found = constraints.check({"item_count": wanted}, answer, "strict")
        assert (failure_codes(found) == ()) is right


def test_items_between_commas_are_counted_over_lines_where_a_comma_is_demanded():
    keys = {"item_count": 3, "must_patterns": [","]}
    assert failure_codes(constraints.check(keys, "tea, milk,\nrum", "strict")) == ()


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ('["a", "b, c"]', ()),
        ('["a"]', ("item_count_not_met:2",)),
        ("[1, 2, 3]", ("item_count_exceeded:2",)),
        ("a, b", ("json_format_invalid", "item_count_not_met:2")),
    ],
)
def test_items_of_an_array_are_its_entries(answer, wanted):
    keys = {"format_type": "json_array", "item_count": 2}
    assert failure_codes(constraints.check(keys, answer, "strict")) == wanted


def test_lengths_of_a_json_task_are_those_without_the_fence():
    fenced = "```json\n[1]\n```"
    keys = {"max_chars": 3, "format_type": "json_array"}
    assert failure_codes(constraints.check(keys, fenced, "strict")) == ()
    assert failure_codes(constraints.check({"max_chars": 3}, fenced, "strict")) == (
        "max_chars_exceeded",
    )


def test_shares_tell_how_much_of_each_kind_holds_and_nothing_of_a_kind_that_is_not_there():
    keys = {"fact_patterns": ["a", "b", "c", "d"], "max_words": 1, "min_chars": 1}
    found = constraints.check(keys, "a b", "strict")
    assert share_held(found, "fact") == 0.5
    assert share_held(found, "instruction") == 0.5
    assert share_held(found, "format") is None


def test_nothing_holds_of_a_blank_answer():
    found = constraints.check({"max_words": 1, "forbid_patterns": ["x"]}, " ", "strict")
    assert share_held(found, "instruction") == 0.0


def test_codes_and_the_reason_stay_short():
    found = [
        DemandFinding(about="fact", code=f"{n}:{'x' * 500}", told="y" * 500) for n in range(80)
    ]
    assert len(failure_codes(found)) == 50
    assert max(map(len, failure_codes(found))) == 200
    assert len(failure_reason(found)) < 2_000
    assert failure_reason(found).endswith("and 72 more")


def test_a_pattern_sees_the_beginning_of_a_huge_answer():
    assert searching.is_in("end", "x" * (searching.LIMIT - 3) + "END")
    assert not searching.is_in("end", "x" * searching.LIMIT + "END")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(a+)+$", "(?:a|b)*c", "(?P<n>"])
def test_a_pattern_that_is_none_or_could_take_for_ever_is_a_fault_in_both_modes(pattern):
    keys = {"must_patterns": ["x", pattern]}
    for mode in ("strict", "upstream"):
        (told,) = case_limits.faults(keys, mode)
        assert told.startswith("must_patterns[1]: ")
        with pytest.raises(ValueError, match=r"pattern|for ever"):
            constraints.check(keys, "a", mode)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"format_type": "json_key"}, "unknown 'json_key' - did you mean 'json_keys'?"),
        ({"expected_keys": ["a"]}, "expected_keys: has no effect"),
        ({"format_type": "json_keys", "item_count": 2}, "item_count: a JSON object has no items"),
        ({"format_type": "json_keys", "min_items": 2}, "min_items: a JSON object has no items"),
        ({"format_type": "json_keys", "max_items": 2}, "max_items: a JSON object has no items"),
        ({"format_type": "json_keys", "line_prefix": "-"}, "line_prefix: has no effect"),
        ({"format_type": "json_array", "line_prefix": "-"}, "line_prefix: has no effect"),
        ({"min_chars": 9, "max_chars": 8}, "min_chars: 9 is more than max_chars, 8"),
        ({"min_words": 9, "max_words": 8}, "min_words: 9 is more than max_words, 8"),
        ({"exact_words": 9, "max_words": 8}, "exact_words: 9 is more than max_words, 8"),
        ({"min_words": 9, "exact_words": 8}, "min_words: 9 is more than exact_words, 8"),
        ({"item_count": 3, "max_items": 2}, "item_count: 3 is more than max_items, 2"),
        ({"min_items": 3, "item_count": 2}, "min_items: 3 is more than item_count, 2"),
        ({"min_words": 5, "max_chars": 8}, "max_chars: 5 words do not fit in 8 characters"),
        ({"exact_words": 5, "max_chars": 8}, "max_chars: 5 words do not fit in 8 characters"),
        ({"must_patterns": ["a"], "forbid_patterns": ["a"]}, "'a' is also required"),
    ],
)
def test_demands_that_no_answer_meets_or_nobody_checks_are_faults_of_the_case(keys, told):
    (found,) = case_limits.faults(keys, "strict")
    assert told in found


def test_limits_that_fit_are_no_fault():
    keys = {"format_type": "text", "min_chars": 9, "max_chars": 9, "min_words": 5, "exact_words": 5}
    more = {"min_items": 1, "item_count": 1, "max_items": 1, "line_prefix": "- ", "max_words": None}
    assert list(case_limits.faults({**keys, **more}, "strict")) == []


def test_upstream_mode_takes_what_the_upstream_tool_takes():
    keys = {"format_type": "markdown", "expected_keys": ["a"], "min_chars": 9, "max_chars": 1}
    assert list(case_limits.faults(keys, "upstream")) == []


PROMPT = """Do it.
HARD REQUIREMENTS:
- sources >= 25
- collect entries == 5

* each collect.key_points >= 12
- **bold** > 3
- themes > 7
- rows < 4
- steps <= 9 items
- very detailed (long-form)
The end.
- other >= 3
"""


def test_rules_are_read_from_the_list_below_the_heading():
    assert counts.count_rules_of({}, PROMPT) == (
        CountRule(field="sources", low=25),
        CountRule(field="collect", low=5, high=5),
        CountRule(field="collect.key_points", low=12),
        CountRule(field="themes", low=8),
        CountRule(field="rows", high=3),
        CountRule(field="steps", high=9),
    )


def test_a_line_with_a_number_that_is_no_rule_is_a_fault_and_one_of_words_is_not():
    (told,) = counts.faults({}, PROMPT)
    assert "'**bold** > 3' cannot be counted" in told


def test_rules_of_the_case_stand_in_the_place_of_the_prompt():
    rule = {"a.b": {"min": 1, "max": 3}, "c": {"exact": 2}}
    assert counts.count_rules_of({"count_rules": rule}, PROMPT) == (
        CountRule(field="a.b", low=1, high=3),
        CountRule(field="c", low=2, high=2),
    )
    assert counts.count_rules_of({"count_rules": {}}, PROMPT) == ()
    assert list(counts.faults({"count_rules": {}}, PROMPT)) == []


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"a": {"min": 2, "max": 1}}, "count_rules.a: min is more than max"),
        ({"a": {"exact": 2, "max": 2}}, "count_rules.a: exact cannot be combined"),
        ({"a..b": {"min": 1}}, "'a..b' is not a dotted path"),
    ],
)
def test_rules_that_contradict_themselves_are_faults(rule, told):
    (found,) = stages.faults({"count_rules": rule}, "", "strict")
    assert told in found


def test_a_stage_that_is_none_is_a_fault_in_strict_mode_alone():
    keys = {"stage_requirements": {"colect": False}}
    (told,) = stages.faults(keys, "", "strict")
    assert "unknown stage 'colect' - did you mean 'collect'?" in told
    assert list(stages.faults(keys, PROMPT, "upstream")) == []


ANSWER = {
    "collect": [{"points": ["a", "b"]}, {"points": ["c", " ", {}]}, {}],
    "normalize": {"themes": {"x": 1, "y": None}, "graph": {"nodes": [0, False]}},
    "summarize": {"text": "a\nb\nc", "themes": [1, 2, 3, 4], "n": 7, "collect": [1]},
}


@pytest.mark.parametrize(
    ("field", "fewest", "most"),
    [
        ("collect", 2, 2),  # the empty entry is none
        ("collect.points", 0, 2),  # of each entry
        ("points", 0, 2),
        ("themes", 1, 1),  # of the first stage that has it
        ("summarize.themes", 4, 4),
        ("graph.nodes", 2, 2),  # 0 and false are content
        ("text", 0, 0),
        ("n", 0, 0),
        ("missing", 0, 0),
        ("collect.points.more", 0, 0),
    ],
)
def test_entries_with_content_are_counted_where_the_path_leads(field, fewest, most):
    inside = list(ANSWER.values())
    for low, code in ((fewest, ""), (fewest + 1, f"count_not_met:{field}")):
        assert counts.check(CountRule(field=field, low=low), ANSWER, inside).code == code
    for high, code in ((most, ""), (most - 1, f"count_exceeded:{field}")):
        assert counts.check(CountRule(field=field, high=high), ANSWER, inside).code == code


def test_a_stage_that_is_not_demanded_is_not_looked_at_but_for_its_counts():
    answer = '{"normalize": [1], "summarize": [1]}'
    keys = {"stage_requirements": {"collect": False, "normalize": True}}
    assert failure_codes(stages.check(keys, "", answer, "strict")) == ()
    counted = {**keys, "count_rules": {"collect.sources": {"min": 1}}}
    assert failure_codes(stages.check(counted, "", answer, "strict")) == (
        "count_not_met:collect.sources",
    )


def test_data_nested_as_deep_as_json_goes_are_looked_through():
    deep = '{"collect": ' + "[" * 900 + "]" * 900 + ', "normalize": {}, "summarize": [1]}'
    found = stages.check({"count_rules": {"collect.a.b": {"min": 1}}}, "", deep, "strict")
    assert failure_codes(found)[0] == "empty_stage:collect"
