"""The importer of conversations: where one begins and ends, what it comes to, what is refused."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from tests.support.import_page import EXAMPLES

MESSAGES = IMPORTERS.get_class("messages")
USER = {"role": "user", "content": "How many?"}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOOL = {"role": "tool", "tool_call_id": "1", "content": "12"}
SAYS = {"role": "assistant", "content": "Twelve."}
TALK = [USER, ASKS, TOOL, SAYS]
HUMAN = {"type": "human", "content": "How many?", "id": "h"}
AI = {"type": "ai", "content": "Twelve.", "id": "a"}
COMPLETION = {
    "object": "chat.completion",
    "id": "chatcmpl-1",
    "model": "m",
    "choices": [{"message": {"content": "Twelve."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
RESPONSE = {
    "object": "response",
    "output": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Twelve."}],
        }
    ],
}


def written(folder, data, name="talks.json"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def lines(*items):
    return "".join(json.dumps(item) + "\n" for item in items)


def trials(path, **options):
    return list(MESSAGES(**options).read(path).trials())


def told(path, **options):
    """Case, question and answer of each conversation."""
    return [
        (one.case.id, one.case.input, one.attempt.response.answer)
        for one in trials(path, **options)
    ]


def refused(path, **options):
    with pytest.raises((InvalidInput, UsageError)) as caught:
        MESSAGES(**options).read(path)
    return str(caught.value).replace(f"{path.parent.as_posix()}/", "")


@pytest.mark.parametrize(
    "data",
    [
        TALK,
        {"messages": TALK},
        {"messages": TALK, "model": "m", "metadata": {"a": 1}},
        {"trace": TALK, "title": "x"},
        {"request": {"messages": [USER]}, "response": COMPLETION},
        {"request": {"input": "How many?"}, "response": RESPONSE},
        {"input": "How many?", "output": RESPONSE["output"]},
        [USER, COMPLETION],
        [{"type": "message", **USER}, *RESPONSE["output"]],
        [HUMAN, AI],
        {"messages": [HUMAN, AI]},
        [{"type": "human", "data": HUMAN}, {"type": "ai", "data": AI}],
        [{"messages": [HUMAN]}, {"messages": [HUMAN, AI]}],
        [{"start": {"messages": [HUMAN]}}, {"agent": {"messages": [AI]}}],
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "text", "text": "Twelve."}]},
            ]
        },
    ],
)
def test_a_file_that_is_one_conversation_is_one_trial(tmp_path, data):
    assert told(written(tmp_path, data)) == [("talks", "How many?", "Twelve.")]


def test_messages_line_by_line_are_one_conversation(tmp_path):
    assert told(written(tmp_path, lines(*TALK), "talk.jsonl")) == [("talk", "How many?", "Twelve.")]


def test_several_conversations_have_ids_or_places(tmp_path):
    named, plain = {"id": "c1", "messages": TALK}, {"messages": TALK}
    numbered = {"id": 7, "messages": TALK}
    ids = ["c1", "line-2", "7", "line-4"]
    whole = lines(named, plain, numbered, TALK)
    assert [one[0] for one in told(written(tmp_path, whole, "a.jsonl"))] == ids
    assert [one[0] for one in told(written(tmp_path, whole, "a.json"))] == ids, "by its content"
    items = written(tmp_path, [named, plain, numbered, TALK], "b.json")
    assert [one[0] for one in told(items)] == ["c1", "item-2", "7", "item-4"]


def test_an_id_of_the_interface_is_no_case(tmp_path):
    path = written(tmp_path, lines(COMPLETION, {**COMPLETION, "id": "chatcmpl-2"}), "a.jsonl")
    assert [one[0] for one in told(path)] == ["line-1", "line-2"]


def test_a_folder_is_one_suite_with_the_files_as_cases(tmp_path):
    folder = tmp_path / "nightly run"
    written(folder, TALK, "a/one.json")
    written(folder, lines({"messages": TALK}, {"id": "x", "messages": TALK}), "two.jsonl")
    written(folder, "nothing", "notes.txt")
    found = MESSAGES().read(folder)
    assert [one.case.id for one in found.trials()] == ["a/one", "two:line-1", "x"]
    assert [*found.suites] == ["nightly-run"]
    assert [*MESSAGES(suite="s").read(folder).suites] == ["s"]


def test_steps_model_usage_and_reason_are_kept(tmp_path):
    data = {"messages": [USER, ASKS, TOOL, COMPLETION]}
    (one,) = trials(written(tmp_path, data))
    answer = one.attempt.response
    assert [(s.name, s.arguments, s.result, s.turn) for s in answer.steps] == [
        ("f", {"a": 1}, "12", 0)
    ]
    assert (answer.model, answer.finish_reason, answer.turns) == ("m", "stop", 2)
    assert answer.usage.input_tokens is None, "one of the two model calls does not tell"
    assert (one.attempt.passed, one.attempt.latency_ms) == (None, None)


def test_arguments_that_are_no_json_stay_and_are_counted(tmp_path):
    broken = {**CALL, "function": {"name": "f", "arguments": '{"a": '}}
    path = written(tmp_path, [USER, {**ASKS, "tool_calls": [broken]}, TOOL, SAYS])
    found = MESSAGES().read(path)
    (one,) = found.trials()
    (step,) = one.attempt.response.steps
    assert (step.arguments, step.raw_arguments) == (None, '{"a": ')
    assert found.notes == ("1 tool call with arguments that are not JSON, kept as text",)


def test_the_same_case_again_is_its_next_round(tmp_path):
    talks = [{"id": "a", "messages": TALK}, {"id": "b", "messages": TALK}]
    found = MESSAGES().read(written(tmp_path, [*talks, talks[0]]))
    assert [(one.case.id, one.round) for one in found.trials()] == [("a", 1), ("b", 1), ("a", 2)]
    (suite,) = found.suites.values()
    assert (suite.cases, suite.rounds) == (2, 2)
    assert found.notes == ("1 case with several conversations, which are the rounds, in order",)


def test_keys_of_the_item_name_the_case_and_whether_it_passed(tmp_path):
    items = [
        {"task": n, "good": good, "messages": TALK} for n, good in enumerate((True, False, None))
    ]
    path = written(tmp_path, items)
    found = trials(path, id="task", passed="good")
    assert [(one.case.id, one.attempt.passed) for one in found] == [
        *(("0", True), ("1", False)),
        ("2", None),
    ]
    assert {one.attempt.passed for one in trials(path)} == {None}
    (suite,) = MESSAGES(passed="good").read(path).suites.values()
    assert suite.graders["success"] == "messages: good"


def test_all_that_is_wrong_is_told_with_its_place(tmp_path):
    deep = "x"
    for _ in range(300):
        deep = [deep]
    items = [
        {"id": "a", "messages": TALK},
        {"id": ["a"], "messages": TALK},
        {"id": "b", "messages": TALK, "good": 1},
        {"id": "c", "messages": [USER, {"role": "assistant", "content": 5}]},
        {"id": "d"},
        {"id": "e", "messages": deep},
        {"id": "f", "resourceSpans": []},
    ]
    text = lines(*items) + '{"id": "g", "id": "g"}\n{"id": "h", "mess'
    said = refused(written(tmp_path, text, "a.jsonl"), passed="good").splitlines()
    assert [line.partition(": ")[0] for line in said] == [f"a.jsonl:{n}" for n in range(2, 10)]
    wanted = ("id is not", "good is not true,", "content is not", "not a conversation")
    wanted += ("nested too deeply", "read it with `gate import otel`", "the key 'id' appears twice")
    for line, part in zip(said, (*wanted, "cut off in the middle"), strict=True):
        assert part in line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "empty"),
        ("[]", "has no conversation"),
        ("{", "cut off in the middle"),
        ('{"messages": []}', "not a conversation of a known format"),
        ('{"messages": [{"role": "user", "content": "\\ud83d"}]}', "an incomplete character"),
        ("[1, 2]", "[0]: not a conversation of a known format"),
    ],
)
def test_a_file_without_a_conversation_is_refused(tmp_path, data, said):
    assert said in refused(written(tmp_path, data))


def test_a_named_key_that_is_not_there_is_refused(tmp_path):
    path = written(tmp_path, [{"id": "a", "messages": TALK}])
    assert "has no case_no, the key of --option id" in refused(path, id="case_no")


def test_a_folder_without_such_files_and_links_are_refused(tmp_path):
    written(tmp_path, "x", "a/notes.txt")
    assert "has no file that ends in" in refused(tmp_path / "a")
    (tmp_path / "link.json").symlink_to(written(tmp_path, TALK))
    assert "a symbolic link, which is not followed" in refused(tmp_path / "link.json")


def test_what_is_recognised(tmp_path):
    def known(data, name="a.json"):
        return MESSAGES.recognises(look(written(tmp_path, data, name)))

    assert known({"id": "a", "passed": True, "messages": TALK})
    assert known(lines({"messages": TALK}, {"messages": TALK}), "a.jsonl")
    assert known([{"type": "human", "data": HUMAN}])
    assert known(COMPLETION)
    assert known(TALK)
    assert MESSAGES.recognises(look(EXAMPLES / "messages" / "shop.jsonl"))
    assert not known({"messages": TALK, "scores": {"a": 1}}), "another tool's"
    assert not known({"messages": TALK, "info": {}, "trajectory_format": "x"})
    assert not known({"simulations": [{"messages": TALK}]})
    assert not known([{"role": "admin", "name": "n"}])
    assert not known([{"task_id": 1, "traj": TALK}])
    assert not known({"messages": []})
    assert not known({"resourceSpans": []})


def test_none_of_the_other_formats_examples_looks_like_a_conversation_or_a_trace():
    """Nor the other way round."""
    importers = {name: IMPORTERS.get_class(name) for name in IMPORTERS}
    for name in ("messages", "otel"):
        for file in sorted(EXAMPLES.rglob("*")):
            mine = file.relative_to(EXAMPLES).parts[0] == name
            if file.is_file() and not mine:
                assert not importers[name].recognises(look(file)), file
            elif file.is_file():
                found = look(file)
                assert [n for n, one in importers.items() if one.recognises(found)] == [name]


@pytest.mark.parametrize(
    ("beside", "keys"),
    [
        ({"expected": "Twelve."}, {"expected_answer": "Twelve."}),
        ({"expected_answer": 12, "expected": "x"}, {"expected_answer": 12}),
        ({"expected": None}, {}),
        ({"expected": True}, {}),
        ({}, {}),
    ],
)
def test_the_answer_that_was_to_come_stands_beside_the_messages(tmp_path, beside, keys):
    (one,) = trials(written(tmp_path, [{"id": "a", "messages": TALK, **beside}]))
    assert {key: value for key, value in one.case.keys.items() if "expect" in key} == keys
    assert one.attempt.response.answer == "Twelve."


def test_a_total_alone_counts_as_tokens(tmp_path):
    whole = {**COMPLETION, "usage": {"total_tokens": 5}}
    (one,) = trials(written(tmp_path, [USER, whole]))
    assert one.attempt.response.usage.total_tokens == 5
