import pytest

from gate.errors import GraderFailure
from gate.graders.tool_calls import ACCURACY, FAULTS, PRECISION, RECALL, VALIDITY, ToolCalls
from gate.records import Case, Response, ToolCall
from tests.support.growth import calls

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {"name": "put", "input_schema": {"type": "object", "required": ["x"]}},
    {"name": "ls", "inputSchema": {"type": "object", "maxProperties": 0}},
    {"name": "free"},
]


def call(name, args=None, **more):
    return ToolCall(name=name, arguments={} if args is None else args, **more)


def written(one):
    """As a dataset has it: itself, or a name with or without arguments."""
    if isinstance(one, dict):
        return one
    return {"name": one[0], **({"args": one[1]} if len(one) > 1 else {})}


def score(expected, made, tools=None, reference=None, **options):
    wanted = None if expected is None else [written(one) for one in expected]
    keys = {"expected_tool_calls": wanted, "tools": tools, "reference_trajectory": reference}
    case = Case(id="a", input="?", keys=keys)
    steps = None if made is None else tuple(call(*one) for one in made)
    return ToolCalls(**options).grade(case, Response(answer="", steps=steps))


A, B, C = ("a", {"x": 1}), ("b", {"y": 2}), ("c", {})


@pytest.mark.parametrize(
    ("mode", "expected", "made", "value", "codes"),
    [
        ("unordered", [A, B], [A, B], 1.0, []),
        ("unordered", [A, B], [B, A], 1.0, []),
        ("unordered", [A, B], [A], 0.5, ["missing_tool_call:b"]),
        ("unordered", [A], [A, C], 1.0, ["unexpected_tool_call:c"]),
        ("unordered", [A], [C, A], 1.0, ["unexpected_tool_call:c"]),
        ("unordered", [A], [("a", {"x": 2})], 0.0, ["wrong_tool_args:a"]),
        ("unordered", [A, A], [A], 0.5, ["missing_tool_call:a"]),
        ("unordered", [A], [A, A], 1.0, ["unexpected_tool_call:a"]),
        ("strict", [A, B], [A, B], 1.0, []),
        ("strict", [A, B], [B, A], 0.5, ["wrong_tool_order"]),
        ("strict", [A, B, C], [B, C, A], 2 / 3, ["wrong_tool_order:a"]),
        ("strict", [A, B], [A, C, B], 1.0, ["unexpected_tool_call:c"]),
        ("strict", [A, B], [B], 0.5, ["missing_tool_call:a"]),
        ("superset", [A], [C, A, B], 1.0, []),
        ("superset", [A, B], [C, A], 0.5, ["missing_tool_call:b"]),
        ("superset", [A], [("a", {})], 0.0, ["wrong_tool_args:a"]),
        ("subset", [A, B], [B], 0.5, []),
        ("subset", [A, B], [], 0.0, []),
        ("subset", [A], [A, C], 1.0, ["unexpected_tool_call:c"]),
        ("subset", [A], [("a", {})], 0.0, ["wrong_tool_args:a"]),
        ("unordered", [], [], 1.0, []),
        ("superset", [], [A], 0.0, ["unexpected_tool_call:a"]),  # B36: none expected, none allowed
        ("subset", [], [A], 0.0, ["unexpected_tool_call:a"]),
    ],
)
def test_modes(mode, expected, made, value, codes):
    found = score(expected, made, mode=mode)
    assert (found.values[ACCURACY], found.values[VALIDITY]) == (value, None)
    assert found.passed is (not codes)
    assert len(found.failures) == len(codes)
    assert all(is_.startswith(code) for is_, code in zip(found.failures, codes, strict=True))


def test_a_reference_that_cannot_be_read_is_a_fault_of_the_dataset():
    wrong = [{"args": {}}]
    assert list(ToolCalls().case_faults({"reference_trajectory": wrong})) == [
        "reference_trajectory[0]: 'name' is missing"
    ]
    assert list(ToolCalls().case_faults({"reference_trajectory": [{"name": "a"}]})) == []


