"""Small tasks and reports on tools: done where the rules reach, declined where they do not."""

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gate.agents.sample_agent import small_tasks
from gate.agents.sample_agent.database import open_image
from gate.agents.sample_agent.openagent import NO_TOOLS, Workplace, answer_chat
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.scratch_files import Scratch
from gate.files import bundled
from gate.records import Response
from tests.support.sample_service import KNOWLEDGE


def asked(
    question: str, *, tools: bool = True, scratch: Path | None = None, **options: Any
) -> Response:
    with closing(open_image(KNOWLEDGE.database.image)) as connection:
        place = Workplace(
            knowledge=KNOWLEDGE,
            options=SampleOptions(**options),
            connection=connection,
            scratch=Scratch(scratch) if scratch else None,
            now=lambda: datetime(2026, 5, 12, 14, 30, tzinfo=UTC),
        )
        return answer_chat(question, place, nth=1, system="", tools=tools)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (
            "Output JSON only with keys city and population. Use Tokyo and 14000000.",
            '{"city": "Tokyo", "population": 14000000}',
        ),
        ("Return JSON with keys x,y and values 1,true.", '{"x": 1, "y": true}'),
        ("Output JSON only. key result=ok.", '{"result": "ok"}'),
        (
            'The model is K7. JSON with the keys "model" and "kg"; what is not known is null.',
            None,
        ),
        (
            'A kettle: the model is K7. JSON with the keys "model" and "kg"; unknown is null.',
            '{"model": "K7", "kg": null}',
        ),
        (
            'Reply with JSON only, with the keys "sum" and "product" of 6 and 7.',
            '{"sum": 13, "product": 42}',
        ),
        ("Output JSON array only with even numbers: 2,4,6.", "[2, 4, 6]"),
        ("What is 17 times 23?", "391"),
        ("What is 2 to the power of 10?", "1024"),
        ("What is the square root of 144?", "12"),
        ("Use digits only: 7/0=?", "division by zero in '7 / 0'"),
        ("Is 51 a prime number? Reply with YES or NO.", "NO"),
        ("Is 0.1 greater than 0.09? Reply with true or false.", "true"),
        ("Output only PASS or FAIL. No explanation.", "PASS"),
        ("Is Paris a city? Reply with YES or NO.", None),
        ("Write the word ready in capital letters.", "READY"),
        ("Sort these words by the alphabet: pear, fig, plum.", "fig, pear, plum"),
        ("Count down from 3 to 1.", "3\n2\n1"),
        (
            "Write lines of the form name=value: host is localhost, port is 80.",
            "host=localhost\nport=80",
        ),
        ("What is the capital of France?", None),
        ("What was net revenue in Q2 2026?", None),
        ("What is 1 + 2?" + " " * 5000, None),
    ],
)
def test_what_a_prompt_holds_is_found_or_left_alone(prompt: str, answer: str | None) -> None:
    assert small_tasks.answer(prompt) == answer


