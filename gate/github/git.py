"""The repository on this machine, read by the git program: base branch, files at a commit, me.

Nothing is ever written, no shell is used, and names that come from gate.yml can be no options.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.records.forge import Artifact, BaselineRequest, Forge
from gate.text.late_pattern import late_pattern

TIMEOUT_S = 60.0
_LINKS = {  # what git says of a link that cannot be followed inside the commit
    b"dangling": "a link that leads nowhere",
    b"loop": "a loop of links",
    b"symlink": "a link that leads out of the repository",
}
_SHA = late_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1 or SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGit:
    """Why nothing can be read through git here."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit to compare with, and how it was found."""

    sha: str
    found_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GitForge:
    """A work tree as a Forge. Paths are relative to `root`, the folder of gate.yml.

    What git does not have (a shallow clone, artifacts) is asked of `remote`.
    """

    root: Path
    top: Path  # of the work tree
    program: str = "git"
    timeout_s: float = TIMEOUT_S
    remote: Forge | None = None

    def read(self, path: str, ref: str) -> bytes | None:
        sha = self.resolve(ref)
        if sha is None:
            return self.remote.read(path, ref) if self.remote else None
        if "\n" in path or "\0" in path:
            return None
        asked = f"{sha}:./{_slashes(path)}\n".encode("utf-8", "surrogateescape")
        found = self._output("cat-file", "--batch", "--follow-symlinks", asked=asked) or b""
        head, _, rest = found.partition(b"\n")
        kind = head.split(b" ")
        if kind[0] in _LINKS:
            raise UsageError(f"{path} at {sha[:7]}: {_LINKS[kind[0]]}; commit the file itself")
        if kind[-2:-1] == [b"blob"]:
            return rest[: int(kind[-1])]
        if (self._output("ls-tree", sha, "--", path) or b"").startswith(b"100"):
            raise InfrastructureError(
                f"git has {path} at {sha[:7]} and cannot read it; fetch the whole history "
                "(`fetch-depth: 0`, no `filter`), or run `git fsck`"
            )
        return None

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        sha = self.resolve(ref)
        if sha is None:
            return self.remote.listing(folder, ref) if self.remote else ()
        found = self._output("ls-tree", "-z", f"{sha}:./{_slashes(folder)}") or b""
        entries = (entry.partition(b"\t") for entry in found.split(b"\0") if entry)
        return tuple(sorted(name.decode() for kind, _, name in entries if b" blob " in kind))

    @property
    def has_artifacts(self) -> bool:
        return self.remote is not None and self.remote.has_artifacts

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        return self.remote.artifact(request) if self.remote else None

    def resolve(self, ref: str) -> str | None:
        """The commit that a sha, branch or tag names; origin's branch before the own one."""
        if not ref or ref.startswith("-"):
            return None
        spellings = [ref] if _SHA.fullmatch(ref) else [f"refs/remotes/origin/{ref}", ref]
        for spelling in spellings:
            sha = self._line("rev-parse", "--verify", "--quiet", f"{spelling}^{{commit}}")
            if sha and _SHA.fullmatch(sha):
                return sha
        return None

    def head(self) -> str | None:
        """The commit checked out; None before the first one."""
        return self.resolve("HEAD")

    def identity(self) -> str | None:
        """Name and address as git config has them."""
        name, address = (self._line("config", f"user.{key}") for key in ("name", "email"))
        return f"{name} <{address}>" if name and address else name or address

    def base(self, branch: str) -> Base | None:
        """Where the work on HEAD left the branch (docs/semantics.md 6); None: no such branch or
        history.
        """
        for spelling in (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"):
            tip = self._line("rev-parse", "--verify", "--quiet", f"{spelling}^{{commit}}")
            sha = self._line("merge-base", "HEAD", tip) if tip and _SHA.fullmatch(tip) else None
            if sha:
                short = spelling.removeprefix("refs/remotes/").removeprefix("refs/heads/")
                return Base(sha=sha, found_by=f"merge base with {short}")
        return None

    def _line(self, *arguments: str) -> str | None:
        found = self._output(*arguments)
        return found.decode("utf-8", "replace").strip() if found is not None else None

    def _output(self, *arguments: str, asked: bytes = b"") -> bytes | None:
        done = _git(
            self.program, self.root, self.top, arguments, timeout_s=self.timeout_s, asked=asked
        )
        return done.stdout if done.returncode == 0 else None


def open_repository(
    root: Path,
    *,
    program: str = "git",
    timeout_s: float = TIMEOUT_S,
    remote: Forge | None = None,
) -> GitForge | NoGit:
    """The work tree that holds `root`, or why there is none. Raises InfrastructureError on a git
    that hangs.
    """
    whole = root.resolve()
    top = next((folder for folder in (whole, *whole.parents) if (folder / ".git").exists()), None)
    if top is None:
        return NoGit(reason=f"{root} is not in a git repository")
    try:
        arguments = ("rev-parse", "--is-inside-work-tree")
        done = _git(program, whole, top, arguments, timeout_s=timeout_s)
    except OSError:
        return NoGit(reason="git is not installed")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return NoGit(reason=f"git cannot read {top}: {said[0] if said else 'no reason given'}")
    return GitForge(root=whole, top=top, program=program, timeout_s=timeout_s, remote=remote)


def base_ref(root: Path, branch: str, *, program: str = "git") -> str | None:
    """The sha of docs/semantics.md 6 for a laptop; None when there is no git or no such branch."""
    opened = open_repository(root, program=program)
    base = opened.base(branch) if isinstance(opened, GitForge) else None
    return base.sha if base else None


def _git(
    program: str,
    folder: Path,
    top: Path,
    arguments: tuple[str, ...],
    *,
    timeout_s: float,
    asked: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    # Named, not looked for from the folder upwards: a change may bring a bare repository of its
    # own, to forge the base branch with. safe.directory: a job in a container is root, the checkout
    # is not; only this tree is trusted.
    tree = ("--git-dir", str(top / ".git"), "--work-tree", str(top))
    command = [program, "-c", f"safe.directory={top.as_posix()}", *tree, *arguments]
    try:
        return subprocess.run(  # noqa: S603 - no shell, and the arguments are ours
            command,
            cwd=folder,
            input=asked,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(
            f"git {arguments[0]} did not finish within {timeout_s:g} s in {folder}; run it by hand"
        ) from error


def _slashes(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./").rstrip("/")
