import pytest

from gate.graders.openagent_rules.json_text import (
    EMPTY,
    LIMIT,
    Fault,
    read_json,
    read_within,
    strip_fence,
)

FENCE = "`" * 3


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": 1}', {"a": 1}),
        ("\n [1, 2]\t", [1, 2]),
        ("null", None),
        (f'{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}),
        (f"{FENCE}\n[]\n{FENCE}", []),
        (f"{FENCE}JSON [] {FENCE}", []),
        (f"{FENCE}json\n[]", []),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_json_is_read_with_or_without_a_fence(text, data):
    assert read_json(text) == data


@pytest.mark.parametrize(
    "text",
    [
        "Oslo",
        f"Here: {FENCE}[]{FENCE}",
        f"{FENCE}python\n[]\n{FENCE}",
        "[1,]",
        "NaN",
        '{"a": -Infinity}',
        "9" * 10_000,
        "\ufeff{}",
    ],
)
def test_other_text_is_a_fault_that_says_why(text):
    found = read_json(text)
    assert isinstance(found, Fault)
    assert found.why


@pytest.mark.parametrize("text", ["", " \n\u2028"])
def test_a_blank_text_is_an_empty_response(text):
    assert read_json(text) == Fault(why=EMPTY)


def test_a_fence_is_a_fault_where_none_is_allowed():
    assert isinstance(read_json(f"{FENCE}json\n[]\n{FENCE}", fence=False), Fault)


def test_constants_are_taken_where_they_are_allowed():
    assert read_json("[Infinity]", constants=True) == [float("inf")]


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "[" * 200_000 + "]" * 200_000])
def test_deep_nesting_is_a_fault(text):
    assert isinstance(read_json(text), Fault)
    assert isinstance(read_within(text), Fault)


def test_a_text_beyond_the_limit_is_not_read():
    assert read_json("[]" + " " * LIMIT) == []
    assert isinstance(read_json("[" + " " * LIMIT + "]"), Fault)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('Here it is: {"a": {"b": 1}}. Done.', {"a": {"b": 1}}),
        (f'Sure:\n{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}),
        ('{"a": 1} is what I found', {"a": 1}),
        ('[{"a": 1}]', [{"a": 1}]),
        ("null", None),
    ],
)
def test_an_object_is_found_among_words_but_not_within_other_json(text, data):
    assert read_within(text) == data


@pytest.mark.parametrize("text", ["} {", "{a} and {b}", "Oslo", ""])
def test_without_an_object_there_is_a_fault(text):
    assert isinstance(read_within(text), Fault)


def test_only_a_fence_at_the_very_beginning_is_taken_off():
    assert strip_fence(f" {FENCE}json\n^{FENCE}\n") == "^"
    assert strip_fence("`a`") == "`a`"