@pytest.mark.parametrize(
    ("made", "reference", "codes"),
    [
        ([A, C], ["a", "b"], ["missing_tool_call:b", "unexpected_tool_call:c"]),
        ([A, C], ["a", "c", "b"], ["missing_tool_call:b"]),  # on the way
        ([A, A], ["b"], ["missing_tool_call:b"]),  # once more a tool that is expected
        ([A, C], None, ["missing_tool_call:b"]),  # nobody knows which tools are of use
        ([A, B, C], ["a", "b"], []),
        ([A, ("b", {}), C], ["a", "b"], ["wrong_tool_args:b"]),
    ],
)
def test_where_more_calls_are_allowed_one_in_the_stead_of_another_is_told_by_the_reference(
    made, reference, codes
):
    way = None if reference is None else [{"name": name} for name in reference]
    found = score([A, B], made, reference=way, mode="superset")
    assert list(found.failures) == codes


@pytest.mark.parametrize(
    ("args", "wanted", "made", "fits"),
    [
        ("exact", {"a": 1}, {"a": 1.0}, True),
        ("exact", {"a": 1}, {"a": True}, False),
        ("exact", {"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, True),
        ("exact", {"a": [1, 2]}, {"a": [2, 1]}, False),
        ("exact", {"a": 1}, {"a": 1, "b": 2}, False),
        ("exact", {"a": None}, {}, False),  # B36: a missing argument is not null
        ("exact", {}, {}, True),
        ("exact", {}, {"a": 1}, False),
        ("ignore", {"a": 1}, {"b": 2}, True),
        ("superset", {"a": 1}, {"a": 1, "b": 2}, True),
        ("superset", {"a": 1, "b": 2}, {"a": 1}, False),
        ("subset", {"a": 1, "b": 2}, {"a": 1}, True),
        ("subset", {"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_arguments(args, wanted, made, fits):
    assert score([("t", wanted)], [("t", made)], args=args).passed is fits


@pytest.mark.parametrize(
    ("rule", "wanted", "made", "fits"),
    [
        ("ignore", {"q": 1}, {"q": 2}, True),
        (("q",), {"q": 1, "k": 1}, {"q": 1, "k": 2}, True),
        (("q",), {"q": 1}, {"q": 2}, False),
        (("opts.lang",), {"opts": {"lang": "en"}}, {"opts": {"lang": "en", "n": 1}}, True),
        (("opts.lang",), {"opts": {"lang": "en"}}, {"opts": "en"}, False),
        (("opts.lang",), {}, {}, True),
        (("q",), {"q": None}, {}, False),
    ],
)
def test_overrides_per_tool(rule, wanted, made, fits):
    assert score([("t", wanted)], [("t", made)], overrides={"t": rule}).passed is fits
    assert score([("t", wanted)], [("t", made)], overrides={"u": rule}).passed is (wanted == made)


def test_a_key_that_alone_counts_for_one_tool_is_any_argument_for_another():
    both = [("u", {"q": 1}), ("t", {})]
    assert score(both, both, overrides={"t": ("q",)}).passed


def test_an_expected_call_without_args_is_any_call_of_the_tool():
    assert score([("t",)], [("t", {"a": 1})]).passed


def test_matching_is_not_greedy():
    expected = [("f", {"a": 1}), ("f", {"a": 1, "b": 2})]
    made = [("f", {"a": 1, "b": 2}), ("f", {"a": 1, "c": 3})]
    assert score(expected, made, args="superset").passed


def test_arguments_that_are_no_json_fit_nothing():
    case = Case(id="a", input="?", keys={"expected_tool_calls": [{"name": "t", "args": {}}]})
    broken = ToolCall(name="t", raw_arguments="{oops")
    found = ToolCalls().grade(case, Response(answer="", steps=(broken,)))
    assert found.failures == ("wrong_tool_args:t",)


def test_an_agent_that_does_not_tell_is_unscored():
    assert "`steps`" in score([A], None).unscored


def test_null_does_not_apply():
    assert set(score(None, None).values.values()) == {None}
    assert score(None, [A]).passed is None


@pytest.mark.parametrize(
    ("made", "share", "fault"),
    [
        ([("get", {"city": "Rome"})], 1.0, ""),
        ([("get", {"city": "Rome", "days": "3"})], 0.0, "get.days: '3' is not a whole number"),
        ([("get", {})], 0.0, "get: 'city' is missing"),
        ([("get", {"city": "Rome", "x": 1}), ("free", {"a": 1})], 0.5, "get.x: unknown key"),
        ([("put", {}), ("ls", {}), ("ls", {"a": 1})], 1 / 3, "put: 'x' is missing"),
        ([("rm", {})], 0.0, "rm is not a tool"),
        ([], None, ""),
    ],
)
def test_validity(made, share, fault):
    found = score(None, made, tools=TOOLS)
    assert found.values[VALIDITY] == (None if share is None else pytest.approx(share))
    assert fault in found.reason
    assert found.passed is None


def test_validity_stands_beside_accuracy_and_does_not_decide():
    found = score([("get", {"days": 1})], [("get", {"days": 1})], tools=TOOLS)
    assert (found.values[ACCURACY], found.values[VALIDITY]) == (1.0, 0.0)
    assert found.passed is True
    assert found.reason == "1 of 1 expected calls, 1 made; invalid: get: 'city' is missing"


def test_broken_arguments_and_broken_definitions():
    case = Case(id="a", input="?", keys={"expected_tool_calls": None, "tools": TOOLS})
    broken = Response(answer="", steps=(ToolCall(name="get", raw_arguments="{"),))
    assert "not JSON" in ToolCalls().grade(case, broken).reason
    wrong = [{"name": "get", "parameters": {"type": "objekt"}}]
    with pytest.raises(GraderFailure, match=r"tools: get: .*objekt"):
        score(None, [("get", {})], tools=wrong)


def test_arguments_nested_too_deeply_do_not_fit():
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert score([("t", {"a": deep})], [("t", {"a": [deep]})]).failures == ("wrong_tool_args:t",)


def test_a_flood_of_calls_gives_few_codes():
    made = [(f"tool-{i}" * 50, {}) for i in range(3000)]
    found = score([A], made)
    assert len(found.failures) == 20
    assert max(map(len, found.failures)) < 120


def test_the_longest_pairing_in_order_is_found_among_many():
    expected = [("s", {"i": i}) for i in range(40)]
    made = [("s", {"i": i % 40}) for i in range(400)]
    assert score(expected, made, mode="strict").values[ACCURACY] == 1.0


@pytest.mark.parametrize(
    ("expected", "made", "precision", "recall"),
    [
        ([A, B], [A, B], 1.0, 1.0),
        ([A, B], [A, B, C, C], 0.5, 1.0),
        ([A, B], [A], 1.0, 0.5),
        ([A, B], [], None, 0.0),  # nothing was claimed, so nothing of it was wrong
        ([], [A], 0.0, None),
        ([], [], None, None),
    ],
)
def test_precision_and_recall_of_calls(expected, made, precision, recall):
    values = score(expected, made).values
    assert (values[PRECISION], values[RECALL]) == (precision, recall)


def test_calls_that_were_not_kept_count_as_made():
    case = Case(id="a", input="?", keys={"expected_tool_calls": [{"name": "a"}]})
    long = Response(answer="", steps=(call("a"),), omitted_steps=3)
    found = ToolCalls().grade(case, long)
    assert found.values[PRECISION] == 0.25
    assert found.failures == ("unexpected_tool_call:(calls that were not kept)",)
    assert ToolCalls(mode="superset").grade(case, long).passed


ALTERNATIVES = {
    "name": "f",
    "args": {"city": "Rome"},
    "any_of": {"unit": ["C", "celsius"], "days": [1, 2]},
    "optional": ["days", "note"],
}


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({"city": "Rome", "unit": "C"}, True),
        ({"city": "Rome", "unit": "celsius", "days": 2}, True),
        ({"city": "Rome", "unit": "F"}, False),
        ({"city": "Rome"}, False),  # unit may not be left out
        ({"city": "Rome", "unit": "C", "days": 3}, False),
        ({"city": "Rome", "unit": "C", "note": {"any": "thing"}}, True),
        ({"city": "Rome", "unit": "C", "more": 1}, False),
        ({"city": "Oslo", "unit": "C"}, False),
    ],
)
def test_alternatives_and_optional_arguments(args, fits):
    assert score([ALTERNATIVES], [("f", args)]).passed is fits


@pytest.mark.parametrize(
    ("mode", "args", "fits"),
    [
        ("superset", {"city": "Rome", "unit": "C", "more": 1}, True),
        ("superset", {"city": "Rome", "days": 1}, False),
        ("subset", {"unit": "celsius"}, True),
        ("subset", {"unit": "celsius", "more": 1}, False),
        ("subset", {"unit": "F"}, False),
    ],
)
def test_alternatives_with_the_other_argument_modes(mode, args, fits):
    assert score([ALTERNATIVES], [("f", args)], args=mode).passed is fits


@pytest.mark.parametrize(
    ("path", "args", "fits"),
    [
        ("unit", {"unit": "celsius", "city": "Oslo"}, True),
        ("unit", {"city": "Rome"}, False),
        ("days", {}, True),
        ("days", {"days": 3}, False),
        ("note", {"note": 1}, True),
    ],
)
def test_alternatives_with_single_keys(path, args, fits):
    assert score([ALTERNATIVES], [("f", args)], overrides={"f": (path,)}).passed is fits


@pytest.mark.parametrize(
    ("wanted", "made", "fits"),
    [
        ("New York, NY", "new york ny", True),
        ("it's", 'IT"S', True),
        (["a-b"], ["AB"], True),
        ("a,./-_*^ b", "ab", True),
        ("12", 12, False),
        ("a", "b", False),
    ],
)
def test_loose_strings(wanted, made, fits):
    assert score([("t", {"q": wanted})], [("t", {"q": made})], strings="loose").passed is fits
    assert score([("t", {"q": wanted})], [("t", {"q": made})]).passed is False


@pytest.mark.parametrize(
    ("wanted", "made", "fits"),
    [
        (5, 5.0, False),
        (5.0, 5, True),
        (5, 5, True),
        ([1, {"a": 2}], [1, {"a": 2.0}], False),
        ([1.0, {"a": 2.0}], [1, {"a": 2}], True),
        (5.5, 5.5, True),
    ],
)
def test_typed_numbers(wanted, made, fits):
    asked, given = [("t", {"q": wanted})], [("t", {"q": made})]
    assert score(asked, given, numbers="typed").passed is fits
    assert score(asked, given, numbers="typed", overrides={"t": ("q",)}).passed is fits
    assert score(asked, given).passed is True


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"id": 8}, "get: id is 8, not 7"),
        ({}, "get: id is missing"),
        ({"id": 7, "x": 1}, "get: x is not expected"),
    ],
)
def test_the_reason_names_the_wrong_argument(made, told):
    assert told in score([("get", {"id": 7})], [("get", made)]).reason


