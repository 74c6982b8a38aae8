"""A planted fault of each kind is found; what does not apply to a case counts as neither."""

from pathlib import Path

import pytest

from gate.errors import Place
from gate.records import Case, PluginSpec, Reply
from gate.run.check_dataset import check_cases
from gate.run.grade import make_graders

FACTS = {"facts": {}}


def graders(*written):
    specs = [
        PluginSpec(name=name, options=options)
        for one in written
        for name, options in ({one: {}} if isinstance(one, str) else one).items()
    ]
    return make_graders(specs, Path())


def case(n, question="How many?", **keys):
    data = {"id": f"c{n}", "input": question, **keys}
    place = Place("cases.jsonl", n)
    return Case(id=data["id"], input=question, keys=data, place=place)


def check(*cases, by=("facts",), ask=None):
    return check_cases("shop", "cases.jsonl", cases, graders(*by), ask)


def found(*cases, **options):
    return [(one.mutation, one.answer) for one in check(*cases, **options).findings]


SOUND = case(1, expected_answer="12 tickets.", expected_facts=[12])


@pytest.mark.parametrize(
    ("keys", "faults"),
    [
        ({"expected_answer": "Yes", "expected_facts": ["yes"]}, []),
        (
            {"expected_answer": "There is none.", "expected_facts": ["not known"]},
            [("gold", "There is none.")],
        ),
        (
            {"expected_answer": "EMEA 12, APAC 15", "expected_facts": [12, 15]},
            [("swapped", "EMEA 15, APAC 12")],
        ),
        (
            {
                "expected_answer": "EMEA 12, APAC 15",
                "expected_facts": [{"value": 12, "near": "EMEA"}, {"value": 15, "near": "APAC"}],
            },
            [],
        ),
        (
            {"expected_answer": "It rose by 9.", "expected_facts": [9]},
            [("turned", "It fell by 9.")],
        ),
        ({"expected_answer": "It rose by 9.", "expected_facts": [9, "rose"]}, []),
        (
            {"expected_answer": "40 units", "expected_facts": ["units"]},
            [("number_5pct", "42 units")],
        ),
        (  # within the tolerance it is right
            {"expected_answer": "40 units", "expected_facts": [{"value": 40, "tolerance": 0.1}]},
            [],
        ),
        (  # nobody needs the second number
            {
                "expected_answer": "40 units of 90",
                "expected_facts": [
                    {"value": 40, "near": "units"},
                    {"value": 90, "required": False},
                ],
            },
            [("swapped", "90 units of 40")],
        ),
        (
            {"expected_answer": "7", "expected_facts": [{"value": 8, "must_not": True}]},
            [
                ("empty", ""),
                ("other_gold", "12 tickets."),
                ("number_5pct", "7.35"),
            ],
        ),
    ],
)
def test_a_planted_fault_is_found(keys, faults):
    assert found(case(2, **keys), SOUND) == faults


def test_the_place_and_the_reason_are_told():
    (one,) = check(case(7, expected_answer="five", expected_facts=[6])).findings
    assert (one.case, one.place, one.mutation) == ("c7", "cases.jsonl:7", "gold")
    assert "missing 6" in one.why


def test_another_case_that_asks_for_the_same_is_no_mutant():
    alike = case(2, expected_answer="It was 12, of 40.", expected_facts=[12, 40])
    checked = check(SOUND, alike)
    assert checked.mutations["other_gold"].tried == 1  # the answer of the first on the second
    assert [one.mutation for one in checked.findings] == ["swapped"]


def test_a_fault_that_the_case_allows_is_counted_and_not_told():
    allow = {"swapped": "the order does not matter", "turned": "there is none"}
    keys = {"expected_answer": "12 and 15", "expected_facts": [12, 15], "check_allow": allow}
    checked = check(case(1, **keys), SOUND)
    assert checked.findings == []
    assert checked.mutations["swapped"].allowed == 1
    assert checked.allowed_cases == 1
    assert checked.unneeded == [
        "cases.jsonl:1: c1: check_allow.turned is not needed: no such wrong answer passes"
    ]


@pytest.mark.parametrize(
    ("idle", "told"),
    [
        ({"regex": {"pattern": ".*"}}, ["regex"]),
        ({"contains": {"text": "e"}}, []),
        ({"exact_match": {}}, []),
        ("completion", []),
        ("conciseness", []),  # judges a manner, which no mutation changes
        ("trajectory", []),
        ({"retrieval": {"k": [1], "pass_k": 1}}, []),
    ],
)
def test_a_grader_that_passes_everything_is_named(idle, told):
    keys = {"expected_facts": [12], "relevant_doc_ids": ["d"], "expected_tool_calls": []}
    cases = [
        case(1, expected_answer="twelve, 12", **keys),
        case(2, expected_answer="twelve, 12!", **keys),
    ]
    assert check(*cases, by=("facts", idle)).telling_nothing == told


def test_exact_answers_and_patterns():
    sound = case(1, expected_answer="B")
    assert found(sound, case(2, expected_answer="C"), by=("exact_match",)) == []
    loose = case(1, expected_answer="8", expected_answer_regex="8")
    assert ("number_5pct", "8.4") in found(loose, by=("constraints",))


def test_where_graders_only_measure_a_lower_value_counts():
    keys = {"expected_answer": "8", "expected_answer_regex": r"\b8\b(?!\.)", "max_words": 2}
    by = ("completion", {"constraints": {"fail": False}})
    assert found(case(1, **keys), by=by) == []
    assert ("number_5pct", "8.4") in found(case(1, **{**keys, "expected_answer_regex": "8"}), by=by)


def test_documents_calls_and_forms_of_the_keys_are_right():
    tools = case(1, expected_tool_calls=[{"name": "f", "args": {"a": 1}}], relevant_doc_ids=["d"])
    checked = check(tools, by=("tool_calls", {"retrieval": {"k": [1], "pass_k": 1}}))
    assert checked.faults == 0
    assert checked.without_gold == 1
    assert checked.mutations["empty"].failed == 1
    staged = case(1, count_rules={"collect.a": {"min": 2}, "collect.a.b": {"exact": 3}})
    checked = check(staged, by=("stages",))
    assert (checked.right.passed, checked.faults) == (1, 0)


def test_what_nobody_decides_on_is_neither():
    checked = check(case(1, expected_answer="12"), by=("conciseness", "hallucination"))
    assert checked.faults == 0
    assert checked.mutations["empty"].open == 1


def test_a_judge_is_asked_only_if_told():
    keys = {"expected_answer": "12", "expected_facts": [12]}
    by = ("facts", {"judge": {"rubric": "answer", "least": {"correctness": 4}}})
    loose = case(1, expected_answer="It rose by 12.", expected_facts=[12])
    checked = check(loose, by=by)
    assert checked.not_asked == ["judge"]
    assert checked.mutations["turned"].open == 1
    assert checked.findings == []
    asked = []

    def ask(case, questions):
        asked.extend(questions)
        return [(Reply(data=None, failure="no"),) for _ in questions]

    check(case(1, **keys), by=by, ask=ask)
    assert asked


def test_the_work_is_bounded():
    cases = [
        case(n, expected_answer=f"{n} units", expected_facts=[{"value": n, "tolerance": 0}])
        for n in range(1, 401)
    ]
    checked = check(*cases)
    assert checked.mutations["other_gold"].tried <= 20_000
    assert checked.faults == 0
