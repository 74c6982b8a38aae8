"""Baseline sources: where each looks, what it says when there is nothing, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.plugins import BASELINES
from gate.records.forge import Artifact, BaselineRequest, FoundBaseline
from gate.store.baseline.file import parse, render
from gate.store.baseline.source_order import ORDER, find_baseline, source_names
from gate.store.baseline.sources.file import session_baseline
from gate.store.session import load_session
from tests.support.stored_session import store

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BASE = "b" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """`files`: (ref, path) -> bytes."""

    files: Mapping[tuple[str, str], bytes] = field(default_factory=dict)
    stored: Artifact | None = None
    has_artifacts: bool = True

    def read(self, path: str, ref: str) -> bytes | None:
        return self.files.get((ref, path))

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        return ()

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        return self.stored


@dataclass
class Asked:
    """A request and what was told to it."""

    told: list[str] = field(default_factory=list)

    def request(self, **changes: object) -> BaselineRequest:
        plain = BaselineRequest(
            suite="analytics",
            path="baselines",
            branch="main",
            base_sha=BASE,
            artifact="gate-baseline",
            workflow=None,
            max_age_days=30,
            now=NOW,
            explain=self.told.append,
        )
        return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.fixture
def text(tmp_path: Path) -> bytes:
    """A baseline measured a day ago."""
    folder = store(tmp_path / "made", {"a": [True, False]})
    return render(session_baseline(load_session(folder), "analytics")).encode()


def artifact(created_at: str, **files: bytes) -> Artifact:
    named = {name.replace("_", "."): content for name, content in files.items()}
    return Artifact(files=named, commit="c" * 40, created_at=created_at, url="u", chosen_by="r")


def find(
    source: str, asked: Asked, host: Host | None, root: Path, **changes: object
) -> FoundBaseline | None:
    return find_baseline(source, asked.request(**changes), host, root)


def test_names_and_order() -> None:
    assert set(BASELINES) == {"repo", "artifact", "file", "none"}
    assert ORDER == ("repo", "artifact")
    assert source_names("auto") == ORDER
    assert source_names("repo") == ("repo",)
    assert source_names("some/path.json") == ("file",)


def test_repo_reads_the_base_commit_never_the_working_tree(text: bytes, tmp_path: Path) -> None:
    forged = tmp_path / "baselines" / "analytics.json"
    forged.parent.mkdir()
    forged.write_bytes(b"forged")
    found = find("repo", Asked(), Host(files={(BASE, "baselines/analytics.json"): text}), tmp_path)
    assert found == FoundBaseline(
        text=text,
        source="repo",
        detail="baselines/analytics.json at bbbbbbb",
        file="baselines/analytics.json",
    )
    asked = Asked()
    assert find("repo", asked, Host(), tmp_path) is None
    assert asked.told == ["repo: no baselines/analytics.json at bbbbbbb yet: commit it to main"]


def test_repo_without_a_repository_is_the_working_tree_and_only_on_a_laptop(
    text: bytes, tmp_path: Path
) -> None:
    asked = Asked()
    assert find("repo", asked, None, tmp_path, no_branch=True) is None
    own = tmp_path / "baselines" / "analytics.json"
    own.parent.mkdir()
    own.write_bytes(text)
    found = find("repo", asked, None, tmp_path, no_branch=True)
    assert found is not None
    assert found.detail == "baselines/analytics.json in the working tree"
    assert found.text == text
    assert find("repo", asked, None, tmp_path) is None, "a job must not read its own baseline"
    assert asked.told == [
        "this folder is no git repository, and has no baselines/analytics.json",
        "repo: neither git nor GitHub's API is available here",
    ]
    assert find("repo", Asked(), Host(), tmp_path, no_branch=True) is None


def test_repo_without_a_base_commit_reads_the_branch(text: bytes, tmp_path: Path) -> None:
    host = Host(files={("main", "b/analytics.json"): text})
    found = find("repo", Asked(), host, tmp_path, base_sha=None, path="b/")
    assert found is not None
    assert found.detail == "b/analytics.json at main"


def test_repo_at_a_release_names_the_tag_and_does_not_ask_for_a_commit(
    text: bytes, tmp_path: Path
) -> None:
    host = Host(files={(BASE, "baselines/analytics.json"): text})
    found = find("repo", Asked(), host, tmp_path, base_name="v1.2.2")
    assert found is not None
    assert found.detail == "baselines/analytics.json at v1.2.2"
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "analytics.json").write_bytes(text)
    asked = Asked()
    assert find("repo", asked, Host(), tmp_path, base_name="v1.2.2") is None
    assert asked.told == ["repo: no baselines/analytics.json at v1.2.2"]
    assert find("artifact", asked, Host(), tmp_path, base_name="v1.2.2") is None
    assert "no trusted run of main at v1.2.2 or before it within 30 days" in asked.told[1]


def test_repo_uses_an_old_file_with_a_warning(text: bytes, tmp_path: Path) -> None:
    host = Host(files={(BASE, "baselines/analytics.json"): text})
    found = find("repo", Asked(), host, tmp_path, max_age_days=0.5)
    assert found is not None
    assert found.notes == (
        "the baseline is older than max_age_days 0.5: its newest run was measured 23 hours ago",
    )
    undated = text.replace(b"2026-11-19T12:00:01Z", b"yesterday")
    host = Host(files={(BASE, "baselines/analytics.json"): undated})
    found = find("repo", Asked(), host, tmp_path)
    assert found is not None
    assert "does not say when" in found.notes[0]


def test_repo_refuses_a_foreign_file(tmp_path: Path) -> None:
    host = Host(files={(BASE, "baselines/analytics.json"): b"[]"})
    with pytest.raises(InvalidInput, match="analytics"):
        find("repo", Asked(), host, tmp_path)


def test_git_alone_cannot_say_that_there_is_no_artifact(tmp_path: Path) -> None:
    asked = Asked()
    assert find("artifact", asked, Host(has_artifacts=False), tmp_path) is None
    assert asked.told == ["artifact: GitHub's API is not available here"]


def test_artifact(text: bytes, tmp_path: Path) -> None:
    host = Host(stored=artifact("2026-11-19T00:00:00Z", analytics_json=text))
    found = find("artifact", Asked(), host, tmp_path)
    assert found == FoundBaseline(
        text=text, source="artifact", detail="u (r)", file="gate-baseline/analytics.json"
    )


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (None, "no trusted run of main within 30 days has it"),
        (artifact("2026-10-01T00:00:00Z", analytics_json=b"x"), "is 50.5 days old, more than 30"),
        (artifact("whenever", analytics_json=b"x"), "is of unknown age"),
        (artifact("2026-11-19T00:00:00", analytics_json=b"x"), "is of unknown age"),
        (artifact("2026-11-19T00:00:00Z", other_json=b"x"), "of u has no analytics.json"),
    ],
)
def test_an_artifact_that_is_not_used_is_told(
    stored: Artifact | None, reason: str, tmp_path: Path
) -> None:
    asked = Asked()
    assert find("artifact", asked, Host(stored=stored), tmp_path) is None
    assert reason in asked.told[0]


def test_auto_asks_the_repository_first(text: bytes, tmp_path: Path) -> None:
    stored = artifact("2026-11-19T00:00:00Z", analytics_json=b"stored")
    both = Host(files={(BASE, "baselines/analytics.json"): text}, stored=stored)
    first = find("auto", Asked(), both, tmp_path)
    second = find("auto", Asked(), Host(stored=stored), tmp_path)
    asked = Asked()
    assert find("auto", asked, Host(), tmp_path) is None
    assert first is not None
    assert second is not None
    assert (first.source, second.source) == ("repo", "artifact")
    assert [reason.split(":")[0] for reason in asked.told] == ["repo", "artifact"]


@pytest.mark.parametrize("source", ["repo", "artifact"])
def test_without_a_host_nothing_is_found(source: str, tmp_path: Path) -> None:
    asked = Asked()
    assert find(source, asked, None, tmp_path) is None
    assert asked.told[0].startswith(f"{source}: ")


def test_none(text: bytes, tmp_path: Path) -> None:
    asked = Asked()
    host = Host(files={(BASE, "baselines/analytics.json"): text})
    assert find("none", asked, host, tmp_path) is None
    assert asked.told == ["baseline is set to none"]


def test_a_path_of_a_file_or_a_folder(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "analytics.json"
    file.parent.mkdir()
    file.write_bytes(text)
    for path in ("kept", "kept/analytics.json", str(file)):
        found = find(path, Asked(), None, tmp_path, path=path)
        assert found is not None
        assert (found.text, found.source, found.file) == (text, "file", str(file))
    asked = Asked()
    assert find("kept", asked, None, tmp_path, path="kept", suite="other") is None
    assert "other.json" in asked.told[0]
    with pytest.raises(UsageError, match=r"--baseline .*gone\.json: "):
        find("gone.json", Asked(), None, tmp_path, path="gone.json")


def test_a_session_becomes_the_file_that_save_would_write(tmp_path: Path) -> None:
    folder = store(tmp_path, {"a": [True, False], "b": [True, True]})
    found = find(folder.name, Asked(), None, tmp_path, path=folder.name)
    assert found is not None
    assert (found.source, found.detail) == ("session", folder.name)
    stored = parse(found.text, found.file)
    assert stored.table.column("success").tolist() == [[1, 0], [1, 1]]
    assert stored.runs[0].means == {"agent.success_rate": 0.75}
    assert stored.runs[0].fingerprint == {"agent": "openai m", "dataset": "dd"}
    asked = Asked()
    assert find(folder.name, asked, None, tmp_path, path=folder.name, suite="other") is None
    assert "did not run 'other'" in asked.told[0]
