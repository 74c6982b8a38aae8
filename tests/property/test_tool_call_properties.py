"""The index of made calls against the plain definition, pair by pair; modes against each other."""

from hypothesis import given
from hypothesis import strategies as st

from gate.graders.tool_calling.actual import ArgsRules, CallIndex
from gate.graders.tool_calling.compare import compare
from gate.graders.tool_calling.expected import read_expected_call
from gate.records import ToolCall
from gate.stats.matching import list_positions

VALUES = st.sampled_from([0, 1, 1.0, True, False, None, "", "a", "A-", [1], [1.0], {"k": 1}, {}])
KEYS = st.sampled_from(["p", "q", "r"])
ARGS = st.dictionaries(KEYS, VALUES, max_size=3)
CALLS = st.lists(
    st.builds(ToolCall, name=st.sampled_from(["f", "g"]), arguments=ARGS | VALUES), max_size=5
)


@st.composite
def expected_calls(draw):
    args = draw(st.none() | ARGS)
    any_of = draw(
        st.none() | st.dictionaries(KEYS, st.lists(VALUES, min_size=1, max_size=2), max_size=2)
    )
    found = {"name": draw(st.sampled_from(["f", "g"])), "args": args, "any_of": any_of}
    found["optional"] = draw(st.none() | st.lists(KEYS, max_size=2))
    if args and any_of:
        found["any_of"] = {key: values for key, values in any_of.items() if key not in args}
    return found


def same(one, other):
    """Equality as JSON, written down once more."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def fits(call, made, mode):
    if call["name"] != made.name:
        return False
    parts = [call[key] for key in ("args", "any_of", "optional")]
    if mode == "ignore" or parts == [None, None, None]:
        return True
    if not isinstance(made.arguments, dict):
        return False
    allowed = {key: [value] for key, value in (call["args"] or {}).items()}
    allowed.update(call["any_of"] or {})
    optional = call["optional"] or []
    for key, values in allowed.items():
        if key in made.arguments:
            if not any(same(value, made.arguments[key]) for value in values):
                return False
        elif mode != "subset" and key not in optional:
            return False
    known = {*allowed, *optional}
    return mode == "superset" or all(key in known for key in made.arguments)


@given(expected_calls(), CALLS, st.sampled_from(["exact", "ignore", "subset", "superset"]))
def test_the_index_finds_what_fits_pair_by_pair(call, made, mode):
    found = CallIndex(made, ArgsRules(mode=mode)).find_fitting(read_expected_call(call))
    assert list(list_positions(found)) == [j for j, one in enumerate(made) if fits(call, one, mode)]


@given(st.lists(expected_calls(), max_size=5), CALLS)
def test_every_call_is_accounted_for_once(calls, made):
    asked = [read_expected_call(call) for call in calls]
    for in_order in (False, True):
        found = compare(asked, made, ArgsRules(), in_order=in_order)
        left = [*found.pairs, *found.swapped, *found.wrong, *found.missing]
        right = [*found.pairs.values(), *found.swapped.values(), *found.wrong.values()]
        assert sorted(left) == list(range(len(asked)))
        assert sorted([*right, *found.extra]) == list(range(len(made)))


@given(st.lists(expected_calls(), max_size=5), CALLS)
def test_modes_agree_with_each_other(calls, made):
    asked = [read_expected_call(call) for call in calls]
    plain = compare(asked, made, ArgsRules())
    passes = {mode: not list(plain.codes(mode)) for mode in ("unordered", "subset", "superset")}
    if asked:  # nothing expected: nothing may be made, in every mode
        assert passes["unordered"] == (passes["subset"] and passes["superset"])
    if not list(compare(asked, made, ArgsRules(), in_order=True).codes("strict")):
        assert passes["unordered"]


@given(st.lists(expected_calls(), max_size=4), CALLS, st.data())
def test_the_order_of_the_calls_does_not_matter_but_to_strict(calls, made, data):
    asked = [read_expected_call(call) for call in calls]
    mixed = data.draw(st.permutations(made))
    one, other = compare(asked, made, ArgsRules()), compare(asked, mixed, ArgsRules())
    assert (one.accuracy, one.precision, one.recall) == (
        other.accuracy,
        other.precision,
        other.recall,
    )
