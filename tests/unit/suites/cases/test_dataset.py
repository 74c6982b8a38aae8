"""What a dataset must hold; every problem with its line, every case with its hash."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from gate.errors import InvalidInput, Place
from gate.files.json_schema import mismatches
from gate.files.rows import DatasetSource
from gate.graders.facts import Facts as FactsGrader
from gate.plugins import GRADERS as REGISTERED
from gate.plugins import Grader
from gate.records import Case, MetricSpec, Response, Score
from gate.suites.cases import keys
from gate.suites.cases.dataset import MAX_PROBLEMS, cases, check, content_hash, dataset_digest
from gate.suites.cases.keys import case_schema
from tests.support.growth import calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Reads a list of facts."""

    keys: ClassVar[Mapping[str, Any]] = {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"value": {"type": ["number", "string"]}},
                "required": ["value"],
                "additionalProperties": False,
            },
        },
        "steps": {"type": "integer"},
    }
    needs: ClassVar[tuple[str, ...]] = ("facts",)

    def metrics(self) -> tuple[MetricSpec, ...]:
        return ()

    def grade(self, case: Case, response: Response) -> Score:
        return Score()


GRADERS: dict[str, Grader] = {"facts": Facts()}
NONE: dict[str, Grader] = {}


def source(content: str, name: str = "d.jsonl") -> DatasetSource:
    return DatasetSource(name=name, open=lambda: io.BytesIO(content.encode()))


def lines(*found: Mapping[str, Any]) -> DatasetSource:
    return source("".join(json.dumps(row) + "\n" for row in found))


def told(where: DatasetSource, graders: Mapping[str, Grader] = NONE) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        check(where, graders)
    return [str(problem) for problem in caught.value.problems]


def case(case_id: str = "a", **keys: Any) -> dict[str, Any]:
    return {"id": case_id, "input": "What?", **keys}


def test_a_summary_of_a_good_dataset() -> None:
    found = check(
        lines(
            case("a", category="x", facts=[{"value": 1}]),
            case("b", facts=None, status="proposed"),
            case("c", facts=[], status="rejected"),
            case("d", facts=[], status="approved"),
        ),
        GRADERS,
    )
    assert (found.cases, found.categories) == (2, {"a": "x", "d": None})
    assert found.not_run == {"proposed": 1, "rejected": 1}
    assert found.warnings == ()
    assert found.digest == dataset_digest(found.digests)


def test_cases_are_streamed_with_their_places() -> None:
    where = lines(case("a", tags=["t"], category="x"), case("b", status="rejected"), case("c"))
    first, last = cases(where, NONE)
    assert (first.id, first.tags, first.category, first.question) == ("a", ("t",), "x", "What?")
    assert last.place == Place("d.jsonl", 3)
    assert first.digest == check(where, NONE).digests["a"]


@pytest.mark.parametrize(
    ("now", "known"),
    [
        ([case("a"), case("b", input="q")], [True, True]),
        ([case("a"), case("b", input="another")], [True, False]),
        ([case("b", input="q"), case("a")], [False, False]),  # nothing is where it was
    ],
)
def test_a_line_that_is_as_it_was_is_not_hashed_again(
    now: list[dict[str, Any]], known: list[bool]
) -> None:
    checked = replace(
        check(lines(case("a"), case("b", input="q")), NONE), digests={"a": "1", "b": "2"}
    )
    found = [one.digest in ("1", "2") for one in cases(lines(*now), NONE, checked=checked)]
    assert found == known


def test_rows_that_are_no_lines_are_hashed_each_time() -> None:
    listed = source(json.dumps([case("a"), case("b")]))
    checked = replace(check(listed, NONE), digests={"a": "1", "b": "2"})
    assert [len(one.digest) for one in cases(listed, NONE, checked=checked)] == [16, 16]


@pytest.mark.parametrize("alias", ["query", "question", "prompt"])
def test_aliases_of_input(alias: str) -> None:
    named = lines({"id": "a", alias: "What?"})
    (found,) = cases(named, NONE)
    assert (found.input, found.keys) == ("What?", {"id": "a", "input": "What?"})
    assert check(named, NONE).digest == check(lines(case("a")), NONE).digest