FAULTY = [
    (("get", {"city": 1}), "type", "invalid_tool_args:get.city"),
    (("get", {"city": "Rome", "days": 2.5}), "type", "invalid_tool_args:get.days"),
    (("get", {}), "missing", "missing_tool_arg:get.city"),
    (("get", {"city": "Rome", "x": 1}), "unknown", "unknown_tool_arg:get.x"),
    (("rm", {}), "unknown_tool", "unknown_tool:rm"),
]


@pytest.mark.parametrize(("made", "kind", "code"), FAULTY)
def test_each_kind_of_fault_has_its_code_and_its_count(made, kind, code):
    found = score(None, [made], tools=TOOLS, invalid="fail")
    assert found.failures == (code,)
    assert found.passed is False
    counts = {name: found.values[metric] for name, metric in FAULTS.items()}
    assert counts == {name: float(name == kind) for name in FAULTS}


def test_arguments_that_are_no_json_have_their_code_and_count():
    case = Case(id="a", input="?", keys={"expected_tool_calls": None, "tools": TOOLS})
    broken = Response(answer="", steps=(ToolCall(name="get", raw_arguments="{"),))
    found = ToolCalls(invalid="fail").grade(case, broken)
    assert found.failures == ("unparsable_tool_args:get",)
    assert found.values[FAULTS["unparsable"]] == 1.0


