from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.records import Looks
from gate.store.session import load_session
from gate.store.shards import absent, check
from tests.support.stored_session import store


def shard(folder, cases, part=None, **changes):
    session = load_session(store(folder, cases))
    (suite,) = session.meta.suites.values()
    meta = replace(
        session.meta,
        suites={"analytics": replace(suite, **changes)},
        options={"shard": list(part)} if part else {},
    )
    return replace(session, meta=meta)


def whole(session):
    return session.meta.suites


def test_shards_of_one_run_may_be_joined(tmp_path):
    first = shard(tmp_path / "1", {"a": [True], "b": [False]})
    second = shard(tmp_path / "2", {"c": [True]})
    check([first, second], whole(first))


def test_a_trial_that_comes_twice_is_refused(tmp_path):
    first = shard(tmp_path / "1", {"a": [True], "b": [False]})
    second = shard(tmp_path / "2", {"b": [True]})
    with pytest.raises(UsageError, match="case 'b' round 1 is in another shard too"):
        check([first, second], whole(first))


def test_a_session_that_was_judged_while_it_ran_is_no_part_of_another(tmp_path):
    looked = shard(tmp_path / "1", {"a": [True]}, looks=Looks(calls=(10, 20)))
    with pytest.raises(UsageError, match=r"'analytics' was judged while it ran.*--stop off"):
        check([looked], whole(looked))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rounds": 7}, "rounds"),
        ({"graders": {"success": "other"}}, "graders"),
        ({"dataset_digest": "other"}, "dataset"),
    ],
)
def test_a_shard_of_something_else_is_refused(tmp_path, change, word):
    first = shard(tmp_path / "1", {"a": [True]})
    second = shard(tmp_path / "2", {"b": [True]}, **change)
    with pytest.raises(UsageError, match=f"'analytics' was run with other {word}"):
        check([first, second], whole(first))


def test_a_suite_that_nobody_knows_is_refused(tmp_path):
    with pytest.raises(UsageError, match="'analytics'"):
        check([shard(tmp_path, {"a": [True]})], {})


def test_the_missing_parts_are_named(tmp_path):
    parts = {n: shard(tmp_path / str(n), {f"c{n}": [True]}, part=(n, 4)) for n in (1, 2, 3, 4)}
    assert absent(parts.values()) == ""
    assert absent([parts[1], parts[3]]) == "shard 2/4, 4/4 is not among the merged sessions"
    assert absent([shard(tmp_path / "x", {"a": [True]})]) == ""
    assert absent([]) == ""
