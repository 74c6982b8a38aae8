"""The repository on this machine, read by the git program: base branch, files at a commit, me.

Nothing is ever written, no shell is used, and names that come from gate.yml can be no options.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.records.forge import Artifact, BaselineRequest, Forge
from gate.text.late_pattern import late_pattern

TIMEOUT_S = 60.0
REMOTE = "origin"
REMOTE_TIMEOUT_S = 10.0
_USUAL_BRANCHES = ("main", "master", "trunk", "develop")
_ASKING_NOBODY = ("-c", "core.askPass=true", "-c", "credential.interactive=false")
_LINKS = {  # what git says of a link that cannot be followed inside the commit
    b"dangling": "a broken symbolic link",
    b"loop": "a loop of links",
    b"symlink": "a symbolic link that points outside the repository",
}
_SHA = late_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1 or SHA-256


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGit:
    """Why nothing can be read through git here."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBase:
    """Why no commit of the branch is known here to compare with, and the way on."""

    reason: str


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
        query = f"{sha}:./{_slashes(path)}\n".encode("utf-8", "surrogateescape")
        output = self._output("cat-file", "--batch", "--follow-symlinks", stdin=query) or b""
        head, _, rest = output.partition(b"\n")
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
        output = self._output("ls-tree", "-z", f"{sha}:./{_slashes(folder)}") or b""
        entries = (entry.partition(b"\t") for entry in output.split(b"\0") if entry)
        return tuple(sorted(name.decode() for kind, _, name in entries if b" blob " in kind))

    @property
    def has_artifacts(self) -> bool:
        return self.remote is not None and self.remote.has_artifacts

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        return self.remote.artifact(request) if self.remote else None

    def release_anchor(self, request: BaselineRequest, newer_than: str) -> Artifact | None:
        return self.remote.release_anchor(request, newer_than) if self.remote else None

    def resolve(self, ref: str) -> str | None:
        """The commit that a sha, branch or tag names; origin's branch before the own one."""
        if not ref or ref.startswith("-"):
            return None
        here = ref == "HEAD" or _SHA.fullmatch(ref)  # origin has a HEAD of its own
        spellings = [ref] if here else [f"refs/remotes/{REMOTE}/{ref}", ref]
        return next(filter(None, map(self._commit, spellings)), None)

    def head(self) -> str | None:
        """The commit checked out; None before the first one."""
        return self._commit("HEAD")

    def identity(self) -> str | None:
        """Name and address as git config has them."""
        name, address = (self._line("config", f"user.{key}") for key in ("name", "email"))
        return f"{name} <{address}>" if name and address else name or address

    def base(self, branch: str) -> str | NoBase:
        """The commit where the work on HEAD left the branch, or another ref (docs/semantics.md 6).
        Only where that is not known here, its remote is asked why.
        """
        tips = []
        for spelling in (f"refs/remotes/{REMOTE}/{branch}", f"refs/heads/{branch}", branch):
            tip = self._commit(spelling)
            sha = self._line("merge-base", "HEAD", tip) if tip else None
            if sha:
                return sha
            tips += [tip] if tip else []
        return NoBase(reason=self._apart(branch) if tips else self._absent(branch))

    def default_branch(self) -> str:
        """The branch that changes go to, where nobody names one: what origin/HEAD is; else main or
        master, of origin or here; else what origin says; else what the branches here tell.
        """
        places = (f"refs/remotes/{REMOTE}", "refs/heads")
        named = [f"{place}/{name}" for place in places for name in ("main", "master")]
        pattern = ("for-each-ref", "--format=%(refname) %(symref)", f"{places[0]}/HEAD")
        refs = dict(
            line.partition(" ")[::2] for line in (self._line(*pattern, *named) or "").splitlines()
        )
        if target := refs.get(f"{places[0]}/HEAD"):
            return target.removeprefix(f"{places[0]}/")
        for ref in named:
            if ref in refs:
                return ref.rpartition("/")[2]
        output = self._remote("--symref", REMOTE, "HEAD") if self._has_remote() else None
        head = (output or b"").partition(b"\t")[0]
        if head.startswith(b"ref: refs/heads/"):
            return head.decode("utf-8", "replace").removeprefix("ref: refs/heads/")
        return self._guess_branch()

    def _guess_branch(self) -> str:
        """Of the branches here: the one that new repositories begin with (`init.defaultBranch`), or
        of a usual name; else the only one beside that which is checked out, unless it goes on from
        there; else the one that is checked out.
        """
        listed = self._line("for-each-ref", "--format=%(refname)", "refs/heads") or ""
        branches = [ref.removeprefix("refs/heads/") for ref in listed.splitlines()]
        checked_out = self._line("symbolic-ref", "--quiet", "--short", "HEAD") or "main"
        usual = (self._line("config", "--get", "init.defaultBranch") or "", *_USUAL_BRANCHES)
        if named := next((name for name in usual if name in branches), None):
            return named
        others = [branch for branch in branches if branch != checked_out]
        if len(others) != 1 or self._goes_on(f"refs/heads/{others[0]}"):
            return checked_out
        return others[0]

    def _goes_on(self, ref: str) -> bool:
        """Whether it has all that is checked out, and more."""
        head, tip = self.head(), self._commit(ref)
        return head is not None and head != tip and self._line("merge-base", "HEAD", ref) == head

    def list_changed(self, paths: Sequence[str], sha: str) -> tuple[str, ...]:
        """Which of the files and folders are not here as the commit has them; in the order given,
        without those outside the repository.
        """
        named = {path: Path(os.path.normpath(self.root / path)) for path in paths}
        below = {path: whole for path, whole in named.items() if whole.is_relative_to(self.top)}
        if not below:
            return ()
        paths_in_tree = {path: at.relative_to(self.top).as_posix() for path, at in below.items()}
        specs = [os.path.relpath(at, self.root) for at in below.values()]
        quick = ("--no-ext-diff", "--no-textconv", "--name-only", "--no-renames", "-z")
        differ = _names(self._output("diff", *quick, sha, "--", *specs))
        known_names = _names(
            self._output("ls-tree", "--name-only", "--full-name", "-z", sha, *specs)
        )
        new = {paths_in_tree[path] for path, at in below.items() if at.exists()} - known_names
        return tuple(
            path
            for path, name in paths_in_tree.items()
            if name in new or any(one == name or one.startswith(f"{name}/") for one in differ)
        )

    def _apart(self, branch: str) -> str:
        if self._line("rev-parse", "--is-shallow-repository") == "true":
            return (
                f"this clone is shallow and lacks the commit where HEAD branched off {branch}; "
                f"run `git fetch --unshallow {REMOTE}` (actions/checkout: `fetch-depth: 0`)"
            )
        return f"HEAD and {branch} have no commit in common; is it the right branch?"

    def _absent(self, branch: str) -> str:
        """A branch that is nowhere, one that was not fetched, and one that nobody can tell of are
        three things.
        """
        if self.head() is None:
            return "this repository has no commits yet; commit gate.yml and its datasets first"
        name = "set `baseline.branch` in gate.yml to the base branch"
        if not self._has_remote():
            return f"there is no branch {branch} here; {name}"
        output = self._remote(REMOTE, f"refs/heads/{branch}", f"refs/tags/{branch}")
        fetch = f"`git fetch {REMOTE} {branch}:{branch}`"
        if output is None:
            return (
                f"{branch} is not in this clone, and `git ls-remote {REMOTE}` cannot tell "
                f"whether {REMOTE} has it; if so, run {fetch}"
            )
        if output.strip():
            shallow = self._line("rev-parse", "--is-shallow-repository") == "true"
            fetch = fetch.replace("fetch", "fetch --unshallow", 1) if shallow else fetch
            return f"{branch} is on {REMOTE} and was not fetched into this clone; run {fetch}"
        return f"there is no branch {branch} here or on {REMOTE}; {name}"

    def _has_remote(self) -> bool:
        return bool(self._line("config", "--get", f"remote.{REMOTE}.url"))

    def _remote(self, *arguments: str) -> bytes | None:
        """What the remote lists; None where it cannot be asked. Nobody is asked for a password."""
        try:
            done = _git(
                self.program,
                self.root,
                self.top,
                (*_ASKING_NOBODY, "ls-remote", *arguments),
                timeout_s=min(self.timeout_s, REMOTE_TIMEOUT_S),
                alone=True,
            )
        except InfrastructureError:
            return None
        return done.stdout if done.returncode == 0 else None

    def _commit(self, spelling: str) -> str | None:
        if spelling.startswith("-") or not spelling:
            return None
        commit = self._line("rev-parse", "--verify", "--quiet", f"{spelling}^{{commit}}")
        return commit if commit and _SHA.fullmatch(commit) else None

    def _line(self, *arguments: str) -> str | None:
        output = self._output(*arguments)
        return output.decode("utf-8", "replace").strip() if output is not None else None

    def _output(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        done = _git(
            self.program, self.root, self.top, arguments, timeout_s=self.timeout_s, stdin=stdin
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
    resolved = root.resolve()
    top = next(
        (folder for folder in (resolved, *resolved.parents) if (folder / ".git").exists()), None
    )
    if top is None:
        return NoGit(reason=f"{root} is not in a git repository")
    try:
        arguments = ("rev-parse", "--is-inside-work-tree")
        done = _git(program, resolved, top, arguments, timeout_s=timeout_s)
    except OSError:
        return NoGit(reason="git is not installed")
    if done.returncode != 0:
        error_lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return NoGit(
            reason=f"git cannot read {top}: {error_lines[0] if error_lines else 'no reason given'}"
        )
    return GitForge(root=resolved, top=top, program=program, timeout_s=timeout_s, remote=remote)


def _git(
    program: str,
    folder: Path,
    top: Path,
    arguments: tuple[str, ...],
    *,
    timeout_s: float,
    stdin: bytes = b"",
    alone: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    # Named, not looked for from the folder upwards: a change may bring a bare repository of its
    # own, to forge the base branch with. safe.directory: a job in a container is root, the checkout
    # is not; only this tree is trusted.
    tree = ("--git-dir", str(top / ".git"), "--work-tree", str(top))
    ours = ("-c", f"safe.directory={top.as_posix()}", "--literal-pathspecs")
    command = [program, *ours, *tree, *arguments]
    try:
        return subprocess.run(  # noqa: S603 - no shell, and the arguments are ours
            command,
            cwd=folder,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            start_new_session=alone,  # no terminal to ask for a password on
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(
            f"git {arguments[0]} did not finish within {timeout_s:g} s in {folder}; try "
            "running it by hand"
        ) from error


def _names(listed: bytes | None) -> set[str]:
    return set((listed or b"").decode("utf-8", "surrogateescape").split("\0")) - {""}


def _slashes(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./").rstrip("/")
