"""`gate comment` in a job of GitLab: one note on the merge request, the token told to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.commands import comment
from gate.commands.options.all import parse
from gate.errors import InfrastructureError, UsageError
from tests.support.gitlab_server import HEAD, TOKEN, GitLab, serving
from tests.support.stored_session import store


@pytest.fixture
def gitlab() -> Iterator[GitLab]:
    with serving(GitLab()) as server:
        yield server


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return store(tmp_path, {"a": [True]}, commit=HEAD)


def publish(gitlab: GitLab, session: Path, *more: str, **variables: str) -> int:
    return comment.run(parse(["comment", str(session), *more]), gitlab.variables(**variables))


def mark(job: int, sha: str = HEAD) -> str:
    return f"<!-- agent-gate id=gate sha={sha} run=81.{job} v=1 -->"


def test_a_note_is_made_and_updated_in_place(
    gitlab: GitLab, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish(gitlab, session, "--title", "Support") == 0
    assert publish(gitlab, session, CI_JOB_ID="813") == 0
    (note,) = gitlab.notes
    assert note["body"].startswith(f"{mark(813)}\n## ✅ Pass: no regression in analytics")
    assert "[run and full report](https://gitlab.example/octo/demo/-/jobs/812)" in note["body"]
    said = capsys.readouterr().out.splitlines()
    page = "https://gitlab.example/octo/demo/-/merge_requests/3#note_900"
    assert said == [f"comment created: {page}", f"comment updated: {page}"]
    assert [call[0] for call in gitlab.seen if call[0] != "GET"] == ["POST", "PUT"]


def test_notes_of_others_and_of_gitlab_itself_are_left_alone(gitlab: GitLab, session: Path) -> None:
    theirs = gitlab.add(f"{mark(1)}\nforged", author=8)
    system = gitlab.add(f"{mark(1)}\nassigned", system=True)
    for number in range(150):
        gitlab.add(f"talk {number}", author=8)
    own = gitlab.add(f"{mark(1)}\nold")
    publish(gitlab, session)
    assert own["body"].startswith(mark(812))
    assert "forged" in theirs["body"]
    assert "assigned" in system["body"]
    assert len(gitlab.notes) == 153


def test_a_newer_commit_and_a_later_job_are_not_overwritten(
    gitlab: GitLab, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gitlab.head = "b" * 40
    publish(gitlab, session, CI_COMMIT_SHA=HEAD)
    assert "is now at bbbbbbb, but this run judged aaaaaaa" in capsys.readouterr().out
    gitlab.head = HEAD
    gitlab.add(f"{mark(900)}\nlater")
    publish(gitlab, session)
    assert "run 81.900 of the same commit wrote it already" in capsys.readouterr().out
    (note,) = gitlab.notes
    assert note["body"].endswith("later")


def test_a_merged_result_is_told_of_the_branchs_own_head(gitlab: GitLab, tmp_path: Path) -> None:
    merged = store(tmp_path, {"a": [True]}, commit="c" * 40)
    facts = {"CI_COMMIT_SHA": "c" * 40, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD}
    publish(gitlab, merged, **facts)
    assert gitlab.notes[0]["body"].startswith(mark(812))


def test_what_is_missing_is_named_with_what_to_do(gitlab: GitLab, session: Path) -> None:
    with pytest.raises(UsageError) as caught:
        publish(gitlab, session, CI_MERGE_REQUEST_IID="", GITLAB_TOKEN="")
    first, second = str(caught.value).splitlines()
    assert first.startswith("gate comment: CI_MERGE_REQUEST_IID: is not set; give the job `rules:")
    assert second.startswith("gate comment: GITLAB_TOKEN: is not set; make a project access token")
    with pytest.raises(UsageError, match="measured aaaaaaaaaaaa, but this event is for dddd"):
        publish(gitlab, session, CI_COMMIT_SHA="d" * 40)
    assert gitlab.seen == []


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        ((403, {"message": "403 Forbidden"}), "GITLAB_TOKEN needs the scope `api`"),
        ((403, {"error": "insufficient_scope"}), "insufficient_scope; GITLAB_TOKEN needs"),
        ((400, {"message": f"bad {TOKEN}"}), r"GitLab answered 400 .*: bad \*\*\*"),
    ],
)
def test_a_refusal_says_what_to_change(
    gitlab: GitLab, session: Path, refused: tuple[int, object], why: str
) -> None:
    gitlab.refuse = refused
    with pytest.raises(InfrastructureError, match=why):
        publish(gitlab, session)


def test_a_wrong_token_is_told_apart(gitlab: GitLab, session: Path) -> None:
    with pytest.raises(InfrastructureError, match="GITLAB_TOKEN is wrong or has expired") as caught:
        publish(gitlab, session, GITLAB_TOKEN="glpat-other")
    assert "glpat-other" not in str(caught.value)
