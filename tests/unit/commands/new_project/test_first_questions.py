"""The first questions of a new project: from a CSV file, from promptfoo, or a form to fill in."""

import json
import re

import pytest

from gate.commands.new_project.csv_cells import looks_like_several
from gate.commands.new_project.probe import Probed
from gate.commands.new_project.questions import fit_graders, read_questions
from gate.errors import UsageError


def read_csv(tmp_path, text):
    path = tmp_path / "questions.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = read_questions("csv", path)
    return [json.loads(line) for line in found.text.splitlines()], found


@pytest.mark.parametrize(
    "text",
    [
        "question,answer\nCapital of France?,Paris\n",
        "Frage;question;Ground Truth\nx;Capital of France?;Paris\n",
        "Query\tExpected\nCapital of France?\tParis\n",
        "\ufeffid|prompt|ideal\nquestion-1|Capital of France?|Paris\n",
        '"Input", "Expected output"\r\n"Capital of France?","Paris"\r\n',
    ],
    ids=["commas", "semicolons", "tabs", "bars and a byte order mark", "quotes"],
)
def test_columns_are_found_by_the_names_that_people_give_them(tmp_path, text):
    cases, _ = read_csv(tmp_path, text)
    assert cases == [
        {
            "id": "question-1",
            "input": "Capital of France?",
            "expected_facts": [{"value": "Paris"}],
        }
    ]


def test_numbers_are_compared_as_numbers(tmp_path):
    cases, _ = read_csv(
        tmp_path, "question;answer\na?;42\nb?;3.5\nc?;007\nd?;yes\ne?;1,120.9\nf?;-2,000\ng?;1,2\n"
    )
    values = [case["expected_facts"][0]["value"] for case in cases]
    assert values == [42, 3.5, "007", "yes", 1120.9, -2000, "1,2"]


def test_ids_and_categories_are_taken_and_rows_without_a_question_left_out(tmp_path):
    rows = "a,first?,leave\nb,,leave\nc,third?,\n,,\n,,x\n"
    cases, found = read_csv(tmp_path, f"id,question,topic\n{rows}")
    assert [(case["id"], case.get("category")) for case in cases] == [("a", "leave"), ("c", None)]
    assert found.notes[0] == "2 questions from the column question"
    assert "no column with expected answers" in found.notes[1]
    assert found.notes[2] == "2 rows without a question left out: lines 3, 6"


def test_columns_called_like_a_key_of_a_case_are_taken_over(tmp_path):
    cases, found = read_csv(
        tmp_path,
        "question;Expected Facts;relevant_doc_ids;tags;answer\n"
        'a?;"[{""value"": 5, ""near"": ""cap""}, ""red""]";"[""d1"", ""d2""]";t;a long answer\n'
        "b?;1,120.9;007;;\n"
        "c?;;;;9\n",
    )
    assert [case["expected_facts"] for case in cases] == [
        [{"value": 5, "near": "cap"}, "red"],
        [{"value": 1120.9}],
        [{"value": 9}],
    ]
    assert [case["relevant_doc_ids"] for case in cases] == [["d1", "d2"], ["007"], None]
    assert cases[0]["tags"] == ["t"]
    assert cases[0]["expected_answer"] == "a long answer"
    assert not found.graders[0].off
    assert found.notes == ("3 questions from the column question",)


def test_expected_facts_alone_are_expected_answers(tmp_path):
    cases, found = read_csv(tmp_path, "question,expected_facts\na?,30 days\n")
    assert cases[0]["expected_facts"] == [{"value": "30 days"}]
    assert not found.graders[0].off
    assert "no column with expected answers" not in " ".join(found.notes)


def test_what_is_left_out_of_a_csv_file_is_named(tmp_path):
    cases, found = read_csv(tmp_path, "question,answer,status,owner\na?,1,done,ana\nb?,2,,\n")
    assert all("status" not in case for case in cases)
    assert found.notes[-1].startswith("left out, ")
    assert found.notes[-1].endswith(": status, owner")
    cases, found = read_csv(tmp_path, "question,answer,status\na?,1,rejected\nb?,2,\n")
    assert [case.get("status") for case in cases] == ["rejected", None]


def test_several_documents_in_one_cell_are_doubted(tmp_path):
    cases, found = read_csv(tmp_path, 'question,relevant_doc_ids\na?,"d1, d2"\nb?,d3\n')
    assert cases[0]["relevant_doc_ids"] == ["d1, d2"]
    assert found.notes[-1] == (
        "the column relevant_doc_ids: 1 cell (line 2) is taken as the id of one document; write "
        'several as ["a", "b"]'
    )


