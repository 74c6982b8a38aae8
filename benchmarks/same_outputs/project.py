"""A folder in which the gate is called, and what is kept of each call."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from peers import ADDRESS, GitHub

ROOT = Path(tempfile.gettempdir()) / "gate-same-outputs"  # always the same one: paths are printed
FIRST_HOUR = 1_790_000_000
GIT = (("NAME", "Ann"), ("EMAIL", "ann@example.test"), ("DATE", f"{FIRST_HOUR - 86_400} +0000"))


class Project:
    """A folder in which the gate is called, with the model and the GitHub of this scenario. Each
    call is a minute after the one before.
    """

    def __init__(self, name: str, out: Path, githubs: Mapping[str, GitHub]) -> None:
        self.name, self._out, self._calls = name, out, 0
        self.folder = ROOT / "projects" / name
        self.folder.mkdir(parents=True)
        self.url = f"{ADDRESS}/{name}"
        self.github = githubs[name]

    def write(self, path: str, text: str | bytes) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def copy(self, source: Path, path: str) -> None:
        copied = shutil.copytree if source.is_dir() else shutil.copy
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        copied(source, self.folder / path)

    def gate(self, *words: str, inside: str = ".", stdin: str = "", **env: str) -> str:
        """Runs a command and keeps what came of it; returns what it printed."""
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder / inside,
            env=self.environment(**env),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=300,
            check=False,
        )
        self._keep(words, env, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def git(self, *words: str) -> None:
        fixed = {f"GIT_{who}_{what}": told for who in ("AUTHOR", "COMMITTER") for what, told in GIT}
        subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *words],
            cwd=self.folder,
            env={**self.environment(), **fixed},
            stdout=subprocess.DEVNULL,
            check=True,
        )

    @contextmanager
    def serving(self, port: int, *words: str) -> Iterator[str]:
        """`gate agent` at that port while the block runs."""
        process = subprocess.Popen(
            self.command("agent", "--port", str(port), *words),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            yield process.stdout.readline()
        finally:
            process.terminate()
            told = process.communicate()
            self._keep(("agent", *words), {}, 0, *told)

    def newest(self, folder: str = "results") -> str:
        """The session that was begun last; sessions are named by their time."""
        return f"{folder}/{max(path.name for path in (self.folder / folder).glob('session-*'))}"

    def command(self, *words: str) -> list[str]:
        return [str(ROOT / "python" / "bin" / "python"), "-m", "gate", *words]

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": f"{ROOT / 'python' / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(ROOT / "home"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
            "GIT_CONFIG_NOSYSTEM": "1",
            "SAME_OUTPUTS_NOW": str(FIRST_HOUR + 60 * self._calls),
            "MODEL_URL": self.url,
            **more,
        }

    def _keep(
        self, words: Sequence[str], env: Mapping[str, str], code: int, out: str, err: str
    ) -> None:
        self._calls += 1
        what = "-".join(word.strip("-") for word in words[:2] if "/" not in word) or "nothing"
        folder = self._out / self.name / f"{self._calls:02d}-{what}"
        folder.mkdir(parents=True)
        called = {"words": list(words), "environment": dict(env), "exit code": code}
        (folder / "call.json").write_text(json.dumps(called, indent=1) + "\n", encoding="utf-8")
        (folder / "stdout").write_text(out, encoding="utf-8")
        (folder / "stderr").write_text(err, encoding="utf-8")

    def finish(self) -> None:
        """Keeps the folder as it is now, and what GitHub was asked."""
        leave = shutil.ignore_patterns("__pycache__", ".git")
        shutil.copytree(self.folder, self._out / self.name / "files", ignore=leave, symlinks=True)
        if self.github.seen:
            told = asdict(self.github)
            asked = told.pop("seen")  # what is only read is asked by several threads
            told["written"] = [one for one in asked if one["method"] != "GET"]
            read = [one for one in asked if one["method"] == "GET"]
            told["read"] = sorted(read, key=lambda one: json.dumps(one, sort_keys=True))
            told["contents"] = sorted("@".join(reversed(key)) for key in self.github.contents)
            text = json.dumps(told, indent=1, ensure_ascii=False).replace("\\n", "\n")
            (self._out / self.name / "github.txt").write_text(text + "\n", encoding="utf-8")