def test_faults_are_counted_one_by_one():
    found = score(None, [("get", {"days": "x", "y": 1}), ("get", {})], tools=TOOLS)
    counts = {kind: found.values[metric] for kind, metric in FAULTS.items()}
    assert counts == {"type": 1, "missing": 2, "unknown": 1, "unknown_tool": 0, "unparsable": 0}
    assert found.reason.endswith(" and 3 more")


def test_without_a_call_nothing_is_wrong():
    found = score(None, [], tools=TOOLS, invalid="fail")
    assert {found.values[metric] for metric in FAULTS.values()} == {0.0}
    assert found.passed is True


def test_an_answer_that_fails_names_its_invalid_calls_too():
    found = score([("get", {"city": "Rome"})], [("get", {"city": 1})], tools=TOOLS)
    assert found.failures == ("wrong_tool_args:get", "invalid_tool_args:get.city")


def test_a_further_call_that_is_invalid_fails_only_where_it_is_said_to():
    expected, made = [("get", {"city": "Rome"})], [("get", {}), ("get", {"city": "Rome"})]
    assert score(expected, made, tools=TOOLS, mode="superset").passed is True
    strict = score(expected, made, tools=TOOLS, mode="superset", invalid="fail")
    assert strict.failures == ("missing_tool_arg:get.city",)


