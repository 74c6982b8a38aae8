"""Whatever a model answers: no check raises, and strict mode passes no more text than upstream."""

from hypothesis import given
from hypothesis import strategies as st

from gate.graders.openagent_rules import constraints, counts, json_text, stages
from gate.graders.openagent_rules.findings import failure_codes, failure_reason, share_held

PIECES = [
    "a",
    "B",
    " ",
    "\n",
    ",",
    "- ",
    "1. ",
    "{",
    "}",
    "[",
    "]",
    '"a"',
    ":",
    "```",
    "json",
    "NaN",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)
LISTS = st.lists(st.sampled_from([",", "a", "^b", r"\s$"]), max_size=2)
KEYS = st.fixed_dictionaries(
    {},
    optional={
        "format_type": st.sampled_from(["text", "json_keys", "json_array"]),
        "expected_keys": st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "expected_answer_regex": st.sampled_from(["a", "^b$"]),
        **dict.fromkeys(("fact_patterns", "must_patterns", "forbid_patterns"), LISTS),
        **dict.fromkeys(("min_chars", "max_chars", "max_words", "exact_words"), st.integers(0, 9)),
        "line_prefix": st.sampled_from(["- ", ""]),
        **dict.fromkeys(("item_count", "min_items", "max_items"), st.integers(1, 4)),
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
)


@given(KEYS, TEXTS)
def test_upstream_codes_of_a_text_task_are_codes_of_strict_mode_too(keys, text):
    strict = failure_codes(constraints.check(keys, text, "strict"))
    if keys.get("format_type", "text") == "text":
        assert set(failure_codes(constraints.check(keys, text, "upstream"))) <= set(strict)


@given(KEYS, TEXTS)
def test_an_answer_has_no_codes_exactly_where_every_share_is_whole(keys, text):
    for mode in ("strict", "upstream"):
        found = constraints.check(keys, text, mode)
        whole = all(
            share_held(found, kind) in (None, 1) for kind in ("format", "fact", "instruction")
        )
        assert (not failure_codes(found)) is (whole and bool(text.strip()))
        assert bool(failure_reason(found)) is bool(failure_codes(found))


@given(TEXTS, JSON)
def test_stages_of_any_answer_are_judged(text, data):
    rules = {"count_rules": {"a.b": {"min": 1}, "collect": {"max": 2}}}
    for answer in (text, str(data)):
        for mode in ("strict", "upstream"):
            found = failure_codes(stages.check(rules, "HARD REQUIREMENTS\n" + text, answer, mode))
            assert {code.partition(":")[0] for code in found} <= set(stages.CODES)
    assert (counts.count_filled(data) > 0) <= (not counts.is_empty(data))


@given(TEXTS)
def test_taking_off_a_fence_leaves_json_as_it_is(text):
    whole = json_text.read_json(text, fence=False)
    if not isinstance(whole, json_text.Fault):
        assert json_text.read_json(text) == json_text.read_within(text) == whole
