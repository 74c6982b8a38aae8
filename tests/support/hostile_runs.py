"""Whole processes of the gate over modules that do their worst; what is wrong with how they end.

Each run has a folder, a process group and a mark in its environment of its own: whatever a module
leaves behind is found by the mark and ended. Words for the end of a trial:

    answered            it has an answer that did not fail
    wrong               it has an answer that failed
    agent_error, infra_error
    run_record_invalid  an agent error with that code, of a suite as code
    changed             its answer is not the one that was given
    unscored            a grader could not judge the answer, and the row says why
    nothing             there is no row
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.github_server import GitHub
from tests.support.hostile_modules import Batch, Loading, Whole
from tests.support.paths import ROOT
from tests.support.runner import BASE, on_a_pull_request

GATE = ROOT / "gate"
LIMIT_S = 30.0  # for any command here, at a `timeout_s` of 2 where calls hang
MARK = "HOSTILE_RUN"
TOKEN = "ghs_" + "token"
SECRETS = {
    "ACTIONS_RUNTIME_TOKEN": "kept-by-the-runner-4711",
    "GH_TOKEN": TOKEN,
    "GITHUB_TOKEN": TOKEN,
    "INPUT_SOMETHING": "kept-by-the-runner-4711",
}
OUTCOMES = {"pass", "fail", "error", "inconclusive", "no_baseline", "not_comparable"}
JUDGED = {"pass", "no_baseline", "inconclusive"}  # what the policy of these runs lets through
# Becomes the gate, so that modules may know its number and not that of the test. No shell: some
# lose variables whose name has a hyphen.
LAUNCH = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9,) * 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 10**8,) * 2)
os.environ["HOSTILE_GATE"] = str(os.getpid())
os.execv(sys.argv[1], sys.argv[1:])
"""

IMPORTS = (
    "import asyncio, atexit, ctypes, faulthandler, gc, locale, math, os, re, resource, signal, "
    "socket, subprocess, sys, threading, time\n"
)
_ACTS = """
from pathlib import Path
HERE = Path(__file__).resolve().parent / "acts"

def act(name, *given):
    file = HERE / (name + ".py")
    if not file.exists():
        return None
    space = {"__name__": name}
    exec(compile(file.read_text(), str(file), "exec"), space)
    return space["act"](*given)

def is_honest(name):
    return not (HERE / (name + ".py")).exists()
"""
_MINE = """
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    keys = {}
    needs = ()
    def metrics(self):
        return (MetricSpec(name="correctness.mine", column="mine", unit="share"),)
    def grade(self, case, response):
        if is_honest(case.id):
            return Score(values={"mine": 1.0}, passed=True)
        return act(case.id, case, response)
"""
_BODIES = {
    "agent": """
def answer(case):
    return "yes" if is_honest(case["id"]) else act(case["id"], case)
""",
    "grader": _MINE,
    "regrade": _MINE,
    "retriever": """
def search(question):
    return ["d1"] if is_honest(question) else act(question, question)
""",
    "judge": """
import re
def answer(case):
    if not is_honest(case["id"]):
        return act(case["id"], case)
    canary = re.search(r"`canary`: ([0-9a-f]{16})", case["instructions"])[1]
    score = {"reason": "it is", "score": 5}
    return {"good": score, "addressed_judge": False, "canary": canary}
""",
    "embed": """
def embed(texts):
    return [[1.0]] if is_honest(texts[0]) else act(texts[0], texts)
""",
    "suite": """
class Mine:
    def load_tasks(self):
        return [{"id": one} for one in (HERE.parent / "names").read_text().split()]
    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        if is_honest(task["id"]):
            return {"ok": True, "response_text": "yes"}
        return act(task["id"], task)
""",
}
_BODIES["control"] = _BODIES["agent"]
_HONEST = "def answer(case):\n    return 'yes'\n"
_RUBRIC = "{name: r, about: A reply., criteria: {good: {about: Is it good}}, least: {good: 3}}"
_OPENAI = '{type: openai, base_url: "URL", model: m, timeout_s: SECONDS, concurrency: MANY}'
_PYTHON = '{type: python, callable: "FILE:NAME", timeout_s: SECONDS, concurrency: MANY}'

