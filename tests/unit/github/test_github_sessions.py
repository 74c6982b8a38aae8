"""Which stored session a re-run of a commit goes on with, and what is done with its bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.github.api import Api
from gate.github.artifact_list import LISTED
from gate.github.context import Job
from gate.github.sessions import artifact_name, restore
from gate.records.forge import StoredSession
from gate.store.session import CONTROL, load_session
from tests.support.github_server import HEAD, REPOSITORY_ID, Answer, GitHub
from tests.support.session_artifacts import NAME, add_run, files_of_session


def job(**changes: Any) -> Job:
    values = {"head_sha": HEAD, "run_id": "7", "run_attempt": "2", "repository_id": REPOSITORY_ID}
    return Job(mode="pull_request", **{**values, **changes})


def test_the_attempt_before_left_a_session(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 7, files_of_session(tmp_path))
    found = restore(api, job(), tmp_path / "results")
    assert found.folder is not None
    assert found.note == f"continues the stored session {found.folder.name}"
    assert {path.name for path in found.folder.iterdir()} == {"meta.json", "events.jsonl"}
    assert [row["case_id"] for row in load_session(found.folder).rows()] == ["a"]


def test_a_control_that_was_asked_comes_along_whole_or_nothing_does(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    files = files_of_session(tmp_path)
    inner = {
        f"{CONTROL}/{name}": content for name, content in files_of_session(tmp_path, 2).items()
    }
    add_run(github, 7, {**files, **inner})
    found = restore(api, job(), tmp_path / "results")
    assert found.folder is not None
    beside = load_session(found.folder).control()
    assert beside is not None
    assert {path.name for path in beside.folder.iterdir()} == {"meta.json", "events.jsonl"}
    add_run(github, 8, {**files, f"{CONTROL}/meta.json": b"{}"})
    lost = restore(api, job(run_id="8"), tmp_path / "other")
    assert (lost.folder, (tmp_path / "other").exists()) == (None, False)


def test_a_job_with_a_comment_of_its_own_goes_on_with_no_other_jobs_session(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    """Jobs for two models ask the same cases: a half session of one would be ended by the other."""
    add_run(github, 7, files_of_session(tmp_path))
    other = restore(api, job(), tmp_path / "results", "small-model")
    assert other.folder is None
    assert f"{NAME}-small-model" in other.note
    github.artifacts[7][0]["name"] = f"{NAME}-small-model"
    assert restore(api, job(), tmp_path / "results", "small-model").folder is not None
    assert artifact_name(HEAD, "2/8", "x") == f"{NAME}-x-2-of-8"


def test_a_fork_may_go_on_with_its_own_run_only(api: Api, github: GitHub, tmp_path: Path) -> None:
    fork = {"head_repository": {"id": 666}}
    add_run(github, 7, None, **fork)
    add_run(github, 6, files_of_session(tmp_path), **fork)
    assert restore(api, job(), tmp_path / "results").folder is None
    github.runs.clear()
    add_run(github, 7, files_of_session(tmp_path, 2), **fork)
    assert restore(api, job(), tmp_path / "results").folder is not None


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({}, True),
        ({"head_repository": {"id": 666}}, False),
        ({"workflow_id": 6}, False),
        ({"event": "pull_request_target"}, False),
        ({"head_sha": "c" * 40}, False),
    ],
)
def test_another_run_of_the_commit_must_be_of_the_same_kind(
    api: Api, github: GitHub, tmp_path: Path, changes: dict[str, Any], good: bool
) -> None:
    add_run(github, 7, None)
    add_run(github, 6, files_of_session(tmp_path), **changes)
    assert (restore(api, job(run_attempt="1"), tmp_path).folder is not None) is good


def test_of_several_the_newest_run_counts(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 5, files_of_session(tmp_path, 1))
    add_run(github, 6, files_of_session(tmp_path, 2))
    add_run(github, 7, None)
    found = restore(api, job(), tmp_path / "results")
    assert found.folder is not None
    assert found.folder.name == "session-20261119-120002-0123abcd"


def test_a_session_that_is_gone_is_told_where_it_was_expected(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    add_run(github, 7, None)
    assert restore(api, job(), tmp_path).note == (
        f"every trial was run again: there is no artifact `{NAME}`"
    )
    assert restore(api, job(run_attempt="1"), tmp_path).note == ""
    github.runs.clear()
    assert "no artifact" in restore(api, job(), tmp_path).note


def test_an_expired_session_is_gone(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 7, files_of_session(tmp_path))
    github.artifacts[7][0]["expired"] = True
    assert "no artifact" in restore(api, job(), tmp_path).note


def test_nobody_to_ask_is_no_note(tmp_path: Path) -> None:
    assert restore(None, job(), tmp_path).note == ""


def test_a_refusal_of_github_is_told_and_ends_nothing(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    github.faults.append(("actions/artifacts", Answer(403, {"message": "not accessible"})))
    found = restore(api, job(), tmp_path)
    assert found.folder is None
    assert "actions: read" in found.note


def test_a_first_attempt_costs_one_question(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 7, None)
    add_run(github, 6, None)
    assert restore(api, job(run_attempt="1"), tmp_path) == StoredSession()
    (asked,) = github.seen
    assert asked.path.endswith("/actions/artifacts")
    assert asked.query["name"] == NAME


def test_a_re_run_costs_two_questions(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 7, files_of_session(tmp_path))
    assert restore(api, job(), tmp_path / "results").folder is not None
    paths = [seen.path.rpartition("/actions/")[2] for seen in github.seen]
    assert paths == ["artifacts", "artifacts/107/zip", "/blob/107"]


def test_a_list_that_strangers_have_filled_does_not_hide_the_own_one(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    add_run(github, 7, files_of_session(tmp_path))
    (own,) = github.artifacts[7]
    github.artifacts[666] = [{**own, "id": 1000 + n} for n in range(LISTED)]
    assert restore(api, job(), tmp_path / "results").folder is not None


@pytest.mark.parametrize(("shard", "name"), [("", NAME), ("2/8", f"{NAME}-2-of-8")])
def test_names_of_artifacts(shard: str, name: str) -> None:
    assert artifact_name(HEAD, shard) == name


@pytest.mark.parametrize(
    "spoil",
    [
        lambda files: {**files, "../evil": b"x"},
        lambda files: {k: v for k, v in files.items() if k != "meta.json"},
        lambda files: {k: v for k, v in files.items() if k != "events.jsonl"},
        lambda files: {**files, "meta.json": b"[]"},
        lambda files: {**files, "meta.json": b"{"},
        lambda files: {**files, "meta.json": json.dumps({"session_id": "../../x"}).encode()},
    ],
)
def test_a_hostile_artifact_leaves_no_trace(
    api: Api, github: GitHub, tmp_path: Path, spoil: Any
) -> None:
    add_run(github, 7, spoil(files_of_session(tmp_path)))
    out = tmp_path / "deep" / "results"
    found = restore(api, job(run_attempt="1"), out)
    assert found.folder is None
    assert found.note.startswith("every trial was run again: ")
    assert not out.exists()


def test_a_folder_that_is_there_already_is_left_alone(
    api: Api, github: GitHub, tmp_path: Path
) -> None:
    add_run(github, 7, files_of_session(tmp_path))
    (tmp_path / "results" / "session-20261119-120001-0123abcd").mkdir(parents=True)
    found = restore(api, job(), tmp_path / "results")
    assert found.folder is None
    assert "File exists" in found.note