@pytest.mark.parametrize("suite", ["analytics", "trajectories"])
def test_no_question_of_the_analyst_is_taken_for_a_small_task(suite: str) -> None:
    rows = (bundled.folder() / suite / "dataset.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(row)["input"] for row in rows]
    assert len(questions) > 20
    for question in questions:
        text = question if isinstance(question, str) else question[-1]["content"]
        assert small_tasks.answer(text) is None, text
        assert small_tasks.parse_line_request(text) is None, text
        assert not small_tasks.asks_the_time(text), text


def test_lines_are_sentences_of_documents() -> None:
    found = asked("Give me 2 suggestions on heating, each line starts with '- '.").answer
    assert [line[:2] for line in found.splitlines()] == ["- ", "- "]
    text = " ".join(" ".join(page.text.split()) for page in KNOWLEDGE.index.pages)
    assert all(line[2:] in text for line in found.splitlines())


def test_the_time_comes_from_a_tool() -> None:
    response = asked("What time is it?")
    assert "2026-05-12T14:30" in response.answer
    assert [step.name for step in response.steps or ()] == ["time"]


# ------------------------------------------------------------------------------ reports on tools

SCAN = """You must use local_special_dirs, local_documents_scan and local_document_read.
{"task_id": "FI-1", "scanned_root": "", "picked": [], "summary": {"themes": [], "odd": ""},
 "evidence": {"tool_calls": [...]}}"""
WRITE = """Use local_text_write. Write a note to exactly this path: ./scratch/note.md
Its title is "A Note". It has the two sections "Done" and "Next".
{"task_id": "FI-2", "path": "", "byte_size": 0, "overwrote": true, "evidence": {"tool_calls": []}}
"""
SEARCH = """You must use the tool web_search.
{"task_id": "WS-1", "claims": [{"url": "", "confidence": 0.5}],
 "evidence": {"tool_calls": [{"name": "web_search"}], "sources": []}}"""


def test_documents_are_read_by_tools_and_reported_as_they_are() -> None:
    response = asked(SCAN)
    found = json.loads(response.answer)
    ran = [step.name for step in response.steps or ()]
    assert ran == ["local_special_dirs", "local_documents_scan", *["local_document_read"] * 3]
    assert [call["name"] for call in found["evidence"]["tool_calls"]] == ran
    for picked in found["picked"]:
        page = KNOWLEDGE.page(Path(picked["path"]).stem)
        assert page is not None
        assert picked["text_sample"] in page.text
    assert found["summary"]["odd"] is None, "what no tool told stays empty"
    assert "error" not in found


def test_a_note_is_written_and_reported_as_it_is(tmp_path: Path) -> None:
    found = json.loads(asked(WRITE, scratch=tmp_path).answer)
    note = tmp_path / "scratch" / "note.md"
    assert found["byte_size"] == note.stat().st_size
    assert found["overwrote"] is False
    assert found["path"] == "./scratch/note.md"
    assert note.read_text("utf-8").startswith("# A Note\n\n## Done\n\n- ")


def test_without_a_folder_nothing_is_written_and_the_report_says_so() -> None:
    response = asked(WRITE)
    found = json.loads(response.answer)
    assert found["byte_size"] is None
    assert "--scratch" in found["error"]
    assert [step.error is None for step in response.steps or ()] == [False]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (SEARCH, "I have no web_search"),
        ("Go to the browser_use_open.\n" + SEARCH, "browser_use_open, web_search"),
        ('Work in stages.\n{"task_id": "HC-1", "collect": {}}', "in stages"),
    ],
)
def test_what_it_has_no_tools_for_is_declined_without_evidence(prompt: str, told: str) -> None:
    response = asked(prompt)
    found = json.loads(response.answer)
    assert told in found.pop("error")
    assert response.steps == ()
    assert found.pop("evidence", None) in (None, {"tool_calls": [], "sources": []})
    assert list(found) == ["task_id"], "no claim is made"


def test_invent_declares_calls_that_never_ran() -> None:
    response = asked(SEARCH, invent=True)
    found = json.loads(response.answer)
    assert {call["name"] for call in found["evidence"]["tool_calls"]} == {"web_search"}
    assert response.steps == ()
    assert found["claims"]
    assert found["evidence"]["sources"]


def test_wrong_tool_asks_for_one_that_does_not_exist() -> None:
    response = asked(WRITE, wrong_tool=True)
    assert [step.error for step in response.steps or ()] == [
        "there is no tool 'local_text_write_all'"
    ]
    assert "no tool" in json.loads(response.answer)["error"]


def test_wrong_args_are_refused_by_the_tool(tmp_path: Path) -> None:
    (step,) = asked(WRITE, scratch=tmp_path, wrong_args=True).steps or ()
    assert "does not take the arguments" in (step.error or "")
    assert list(tmp_path.rglob("*.md")) == []


def test_a_plain_model_has_neither_tools_nor_documents() -> None:
    assert asked("What was net revenue in Q2 2026?", tools=False).answer == NO_TOOLS
    assert asked("What is 17 times 23?", tools=False).answer == "391"
    response = asked(SCAN, tools=False)
    assert json.loads(response.answer)["error"] == NO_TOOLS
    assert response.steps == ()


@pytest.mark.parametrize(
    "prompt",
    [
        '{"task_id": ' * 5000,
        '{"task_id": "x", "a": ' + "[" * 50_000,
        '{"task_id": [1, {}]} local_text_write',
        '{ "task_id": null, "evidence": 3 } web_fetch',
        'path: \x00\n{"task_id": "x"} local_text_write',
        '{"task_id": "x"} local_text_write ' + "path: " * 8_000,
    ],
)
def test_hostile_forms_are_answered(prompt: str, tmp_path: Path) -> None:
    assert asked(prompt, scratch=tmp_path).answer
    assert asked(prompt, invent=True).answer


def test_a_prompt_made_to_be_slow_to_search_is_left_alone() -> None:
    for prompt in ('"line starts with ' * 20_000, "JSON with keys " * 130, "JSON a b " * 220):
        assert small_tasks.answer(prompt) is None
        assert small_tasks.parse_line_request(prompt) is None