# role -> its file, the attribute in it, and what gate.yml has for it
ROLES: dict[str, tuple[str, str, str, str]] = {
    "agent": ("agent.py", "answer", f"agent: {_PYTHON}", "graders: [exact_match]"),
    "grader": ("mine.py", "Mine", f"agent: {_OPENAI}", 'graders: ["FILE:NAME"]'),
    "regrade": ("mine.py", "Mine", f"agent: {_OPENAI}", 'graders: ["FILE:NAME"]'),
    "retriever": (
        *("search.py", "search"),
        f"retriever: {_PYTHON}",
        "graders: [{retrieval: {k: [1]}}]",
    ),
    "judge": (
        *("judge.py", "answer"),
        f"agent: {_OPENAI}\njudge: {_PYTHON}",
        f"graders: [{{judge: {{rubric: {_RUBRIC}}}}}]",
    ),
    "embed": (
        *("embed.py", "embed"),
        f"agent: {_OPENAI}",
        'graders: [{semantic_similarity: {embed: "FILE:NAME", pass_at: 0.5}}]',
    ),
    "suite": ("suite.py", "Mine", f"agent: {_OPENAI}", 'suite: "FILE:NAME"'),
    "control": (
        *("control.py", "answer"),
        "agent: {type: python, callable: './agent.py:answer', timeout_s: SECONDS, "
        "concurrency: MANY}\n"
        f"control_agent: {_PYTHON}",
        "graders: [exact_match]",
    ),
    "regex": ("pattern", "", f"agent: {_OPENAI}", "graders: [{regex: {pattern: 'FILE'}}]"),
}
_CONFIG = """version: 1
ASKED
suites:
  - name: s
    JUDGED
    rounds: 1
    max_attempts: 1
gates: {agent.success_rate: {min: 0.99, rule: point}}
regression: {stop: off, control: CONTROL}
PROTECT
"""


