"""This product in a repository of its own, with a remote, as the release workflow meets it."""

from __future__ import annotations

import contextlib
import runpy
import shutil
from pathlib import Path

from gate import __version__
from tests.support.git_repository import git
from tests.support.paths import ROOT

IMAGE = "ghcr.io/agent-gate/agent-gate@sha256:" + "3f" * 32


class Product:
    """`remote` is bare; `work` is the checkout of a job. Only what the script reads is in it."""

    def __init__(self, folder: Path) -> None:
        self.remote, self.work = folder / "product.git", folder / "product"
        git(folder, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(folder, "init", "-q", "-b", "main", str(self.work))
        for name in ("action.yml", "gate/__init__.py", ".github/release.py"):
            (self.work / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.work / name)
        git(self.work, "add", ".")
        git(self.work, "commit", "-q", "-m", "the product")
        git(self.work, "remote", "add", "origin", self.remote.as_uri())
        git(self.work, "push", "-q", "origin", "main")

    def push_tag(self, name: str, *how: str) -> None:
        git(self.work, "tag", *how, name)
        git(self.work, "push", "-q", "origin", name)

    def there(self, name: str) -> str:
        """The commit of a tag of the remote."""
        return git(self.remote, "rev-parse", f"refs/tags/{name}^{{commit}}")

    def release(self, *arguments: str) -> int:
        """A command of the script, by default for the tag of this version; its exit code."""
        script = runpy.run_path(str(ROOT / ".github/release.py"))
        tag = () if "--tag" in arguments else ("--tag", f"v{__version__}")
        with contextlib.chdir(self.work):
            return int(script["main"]([*arguments, *tag]))

    def publish(self) -> str:
        """What the job `release` does with the repository; the commit of the release."""
        assert self.release("commit", "--push", "--image", IMAGE) == 0
        assert self.release("major") == 0
        return self.there(f"v{__version__}")
