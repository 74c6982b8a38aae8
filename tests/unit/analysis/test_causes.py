"""What newly failing cases have in common, and what every case has and so explains nothing."""

import pytest

from gate.analysis.causes import MOST, Known, find_causes, largest_first
from gate.records import ArgumentChange, FailureCause, StepChange

SEARCH = StepChange(kind="same", was="search({})", now="search({})")
SQL_GONE = StepChange(kind="removed", was="run_sql({})")


def searched(was="5", now="1", name="top_k"):
    argument = ArgumentChange(name=name, was=was, now=now)
    return StepChange(
        kind="changed", was="search({...})", now="search({...})", arguments=(argument,)
    )


def cases(number, *steps, first=0):
    return {f"c{first + n:03}": steps for n in range(number)}


def causes(failing, others=None, **labels):
    known = Known(steps=failing, **{k: v for k, v in labels.items() if not k.startswith("other_")})
    rest = {k.removeprefix("other_"): v for k, v in labels.items() if k.startswith("other_")}
    return find_causes("s", known, Known(steps=others or {}, **rest))


def told(found):
    return [
        [(p.kind, p.what, p.was, p.now, p.cases, p.elsewhere) for p in cause.parts]
        for cause in found
    ]


def test_an_argument_that_changed_alike_in_every_case_is_the_agent_itself():
    found = causes(cases(10, searched()), cases(40, searched(), first=100))
    assert told(found) == [[("argument", "search.top_k", "5", "1", 10, 40)]]
    assert found[0].cases == tuple(f"c{n:03}" for n in range(10))


def test_an_argument_that_differs_from_case_to_case_explains_nothing_where_others_differ_too():
    texts = {f"c{n:03}": (searched(f'"was {n}"', f'"now {n}"', "query"),) for n in range(50)}
    failing, others = dict(list(texts.items())[:10]), dict(list(texts.items())[10:])
    assert causes(failing, others) == []
    same = cases(40, SEARCH, first=100)
    assert told(causes(failing, same)) == [[("argument", "search.query", "", "", 10, 0)]]


def test_values_of_which_only_the_beginning_is_known_are_not_the_same():
    long = cases(10, searched('"the beginning…"', '"another…"', "query"))
    assert told(causes(long, cases(40, SEARCH, first=100))) == [
        [("argument", "search.query", "", "", 10, 0)]
    ]


@pytest.mark.parametrize(("elsewhere", "is_cause"), [(0, True), (4, True), (400, False)])
def test_a_tool_that_is_gone_is_a_cause_only_where_it_is_rarer_elsewhere(elsewhere, is_cause):
    gone = cases(10, SEARCH, SQL_GONE)
    others = cases(elsewhere, SEARCH, SQL_GONE, first=100)
    others |= cases(40, SEARCH, first=500)
    assert bool(causes(gone, others)) is is_cause


def test_a_tool_that_is_called_once_less_is_still_called():
    fewer = (StepChange(kind="same", was="run_sql({})", now="run_sql({})"), SQL_GONE)
    assert causes(cases(5, *fewer)) == []
    moved = (SQL_GONE, SEARCH, StepChange(kind="added", now="run_sql({})"))
    assert causes(cases(5, *moved)) == []


def test_a_tool_that_is_newly_called_is_told():
    new = StepChange(kind="added", now="list_tables()")
    found = causes(cases(5, SEARCH, new), cases(20, SEARCH, first=100))
    assert told(found) == [[("tool_new", "list_tables", "", "", 5, 0)]]


def test_the_line_that_counts_left_out_steps_is_no_tool():
    assert causes(cases(5, SEARCH, StepChange(kind="removed", was="12 more steps"))) == []


def test_further_causes_say_how_many_cases_are_known_already():
    failing = {**cases(6, searched(), SQL_GONE), **cases(4, searched(), first=50)}
    found = causes(failing, cases(30, searched(), first=100))
    assert [(c.parts[0].what, len(c.cases), c.shared) for c in found] == [
        ("search.top_k", 10, 0),
        ("run_sql", 6, 6),
    ]


def test_what_the_same_cases_have_is_one_cause_and_the_argument_leads():
    modes = dict.fromkeys(cases(10), "retrieval_miss")
    found = causes(cases(10, searched(), SQL_GONE), cases(30, SEARCH, first=100), modes=modes)
    assert [[part.what for part in cause.parts] for cause in found] == [
        ["search.top_k", "run_sql", "retrieval_miss"]
    ]


def test_a_mode_is_a_cause_unless_cases_that_failed_before_have_it_as_often():
    modes = dict.fromkeys(cases(10), "refusal")
    assert told(causes({}, modes=modes)) == [[("mode", "refusal", "", "", 10, 0)]]
    before = dict.fromkeys(cases(20, first=100), "refusal")
    assert causes({}, modes=modes, other_modes=before) == []
    assert causes({}, modes=dict.fromkeys(cases(10), "wrong_answer")) == []


def test_how_answers_miss_is_a_cause_unless_others_miss_alike():
    kinds = {f"c{n:03}": "abstains" if n < 8 else "" for n in range(10)}
    rest = {f"d{n:03}": "abstains" if n < 2 else "" for n in range(40)}
    assert told(causes({}, answers=kinds, other_answers=rest)) == [
        [("answer", "abstains", "", "", 8, 2)]
    ]
    alike = {f"d{n:03}": "abstains" if n < 32 else "" for n in range(40)}
    assert causes({}, answers=kinds, other_answers=alike) == []
    assert causes({}, answers=dict.fromkeys(kinds, "")) == [], "in no known way"


def test_a_category_is_a_cause_only_where_it_is_over_represented():
    failing = {**dict.fromkeys(cases(8), "mixed"), "c300": "top", "c301": "top"}
    others = {
        **dict.fromkeys(cases(2, first=100), "mixed"),
        **dict.fromkeys(cases(90, first=400), "top"),
    }
    found = causes({}, categories=failing, other_categories=others)
    assert told(found) == [[("category", "mixed", "", "", 8, 2)]]
    assert (found[0].parts[0].of, found[0].parts[0].of_elsewhere) == (10, 92)
    alike = {**dict.fromkeys(cases(72, first=100), "mixed"), "c400": "top", "c401": "top"}
    assert causes({}, categories=failing, other_categories=alike) == []
    assert causes({}, categories=failing) == []  # all cases newly fail


def test_one_case_has_nothing_in_common_and_few_of_many_are_no_cause():
    assert causes(cases(1, searched())) == []
    assert causes({**cases(2, searched()), **cases(30, SEARCH, first=50)}) == []


def test_the_causes_of_all_suites_are_told_up_to_a_number_largest_first():
    made = [
        FailureCause(suite=f"s{n}", parts=(), cases=tuple(str(k) for k in range(n)))
        for n in range(9)
    ]
    assert [len(cause.cases) for cause in largest_first(made)] == [8, 7, 6, 5, 4]
    assert MOST == 5


def test_large_suites_are_counted_without_overflow():
    failing = dict.fromkeys((f"f{n}" for n in range(4_000)), "a")
    others = {f"o{n}": "a" if n % 10 == 0 else "b" for n in range(6_000)}
    assert told(causes({}, categories=failing, other_categories=others)) == [
        [("category", "a", "", "", 4_000, 600)]
    ]