@dataclass(frozen=True, kw_only=True)
class Project:
    """A folder with gate.yml, cases and the module of `role`."""

    folder: Path
    role: str
    names: tuple[str, ...] = ()  # ids of the cases


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended. `code` is None where it did not within LIMIT_S."""

    command: str
    folder: Path
    code: int | None
    out: str
    err: str
    seconds: float
    cases: tuple[str, ...] = ()  # their ids
    held: bool = False  # somebody still had its standard output open
    posted: tuple[str, ...] = ()  # comments

    @property
    def session(self) -> Path | None:
        found = re.findall(r"^Session written to: (.+)$", self.err + "\n" + self.out, re.M)
        return self.folder / found[-1] if found else None

    def rows(self, role: str) -> dict[str, str]:
        """Case -> how its trial ended."""
        found = sorted((self.folder / "results").glob("session-*"))
        if not found:
            return {}
        session = found[-1] / "_control" if role == "control" else found[-1]
        try:
            lines = (session / "details.jsonl").read_text("utf-8").splitlines()
        except OSError:
            return {}
        rows = filter(None, map(_json, lines))
        return {row["case_id"]: _end_of(row, role) for row in rows}

    def told(self) -> str:
        """For messages of tests: the end of what it said."""
        seen = f"exit {self.code} after {self.seconds:.1f} s"
        return f"{seen}\n--- out\n{self.out[-600:]}\n--- err\n{self.err[-1500:]}"


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


# ------------------------------------------------------------------------------------ the projects


def project_of_module(folder: Path, one: Loading | Whole, url: str) -> Project:
    """The module as it is, and so many cases."""
    names = tuple(f"c{n}" for n in range(getattr(one, "cases", 2)))
    question = "a" * 40 + "b" if one.role == "regex" else ""
    files = dict(getattr(one, "files", ()))
    project = _project(folder, one.role, one.code, url, names, question, by_name=bool(files))
    for name, text in files.items():
        (folder / name).write_text(text)
    return project


def project_of_batch(folder: Path, batch: Batch, url: str) -> Project:
    """A module that dispatches on the case; an honest case stands before and after each paced act,
    at the beginning and at the end of the others.
    """
    acts = [slug(name) for name in batch.acts]
    if batch.paced:
        mixed = [one for n, name in enumerate(acts) for one in (f"honest-{n}", name)]
        names = (*mixed, f"honest-{len(acts)}")
    else:
        names = ("honest-0", *acts, "honest-1")
    code = _ACTS + _BODIES[batch.role]
    project = _project(folder, batch.role, code, url, names, "", many=1 if batch.paced else 4)
    (folder / "acts").mkdir()
    for name, act in batch.acts.items():
        imports = IMPORTS + ("from gate.records import Score\n" if "Score" in act.code else "")
        (folder / "acts" / f"{slug(name)}.py").write_text(imports + act.code + "\n")
    return project


def _project(
    folder: Path,
    role: str,
    code: str,
    url: str,
    names: tuple[str, ...],
    question: str,
    *,
    many: int = 2,
    by_name: bool = False,
) -> Project:
    folder.mkdir()
    file, attribute, asked, judged = ROLES[role]
    if role != "suite":
        judged = "dataset: cases.jsonl\n    " + judged
    where = code if role == "regex" else (file.removesuffix(".py") if by_name else f"./{file}")
    config = _CONFIG.replace("ASKED", asked).replace("JUDGED", judged)
    config = config.replace("URL", url).replace("MANY", str(many))
    config = config.replace("SECONDS", str(2 if many < 4 else 10))  # four at once: none hangs
    config = config.replace("FILE", where).replace("NAME", attribute)
    config = config.replace("CONTROL", "fresh" if role == "control" else "stored")
    (folder / "gate.yml").write_text(config.replace("PROTECT", "protect: false"))
    if role == "control":
        (folder / "agent.py").write_text(_HONEST)
    if role != "regex":
        (folder / file).write_text(code)
    rows = [
        {
            "id": name,
            "input": question or name,
            "expected_answer": "yes",
            "relevant_doc_ids": ["d1"],
        }
        for name in names
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "names").write_text("\n".join(names))
    said = [
        {
            "name": row["id"],
            "messages": [
                {"role": "user", "content": row["input"]},
                {"role": "assistant", "content": "yes"},
            ],
        }
        for row in rows
    ]
    (folder / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    return Project(folder=folder, role=role, names=names)


# ----------------------------------------------------------------------------------- the processes


def arguments(command: str, project: Project, session: Path | None) -> Sequence[str]:
    """Of `gate`; `session` is what is compared with itself."""
    if command == "run":
        against = () if project.role == "control" else ("--baseline", "none")
        return ("run", "--format", "json", *against)
    if command == "run as text":
        return ("run", "--baseline", "none")
    if command == "compare":
        return ("compare", str(session), str(session), "--format", "json")
    if command == "import":
        options = ("--option", "suite=s", "--regrade", "--out", "results", "--format", "json")
        return ("import", "messages", "said.jsonl", *options)
    return (command,)


def ended(
    command: str, project: Project, *, session: Path | None = None, github: GitHub | None = None
) -> Ended:
    """Runs `gate COMMAND` to its end, or for LIMIT_S; nothing that it started outlives it."""
    mark = uuid.uuid4().hex
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
    clean.pop("CI", None)
    clean.pop("PYTHONPATH", None)
    env = {**clean, **SECRETS, MARK: mark}
    if command == "action":
        assert github is not None
        env = {**clean, MARK: mark, **_on_github(project, github)}
    with (project.folder / f"err-{slug(command)}").open("wb") as err:
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", "-c", LAUNCH),
                *(sys.executable, "-P", "-m", "gate"),  # without this folder on the path, as `gate`
                *arguments(command, project, session),
            ],
            cwd=project.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            start_new_session=True,
        )
        out = _Reader(process)
        begun = time.monotonic()
        try:
            code: int | None = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - begun
        out.join(5)
        held = code is not None and out.is_alive()
        _end_all(process, mark)
        out.join(5)
    posted = tuple(str(comment["body"]) for comment in github.comments) if github else ()
    told = (project.folder / f"err-{slug(command)}").read_bytes().decode("utf-8", "replace")
    return Ended(
        command=command,
        folder=project.folder,
        code=code,
        out=out.text,
        err=told,
        seconds=seconds,
        cases=project.names,
        held=held,
        posted=posted,
    )


class _Reader(threading.Thread):
    """Takes what a process prints, so that it never waits for a reader. Keeps 20 MB."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        assert process.stdout is not None
        self._stream = process.stdout
        self._parts: list[bytes] = []
        self.start()

    def run(self) -> None:
        kept = 0
        with self._stream:
            while part := os.read(self._stream.fileno(), 65_536):
                if kept < 20_000_000:
                    self._parts.append(part)
                    kept += len(part)

    @property
    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")


