"""`python -m tests.support.counted FILE WHAT ARGUMENT ...`: one `gate` command here, and in FILE
what it cost. WHAT is `modules` or `work`: a profiler would be a module more.

`modules`: of sys.modules at the end of the command (`end`), and when it first connected to anybody
(`first`).

`work`, of all threads:

- `calls`: Python functions that were called, the steps of generators included
- `encodings`, `decodings`: JSON texts that json or orjson wrote, and that json read
- `opens`: files that were opened, but for Python's own source and compiled files
- `written`: bytes handed to the system for files and the terminal (Linux only, otherwise 0)
- `blocks`: the most memory blocks that Python had at once, looked at every 500 calls
"""

import json
import os
import subprocess
import sys
import threading
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
CODE = (".py", ".pyc", ".so")
LOOK_EVERY = 500  # calls
CONFIG = """\
version: 1
agent: {{type: openai, base_url: "{url}", model: stub-model, concurrency: 1}}
suites:
  - name: main
    dataset: cases.jsonl
    rounds: 1
    graders: {graders}
gates:
  agent.success_rate: {{min: 0.1}}
"""
GRADERS = {
    "contains": "[{contains: {text: capital}}]",
    "facts, retrieval": "[facts, {retrieval: {k: [1, 3, 5]}}]",
}
ANSWER = "Paris is the capital of France."  # of an agent that passes those cases


def write_suite(folder: Path, cases: int, url: str, graders: str) -> Path:
    """A gate.yml with an agent behind `openai` at that address; graders: a key of GRADERS."""
    folder.mkdir()
    config = CONFIG.format(url=url, graders=GRADERS[graders])
    folder.joinpath("gate.yml").write_text(config, encoding="utf-8")
    case = {
        "category": "x",
        "expected_facts": [{"value": "Paris", "required": True}],
        "relevant_doc_ids": ["kb-008"],
    }
    lines = [
        json.dumps({"id": f"c{n}", "input": f"Which town is it? ({n})", **case}) + "\n"
        for n in range(cases)
    ]
    folder.joinpath("cases.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def count_command(folder: Path, what: str, *arguments: str) -> dict[str, Any]:
    """One `gate` command in that folder, in an environment in which nothing looks like a secret."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    file = folder / "counts.json"
    run = [sys.executable, "-m", "tests.support.counted", str(file), what, *arguments]
    done = subprocess.run(run, cwd=folder, env=env, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if found["code"] != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return found


def split_cost(few: dict[str, Any], more: dict[str, Any], cases: tuple[int, int]) -> dict[str, Any]:
    """What a further trial costs, and what the run costs beside its trials, of each kind of work:
    `{kind: (a trial, beside them)}`, on a straight line through two runs with so many cases.
    """
    found = {}
    for kind in WORK:
        a_trial = (more[kind] - few[kind]) / (cases[1] - cases[0])
        found[kind] = a_trial, few[kind] - a_trial * cases[0]
    return found


WORK = ("calls", "encodings", "decodings", "opens", "written", "blocks")


class Work:
    """What a command does, counted by a profile function and an audit hook."""

    def __init__(self) -> None:
        self.calls = self.encodings = self.decodings = self.opens = self.blocks = 0
        self.written = -bytes_written()
        self._encode = JSONEncoder.encode.__code__, JSONEncoder.iterencode.__code__
        self._decode = JSONDecoder.raw_decode.__code__

    def count(self, frame: object, event: str, details: object) -> None:
        if event == "c_call" and getattr(details, "__module__", "") == "orjson":
            self.encodings += 1
        if event != "call":
            return
        self.calls += 1
        code = frame.f_code  # type: ignore[attr-defined]
        if code is self._decode:
            self.decodings += 1
        elif code is self._encode[0]:
            self.encodings += 1
        if self.calls % LOOK_EVERY == 0:
            self.blocks = max(self.blocks, sys.getallocatedblocks())

    def look(self, event: str, details: tuple[object, ...]) -> None:
        if event == "open" and not str(details[0]).partition(".pyc.")[0].endswith(CODE):
            self.opens += 1

    def counted(self) -> dict[str, int]:
        written = self.written + bytes_written()
        return {kind: getattr(self, kind) for kind in WORK} | {"written": written}


def bytes_written() -> int:
    """By this process so far; what goes through sockets is not in it."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return int(dict(line.split(": ") for line in lines)["wchar"])


def main() -> None:
    file, what, *arguments = sys.argv[1:]
    found: dict[str, object] = {}
    work = Work()

    def look(event: str, details: tuple[object, ...]) -> None:
        if event == "socket.connect" and "first" not in found:
            found["first"] = sorted(sys.modules)

    def end(code: int) -> NoReturn:
        sys.setprofile(None)
        threading.setprofile(None)
        found.update(work.counted(), code=code, end=sorted(sys.modules))
        Path(file).write_text(json.dumps(found), encoding="utf-8")
        leave(code)

    leave, os._exit = os._exit, end  # type: ignore[assignment]
    sys.argv = ["gate", *arguments]
    if what == "modules":
        sys.addaudithook(look)
    else:
        sys.addaudithook(work.look)
        threading.setprofile(work.count)
        sys.setprofile(work.count)
    from gate.cli import main as run

    run()


if __name__ == "__main__":
    main()
