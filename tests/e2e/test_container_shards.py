"""Shards as in examples/shards.yml: each in a container of its own, joined in a fifth."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from gate.suites.cases.sampling import in_shard
from tests.support.container import Container, Hub, Runner, judge
from tests.support.in_process import run_session, save_baseline
from tests.support.session_files import details_of, summary_of

SHARDS, ROUNDS = 4, 3
CASES = [f"c{n:02d}" for n in range(60)]
WORSE = 29  # per cent of wrong answers: worse than main's 20, and not certainly after stage 1
CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:agent", concurrency: 1}
suites: [{name: s, dataset: s.jsonl, graders: [exact_match], rounds: 3}]
"""
AGENT = """
import hashlib
from pathlib import Path

# The nth answer to a case is the same in every run; stage 2 goes on after that of stage 1.
asked = {}
before = 3 if (Path(__file__).parent / "look").is_dir() else 0

def agent(case):
    number = asked[case["id"]] = asked.get(case["id"], before - 1) + 1
    drawn = int(hashlib.sha256(f"s{case['id']} {number}".encode()).hexdigest(), 16)
    return "no" if drawn % 100 < WRONG else "yes"
"""


def write_project(folder: Path, wrong_percent: int) -> None:
    keys = [{"id": i, "input": i, "expected_answer": "yes"} for i in CASES]
    (folder / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in keys))
    (folder / "gate.yml").write_text(CONFIG)
    (folder / "agent.py").write_text(AGENT.replace("WRONG", str(wrong_percent)))


@pytest.fixture(scope="module")
def project(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a pull request; main has its rules, its dataset and the baseline."""
    folder = tmp_path_factory.mktemp("project")
    write_project(folder, 20)
    save_baseline(folder, run_session(folder, "--baseline", "none"))
    for path in ("s.jsonl", "baselines/s.json", "gate.yml"):
        hub.put(path, (folder / path).read_bytes(), "main")
    shutil.rmtree(folder / "results")
    write_project(folder, WORSE)
    return folder


@pytest.fixture
def payload(hub: Hub, project: Path, request: pytest.FixtureRequest) -> dict[str, object]:
    tip = hub.call("GET", "/branches/main")["commit"]["sha"]
    return hub.pull(f"topic-{hashlib.sha256(request.node.name.encode()).hexdigest()[:8]}", tip)


class Jobs:
    """The jobs of a workflow: each has a workspace of its own, with what it downloads."""

    def __init__(
        self, runner: Runner, hub: Hub, payload: dict[str, object], project: Path, folder: Path
    ) -> None:
        self._runner, self._hub, self._payload = runner, hub, payload
        self._project, self._folder = project, folder
        self._number = 0

    def run(self, downloads: dict[str, Path] | None = None, **inputs: str) -> Container:
        self._number += 1
        workspace = self._folder / f"job-{self._number}" / "workspace"
        shutil.copytree(self._project, workspace)
        for name, session in (downloads or {}).items():
            shutil.copytree(session, workspace / name)
        state = self._folder / f"job-{self._number}" / "state"
        runner = Runner(tools=self._runner.tools, state=state)
        return judge(runner, self._hub, self._payload, workspace, sample="", **inputs)

    def shard(self, number: int, downloads: dict[str, Path] | None = None, **inputs: str) -> Path:
        ended = self.run(downloads, shard=f"{number}/{SHARDS}", **inputs)
        assert ended.code == 0, ended.said()
        return session_of(ended)


@pytest.fixture
def jobs(
    runner: Runner, hub: Hub, payload: dict[str, object], project: Path, tmp_path: Path
) -> Jobs:
    return Jobs(runner, hub, payload, project, tmp_path)


def session_of(ended: Container) -> Path:
    return ended.state / "workspace" / ended.outputs()["session-dir"]


def rows_without_times(session: Path) -> list[dict[str, object]]:
    return [
        {**row, "started_at": None, "latency_ms": None, "attempts": len(row["attempts"])}
        for row in details_of(session)
    ]


def test_four_containers_are_one_run_and_a_lost_one_is_named(
    jobs: Jobs, hub: Hub, payload: dict[str, object], project: Path, tmp_path: Path
) -> None:
    shards = {f"shards/{n}": jobs.shard(n) for n in range(1, SHARDS + 1)}
    assert hub.comments(payload["number"]) == []
    three = {name: session for name, session in shards.items() if name != "shards/3"}
    lost = jobs.run(three, merge="shards")
    assert lost.code == 6, lost.said()
    assert (lost.outputs()["outcome"], lost.outputs()["open"]) == ("error", "false")
    errored = {case["case_id"] for case in summary_of(session_of(lost))["cases"]["errored"]}
    assert errored == {case for case in CASES if in_shard(case, 3, SHARDS)}
    (comment,) = hub.comments(payload["number"])
    assert "shard 3/4 is not among the merged sessions" in comment["body"]

    whole = jobs.run(shards, merge="shards")
    (comment,) = hub.comments(payload["number"])
    assert "shard 3/4" not in comment["body"]
    alone = shutil.copytree(project, tmp_path / "alone")
    undivided = run_session(alone, "--stop", "off", "--baseline", "baselines", code=1)
    assert rows_without_times(session_of(whole)) == rows_without_times(undivided)
    joined, expected = summary_of(session_of(whole)), summary_of(undivided)
    for key in ("outcome", "exit_code", "reason", "cases", "calls"):
        assert joined[key] == expected[key], key
    assert whole.code == 1


def test_two_stages_of_four_containers(jobs: Jobs, hub: Hub, payload: dict[str, object]) -> None:
    first = {f"shards/{n}": jobs.shard(n, stage="1") for n in range(1, SHARDS + 1)}
    look = jobs.run(first, merge="shards")
    assert (look.code, look.outputs()["open"]) == (0, "true"), look.said()
    assert hub.comments(payload["number"]) == []
    seen = {"look": session_of(look)}
    second = {
        f"shards/{n}": jobs.shard(n, seen, stage="2", resume="look") for n in range(1, SHARDS + 1)
    }
    ended = jobs.run({**second, **seen}, merge="look\nshards")
    assert (ended.code, ended.outputs()["outcome"]) == (1, "fail"), ended.said()
    assert ended.outputs()["open"] == "false"
    assert len(details_of(session_of(ended))) == 2 * ROUNDS * len(CASES)
    (comment,) = hub.comments(payload["number"])
    assert "`agent.success_rate` fell by" in comment["body"]
