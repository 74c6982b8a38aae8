"""The processes with user code of one command: one a role, shared by whoever needs it, ended with
the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from gate.system.sealing import OF_THE_JOB
from gate.text.late_pattern import late_pattern
from gate.user_code.hashes import merge_sources

if TYPE_CHECKING:
    from gate.user_code.process import CodeProcess

JUDGING = "grader"  # the role of graders, of `embed` and of patterns
# The files by which a step of a workflow sets its outputs, and what later steps see.
_FILES_OF_THE_STEP = late_pattern(r"GITHUB_(OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)", re.IGNORECASE)


def environment(env: Mapping[str, str], *, named: str | None = None) -> dict[str, str]:
    """What user code may see of the environment: not what is the job's, nor the same token under
    another name; but the variable `named` in gate.yml as the one with its key.
    """
    tokens = {v for name, v in env.items() if v and is_of_the_job(name) and "TOKEN" in name.upper()}
    return {
        name: value
        for name, value in env.items()
        if name == named or not (is_of_the_job(name) or value in tokens)
    }


def is_of_the_job(name: str) -> bool:
    return bool(OF_THE_JOB.fullmatch(name) or _FILES_OF_THE_STEP.fullmatch(name))


class Processes:
    """Role and folder -> process. `begin` and `end` are for the command line."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: dict[tuple[str, Path, str, int], CodeProcess] = {}
        self._env: Mapping[str, str] = {}
        self._tell: Callable[[str], None] = lambda line: None
        self._seconds = 0.0  # 0: not said yet

    @property
    def is_used(self) -> bool:
        """Whether anybody asked for one."""
        return bool(self._open)

    @property
    def seconds(self) -> float:
        """The limit for a call of code that has no limit of its own, and for its loading."""
        return self._seconds or 240.0

    def begin(self, env: Mapping[str, str], tell: Callable[[str], None]) -> None:
        """`env`: of the command; `tell` is given each line that user code prints."""
        self._env, self._tell, self._seconds = env, tell, 0.0

    def allow(self, seconds: float) -> None:
        """The agent's `timeout_s`; what was said first counts: the command line, the own gate.yml,
        the base branch's.
        """
        self._seconds = self._seconds or seconds

    def judging(self, root: Path) -> CodeProcess:
        """The one in which graders, embeddings and patterns run."""
        return self.process_for(JUDGING, root, judges=True, threads=64, load_s=self.seconds)

    def process_for(
        self,
        role: str,
        root: Path,
        *,
        about: str = "",
        judges: bool,
        threads: int,
        load_s: float,
        env: Mapping[str, str] | None = None,
        nth: int = 0,
    ) -> CodeProcess:
        """The `nth` process of the role (and of what it is `about`, where a run has two of a role),
        made at the first call; what differs later is ignored.
        """
        key = (role, root.resolve(), about, nth)
        with self._lock:
            if key not in self._open:
                from gate.user_code.process import CodeProcess, ProcessOptions

                manner = ProcessOptions(
                    role=role,
                    root=root,
                    judges=judges,
                    env=environment(self._env) if env is None else env,
                    threads=threads,
                    load_s=load_s,
                    tell=self._tell,
                )
                self._open[key] = CodeProcess(manner)
            return self._open[key]

    def give_up_reason(self) -> str:
        """Why a process is not started any more; empty while all are."""
        return next((one.given_up for one in self._all() if one.given_up), "")

    def sources(self, root: Path) -> dict[str, dict[str, str]]:
        """Object as gate.yml names it -> file, relative to `root` -> sha256, of all code that has
        a say in the verdict, as it was loaded so far.
        """
        return merge_sources(*(process.files() for process in self._judging(root)))

    def last_sources(self, root: Path) -> dict[str, dict[str, str]]:
        """The same as it was known when a call last came back, without asking anybody."""
        if not self._open:  # asked of each trial
            return {}
        return merge_sources(*(process.last_sources for process in self._judging(root)))

    def _judging(self, root: Path) -> list[CodeProcess]:
        folder = root if root.is_absolute() else root.resolve()
        every = list(self._open.items())
        return [one for key, one in every if one.manner.judges and key[1] == folder]

    def end(self) -> None:
        """Ends all; the next `of` starts new ones."""
        with self._lock:
            ended, self._open = self._all(), {}
        for process in ended:
            process.close()

    def _all(self) -> list[CodeProcess]:
        return list(self._open.values())


PROCESSES = Processes()
