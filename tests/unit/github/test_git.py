"""Reading a repository through git: refs, files, merge base; no name is ever an option."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.errors import InfrastructureError, UsageError
from gate.github.git import GitForge, NoBase, NoGit, open_repository
from gate.records.forge import Artifact, BaselineRequest
from tests.support.git_repository import commit_files, git, open_forge


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """main with two commits, `topic` left after the first one and is checked out."""
    folder = tmp_path / "work tree"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit_files(folder, "one", baselines__a_json="first", services__bot__b_json="bot")
    git(folder, "branch", "topic")
    commit_files(folder, "two", baselines__a_json="second")
    git(folder, "checkout", "-q", "topic")
    commit_files(folder, "three", baselines__a_json="forged", baselines__ä_json="umlaut")
    return folder


def test_links_in_a_commit_are_followed_and_never_read_as_text(work: Path) -> None:
    links = {"l.json": "baselines/a.json", "out": "../x", "gone": "nowhere", "loop": "loop"}
    for name, target in links.items():
        (work / name).symlink_to(target)
    (work / "folder").symlink_to("baselines")
    commit_files(work, "links", x_json="x\ny\n")
    forge = open_forge(work)
    assert forge.read("l.json", "topic") == forge.read("folder/a.json", "topic") == b"forged"
    assert forge.read("x.json", "topic") == b"x\ny\n"
    for name, said in {"out": "outside the rep", "gone": "broken", "loop": "a loop"}.items():
        with pytest.raises(UsageError, match=rf"{name} at [0-9a-f]{{7}}: .*{said}"):
            forge.read(name, "topic")
    assert forge.read("folder", "topic") is None
    assert forge.read("a\nb", "topic") is None


def test_a_file_as_another_ref_has_it(work: Path) -> None:
    forge = open_forge(work)
    assert forge.read("baselines/a.json", "main") == b"second"
    assert forge.read("./baselines/a.json", "topic") == b"forged"
    assert forge.read("baselines/a.json", git(work, "rev-parse", "main~1")) == b"first"
    assert forge.read("baselines/none.json", "main") is None
    assert forge.read("baselines/a.json", "no-such-branch") is None
    assert forge.read("baselines", "main") is None


def test_a_file_that_git_lost_is_not_one_that_the_ref_lacks(work: Path) -> None:
    """Nobody may be judged by rules of their own because an object is missing."""
    blob = git(work, "rev-parse", "main:services/bot/b.json")
    (work / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for root, path in ((work, "./services/bot/b.json"), (work / "services" / "bot", "b.json")):
        with pytest.raises(InfrastructureError, match=r"git has .*b\.json at .* cannot read it"):
            open_forge(root).read(path, "main")


def test_a_repository_inside_the_checkout_does_not_stand_in_for_the_checkouts(work: Path) -> None:
    """A change may add a folder's HEAD, objects, refs and config: a bare repository of its own."""
    forged = work.parent / "forged"
    forged.mkdir()
    git(forged, "init", "-q", "-b", "main")
    commit_files(forged, "easy", services__bot__b_json="easy", b_json="easy")
    git(work.parent, "clone", "-q", "--bare", str(forged), str(work / "services" / "bot" / "x"))
    bot = work / "services" / "bot"
    for path in (bot / "x").iterdir():
        path.rename(bot / path.name)
    forge = open_forge(bot)
    assert forge.read("b.json", "main") == b"bot"
    assert forge.head() == git(work, "rev-parse", "HEAD")


def test_a_second_work_tree_has_its_repository_elsewhere(work: Path) -> None:
    second = work.parent / "second"
    git(work, "worktree", "add", "-q", str(second), "main")
    forge = open_forge(second / "services" / "bot")
    assert forge.head() == git(work, "rev-parse", "main")
    assert forge.read("../../baselines/a.json", "topic") == b"forged"


def test_paths_are_relative_to_the_folder_of_the_config(work: Path) -> None:
    forge = open_forge(work / "services" / "bot")
    assert forge.read("b.json", "main") == b"bot"
    assert forge.read("../../baselines/a.json", "main") == b"second"
    assert forge.read("../../../x", "main") is None


def test_a_listing(work: Path) -> None:
    forge = open_forge(work)
    assert forge.listing("baselines", "topic") == ("a.json", "ä.json")
    assert forge.listing("baselines/", "main") == ("a.json",)
    assert forge.listing("services", "main") == ()
    assert forge.listing("none", "main") == ()