def _end_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ends the process with its group, then whatever else has its mark in the environment."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wanted = f"{MARK}={mark}".encode()
    for _ in range(20):
        found = [pid for pid in _processes() if wanted in _environment(pid)]
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _processes() -> Iterator[int]:
    return (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _on_github(project: Project, github: GitHub) -> Mapping[str, str]:
    """A pull request whose base has the same rules, cases and module."""
    for path in project.folder.iterdir():
        if path.is_file() and path.suffix in (".yml", ".jsonl", ".py"):
            github.contents[BASE, path.name] = path.read_bytes()
    found = on_a_pull_request(project.folder, github)
    return {
        **found,
        "INPUT_GITHUB-TOKEN": TOKEN,
        "INPUT_BASELINE": "none",
        "INPUT_UPLOAD-ARTIFACT": "false",
    }


# ------------------------------------------------------------------------ what is wrong with an end


def wrong_with(end: Ended) -> str:
    """Why this is no stated outcome; empty where it is one."""
    problems = [*_always(end)]
    if end.code is not None and end.code >= 0:
        kind = _HOW_TOLD[end.command]
        problems += kind(end) if end.code not in (2, 130, 143) else _nothing_told(end)
    return "; ".join(problems)


def wrong_with_refusal(end: Ended, file: str, line: int | None) -> str:
    """Why this does not refuse `file`, at `line` where one is to blame."""
    problems = [wrong_with(end)]
    if end.code != 2:
        problems.append(f"exit {end.code}, not 2")
    said = end.err + (end.out if end.command in ("action", "validate") else "")
    if file not in said:
        problems.append(f"does not name {file}")
    elif line and not re.search(rf"{re.escape(file)}[\"']?(:|,? line |, ){line}\b", said):
        problems.append(f"does not name line {line} of {file}")
    if "No problems found" in end.out:
        problems.append("says that all of it can be used")
    return "; ".join(filter(None, problems))


def wrong_with_rows(end: Ended, role: str, wanted: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Case -> how its trial ended instead of one of the ends that are `wanted`."""
    rows = end.rows(role)
    ends = {name: rows.get(name, "nothing") for name in wanted}
    return {name: ends[name] for name in wanted if ends[name] not in wanted[name]}


def _always(end: Ended) -> Iterator[str]:
    if end.code is None:
        yield f"did not end within {LIMIT_S:.0f} s"
    elif end.code not in (0, 1, 2, 3, 4, 5, 6, 130, 143):
        yield f"exit {end.code} is no outcome"
    if end.held:
        yield "somebody still holds its standard output"
    if "bug of Agent Gate" in end.err + end.out:
        yield "says that it is a bug of Agent Gate"
    if trace := _own_traceback(end.err):
        yield f"a traceback of the gate's own: {trace}"
    if end.command != "action" and "HOSTILE" in end.out:
        yield "what user code printed stands in its output"


def _own_traceback(said: str) -> str:
    """The last line of a traceback that ends in our code."""
    for block in said.split("Traceback (most recent call last):")[1:]:
        frames = re.findall(r'^ +File "([^"]+)", line \d+', block, re.M)
        if frames and Path(frames[-1]).is_relative_to(GATE):
            return re.sub(r"\s+", " ", block)[-200:]
    return ""


def _run(end: Ended) -> Iterator[str]:
    """A verdict as JSON, and the session that it is of."""
    found = _json(end.out)
    if found is None:
        yield f"exit {end.code} without a verdict: its output is no JSON"
        return
    yield from _verdict(end, found)
    session = end.session
    if session is None:
        yield "does not say where its session is"
    elif (_json((session / "summary.json").read_text("utf-8")) or {}).get("outcome") != found.get(
        "outcome"
    ):
        yield "summary.json has another outcome"


def _compare(end: Ended) -> Iterator[str]:
    found = _json(end.out)
    if found is None:
        yield f"exit {end.code} without a verdict: its output is no JSON"
    else:
        yield from _verdict(end, found)


def _verdict(end: Ended, found: Mapping[str, Any]) -> Iterator[str]:
    outcome = found.get("outcome")
    if outcome not in OUTCOMES or not found.get("reason"):
        yield f"outcome {outcome!r} with the reason {found.get('reason')!r}"
    if found.get("exit_code") != end.code:
        yield f"tells exit {found.get('exit_code')} and ends with {end.code}"
    if end.code == 0 and outcome not in JUDGED:
        yield f"exit 0 with the outcome {outcome}"


def _text(end: Ended) -> Iterator[str]:
    """The last two lines: the outcome with its reason, and where the session is."""
    outcome, where = (["", "", *end.out.splitlines()])[-2:]
    if not where.startswith("Session written to: "):
        yield f"exit {end.code} without a last line about the session"
        return
    word = outcome.partition(":")[0].lower().replace(" ", "_")
    if word not in OUTCOMES:
        yield f"exit {end.code} without an outcome above the last line"
    elif end.code == 0 and word not in JUDGED:
        yield f"exit 0 with the outcome {word}"


def _validate(end: Ended) -> Iterator[str]:
    if end.code != 0 or end.out.splitlines()[-1:] != ["No problems found."]:
        yield f"exit {end.code} without a last word"


def _action(end: Ended) -> Iterator[str]:
    outputs = _outputs(end.folder / "output")
    if outputs.get("outcome") not in OUTCOMES or outputs.get("exit-code") != str(end.code):
        yield f"exit {end.code} with the outputs {outputs}"
    elif end.code == 0 and outputs["outcome"] not in JUDGED:
        yield f"exit 0 with the outcome {outputs['outcome']}"
    if not end.posted:
        yield "no comment was posted"


_HOW_TOLD = {
    "run": _run,
    "run as text": _text,
    "import": _run,
    "compare": _compare,
    "validate": _validate,
    "action": _action,
}


def _nothing_told(end: Ended) -> Iterator[str]:
    """An end without a verdict says why, and prints nothing that looks like one."""
    if not end.err.strip() and not end.out.strip():
        yield f"exit {end.code} without a word"
    if end.command in ("run", "import", "compare") and end.code == 2 and end.out.strip():
        yield "prints although there is no verdict"
    if end.code in (130, 143) and not list((end.folder / "results").glob("session-*/meta.json")):
        yield "no session is there to go on with"
    if end.command == "action" and end.code == 2:
        outputs = _outputs(end.folder / "output")
        if (outputs.get("outcome"), outputs.get("passed")) != ("error", "false"):
            yield f"the outputs {outputs}"


def _outputs(file: Path) -> dict[str, str]:
    text = file.read_text("utf-8") if file.exists() else ""
    return {k: v for k, _, v in re.findall(r"^(.+)<<(.+)\n([\s\S]*?)\n\2$", text, re.M)}


def _json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, parse_constant=_refuse)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _refuse(word: str) -> None:
    raise ValueError(word)


def _end_of(row: Mapping[str, Any], role: str) -> str:
    if row["status"] == "agent_error" and "run_record_invalid" in row["failures"]:
        return "run_record_invalid"
    if row["status"] != "completed":
        return str(row["status"])
    if role == "grader" and row["output"] not in (row["case_id"], row["question"]):
        return "changed"  # the server repeats the question
    if any(row["unscored"].values()):
        return "unscored"
    return "wrong" if row["passed"] is False else "answered"
