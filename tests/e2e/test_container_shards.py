"""The examples with shards, job by job as their files say: each job in a container of its own."""

import fnmatch
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.suites.cases.sampling import in_shard
from tests.support.container import Container, Hub, Runner, judge
from tests.support.in_process import run_session, save_baseline
from tests.support.paths import ROOT
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """The jobs of an example, run as its file says: what a job downloads, which inputs its gate
    gets, and under which name it uploads the session. `artifacts`: name -> folder.
    """

    jobs: dict[str, Any]
    runner: Runner
    hub: Hub
    payload: dict[str, Any]
    project: Path
    folder: Path
    artifacts: dict[str, Path]

    def run(self, name: str, shard: int = 0) -> Container:
        given = {"matrix.shard": str(shard), "secrets.PROVIDER_KEY": "a-key-that-no-merge-has"}
        given["github.event.pull_request.head.sha"] = self.payload["pull_request"]["head"]["sha"]
        text = yaml.safe_dump(self.jobs[name])
        for word, value in given.items():
            text = text.replace("${{ " + word + " }}", value)
        steps: dict[str, list[dict[str, Any]]] = {}
        for step in yaml.safe_load(text)["steps"]:
            steps.setdefault(step["uses"].partition("@")[0], []).append(step.get("with", {}))
        place = self.folder / f"{name}-{shard}-{len(list(self.folder.iterdir()))}"
        shutil.copytree(self.project, place / "workspace")
        for wanted in steps.get("actions/download-artifact", ()):
            self._download(wanted, place / "workspace")
        (inputs,) = steps["agent-gate/agent-gate"]
        runner = Runner(tools=self.runner.tools, state=place / "state")
        asked = {key: str(value) for key, value in inputs.items()}
        ended = judge(runner, self.hub, self.payload, place / "workspace", sample="", **asked)
        (upload,) = steps["actions/upload-artifact"]
        self.artifacts[upload["name"]] = session_of(ended)
        return ended

    def _download(self, wanted: dict[str, str], workspace: Path) -> None:
        if "name" in wanted:
            shutil.copytree(self.artifacts[wanted["name"]], workspace / wanted["path"])
            return
        for name in fnmatch.filter(self.artifacts, wanted["pattern"]):
            shutil.copytree(self.artifacts[name], workspace / wanted["path"] / name)


@pytest.fixture
def workflow(
    runner: Runner, hub: Hub, payload: dict[str, object], project: Path, tmp_path: Path
) -> Callable[[str], Workflow]:
    def read(name: str) -> Workflow:
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        folder = tmp_path / "jobs"
        folder.mkdir()
        return Workflow(
            jobs=yaml.safe_load(text)["jobs"],
            runner=runner,
            hub=hub,
            payload=payload,
            project=project,
            folder=folder,
            artifacts={},
        )

    return read


def session_of(ended: Container) -> Path:
    return ended.state / "workspace" / ended.outputs()["session-dir"]


def rows_without_times(session: Path) -> list[dict[str, object]]:
    return [
        {**row, "started_at": None, "latency_ms": None, "attempts": len(row["attempts"])}
        for row in details_of(session)
    ]


def run_shards(workflow: Workflow, job: str) -> None:
    matrix = workflow.jobs[job]["strategy"]["matrix"]["shard"]
    assert matrix == list(range(1, SHARDS + 1))
    for number in matrix:
        ended = workflow.run(job, number)
        assert ended.code == 0, ended.said()


def test_four_containers_are_one_run_and_a_lost_one_is_named(
    workflow: Callable[[str], Workflow], hub: Hub, project: Path, tmp_path: Path
) -> None:
    of = workflow("shards.yml")
    run_shards(of, "shard")
    number = of.payload["number"]
    assert hub.comments(number) == []
    third = of.artifacts.pop("gate-shard-3")
    lost = of.run("gate")
    assert lost.code == 6, lost.said()
    assert (lost.outputs()["outcome"], lost.outputs()["open"]) == ("error", "false")
    errored = {case["case_id"] for case in summary_of(session_of(lost))["cases"]["errored"]}
    assert errored == {case for case in CASES if in_shard(case, 3, SHARDS)}
    (comment,) = hub.comments(number)
    assert "shard 3/4 is not among the merged sessions" in comment["body"]

    of.artifacts["gate-shard-3"] = third
    whole = of.run("gate")
    (comment,) = hub.comments(number)
    assert "shard 3/4" not in comment["body"]
    alone = shutil.copytree(project, tmp_path / "alone")
    undivided = run_session(alone, "--stop", "off", "--baseline", "baselines", code=1)
    assert rows_without_times(session_of(whole)) == rows_without_times(undivided)
    joined, expected = summary_of(session_of(whole)), summary_of(undivided)
    for key in ("outcome", "exit_code", "reason", "cases", "calls"):
        assert joined[key] == expected[key], key
    assert whole.code == 1


def test_two_stages_of_four_containers(workflow: Callable[[str], Workflow], hub: Hub) -> None:
    of = workflow("shards-two-stages.yml")
    run_shards(of, "stage-1")
    look = of.run("look")
    assert of.jobs["look"]["outputs"] == {"open": "${{ steps.gate.outputs.open }}"}
    assert (look.code, look.outputs()["open"]) == (0, "true"), look.said()
    assert hub.comments(of.payload["number"]) == []
    for job in ("stage-2", "verdict"):  # that of a closed look runs neither
        assert of.jobs[job]["if"] == "${{ !cancelled() && needs.look.outputs.open == 'true' }}"
    run_shards(of, "stage-2")
    ended = of.run("verdict")
    assert (ended.code, ended.outputs()["outcome"]) == (1, "fail"), ended.said()
    assert ended.outputs()["open"] == "false"
    assert len(details_of(session_of(ended))) == 2 * ROUNDS * len(CASES)
    (comment,) = hub.comments(of.payload["number"])
    assert "`agent.success_rate` fell by" in comment["body"]