def test_origins_branch_before_the_own_one(work: Path) -> None:
    git(work, "update-ref", "refs/remotes/origin/main", "main~1")
    forge = open_forge(work)
    assert forge.read("baselines/a.json", "main") == b"first"
    base = git(work, "rev-parse", "main~1")
    assert forge.base("main") == base


def test_the_base_is_where_the_work_left_the_branch(work: Path) -> None:
    base = git(work, "rev-parse", "main~1")
    assert open_forge(work).base("main") == base
    git(work, "checkout", "-q", "--orphan", "other")
    commit_files(work, "unrelated", x_json="x")
    told = open_forge(work).base("main")
    assert told == NoBase(reason="HEAD and main have no commit in common; is it the right branch?")


@pytest.mark.parametrize(
    "ref", ["", "-", "--output=stolen", "-h", "main:baselines/a.json", "@{-1}x"]
)
def test_a_ref_is_never_an_option(work: Path, ref: str) -> None:
    assert open_forge(work).read("baselines/a.json", ref) is None
    assert isinstance(open_forge(work).base(ref), NoBase)
    assert not (work / "stolen").exists()


def why_not(forge: GitForge, branch: str) -> str:
    found = forge.base(branch)
    assert isinstance(found, NoBase), found
    return found.reason


@pytest.fixture
def clone(work: Path, tmp_path: Path) -> Callable[..., Path]:
    """Clones `work`, which has `main` and `topic`, over a transport that can be shallow."""
    git(work, "checkout", "-q", "main")

    def clone(*options: str) -> Path:
        target = tmp_path / "clone"
        git(tmp_path, "clone", "-q", *options, f"file://{work}", str(target))
        return target

    return clone


def test_a_branch_that_is_nowhere_and_one_that_was_not_fetched_are_told_apart(
    clone: Callable[..., Path], work: Path
) -> None:
    forge = open_forge(clone("--single-branch", "--branch", "topic"))
    assert why_not(forge, "main") == (
        "main is on origin and was not fetched into this clone; run `git fetch origin main:main`"
    )
    assert why_not(forge, "trunk") == (
        "there is no branch trunk here or on origin; set `baseline.branch` in "
        "gate.yml to the base branch"
    )
    git(forge.root, "fetch", "-q", "origin", "main:main")
    assert forge.base("main") == git(work, "merge-base", "main", "topic")
    shutil.move(work, work.with_name("elsewhere"))
    assert why_not(forge, "trunk") == (
        "trunk is not in this clone, and `git ls-remote origin` cannot tell whether origin has it; "
        "if so, run `git fetch origin trunk:trunk`"
    )


def test_a_branch_without_a_remote_and_a_repository_without_commits_are_told(
    work: Path, tmp_path: Path
) -> None:
    assert why_not(open_forge(work), "trunk") == (
        "there is no branch trunk here; set `baseline.branch` in gate.yml to the base branch"
    )
    git(tmp_path, "init", "-q", "new")
    assert why_not(open_forge(tmp_path / "new"), "main").startswith(
        "this repository has no commits"
    )


def test_a_shallow_clone_says_how_to_get_the_rest(clone: Callable[..., Path]) -> None:
    folder = clone("--depth", "1", "--branch", "topic")
    forge = open_forge(folder)
    assert "`git fetch --unshallow origin main:main`" in why_not(forge, "main")
    git(folder, "fetch", "-q", "--depth", "1", "origin", "main:main")
    assert why_not(forge, "main") == (
        "this clone is shallow and lacks the commit where HEAD branched off main; run `git fetch "
        "--unshallow origin` (actions/checkout: `fetch-depth: 0`)"
    )
    git(folder, "fetch", "-q", "--unshallow", "origin")
    assert isinstance(forge.base("main"), str)


@pytest.mark.parametrize("options", [(), ("--single-branch", "--branch", "topic")])
def test_the_default_branch_of_a_clone_is_the_remotes(
    clone: Callable[..., Path], work: Path, options: tuple[str, ...]
) -> None:
    git(work, "branch", "-m", "main", "trunk")
    assert open_forge(clone(*options)).default_branch() == "trunk"


def test_the_default_branch_without_a_remote(tmp_path: Path) -> None:
    """`init.defaultBranch` says what the next repository is to have, not what this one has."""
    git(tmp_path, "init", "-q", "-b", "trunk")
    git(tmp_path, "config", "init.defaultBranch", "other")
    forge = open_forge(tmp_path)
    assert forge.default_branch() == "trunk"
    commit_files(tmp_path, "first", a_json="a")
    assert forge.default_branch() == "trunk"
    git(tmp_path, "branch", "master")
    assert forge.default_branch() == "master"
    git(tmp_path, "branch", "main")
    assert forge.default_branch() == "main"
    git(tmp_path, "checkout", "-q", "--detach")
    git(tmp_path, "branch", "-q", "-D", "main", "master")
    assert forge.default_branch() == "trunk"
    git(tmp_path, "branch", "-q", "-D", "trunk")
    assert forge.default_branch() == "main"


