from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.records import Looks
from gate.store.session import load_session
from gate.store.shards import check_parts, check_trials, find_parts
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
    check_trials([first, second], whole(first))


def test_a_trial_that_comes_twice_is_refused(tmp_path):
    first = shard(tmp_path / "1", {"a": [True], "b": [False]})
    second = shard(tmp_path / "2", {"b": [True]})
    with pytest.raises(UsageError, match="case 'b' round 1 is in another shard too"):
        check_trials([first, second], whole(first))


def test_a_session_that_was_judged_while_it_ran_is_no_part_of_another(tmp_path):
    looked = shard(tmp_path / "1", {"a": [True]}, looks=Looks(calls=(10, 20)))
    with pytest.raises(UsageError, match=r"'analytics' was judged while it ran.*--stop off"):
        check_trials([looked], whole(looked))


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
        check_trials([first, second], whole(first))


def test_a_suite_that_nobody_knows_is_refused(tmp_path):
    with pytest.raises(UsageError, match="'analytics'"):
        check_trials([shard(tmp_path, {"a": [True]})], {})


def test_the_trials_of_all_shards_are_found(tmp_path):
    first = shard(tmp_path / "1", {"a": [True], "b": [False]})
    second = shard(tmp_path / "2", {"c": [True]})
    found = check_trials([first, second], whole(first))
    assert found == {("analytics", case, 1) for case in "abc"}


def test_a_folder_stands_for_the_sessions_in_it_by_number(tmp_path):
    for n in (2, 1):
        folder = store(tmp_path / "in" / str(3 - n), {f"c{n}": [True]})
        meta = (folder / "meta.json").read_text()
        (folder / "meta.json").write_text(
            meta.replace('"options": {}', f'"options": {{"shard": [{n}, 2]}}')
        )
    alone = store(tmp_path / "alone", {"x": [True]})
    found = find_parts([str(tmp_path / "in"), str(alone)])
    assert [part.meta.options.get("shard") for part in found] == [None, [1, 2], [2, 2]]


def test_suites_may_have_shards_of_their_own(tmp_path):
    parts = [shard(tmp_path / "1", {"a": [True]}, part=(1, 2))]
    other = shard(tmp_path / "2", {"b": [True]}, part=(1, 3))
    (suite,) = other.meta.suites.values()
    parts.append(replace(other, meta=replace(other.meta, suites={"other": suite})))
    check_parts(parts)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"commit": "f" * 40}, "commit"),
        ({"run_id": "8"}, "workflow run"),
        ({"tool_version": "9.9"}, "version of gate"),
        ({"agent_options": "other"}, "agent"),
        ({"config_digest": "other"}, "gate.yml"),
    ],
)
def test_shards_of_different_runs_are_refused(tmp_path, change, what):
    first = shard(tmp_path / "1", {"a": [True]}, part=(1, 2))
    other = shard(tmp_path / "2", {"b": [True]}, part=(2, 2))
    provenance = replace(other.meta.provenance, **change)
    other = replace(other, meta=replace(other.meta, provenance=provenance))
    with pytest.raises(UsageError, match=f"is of another run than .*: its {what} differs; merge"):
        check_parts([first, other])
