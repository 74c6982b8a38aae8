"""With which earlier head's session a new head goes on: the same files, of a trusted run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.github.api import Api
from gate.github.context import Job
from gate.github.earlier_heads import LOOKED_AT, earlier_head
from gate.records.forge import StoredSession
from tests.support.github_server import HEAD, REPOSITORY_ID, Answer, GitHub
from tests.support.session_artifacts import TREE, add_run, files_of_session

BEFORE = "c" * 40  # the head before HEAD
OTHER = "8" * 40  # another tree
FORK = {"head_repository": {"id": 666}}


def job(**changes: Any) -> Job:
    values = {"head_sha": HEAD, "run_id": "7", "run_attempt": "1", "repository_id": REPOSITORY_ID}
    values |= {"event": "pull_request", "head_ref": "topic", "pull_request": 3}
    return Job(mode="pull_request", **{**values, **changes})


def look(api: Api | None, tmp_path: Path, *paths: str, **changes: Any) -> StoredSession:
    comment_id = changes.pop("comment_id", "gate")
    return earlier_head(api, job(**changes), tmp_path / "results", comment_id, paths)


def add_earlier(
    github: GitHub, tmp_path: Path, number: int = 6, head: str = BEFORE, **changes: Any
) -> None:
    """A run of an earlier head, with its session."""
    run = {"head_sha": head, "head_commit": {"id": head, "tree_id": TREE}, **changes}
    add_run(github, number, files_of_session(tmp_path, number, commit=head), **run)


@pytest.fixture
def own(github: GitHub) -> GitHub:
    """The run that asks."""
    add_run(github, 7, None, conclusion=None)
    return github


def test_a_head_with_the_same_tree_goes_on(api: Api, own: GitHub, tmp_path: Path) -> None:
    add_earlier(own, tmp_path)
    found = look(api, tmp_path)
    assert found.folder is not None
    assert (found.head, found.note) == (BEFORE, "")
    assert {path.name for path in found.folder.iterdir()} == {"meta.json", "events.jsonl"}


def test_a_head_with_another_tree_does_not(api: Api, own: GitHub, tmp_path: Path) -> None:
    add_earlier(own, tmp_path, head_commit={"id": BEFORE, "tree_id": OTHER})
    assert look(api, tmp_path) == StoredSession()


def test_of_several_the_newest_counts_and_other_trees_between_do_not(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    add_earlier(own, tmp_path, 4, "d" * 40)
    add_earlier(own, tmp_path, 5, "e" * 40)
    add_earlier(own, tmp_path, 6, head_commit={"id": BEFORE, "tree_id": OTHER})
    assert look(api, tmp_path).head == "e" * 40


@pytest.mark.parametrize(
    "changes",
    [
        FORK,
        {"workflow_id": 6},
        {"event": "pull_request_target"},
        {"head_branch": "elsewhere"},
        {"pull_requests": [{"number": 4}]},
        {"head_commit": None},
        {"head_sha": HEAD},
    ],
)
def test_a_run_of_another_kind_is_not_trusted(
    api: Api, own: GitHub, tmp_path: Path, changes: dict[str, Any]
) -> None:
    add_earlier(own, tmp_path, **changes)
    assert look(api, tmp_path) == StoredSession()


def test_github_may_name_no_pull_request(api: Api, own: GitHub, tmp_path: Path) -> None:
    add_earlier(own, tmp_path, pull_requests=[])
    assert look(api, tmp_path).head == BEFORE


def test_a_forks_new_head_begins_anew(api: Api, github: GitHub, tmp_path: Path) -> None:
    add_run(github, 7, None, **FORK)
    add_earlier(github, tmp_path, **FORK)
    assert look(api, tmp_path) == StoredSession()


@pytest.mark.parametrize(
    "changes",
    [{"pull_request": None}, {"run_id": None}, {"head_ref": None}, {"head_sha": "f" * 40}],
)
def test_where_nothing_is_known_nothing_is_gone_on_with(
    api: Api, own: GitHub, tmp_path: Path, changes: dict[str, Any]
) -> None:
    add_earlier(own, tmp_path)
    assert look(api, tmp_path, **changes) == StoredSession()


def test_without_a_token_nobody_is_asked(tmp_path: Path) -> None:
    assert look(None, tmp_path) == StoredSession()


def test_jobs_with_comments_of_their_own_have_sessions_of_their_own(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    add_earlier(own, tmp_path)
    assert look(api, tmp_path, comment_id="small").folder is None
    own.artifacts[6][0]["name"] += "-small"
    assert look(api, tmp_path, comment_id="small").head == BEFORE


def test_a_session_that_is_gone_is_told(api: Api, own: GitHub, tmp_path: Path) -> None:
    add_earlier(own, tmp_path)
    own.artifacts[6][0]["expired"] = True
    found = look(api, tmp_path)
    assert found.folder is None
    assert found.note == (
        "every trial was run again: `ccccccc` has the same files, but its session is gone (no "
        f"artifact `gate-session-{BEFORE}`, or it expired)"
    )


def test_a_cancelled_run_had_no_session_to_lose(api: Api, own: GitHub, tmp_path: Path) -> None:
    add_run(own, 6, None, head_sha=BEFORE, conclusion="cancelled")
    assert look(api, tmp_path) == StoredSession()


def test_an_older_head_stands_in_for_one_that_was_cancelled(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    add_run(own, 6, None, head_sha=BEFORE, conclusion="cancelled")
    add_earlier(own, tmp_path, 5, "d" * 40)
    assert look(api, tmp_path).head == "d" * 40


def test_a_hostile_artifact_leaves_no_trace(api: Api, own: GitHub, tmp_path: Path) -> None:
    files = {**files_of_session(tmp_path), "../evil": b"x"}
    add_run(own, 6, files, head_sha=BEFORE)
    found = look(api, tmp_path)
    assert found.folder is None
    assert found.note.startswith("every trial was run again: ")
    assert not (tmp_path / "results").exists()


def test_a_refusal_of_github_is_told_and_ends_nothing(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    own.faults.append(("actions/runs/7", Answer(403, {"message": "not accessible"})))
    found = look(api, tmp_path)
    assert found.folder is None
    assert found.note.startswith("whether an earlier head had the same files is not known: ")
    assert "actions: read" in found.note


def test_a_first_head_costs_two_questions(api: Api, own: GitHub, tmp_path: Path) -> None:
    assert look(api, tmp_path) == StoredSession()
    paths = [seen.path.rpartition("/actions/")[2] for seen in own.seen]
    assert paths == ["runs/7", "workflows/5/runs"]


# ------------------------------------------------------------------------------ files that count


def entry(path: str, sha: str = "1", kind: str = "blob") -> dict[str, Any]:
    return {"path": path, "mode": "100644", "type": kind, "sha": sha * 40}


def two_trees(github: GitHub, tmp_path: Path, before: list[Any], now: list[Any]) -> None:
    add_earlier(github, tmp_path, head_commit={"id": BEFORE, "tree_id": OTHER})
    github.trees |= {OTHER: before, TREE: now}


FILES = (entry("agent/main.py"), entry("agent/prompts/a.md"), entry("notes/a.md"), entry("x.py"))
FLOW = entry(".github/workflows/gate.yml")


@pytest.mark.parametrize(
    ("paths", "edited", "same"),
    [
        (["agent"], "notes/a.md", True),
        (["agent"], "agent/prompts/a.md", False),
        (["agent/"], "x.py", True),
        (["agent/*.py"], "agent/prompts/a.md", True),
        (["agent/*.py"], "agent/main.py", False),
        (["**/*.md"], "agent/prompts/a.md", False),
        (["**/*.md"], "agent/main.py", True),
        (["**/*.py"], "x.py", False),
        (["?.py"], "agent/main.py", True),
        (["."], "notes/a.md", False),
        (["docs", "x.py"], "agent/main.py", True),
        (["agent"], ".github/workflows/gate.yml", False),
        (["agen"], "notes/a.md", False),
    ],
)
def test_agent_paths_narrow_which_files_count(
    api: Api, own: GitHub, tmp_path: Path, paths: list[str], edited: str, same: bool
) -> None:
    """The workflows count always: one that was changed could have stored any session."""
    before = [*FILES, FLOW]
    now = [{**one, "sha": "2" * 40} if one["path"] == edited else one for one in before]
    two_trees(own, tmp_path, before, now)
    found = look(api, tmp_path, *(path.rstrip("/") for path in paths))
    assert (found.folder is not None) is same


def test_paths_that_fit_no_file_do_not_make_all_commits_one(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    two_trees(own, tmp_path, [*FILES], [*FILES, entry("new.py")])
    found = look(api, tmp_path, "agnet")
    assert found.folder is None
    assert found.note == ("agent.paths: no file of this commit matches `agnet`: every file counts")


@pytest.mark.parametrize("large", [TREE, OTHER])
def test_a_tree_that_github_lists_in_part_is_compared_whole(
    api: Api, own: GitHub, tmp_path: Path, large: str
) -> None:
    two_trees(own, tmp_path, [*FILES], [*FILES])
    own.large.add(large)
    assert look(api, tmp_path, "agent").folder is None


def test_a_folder_is_no_file(api: Api, own: GitHub, tmp_path: Path) -> None:
    before = [entry("agent", "3", "tree"), *FILES]
    two_trees(own, tmp_path, before, [entry("agent", "4", "tree"), *FILES])
    assert look(api, tmp_path, "agent").head == BEFORE


def test_many_runs_of_other_files_do_not_cost_a_question_each(
    api: Api, own: GitHub, tmp_path: Path
) -> None:
    own.trees[TREE] = [*FILES]
    for number in range(8, 8 + 2 * LOOKED_AT):
        tree = f"{number:040x}"
        own.trees[tree] = [entry("agent/main.py", "5")]
        head = {"id": f"{number:040x}", "tree_id": tree}
        add_run(own, number, None, head_sha=head["id"], head_commit=head)
    assert look(api, tmp_path, "agent") == StoredSession()
    assert sum("git/trees" in seen.path for seen in own.seen) == 1 + LOOKED_AT