@pytest.mark.parametrize("name", ["trunk", "develop", "production"])
def test_a_branch_with_work_is_not_taken_for_the_default_branch(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "-q", "-b", name)
    commit_files(tmp_path, "first", a_json="a")
    git(tmp_path, "checkout", "-q", "-b", "feature")
    forge = open_forge(tmp_path)
    assert forge.default_branch() == name
    commit_files(tmp_path, "second", a_json="b")
    assert forge.default_branch() == name
    git(tmp_path, "checkout", "-q", name)
    assert forge.default_branch() == name, "feature goes on from it"


def test_of_several_branches_that_which_new_repositories_begin_with_is_the_default(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q", "-b", "production")
    commit_files(tmp_path, "first", a_json="a")
    git(tmp_path, "branch", "one")
    git(tmp_path, "checkout", "-q", "-b", "feature")
    assert open_forge(tmp_path).default_branch() == "feature", "nothing tells"
    git(tmp_path, "config", "init.defaultBranch", "production")
    assert open_forge(tmp_path).default_branch() == "production"


def test_what_is_not_as_the_commit_has_it(work: Path, tmp_path: Path) -> None:
    sha = git(work, "rev-parse", "HEAD")
    forge = open_forge(work / "baselines")
    (work / "baselines" / "a.json").write_text("edited")
    (work / "baselines" / "new*.json").write_text("new")
    (work / "outside.json").write_text("new")
    named = (
        "a.json",
        "ä.json",
        "new*.json",
        "none.json",
        "../outside.json",
        "../baselines",
        "/etc",
    )
    assert forge.list_changed(named, sha) == (
        "a.json",
        "new*.json",
        "../outside.json",
        "../baselines",
    )
    assert forge.list_changed(("/etc",), sha) == ()


def test_head_and_identity(work: Path) -> None:
    forge = open_forge(work)
    assert forge.head() == git(work, "rev-parse", "HEAD")
    subprocess.run(["git", "config", "user.name", "Ana"], cwd=work, check=True)
    subprocess.run(["git", "config", "user.email", "ana@example.test"], cwd=work, check=True)
    assert forge.identity() == "Ana <ana@example.test>"


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    forge = open_forge(tmp_path)
    assert forge.head() is None
    assert forge.read("x", "main") is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    has_artifacts: bool = True

    def read(self, path: str, ref: str) -> bytes | None:
        return f"{path} at {ref} from afar".encode()

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        return ("afar.json",)

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        return Artifact(files={}, commit="c", created_at="t", url="u", chosen_by="r")


def test_what_a_shallow_clone_lacks_is_asked_of_the_host(work: Path) -> None:
    forge = open_repository(work, remote=Remote())
    assert isinstance(forge, GitForge)
    assert forge.read("a.json", "main") is None
    assert forge.read("a.json", "f" * 40) == f"a.json at {'f' * 40} from afar".encode()
    assert forge.listing("x", "f" * 40) == ("afar.json",)
    assert forge.artifact(None) is not None  # type: ignore[arg-type]
    assert open_forge(work).artifact(None) is None  # type: ignore[arg-type]


def test_no_repository_and_no_git_are_told(work: Path, tmp_path: Path) -> None:
    nowhere = open_repository(tmp_path)
    assert isinstance(nowhere, NoGit)
    assert "not in a git repository" in nowhere.reason
    missing = open_repository(work, program=str(tmp_path / "no-git"))
    assert missing == NoGit(reason="git is not installed")
    (tmp_path / "bad" / ".git").mkdir(parents=True)
    bad = open_repository(tmp_path / "bad")
    assert isinstance(bad, NoGit)
    assert "git cannot read" in bad.reason


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_a_checkout_of_another_user_is_read(work: Path) -> None:
    for path in (work, *work.rglob("*")):
        os.chown(path, 1001, 1001)
    plain = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=work, capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": str(work.parent)},
    )  # fmt: skip
    assert "dubious ownership" in plain.stderr
    assert open_forge(work).read("baselines/a.json", "main") == b"second"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_a_git_that_hangs_ends(work: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow-git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(InfrastructureError, match="did not finish within"):
        open_repository(work, program=str(slow), timeout_s=0.2)