def test_whole_numbers_are_ids_too() -> None:
    (found,) = cases(lines({"id": 7, "input": "x"}), NONE)
    assert found.id == "7"
    assert told(lines({"id": 7, "input": "x"}, {"id": "7", "input": "x"})) == [
        "d.jsonl:2: id: '7' is taken by line 1 - ids must be unique"
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, "a case must be a mapping, not 3"),
        ("text", "a case must be a mapping, not 'text'"),
        ({"input": "x"}, "'id' is missing"),
        ({"id": "", "input": "x"}, "id: is empty"),
        ({"id": "  ", "input": "x"}, "id: is empty"),
        ({"id": 1.5, "input": "x"}, "id: 1.5 is not "),
        ({"id": True, "input": "x"}, "id: true is not "),
        ({"id": None, "input": "x"}, "id: null is not "),
        (
            {"id": "a"},
            "'input' is missing - give the question this name, or query, question or prompt",
        ),
        ({"id": "a", "input": ""}, "input: is empty"),
        ({"id": "a", "prompt": []}, "prompt: is empty"),
        ({"id": "a", "input": 3}, "input: 3 is not "),
        (
            {"id": "a", "query": "x", "prompt": "y"},
            "'query' and 'prompt' are two names of",
        ),
        (case(tags="x"), "tags: 'x' is not "),
        (case(tags=[1]), "tags[0]: 1 is not "),
        (case(category=3), "category: 3 is not "),
        (case(status="aproved"), "status: 'aproved' is not one of approved, proposed, rejected"),
        (case(metadata=[]), "metadata: [] is not "),
    ],
)
def test_what_every_case_must_hold(row: Any, message: str) -> None:
    assert told(lines(row))[0].startswith(f"d.jsonl:1: {message}")


def test_a_list_on_a_line() -> None:
    assert told(lines(case(), [1])) == [  # type: ignore[arg-type]
        "d.jsonl:2: a case must be a mapping, not a list"
    ]


def test_a_key_that_a_grader_needs() -> None:
    assert told(lines(case(facts=[]), case("b", fatcs=[])), GRADERS) == [
        "d.jsonl:2: 'facts' is missing, the grader 'facts' needs it - the case has 'fatcs': rename "
        "that key"
    ]


def test_a_value_that_a_grader_cannot_read() -> None:
    assert told(lines(case(facts=[{"valeu": 3}], steps="2")), GRADERS) == [
        "d.jsonl:1: facts[0].valeu: unknown key - did you mean 'value'? (read by 'facts')",
        "d.jsonl:1: steps: '2' is not a whole number (read by 'facts')",
    ]


def test_null_says_that_a_key_does_not_apply() -> None:
    assert check(lines(case(facts=None, steps=None)), GRADERS).cases == 1


def test_what_a_case_may_mean_is_a_warning_and_a_few_are_told() -> None:
    graders = {"facts": FactsGrader()}
    codes = [case(str(n), expected_facts=[f"{n}k"]) for n in range(1, 9)]
    warnings = check(lines(*codes), graders).warnings
    assert warnings[0].startswith("d.jsonl:1: expected_facts: '1k' looks like a number")
    assert len(warnings) == 6
    assert warnings[-1] == "d.jsonl: and 3 more warnings like these"
    plain = case("a", expected_facts=[{"value": "1k", "as": "text"}, "15 %", 7])
    assert check(lines(plain), graders).warnings == ()


def test_unknown_keys_are_a_warning_once_a_key() -> None:
    where = lines(case("a"), case("b", expected_anser="x"), case("c", expected_anser="y", zzz=1))
    assert check(where, NONE).warnings == (
        "d.jsonl:2: expected_anser: no grader reads this key - did you mean 'expected_answer'?",
        "d.jsonl:3: zzz: no grader reads this key",
    )


def test_every_problem_is_told_up_to_a_limit() -> None:
    found = told(lines(*(case(id=f"c{i}", status=f"s{i}") for i in range(MAX_PROBLEMS + 30))))
    assert len(found) == MAX_PROBLEMS + 1
    assert (
        found[-1] == f"d.jsonl:{MAX_PROBLEMS + 1}: and more problems from here on; mend these first"
    )


