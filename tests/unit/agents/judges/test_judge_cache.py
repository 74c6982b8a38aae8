"""Judgements on disk: kept over runs, and never taken from somebody without the key."""

import json
import os
from dataclasses import replace

import pytest

from gate.agents.judges.cache import Cache, CachedReply
from gate.agents.judges.judge_panel import Panel
from tests.support.scripted_judge import CASE, GOOD, QUESTION, Scripted, model, panel

KEPT = CachedReply(data={"score": 4}, model="m")


def cache(tmp_path, secret="the key", section="judge"):
    return Cache(tmp_path / "new" / "cache.jsonl", "new/cache.jsonl", section, secret)


def lines(tmp_path):
    return (tmp_path / "new" / "cache.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.parametrize("secret", ["the key", None])
def test_what_was_put_is_there_for_the_next_run(tmp_path, secret):
    cache(tmp_path, secret).put("a", KEPT)
    cache(tmp_path, secret).put("b", replace(KEPT, model=None))
    later = cache(tmp_path, secret)
    assert later.get("a") == KEPT
    assert later.get("b") == replace(KEPT, model=None)
    assert later.get("c") is None
    assert later.notes() == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda line: {**line, "key": "b"},
        lambda line: {**line, "value": {"data": {"score": 5}, "model": "m"}},
        lambda line: {**line, "mac": "0" * 64},
        lambda line: {**line, "mac": None},
        lambda line: {"key": "b"},
        lambda line: ["b"],
    ],
)
def test_a_line_that_was_edited_is_ignored_and_counted(tmp_path, change):
    cache(tmp_path).put("a", KEPT)
    (line,) = lines(tmp_path)
    forged = json.dumps(change(json.loads(line))) + "\n"
    (tmp_path / "new" / "cache.jsonl").write_text(forged)
    later = cache(tmp_path)
    assert (later.get("a"), later.get("b")) == (None, None)
    assert later.notes() == (
        "new/cache.jsonl: 1 line ignored: damaged, or signed with another key than that of "
        "the judge",
    )


def test_a_judgement_of_another_key_does_not_count(tmp_path):
    for secret in ("another key", None):
        cache(tmp_path, secret).put("a", KEPT)
    later = cache(tmp_path)
    assert later.get("a") is None
    assert later.notes()[0].startswith("new/cache.jsonl: 2 lines ignored")


def test_half_a_line_costs_itself_only(tmp_path):
    cache(tmp_path).put("a", KEPT)
    path = tmp_path / "new" / "cache.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    cache(tmp_path).put("b", KEPT)
    path.write_bytes(path.read_bytes() + b"\xff\x00\n\n" + b"[" * 200_000 + b"\n")
    later = cache(tmp_path)
    assert (later.get("a"), later.get("b")) == (None, KEPT)
    assert later.notes()[0].startswith("new/cache.jsonl: 3 lines ignored")


def test_a_judgement_too_long_to_be_read_back_is_not_written(tmp_path):
    cache(tmp_path).put("a", KEPT)
    cache(tmp_path).put("b", CachedReply(data={"why": "\U0001f600" * 90_000}, model="m"))
    later = cache(tmp_path)
    assert (later.get("a"), later.get("b")) == (KEPT, None)
    assert later.notes() == ()


def test_two_models_may_share_a_file(tmp_path):
    cache(tmp_path, "one").put("a", KEPT)
    cache(tmp_path, "two", "verifier").put("b", KEPT)
    judge, verifier = cache(tmp_path, "one"), cache(tmp_path, "two", "verifier")
    assert (judge.get("a"), verifier.get("b")) == (KEPT, KEPT)
    assert judge.notes() + verifier.notes() == ()


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_file_is_a_note_and_never_waited_for(tmp_path, kind):
    path = tmp_path / "new" / "cache.jsonl"
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    broken = cache(tmp_path)
    assert broken.get("a") is None
    said = {"pipe": "a named pipe"}.get(kind, f"a {kind}") + ", not a regular file"
    assert broken.notes() == (f"new/cache.jsonl: cannot be read: {said}",)
    broken.put("a", KEPT)
    assert broken.notes() == (f"new/cache.jsonl: cannot be written: {said}",)


def test_a_second_run_asks_only_what_failed_in_the_first(tmp_path):
    file = tmp_path / "cache.jsonl"
    first = Scripted(lambda case, nth: GOOD if case.id == "c-1" else "prose")
    judges = panel(first, cache=file, votes=2)
    other = replace(CASE, id="c-2")
    for case in (CASE, other):
        judges.ask(case, [QUESTION])
    second = Scripted(lambda case, nth: '{"score": 1}')
    judges = panel(second, cache=file, votes=2)
    assert [(r.data["score"], r.calls, r.cost_usd) for r in judges.ask(CASE, [QUESTION])[0]] == [
        (4, 0, 0.0)
    ] * 2
    assert [(r.data["score"], r.calls) for r in judges.ask(other, [QUESTION])[0]] == [(1, 1)] * 2


def test_a_planted_judgement_is_asked_for_again(tmp_path):
    """Without a key anybody can write a line; it must fit the question all the same."""
    file = tmp_path / "cache.jsonl"
    wrong = Scripted(lambda case, nth: '{"points": 9}')
    panel(wrong, cache=file, key=None).ask(CASE, [replace(QUESTION, schema={"type": "object"})])
    asking = model(Scripted(lambda case, nth: GOOD), cache=file, key=None)
    planted = CachedReply(**json.loads(file.read_text())["value"])
    Cache(file, "cache.jsonl", "judge", None).put(asking.key(CASE, QUESTION, 0), planted)
    assert Panel([asking]).ask(CASE, [QUESTION])[0][0].data == {"score": 4}


def test_the_file_holds_no_prompt(tmp_path):
    file = tmp_path / "cache.jsonl"
    panel(Scripted(lambda case, nth: GOOD), cache=file).ask(CASE, [QUESTION])
    (line,) = file.read_text().splitlines()
    assert set(json.loads(line)) == {"for", "key", "value", "mac"}
    assert QUESTION.material not in line
    assert QUESTION.instructions not in line
