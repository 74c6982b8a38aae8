"""Processes with user code for tests: `run(code)` writes a file and starts one that knows it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate.user_code.process import CodeProcess, ProcessOptions


@dataclass(kw_only=True)
class Code:
    """A file of the user's in a process of its own, with functions of one argument."""

    root: Path
    file: str = "code.py"
    printed: list[str] = field(default_factory=list)
    process: CodeProcess

    def load(self, name: str) -> int:
        """The number of the function. `name`: in the file, or `module:name`."""
        spec = name if ":" in name else f"./{self.file}:{name}"
        return self.process.load(spec, ["function", spec], int)

    def call(self, name: str, argument: Any = None, *, seconds: float = 5.0) -> Any:
        """What the function returned, by a thread of its own."""
        of = self.load(name)
        frame = self.process.new_lane().call(["call", of, argument], seconds)
        return json.loads(frame.body)

    def begin(self, name: str, argument: Any = None, *, seconds: float = 5.0) -> Future[Any]:
        """The same, beside others."""
        pool = ThreadPoolExecutor(1)
        try:
            return pool.submit(self.call, name, argument, seconds=seconds)
        finally:
            pool.shutdown(wait=False)


@contextmanager
def coded(folder: Path, code: str = "", **manner: Any) -> Iterator[Code]:
    """`manner`: of Manner, where it is not the usual one."""
    with coding(folder) as make:
        yield make(code, **manner)


@contextmanager
def coding(folder: Path) -> Iterator[Callable[..., Code]]:
    made: list[Code] = []

    def make(code: str = "", **manner: Any) -> Code:
        if code:
            (folder / "code.py").write_text(code, encoding="utf-8")
        printed: list[str] = []
        usual = {"role": "agent", "judges": False, "env": os.environ, "load_s": 5.0}
        given = ProcessOptions(**{**usual, "root": folder, "tell": printed.append, **manner})
        made.append(Code(root=folder, printed=printed, process=CodeProcess(given)))
        return made[-1]

    try:
        yield make
    finally:
        for one in made:
            one.process.close()