def test_several_facts_and_tags_in_one_cell_are_doubted(tmp_path):
    rows = '"12, 25","a, b"', "3,c", "red; green,d|e"
    _, found = read_csv(tmp_path, "\n".join(("question,Expected Facts,tags", *_ask(rows))))
    assert found.notes[-2:] == (
        "the column Expected Facts: 2 cells (lines 2, 4) are each taken as one text; write several "
        'as ["a", "b"]',
        "the column tags: 2 cells (lines 2, 4) are each taken as one tag; write several as "
        '["a", "b"]',
    )


def _ask(rows):
    return (f"q{number}?,{row}" for number, row in enumerate(rows))


@pytest.mark.parametrize(
    ("cell", "is_doubted"),
    [
        *((cell, True) for cell in ("12, 25", "12,25,30", "1,234, 5,678", "$5, $7", "5 kg, 7 kg")),
        *((cell, True) for cell in ("10 %, 20 %", "red, green, blue", "red; dark green", "x | y")),
        *((cell, True) for cell in ("-1, 2.5", "1,000; 2,000")),
        *((cell, False) for cell in ("1,234", "1,234.50", "-12,345,678", "$1,234", "1,234 EUR")),
        *((cell, False) for cell in ("3,5", "3,50 €", "Paris, France", "5 May, 2026")),
        *((cell, False) for cell in ("Yes, within 30 days, free of charge", "July 4, 1776", "12")),
        *((cell, False) for cell in ("He came, and he left; nobody knows why he did so", "", "a;")),
        ('["12", "25"]', False),
    ],
)
def test_a_number_or_a_sentence_with_a_comma_is_one_text(cell, is_doubted):
    assert looks_like_several("expected_facts", cell) == is_doubted


def names_of(found, template, **seen):
    fitted = fit_graders(found, template, Probed(options={}, **seen))
    graders = {one.grader.partition(":")[0]: bool(one.off) for one in fitted.graders}
    return graders, fitted.notes[len(found.notes) :]


def test_the_graders_are_those_of_the_template_and_of_the_columns(tmp_path):
    _, plain = read_csv(tmp_path, "question,answer\na?,1\n")
    _, documents = read_csv(tmp_path, "question,answer,relevant_doc_ids\na?,1,d1\n")
    calls = '"{""name"": ""search""}"'
    _, called = read_csv(tmp_path, f"question,answer,expected_tool_calls\na?,1,{calls}\n")
    assert names_of(plain, "chat") == ({"facts": False}, ())
    assert names_of(documents, "chat") == ({"facts": False, "retrieval": False}, ())
    assert names_of(called, "chat") == ({"facts": False, "tool_calls": False}, ())
    graders, notes = names_of(plain, "rag")
    assert graders == {"facts": False, "retrieval": True, "hallucination": False}
    assert notes == (
        "retrieval is off in gate.yml: no question has `relevant_doc_ids`: docs/graders.md",
    )
    assert names_of(plain, "langgraph")[0] == {"facts": False, "tool_calls": True}
    graders, notes = names_of(documents, "rag", has_documents=False)
    assert graders["retrieval"]
    assert notes[0].startswith("retrieval is off in gate.yml: no answer named documents yet")


def test_a_question_with_line_breaks_and_commas_in_quotes_is_one_cell(tmp_path):
    cases, _ = read_csv(tmp_path, 'question,answer\n"What,\nme?",yes\nb?,no\n')
    assert [case["input"] for case in cases] == ["What,\nme?", "b?"]


def test_a_row_without_an_id_is_called_by_its_number(tmp_path):
    cases, _ = read_csv(tmp_path, "id,question\na,first?\n,second?\n ,third?\n")
    assert [case["id"] for case in cases] == ["a", "question-2", "question-3"]


