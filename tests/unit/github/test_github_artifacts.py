"""Which run's artifact is trusted as the baseline, and what is done with its bytes."""

from __future__ import annotations

import hashlib
import zipfile
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest

from gate.errors import InvalidInput, UsageError
from gate.github.api import Api, ApiError
from gate.github.artifact_list import LISTED
from gate.github.artifacts import fetch
from gate.github.release_anchor import fetch_release_anchor
from gate.github.remote_repository import GitHubForge
from gate.records.forge import Artifact, BaselineRequest
from gate.store.baseline.file import parse
from tests.support.github_server import REPOSITORY, REPOSITORY_ID, Answer, GitHub, description

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BASE = "b" * 40
ZIP = {"Content-Type": "application/zip"}


def zipped(**files: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def request(**changes: Any) -> BaselineRequest:
    values: dict[str, Any] = {
        "suite": "analytics",
        "path": "baselines",
        "branch": "main",
        "base_sha": BASE,
        "artifact": "gate-baseline",
        "workflow": "baseline.yml",
        "max_age_days": 30.0,
        "now": NOW,
    }
    return BaselineRequest(**{**values, **changes})


def add_run(github: GitHub, number: int, **changes: Any) -> dict[str, Any]:
    """A good run with a good artifact whose content names the run."""
    created = (NOW - timedelta(days=number)).isoformat().replace("+00:00", "Z")
    run = {
        "id": number,
        "head_sha": f"{number:040x}",
        "head_branch": "main",
        "event": "push",
        "status": "completed",
        "conclusion": "success",
        "created_at": created,
        "html_url": f"https://example.test/runs/{number}",
        "repository": {"id": REPOSITORY_ID},
        "head_repository": {"id": REPOSITORY_ID},
        **changes,
    }
    content = zipped(**{"analytics.json": f"run {number}".encode()})
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    artifact = {
        "id": 100 + number,
        "name": "gate-baseline",
        "expired": False,
        "created_at": created,
        "digest": digest,
    }
    github.runs.append(run)
    github.artifacts[number] = [artifact]
    github.blobs[100 + number] = Answer(200, content, ZIP)
    return artifact


def got(api: Api, **changes: Any) -> Artifact | None:
    asked = request(**changes)
    found = fetch(api, asked, repository_id=REPOSITORY_ID)
    return found.files(asked) if found else None


def content(found: Artifact | None) -> bytes | None:
    return found.files.get("analytics.json") if found else None


def test_the_base_commits_own_run_wins(api: Api, github: GitHub) -> None:
    add_run(github, 1)
    add_run(github, 2, head_sha=BASE)
    found = got(api)
    assert found is not None
    assert found.files == {"analytics.json": b"run 2"}
    assert (found.commit, found.chosen_by) == (BASE, "the base commit")
    assert found.url == "https://example.test/runs/2"
    assert not any("/commits" in seen.path for seen in github.seen)


def test_then_the_nearest_ancestor(api: Api, github: GitHub) -> None:
    for number in (1, 2, 3):
        add_run(github, number)
    github.commits[BASE] = [BASE, "c" * 40, f"{3:040x}", f"{2:040x}"]
    found = got(api)
    assert found is not None
    assert (content(found), found.chosen_by) == (b"run 3", "2 commits before the base")


@pytest.mark.parametrize("base_sha", [None, BASE])
def test_then_the_newest(api: Api, github: GitHub, base_sha: str | None) -> None:
    add_run(github, 1)
    add_run(github, 2)
    found = got(api, base_sha=base_sha)
    assert found is not None
    assert (content(found), found.chosen_by) == (b"run 1", "the newest run of main")


def test_a_release_takes_its_predecessors_commit_or_an_ancestor_never_the_newest(
    api: Api, github: GitHub
) -> None:
    add_run(github, 1)
    assert got(api, base_name="v1.2.2") is None
    add_run(github, 3)
    github.commits[BASE] = [BASE, "c" * 40, f"{3:040x}"]
    found = got(api, base_name="v1.2.2")
    assert found is not None
    assert (content(found), found.chosen_by) == (b"run 3", "2 commits before v1.2.2")
    add_run(github, 4, head_sha=BASE)
    found = got(api, base_name="v1.2.2")
    assert found is not None
    assert found.chosen_by == "the commit of v1.2.2"


@pytest.mark.parametrize(
    "bad",
    [
        {"head_repository": {"id": 666}},
        {"head_repository": None},
        {"event": "pull_request"},
        {"event": "pull_request_target"},
        {"event": "workflow_run"},
        {"head_branch": "feature"},
    ],
)
def test_an_untrusted_run_is_passed_over(api: Api, github: GitHub, bad: dict[str, Any]) -> None:
    add_run(github, 1, **{"head_sha": BASE, **bad})
    assert got(api) is None
    add_run(github, 2)
    assert content(got(api)) == b"run 2"


@pytest.mark.parametrize("created", ["2026-10-21T11:59:59Z", "not a date", None])
def test_the_list_ends_at_the_first_run_that_is_too_old(
    api: Api, github: GitHub, created: str | None
) -> None:
    add_run(github, 1, created_at=created)
    add_run(github, 2, head_sha=BASE)
    assert got(api) is None
    github.runs[0]["created_at"] = "2026-10-21T12:00:01Z"
    assert content(got(api)) == b"run 2"


@pytest.mark.parametrize("conclusion", ["success", "failure", "cancelled", None])
def test_a_red_run_of_main_is_trusted_as_a_green_one(
    api: Api, github: GitHub, conclusion: str | None
) -> None:
    add_run(github, 1, conclusion=conclusion)
    assert content(got(api)) == b"run 1"


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch"])
def test_trusted_events(api: Api, github: GitHub, event: str) -> None:
    add_run(github, 1, event=event)
    assert content(got(api)) == b"run 1"


def test_expired_and_otherwise_named_artifacts_lead_to_older_runs(api: Api, github: GitHub) -> None:
    add_run(github, 1)["expired"] = True
    add_run(github, 2)["name"] = "gate-baseline-old"
    add_run(github, 3)
    github.faults = [("artifacts/103/zip", Answer(410, {"message": "Artifact has expired"}))]
    add_run(github, 4)
    assert content(got(api)) == b"run 4"


def test_a_re_runs_newer_artifact_wins(api: Api, github: GitHub) -> None:
    first = add_run(github, 1)
    second = zipped(**{"analytics.json": b"second"})
    github.artifacts[1].append({**first, "id": 500, "digest": None})
    github.blobs[500] = Answer(200, second, ZIP)
    assert content(got(api)) == b"second"


def test_what_is_asked(api: Api, github: GitHub) -> None:
    assert got(api, workflow=".github/workflows/base line.yml") is None
    assert got(api, workflow=None) is None
    paths = [seen.path for seen in github.seen]
    assert paths == [
        f"/repos/{REPOSITORY}/actions/workflows/base%20line.yml/runs",
        f"/repos/{REPOSITORY}/actions/runs",
    ]
    query = github.seen[0].query
    assert (query["branch"], "status" in query) == ("main", False)
    assert query["exclude_pull_requests"] == "true"


def test_a_wrong_digest_is_refused(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = "sha256:" + "0" * 64
    with pytest.raises(UsageError, match="differs from what was stored"):
        got(api)


@pytest.mark.parametrize("kind", ["application/json", "application/octet-stream", ""])
def test_a_single_unzipped_file_is_taken_by_its_own_name(
    api: Api, github: GitHub, kind: str
) -> None:
    add_run(github, 1)["digest"] = None
    name = {"Content-Disposition": 'attachment; filename="analytics.json"'}
    github.blobs[101] = Answer(200, b"plain", {"Content-Type": kind, **name})
    assert content(got(api)) == b"plain"
    assert content(got(api, suite="other")) is None
    found = got(api, suite="other")
    assert found is not None
    assert found.files == {}


def test_the_folder_of_the_repository_is_looked_into_too(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = None
    nested = zipped(**{"baselines/analytics.json": b"nested", "readme.md": b""})
    github.blobs[101] = Answer(200, nested, {"Content-Type": "application/octet-stream"})
    assert content(got(api)) == b"nested"


def test_a_baseline_costs_three_questions_however_old_it_is(api: Api, github: GitHub) -> None:
    for number in range(1, 28):
        add_run(github, number)
        github.artifacts[number][0]["name"] = "coverage"  # of some other workflow
    add_run(github, 28)
    assert content(got(api, base_sha=None, workflow=None)) == b"run 28"
    paths = [seen.path.rpartition("/actions/")[2] for seen in github.seen]
    assert paths == ["runs", "artifacts", "artifacts/128/zip", "/blob/128"]


def test_a_list_that_forks_have_filled_does_not_hide_the_baseline(api: Api, github: GitHub) -> None:
    add_run(github, 1)["expired"] = True
    kept = add_run(github, 2)
    github.artifacts[666] = [{**kept, "id": 1000 + n} for n in range(LISTED)]
    assert content(got(api)) == b"run 2"


def test_a_broken_newest_artifact_is_told_and_no_older_one_taken(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = None
    add_run(github, 2)
    github.blobs[101] = Answer(200, zipped(**{"analytics.json": b"x" * 99})[:-30], ZIP)
    with pytest.raises(UsageError, match=r"not a readable zip.*delete the artifact"):
        got(api)


@pytest.mark.parametrize("hostile", [b"[" * 200_000, b'{"a":' * 100_000, b"[]", b"{}", b"\xff"])
def test_what_is_no_baseline_is_refused_where_it_is_read(
    api: Api, github: GitHub, hostile: bytes
) -> None:
    add_run(github, 1)["digest"] = None
    github.blobs[101] = Answer(200, zipped(**{"analytics.json": hostile}), ZIP)
    with pytest.raises(InvalidInput, match="gate-baseline"):
        parse(content(got(api)) or b"", "gate-baseline/analytics.json")


def test_a_hostile_zip_is_refused(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = None
    github.blobs[101] = Answer(200, zipped(**{"../analytics.json": b""}), ZIP)
    with pytest.raises(UsageError, match="artifact 'gate-baseline': refused"):
        got(api)


def test_a_missing_permission_is_named(api: Api, github: GitHub) -> None:
    refused = Answer(403, {"message": "Resource not accessible by integration"})
    github.faults = [("actions/workflows", refused)]
    with pytest.raises(ApiError, match="add `permissions: actions: read`"):
        got(api)


def test_several_suites_download_once(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = None
    both = zipped(**{"analytics.json": b"A", "dialogue.json": b"D"})
    github.blobs[101] = Answer(200, both, ZIP)
    forge = GitHubForge(api, repository_id=REPOSITORY_ID)
    found = [forge.artifact(request(suite=name)) for name in ("analytics", "dialogue", "absent")]
    assert [f and dict(f.files) for f in found] == [
        {"analytics.json": b"A"},
        {"dialogue.json": b"D"},
        {},
    ]
    assert sum("/zip" in seen.path for seen in github.seen) == 1


def test_the_fields_we_read_are_in_githubs_description() -> None:
    schemas = description()["components"]["schemas"]
    run, artifact = schemas["workflow-run"]["properties"], schemas["artifact"]["properties"]
    read = "id head_sha head_branch event conclusion created_at html_url repository head_repository"
    assert set(read.split()) <= run.keys()
    assert {"id", "name", "expired", "created_at", "digest"} <= artifact.keys()
    assert "id" in schemas["minimal-repository"]["properties"]


def test_files_and_folders_of_a_ref(api: Api, github: GitHub) -> None:
    forge = GitHubForge(api, folder="services/bot")
    github.contents["main", "services/bot/baselines/a.json"] = b"A" * 2_000_000
    github.contents["main", "services/bot/baselines/b.json"] = b"B"
    github.contents["main", "services/bot/baselines/old/c.json"] = b"C"
    github.contents["main", ".github/d.yml"] = b"D"
    assert forge.read("baselines/a.json", "main") == b"A" * 2_000_000
    assert forge.read("./baselines/b.json", "main") == b"B"
    assert forge.read("baselines/b.json", "other") is None
    assert forge.read("../../.github/d.yml", "main") == b"D"
    assert forge.read("../../../secret", "main") is None
    assert forge.listing("baselines", "main") == ("a.json", "b.json")
    assert forge.listing("nothing", "main") == ()
    assert GitHubForge(api).read(".github/d.yml", "main") == b"D"
    big = [seen.headers["accept"] for seen in github.seen if seen.path.endswith("a.json")]
    assert big == ["application/vnd.github+json", "application/vnd.github.raw+json"]


def test_a_name_with_signs_and_a_folder_are_no_trouble(api: Api, github: GitHub) -> None:
    github.contents["main", "b/a #%?ä.json"] = b"signs"
    forge = GitHubForge(api)
    assert forge.read("b/a #%?ä.json", "main") == b"signs"
    assert forge.read("b", "main") is None
    assert forge.listing("b/a #%?ä.json", "main") == ()
    assert forge.listing(".", "main") == ()


def test_the_answers_beside_the_baseline_come_with_it(api: Api, github: GitHub) -> None:
    add_run(github, 1)["digest"] = None
    names = ("analytics.json", "analytics.answers.jsonl.gz", "other.answers.jsonl.gz")
    files = zipped(**{f"baselines/{name}": name.encode() for name in names})
    github.blobs[101] = Answer(200, files, {"Content-Type": "application/octet-stream"})
    found = got(api)
    assert found is not None
    assert found.files == {name: name.encode() for name in names[:2]}


# ------------------------------------------------------------------------- what a release measured


def add_release(github: GitHub, number: int, **changes: Any) -> None:
    """A run of a release whose commit main has, with what it measured."""
    sha = str(changes.pop("head_sha", f"{number:040x}"))
    add_run(github, number, head_sha=sha, event="release", head_branch="v1.0.0", **changes)
    github.artifacts[number][0]["name"] = "gate-anchor"
    github.commits.setdefault("main", []).append(sha)


def anchor(api: Api, newer_than: str = "") -> bytes | None:
    found = fetch_release_anchor(api, request(), repository_id=REPOSITORY_ID, newer_than=newer_than)
    return found.files(request()).files["analytics.json"] if found else None


def test_the_newest_release_is_the_anchor(api: Api, github: GitHub) -> None:
    add_release(github, 2)
    add_release(github, 3)  # made a day before
    assert anchor(api) == b"run 3"
    assert anchor(api, newer_than="2026-11-01T00:00:00+00:00") == b"run 3"
    assert anchor(api, newer_than="2026-11-20T00:00:00+00:00") is None


@pytest.mark.parametrize(
    "bad",
    [{"head_repository": {"id": 666}}, {"event": "pull_request"}, {"event": "schedule"}],
)
def test_an_untrusted_release_is_passed_over(api: Api, github: GitHub, bad: dict[str, Any]) -> None:
    add_release(github, 2)
    add_release(github, 3)
    github.runs[1].update(bad)
    assert anchor(api) == b"run 2"


def test_a_release_of_a_commit_that_main_lacks_is_passed_over(api: Api, github: GitHub) -> None:
    add_release(github, 2)
    add_release(github, 3)
    github.commits["main"].remove(f"{3:040x}")
    github.commits["f" * 40] = [f"{3:040x}"]
    assert anchor(api) == b"run 2"
    github.commits["main"].clear()
    assert anchor(api) is None
