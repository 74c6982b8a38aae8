"""What the base branch answered: what is kept of its rounds, and what is believed of a file."""

import gzip
import json
from dataclasses import replace
from hashlib import sha512
from itertools import chain, islice

import pytest

from gate.errors import InfrastructureError, UsageError
from gate.records import BaselineRules
from gate.records.baseline import StoredAnswer
from gate.records.forge import FoundBaseline
from gate.store.baseline.answers import choose_answers, keep_beside, pack, read_beside, unpack
from gate.store.baseline.find import keeps_answers, read_answers
from gate.text.redaction import Redactor

ANSWER = StoredAnswer(case_id="a", case_digest="d", passed=True, answer="20 days")
LINE = json.dumps({"case_id": "a", "case_digest": "d", "passed": True, "answer": "x"}).encode()


def gz(data):
    return gzip.compress(data, mtime=0)


def rounds(*passed, case="a", **more):
    return [
        {
            "case_id": case,
            "case_digest": "d",
            "round": number,
            "status": "completed",
            "passed": one,
            "output": f"{case}{number}",
            "error": None,
            **more,
        }
        for number, one in enumerate(passed, 1)
    ]


def chosen(*rows):
    return {one.case_id: one.text for one in choose_answers(chain(*rows))}


def test_the_first_round_with_the_verdict_of_most_rounds_is_kept():
    assert chosen(rounds(False, True, True)) == {"a": "a2"}
    assert chosen(rounds(True, False, True)) == {"a": "a1"}
    assert chosen(rounds(None, None, True)) == {"a": "a1"}
    assert chosen(rounds(False, True)) == {"a": "a1"}, "a tie: the verdict that came first"
    assert chosen(rounds(True), rounds(False, case="b")) == {"a": "a1", "b": "b1"}


def test_nobodys_answer_is_none_and_a_failed_agent_has_its_error():
    assert chosen(rounds(None, status="infra_error")) == {}
    failed = rounds(False, status="agent_error", output=None, error="HTTP 500")
    assert chosen(failed) == {"a": "HTTP 500"}


def test_a_long_answer_is_cut_and_says_so():
    (one,) = choose_answers(rounds(True, output="x" * 9_000))
    assert one.answer == "x" * 4_000 + "… (cut: 5,000 more characters)"


def test_the_same_answers_give_the_same_bytes_without_secrets():
    secret = "sk-planted-0123456789"
    answers = [ANSWER, replace(ANSWER, case_id="b", answer=f"it is {secret} \ud800")]
    data, left_out = pack(answers, Redactor([secret]))
    assert (data, left_out) == pack(answers, Redactor([secret]))
    assert data[4:8] == bytes(4), "no time"
    read = list(unpack(data, "f"))
    assert read[0] == ANSWER
    assert read[1].answer == "it is *** \ud800"


def test_a_file_has_room_for_so_much_and_counts_what_it_leaves_out():
    texts = [sha512(b"%d" % n).hexdigest() for n in range(3_000)]
    some = [replace(ANSWER, case_id=str(n), answer=text) for n, text in enumerate(texts)]
    data, left_out = pack(some, str, most=50_000)
    assert len(data) < 50_000 + 64_000  # what gzip holds back
    assert 0 < left_out < 3_000
    assert len(list(unpack(data, "f"))) == 3_000 - left_out


@pytest.mark.parametrize(
    "data",
    [
        b"not gzip",
        gz(LINE)[:-9],  # cut off
        gz(b"no json\n"),
        gz(b"[1]\n"),
        gz(b"[" * 60_000 + b"\n"),
        gz(LINE.replace(b'"passed": true', b'"passed": 3')),
        gz(LINE.replace(b'"answer"', b'"other"')),
        gz(LINE.replace(b'"x"', b"NaN")),
        gz(LINE.replace(b"x", b"x" * 70_000)),  # a huge line
        gz(LINE.replace(b"x", b"\xff")),
    ],
    ids=range(10),
)
def test_a_hostile_file_is_refused_in_one_sentence(data, tmp_path):
    with pytest.raises(UsageError, match=r"^the file: [^\n]+$"):
        list(unpack(data, "the file"))
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "baseline.answers.jsonl.gz").write_bytes(data)
    assert list(read_beside(tmp_path, "s")) == []


def test_a_bomb_stops_at_its_limit():
    bomb = gz((LINE + b"\n") * 100_000)
    fitting = 1_000_000 // (len(LINE) + 1)
    answers = unpack(bomb, "f", most=1_000_000)
    assert len(list(islice(answers, fitting))) == fitting
    with pytest.raises(UsageError, match="too large"):
        next(answers)


def test_a_session_keeps_the_answers_of_the_last_time_it_was_judged(tmp_path):
    keep_beside(tmp_path, "s", iter([ANSWER]), str)
    assert list(read_beside(tmp_path, "s")) == [ANSWER]
    keep_beside(tmp_path, "s", iter(()), str)
    assert not (tmp_path / "s" / "baseline.answers.jsonl.gz").exists()
    keep_beside(tmp_path, "s", iter([ANSWER]), str)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "s" / "baseline.answers.jsonl.gz").unlink()
    (tmp_path / "s" / "baseline.answers.jsonl.gz").symlink_to(elsewhere)
    assert list(read_beside(tmp_path, "s")) == []
    keep_beside(tmp_path, "s", iter([ANSWER]), str)
    assert elsewhere.read_text() == "mine"


def found(source, answers=lambda: None):
    return FoundBaseline(text=b"", source=source, detail="", file="s.json", answers=answers)


@pytest.mark.parametrize(
    ("mode", "source", "looked"),
    [
        ("artifact", "artifact", True),
        ("artifact", "file", True),
        ("artifact", "repo", False),
        ("repo", "repo", True),
        ("repo", "artifact", True),
        ("off", "artifact", False),
        ("off", "repo", False),
    ],
)
def test_what_nobody_wrote_is_not_looked_for(mode, source, looked):
    assert keeps_answers(BaselineRules(answers=mode), found(source)) is looked


def test_a_baseline_without_the_file_has_no_answers():
    assert list(read_answers(found("artifact"))) == []

    def out_of_reach():
        raise InfrastructureError("GitHub cannot be reached")

    with pytest.raises(InfrastructureError):
        list(read_answers(found("repo", out_of_reach)))