def test_of_many_codes_each_kind_is_shown():
    made = [(f"tool-{i}", {}) for i in range(100)]
    found = score([("get", {"city": "Rome"})], made, tools=TOOLS)
    assert {code.partition(":")[0] for code in found.failures} == {
        *("missing_tool_call", "unexpected_tool_call", "unknown_tool")
    }


def test_a_swapped_call_uses_up_the_call_that_it_is():
    found = score([A, B, B], [B, A], mode="strict")
    assert sorted(found.failures) == ["missing_tool_call:b", "wrong_tool_order:a"]


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize(
    "options",
    [
        {"args": "exact"},
        {"args": "superset"},
        {"overrides": {"s": ("o.lang", "q")}, "strings": "loose", "numbers": "typed"},
    ],
    ids=["exact", "superset", "paths"],
)
def test_a_thousand_calls_against_a_thousand_are_not_compared_pair_by_pair(mode, options):
    def arguments(i):
        return {"q": f"query {i % 7}", "k": float(i % 5), "o": {"lang": "en", "l": [1, 2]}}

    expected = [
        {"name": "s", "any_of": {key: [value, i] for key, value in arguments(i).items()}}
        for i in range(1000)
    ]
    made = [("s", {**arguments(i), "x": i}) for i in reversed(range(1000))]
    work = calls(lambda: score(expected, made, mode=mode, **options))
    assert work < 600_000  # 280 a call, where a comparison of each pair would be a million


def test_the_format_of_a_schema_is_asserted_on_request():
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    keys = {"tools": [{"name": "book", "input_schema": schema}], "expected_tool_calls": None}
    case = Case(id="a", input="?", keys=keys)
    made = Response(answer="", steps=(ToolCall(name="book", arguments={"day": "tomorrow"}),))
    assert ToolCalls(invalid="fail").grade(case, made).passed is True
    found = ToolCalls(invalid="fail", formats="assert").grade(case, made)
    assert (found.passed, found.failures) == (False, ("invalid_tool_args:book.day",))