def test_one_problem_of_many_cases_is_told_once() -> None:
    three = lines(*({"id": f"c{i}"} for i in range(3)), case(id="d", status="x"))
    nothing = "'input' is missing - give the question this name, or query, question or prompt"
    assert told(three)[0] == f"d.jsonl:1: {nothing} (3 cases: lines 1, 2, 3)"
    assert len(told(three)) == 2
    many = lines(*({"id": f"c{i}"} for i in range(20)))
    assert told(many) == [f"d.jsonl:1: {nothing} (20 cases: lines 1 to 20)"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_of_any_spreadsheet_is_read(separator: str) -> None:
    rows = [["id", "question", "expected_facts"], ["a", "How long?", "30"], ["b", "What?", "[9]"]]
    text = "".join(separator.join(row) + "\n" for row in rows)
    found = list(cases(source(text, "d.csv"), {"facts": REGISTERED.get_class("facts")()}))
    assert [one.input for one in found] == ["How long?", "What?"]
    assert [one.keys["expected_facts"] for one in found] == [[30], [9]]


def test_one_value_of_a_list_stands_for_itself() -> None:
    graders = {name: REGISTERED.get_class(name)() for name in ("facts", "retrieval")}
    row = case(expected_facts="30 days", relevant_doc_ids="kb-1")
    (found,) = cases(lines(row), graders)
    assert found.keys["expected_facts"] == ["30 days"]
    assert found.keys["relevant_doc_ids"] == ["kb-1"]
    whole = case(expected_facts=["30 days"], relevant_doc_ids=["kb-1"])
    assert check(lines(row), graders).digest == check(lines(whole), graders).digest


def test_no_case_is_an_error() -> None:
    assert told(source("\n\n")) == [
        "d.jsonl: the dataset is empty - write at least one case into it"
    ]
    assert told(lines(case(status="proposed"))) == [
        "d.jsonl: no case is approved (1 proposed): delete `status` of the cases that are to run"
    ]


def test_three_dots_are_a_question_but_for_the_form() -> None:
    assert check(lines(case(input="...")), {}).cases == 1
    assert told(lines(case(id="question-1", input="..."))) == [
        'd.jsonl:1: input: still says "..." - write the question, or delete the case'
    ]
    # Of the form one question is written, and its status is still there.
    half = (case(id="question-1", input="Why?", status="proposed"),)
    assert told(lines(*half, case(id="question-2", input="...", status="proposed"))) == [
        "d.jsonl: no case is approved (2 proposed): delete `status` of the cases that are to run"
    ]


def test_a_number_that_is_too_large() -> None:
    assert told(source('{"id": "a", "input": "x", "metadata": null, "context": 1e999}')) == [
        "d.jsonl:1: 1e999 is too large a number"
    ]


def test_csv_cells_take_the_type_of_their_key() -> None:
    (found,) = cases(
        source('id,input,facts,steps\n007,hi,"[{""value"": 3}]",2\n', "d.csv"), GRADERS
    )
    assert found.keys == {"id": "007", "input": "hi", "facts": [{"value": 3}], "steps": 2}
    assert told(source("id,input,facts,steps\na,hi,[],two\n", "d.csv"), GRADERS) == [
        "d.csv:2: steps: 'two' is not a whole number (read by 'facts')"
    ]


def test_the_hash_covers_what_agent_and_graders_see() -> None:
    plain = content_hash(case("a", facts=[1]))
    assert plain == content_hash(
        case("b", facts=[1], category="x", tags=["y"], status="approved", metadata={"z": 1})
    )
    assert plain != content_hash(case("a", facts=[2]))
    assert plain == content_hash({"facts": [1], "input": "What?", "id": "a"})
    assert len(plain) == 16


def test_the_digest_does_not_depend_on_the_order() -> None:
    one, two = case("a"), case("b", context="x")
    assert check(lines(one, two), NONE).digest == check(lines(two, one), NONE).digest
    assert check(lines(one), NONE).digest != check(lines(two), NONE).digest


def test_reading_a_broken_file_without_checking_it_first() -> None:
    with pytest.raises(InvalidInput, match=r"d\.jsonl:2: not JSON"):
        list(cases(source('{"id": "a", "input": "x"}\n{'), NONE))
    with pytest.raises(InvalidInput, match=r"d\.jsonl:1: the case has no 'id' or no 'input'"):
        list(cases(lines([1]), NONE))  # type: ignore[arg-type]


def test_the_schema_of_a_case() -> None:
    schema = case_schema()
    assert mismatches(schema, case("a", tags=["x"], anything=1)) == []
    assert mismatches(schema, {"id": "a", "query": "x"}) == []
    assert mismatches(schema, {"input": "x"})
    assert mismatches(schema, {"id": "a"})
    assert mismatches(schema, case("a", prompt="two inputs"))


def test_checking_is_little_work_a_case() -> None:
    """A call of jsonschema for each of them would be thousands."""
    where = lines(*(case(f"c{i}", facts=[{"value": i}]) for i in range(2000)))
    assert calls(lambda: check(where, GRADERS)) < 2000 * 300  # 100


def test_the_listed_keys_of_graders_are_those_that_graders_read():
    read = {key for name in REGISTERED for key in keys._class_keys(name)}
    assert sorted(keys.GRADER_KEYS) == sorted(read)


def test_a_key_that_nobody_reads_loads_no_other_grader(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "a", "input": "q", "zzz": 1}\n', "utf-8")
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: sample}\n"
        "suites: [{name: s, dataset: d.jsonl, graders: [{contains: {text: a}}]}]\n",
        "utf-8",
    )
    code = (
        "import os, sys, gate.cli; sys.argv[1:] = ['validate']\n"
        "os._exit = lambda code: print(sorted(one for one in sys.modules if 'graders' in one))\n"
        "gate.cli.main()"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stdout
    assert "zzz: no grader reads this key" in out
    assert "gate.graders.contains" in out
    assert "gate.graders.json_format" not in out
