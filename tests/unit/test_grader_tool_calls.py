import pytest

from gate.errors import GraderFailure
from gate.graders.tool_calls import ACCURACY, VALIDITY, ToolCalls
from gate.records import Case, Response, ToolCall

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


def score(expected, made, tools=None, **options):
    wanted = expected
    if expected is not None:
        wanted = [
            {"name": one[0], **({"args": one[1]} if len(one) > 1 else {})} for one in expected
        ]
    case = Case(id="a", input="?", keys={"expected_tool_calls": wanted, "tools": tools})
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
    assert found.values == {ACCURACY: value, VALIDITY: None}
    assert found.passed is (not codes)
    assert len(found.failures) == len(codes)
    assert all(is_.startswith(code) for is_, code in zip(found.failures, codes, strict=True))


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
    assert score(None, None).values == {ACCURACY: None, VALIDITY: None}
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
    assert found.values == {ACCURACY: 1.0, VALIDITY: 0.0}
    assert found.passed is True
    assert found.reason == "1 of 1 expected calls, 1 made; get: 'city' is missing"


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
