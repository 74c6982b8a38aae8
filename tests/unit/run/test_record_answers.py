import json
import threading

import pytest

from gate.agents.recordings.answers import Recording
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.records import Case, Response, Usage
from gate.run.record_answers import recorder

CASE = Case(id="c1", input="what?", keys={"id": "c1", "input": "what?"})


def keep(text):
    return text


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_nothing_is_recorded_unless_asked_for(tmp_path):
    with recorder(None, keep) as record:
        assert record is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_recorded_can_be_replayed(tmp_path):
    path = tmp_path / "answers.jsonl"
    answer = Response(answer="42 \u2713", usage=Usage(input_tokens=3))
    with recorder(str(path), keep) as record:
        record(CASE, 1, InfraFailure("reset"), 5.0)
        record(CASE, 1, answer, 12.3456)
        record(CASE, 2, AgentFailure("boom"), 7.0)
    recording = Recording(path, "answers.jsonl")
    first, second, third = (recording.take(CASE) for _ in range(3))
    assert (first.infra_error, first.round) == ("reset", 1)
    assert (second.response, second.latency_ms) == (answer, 12.346)
    assert (third.agent_error, third.round) == ("boom", 2)


def test_a_second_run_appends(tmp_path):
    path = tmp_path / "answers.jsonl"
    for _ in range(2):
        with recorder(str(path), keep) as record:
            record(CASE, 1, Response(answer="x"), 1.0)
    assert len(lines(path)) == 2


def test_secrets_are_taken_out(tmp_path):
    path = tmp_path / "answers.jsonl"
    with recorder(str(path), lambda text: text.replace("hunter2", "***")) as record:
        record(CASE, 1, Response(answer="the key is hunter2"), 1.0)
    assert "hunter2" not in path.read_text("utf-8")
    assert lines(path)[0]["response"]["answer"] == "the key is ***"


def test_threads_never_mix_their_lines(tmp_path):
    path = tmp_path / "answers.jsonl"
    with recorder(str(path), keep) as record:

        def many(number):
            for _ in range(25):
                record(CASE, number, Response(answer="x" * 5000), 1.0)

        threads = [threading.Thread(target=many, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = lines(path)
    assert sorted(line["round"] for line in found) == sorted(list(range(1, 9)) * 25)


def test_a_folder_that_is_not_there_is_made(tmp_path):
    with recorder(str(tmp_path / "no" / "such" / "x.jsonl"), keep) as record:
        record(CASE, 1, Response(answer="yes"), 1.0)
    assert len(lines(tmp_path / "no" / "such" / "x.jsonl")) == 1


def test_a_file_in_the_place_of_its_folder_is_told(tmp_path):
    (tmp_path / "no").write_text("", "utf-8")
    with (
        pytest.raises(UsageError, match=r"--record .*: Not a directory; choose another file"),
        recorder(str(tmp_path / "no" / "x.jsonl"), keep),
    ):
        pass