def test_a_long_expected_answer_is_kept_and_not_graded(tmp_path):
    answer = "It depends on the contract, and on how long somebody has been with us already."
    cases, found = read_csv(tmp_path, f'question,answer\na?,"{answer}"\n')
    assert cases[0]["expected_facts"] is None
    assert cases[0]["metadata"] == {"expected_answer": answer}
    assert found.graders[0].off
    assert "1 answer in the column answer is longer than 60 characters: it is" in found.notes[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column with the questions"),
        ("a,b\n1,2\n", r"call one of them input, question, .* \(found: a, b\)"),
        ("question,answer\n,x\n", "has no question in its column question"),
        (
            "id,question\na,x\na,y\n",
            r"questions\.csv:3: the id 'a' is taken by line 2; ids are unique",
        ),
        (b"question\nM\xfcnchen?\n", r"not UTF-8 .* \(in Excel: save as CSV UTF-8\)"),
        ("question\na?\n".encode("utf-16"), r"is UTF-16 .* \(in Excel: save as CSV UTF-8\)"),
        (
            "question,answer\nWhy?,x\nWhat, me?,yes\n",
            r"questions\.csv:3: 3 cells, but the header row has 2 - is a quote missing\?",
        ),
        (
            'question,expected_facts\na?,"[1"\n',
            r"questions\.csv:2: expected_facts: .* read as JSON",
        ),
        (
            "question,expected_tool_calls\na?,search\n",
            r"questions\.csv:2: expected_tool_calls: .* \(read by 'tool_calls'\)",
        ),
        ("question\nWhat, me?\n", r"questions\.csv:2: 2 cells, but the header row has 1"),
        ('question,answer\n"What, me?,yes\n', r"questions\.csv:2: not CSV"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path, text, message):
    with pytest.raises(Exception, match=message):
        read_csv(tmp_path, text)


def test_promptfoo_assertions_become_graders_and_a_rubric_waits_for_a_judge(tmp_path):
    (tmp_path / "promptfooconfig.yaml").write_text(
        """prompts: ["{{question}}"]
providers: [openai:gpt-4o-mini]
tests:
  - vars: {question: "Capital of France?"}
    assert: [{type: icontains, value: Paris}, {type: llm-rubric, value: polite}]
"""
    )
    found = read_questions("promptfoo", tmp_path / "promptfooconfig.yaml")
    (case,) = map(json.loads, found.text.splitlines())
    assert case["input"] == "Capital of France?"
    assert [(one.grader, bool(one.off)) for one in found.graders] == [
        ("regex: {key: patterns}", False),
        ("judge: {rubric: case}", True),
    ]


def read_promptfoo(tmp_path, text):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(text)
    found = read_questions("promptfoo", path)
    return [json.loads(line) for line in found.text.splitlines()], found


def test_cases_that_nothing_checks_are_named(tmp_path):
    cases, found = read_promptfoo(
        tmp_path,
        """prompts: ["{{question}}"]
tests:
  - {vars: {question: "Capital of France?"}, assert: [{type: icontains, value: Paris}]}
  - {description: "Größe: wie groß?", vars: {question: How tall?}}
  - {description: polite, vars: {question: Hi}, assert: [{type: llm-rubric, value: polite}]}
  - {description: near, vars: {question: Near?}, assert: [{type: similar, value: near}]}
""",
    )
    assert [case["id"] for case in cases][1:] == ["größe-wie-groß", "polite", "near"]
    assert re.fullmatch(r"capital-of-france-[0-9a-f]{8}", cases[0]["id"])
    told = "\n".join(found.notes)
    assert re.search("2 cases without any check, .*: größe-wie-groß, near; write", told)
    assert "1 case checked by a rubric alone" in told


@pytest.mark.parametrize(
    ("providers", "agent"),
    [
        ("[openai:gpt-4o-mini]", ("openai", "https://api.openai.com", "gpt-4o-mini")),
        ("openai:chat:gpt-5", ("openai", "https://api.openai.com", "gpt-5")),
        ("[{id: 'https://bot.example.test/ask'}]", ("http", "https://bot.example.test/ask", None)),
        ("[openai:gpt-4o, openai:gpt-5]", None),
        ("['file://provider.py']", None),
        ("[openai:embedding:text-embedding-3-large]", None),
        ("[{id: openai:gpt-5, config: {apiHost: x}}]", None),
    ],
)
def test_the_only_simple_provider_is_the_agent(tmp_path, providers, agent):
    test = "{vars: {question: Why?}, assert: [{type: equals, value: x}]}"
    text = f"prompts: ['{{{{question}}}}']\nproviders: {providers}\ntests: [{test}]\n"
    _, found = read_promptfoo(tmp_path, text)
    taken = tuple(found.agent.get(name) for name in ("agent", "base_url", "model"))
    assert taken == (agent or (None, None, None))
    said = "the agent is the provider" if agent else "not taken over: name your agent in gate.yml"
    assert said in found.notes[-1]


def test_an_unknown_form_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(
        UsageError, match="--from promtfoo: unknown form - did you mean 'promptfoo'"
    ):
        read_questions("promtfoo", tmp_path)
