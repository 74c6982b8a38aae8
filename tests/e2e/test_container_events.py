"""The table of docs/events.md: the built image on each event, as GitHub's runner starts it.

Needs GATE_TOOLS. The payloads are GitHub's examples about a repository on loopback, whose server
lists every request that is not in GitHub's description. Two containers run at a time.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.container import REPOSITORY, TOKEN, Container, Hub, Runner, checkout, judge
from tests.support.events import payload, schedule
from tests.support.github_server import HEAD, GitHub, serving
from tests.support.github_server import REPOSITORY as OTHER_REPOSITORY

ZEROS = "0" * 40
RULES = """version: 1
agent: {type: sample, concurrency: 8}
suites:
  - name: analytics
    dataset: datasets/analytics/dataset.jsonl
    graders:
      - retrieval: {k: [1, 3, 5, 10], pass_k: 5}
      - facts
      - tool_calls: {mode: superset, args: ignore}
    rounds: 2
gates: {operational.error_rate: {max: 0}}
policy: {no_baseline: warn, inconclusive: warn}
"""
ATTACK = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
HOSTILE = {
    "gate.yml": RULES.replace(
        "{type: sample, concurrency: 8}", "{type: python, callable: './evil.py:agent'}"
    ).replace("- facts", "- ./evil.py:Mine"),
    "evil.py": ATTACK,
}
REPO = "baselines/analytics.json at "


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Commits of octocat/demo, and an open pull request from the tip of main."""

    first: str  # of main, tagged v1.0.0 and released
    tip: str  # of main, tagged v1.1.0
    risky: str  # of a branch whose rules name a grader file
    pull: dict[str, Any]

    def about(self, event: str, **changes: Any) -> dict[str, Any]:
        """The event's payload about this repository."""
        named = {"repository__full_name": REPOSITORY, "repository__default_branch": "main"}
        return payload(event, **named, **changes)

    def pull_request(self, **changes: Any) -> dict[str, Any]:
        head, base = self.pull["pull_request"]["head"], self.pull["pull_request"]["base"]
        known = {
            "pull_request__number": self.pull["number"],
            "pull_request__head__sha": head["sha"],
            "pull_request__head__ref": head["ref"],
            "pull_request__head__repo__full_name": REPOSITORY,
            "pull_request__base__sha": base["sha"],
            "pull_request__base__ref": base["ref"],
        }
        return self.about("pull_request", **{**known, **changes})

    def of_fork(self) -> dict[str, Any]:
        event = self.pull_request(pull_request__draft=True)
        event["pull_request"]["head"]["repo"] |= {"full_name": "mallory/demo", "fork": True}
        return event

    def closed(self) -> dict[str, Any]:
        now = "2026-11-20T12:00:00Z"
        state = {"pull_request__state": "closed", "pull_request__closed_at": now}
        return self.pull_request(action="closed", before=..., after=..., **state)

    def merge_group(self) -> dict[str, Any]:
        head = self.pull["pull_request"]["head"]["sha"]
        shas = {"merge_group__base_sha": self.tip, "merge_group__head_sha": head}
        return self.about("merge_group", **shas)

    def push(self, ref: str, before: str, **changes: Any) -> dict[str, Any]:
        made = {"ref": ref, "before": before, "created": before == ZEROS}
        return self.about("push", **made, **changes)

    def released(self, **changes: Any) -> dict[str, Any]:
        late = {"release__published_at": "2099-01-01T00:00:00Z"}
        return self.about("release", release__tag_name="v1.1.0", **late, **changes)

    def workflow_run(self) -> dict[str, Any]:
        head = self.pull["pull_request"]["head"]
        return self.about(
            "workflow_run",
            workflow_run__event="pull_request",
            workflow_run__head_sha=head["sha"],
            workflow_run__head_branch=head["ref"],
            workflow_run__head_repository__full_name=REPOSITORY,
            workflow_run__pull_requests=[],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An event and what becomes of it; {tip} and {first} stand for short commits."""

    name: str
    event: Callable[[World], dict[str, Any]]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # of the working copy
    outcome: str = "pass"  # empty: nothing is judged
    code: int = 0
    baseline: str = ""  # how its detail begins
    comment: bool = False
    says: str = ""  # in the log


TAG = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1.1.0"}
OLD_TAG = {"GITHUB_REF_TYPE": "tag", "GITHUB_SHA": ZEROS}
TARGET = "pull_request_target"
TABLE = {
    "pull request": Row(
        name="pull_request", event=World.pull_request, baseline=REPO + "{tip}", comment=True
    ),
    "draft of a fork": Row(
        name="pull_request",
        event=World.of_fork,
        baseline=REPO + "{tip}",
        comment=True,  # this server's tokens may all write
        says="GitHub gives a run from a fork no secrets",
    ),
    "closed": Row(name="pull_request", event=World.closed, outcome="", says="is closed"),
    "target": Row(
        name=TARGET,
        event=World.pull_request,
        files=HOSTILE,
        baseline=REPO + "{tip}",
        comment=True,
    ),
    "target with code": Row(
        name=TARGET,
        event=lambda w: w.pull_request(pull_request__base__sha=w.risky),
        files={"mine.py": ATTACK},
        outcome="error",
        code=2,
        says="the grader file ./mine.py is not as main has it",
    ),
    "merge group": Row(name="merge_group", event=World.merge_group, baseline=REPO + "{tip}"),
    "push": Row(
        name="push",
        event=lambda w: w.push("refs/heads/main", w.first),
        baseline=REPO + "{first}",
    ),
    "push elsewhere": Row(
        name="push",
        event=lambda w: w.push("refs/heads/topic", w.first, forced=True),
        baseline=REPO + "{first}",
    ),
    "new branch": Row(
        name="push", event=lambda w: w.push("refs/heads/topic", ZEROS), baseline=REPO + "main"
    ),
    "deletion": Row(
        name="push",
        event=lambda w: w.push("refs/heads/topic", w.first, after=ZEROS, deleted=True),
        outcome="",
        says="refs/heads/topic was deleted",
    ),
    "tag": Row(
        name="push",
        event=lambda w: w.push("refs/tags/v1.1.0", ZEROS),
        env=TAG,
        baseline=REPO + "v1.0.0",
    ),
    "first tag": Row(
        name="push",
        event=lambda w: w.push("refs/tags/v0.9.0", ZEROS),
        env=OLD_TAG,
        outcome="no_baseline",
        baseline="no earlier release than v0.9.0: 2 tags and 1 published releases searched",
    ),
    "release": Row(name="release", event=World.released, env=TAG, baseline=REPO + "v1.0.0"),
    "release taken back": Row(
        name="release",
        event=lambda w: w.released(action="deleted"),
        env=TAG,
        outcome="",
        says="the release was withdrawn",
    ),
    "workflow run": Row(
        name="workflow_run", event=World.workflow_run, files=HOSTILE, baseline=REPO + "{tip}"
    ),
    "comment": Row(
        name="issue_comment", event=lambda w: w.about("issue_comment"), outcome="", says="othing"
    ),
    "schedule": Row(
        name="schedule",
        event=lambda w: schedule(w.about("push")["repository"]),
        baseline=REPO + "main",
    ),
    "dispatch": Row(
        name="workflow_dispatch",
        event=lambda w: w.about("workflow_dispatch"),
        env=TAG,
        baseline=REPO + "v1.0.0",
    ),
    "another event": Row(
        name="repository_dispatch",
        event=lambda w: w.about("repository_dispatch"),
        baseline=REPO + "main",
        says="event 'repository_dispatch' is not handled specially",
    ),
    "laptop": Row(
        name="",
        event=lambda w: {},
        env={"GITHUB_API_URL": ""},
        baseline="baselines/analytics.json in the working tree",
    ),
}


@pytest.fixture(scope="module")
def world(hub: Hub, project: str) -> World:
    first = hub.put("gate.yml", RULES.encode(), "main", over=True)
    hub.tag("v1.0.0", first)
    hub.call("POST", "/releases", {"tag_name": "v1.0.0", "target_commitish": "main"})
    tip = hub.put("README.md", b"More.", "main", over=True)
    hub.tag("v1.1.0", tip)
    hub.refer("heads/risky", tip)
    rules = RULES.replace("- facts", "- ./mine.py:Mine").encode()
    risky = hub.put("gate.yml", rules, "risky", over=True)
    return World(first=first, tip=tip, risky=risky, pull=hub.pull("change", tip))


@pytest.fixture(scope="module")
def runs(
    gate_tools: Path, hub: Hub, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[Container]]]:
    """Every row's container."""

    def act(row: Row) -> Container:
        """The action on a working copy of the project, with twelve of its cases."""
        folder = tmp_path_factory.mktemp("row")
        copy = checkout(folder / "copy")
        for file, text in {"gate.yml": RULES, **row.files}.items():
            (copy / file).write_text(text, encoding="utf-8")
        env = {"GITHUB_EVENT_NAME": row.name, "GITHUB_SHA": world.tip, "GITHUB_BASE_REF": ""}
        ref = {"GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch", "GITHUB_HEAD_REF": ""}
        runner = Runner(tools=gate_tools, state=folder / "state")
        env = {**env, **ref, **row.env}
        return judge(runner, hub, row.event(world), copy, env=env, sample="12")

    with ThreadPoolExecutor(2) as pool:
        yield {what: pool.submit(act, row) for what, row in TABLE.items()}


@pytest.mark.parametrize("what", TABLE)
def test_each_event_is_judged_as_the_table_has_it(
    what: str, world: World, runs: Mapping[str, Future[Container]]
) -> None:
    row, ended = TABLE[what], runs[what].result()
    assert ended.code == row.code, ended.said()
    assert row.says in ended.stdout, ended.said()
    assert not (ended.state / "workspace" / "ran").exists(), "code of the head was run"
    assert [ended.file(name) for name in ("set_env", "add_path", "save_state")] == ["", "", ""]
    if not row.outcome:
        assert not (ended.state / "workspace" / "results").exists()
        return
    outputs = ended.outputs()
    assert (outputs["outcome"], outputs["exit-code"]) == (row.outcome, str(row.code))
    assert bool(outputs.get("comment-url")) == row.comment
    if row.baseline:
        short = {"tip": world.tip[:7], "first": world.first[:7]}
        file = ended.state / "workspace" / outputs["session-dir"] / "summary.json"
        detail = json.loads(file.read_text(encoding="utf-8"))["baseline"]["detail"]
        assert detail.startswith(row.baseline.format(**short))


def test_an_accepting_comment_runs_the_gate_again(
    runner: Runner, hub: Hub, world: World, tmp_path: Path
) -> None:
    """On a GitHub of this process's own: the other one runs no workflows."""
    links = ("url", "html_url", "diff_url", "patch_url")
    event = world.about(
        "issue_comment",
        issue__number=3,
        issue__pull_request=dict.fromkeys(links, "https://example.test/3"),
        comment__body="/gate accept the new index finds fewer documents",
    )
    comment = event["comment"]
    with serving(GitHub()) as github:
        github.permissions[comment["user"]["login"]] = "write"
        github.runs.append({"id": 7, "status": "completed", "conclusion": "failure"})
        github.comment(f"<!-- agent-gate id=gate sha={HEAD} run=7.1 v=1 -->\n## ❌ Fail\n")
        where = {"GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": OTHER_REPOSITORY}
        env = {"GITHUB_EVENT_NAME": "issue_comment", **where}
        ended = judge(runner, hub, event, checkout(tmp_path / "copy"), env=env)
    assert ended.code == 0, ended.said()
    assert "the gate runs again on #3" in ended.stdout
    assert github.reruns == ["7/rerun-failed-jobs"]
    assert github.reactions == [(comment["id"], "+1")]
    assert github.violations == []
    assert not (ended.state / "workspace" / "results").exists()


def test_the_second_workflow_of_a_fork_writes_into_the_same_comment(
    world: World, hub: Hub, runner: Runner, runs: Mapping[str, Future[Container]], tmp_path: Path
) -> None:
    first = runs["draft of a fork"].result()
    shutil.copytree(first.state / "workspace" / "results", tmp_path / "kept" / "results")
    (session,) = (tmp_path / "kept" / "results").glob("session-*")
    event = tmp_path / "event.json"
    event.write_text(json.dumps(world.workflow_run()), encoding="utf-8")
    env = {"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_API_URL": hub.checked}
    told = {**env, "GITHUB_TOKEN": TOKEN}
    ended = runner.run(
        *("comment", f"results/{session.name}"),
        options=(
            *("--network", "host", "--workspace", str(tmp_path / "kept"), "--event", str(event)),
            *(word for name, text in told.items() for word in ("--env", f"{name}={text}")),
        ),
    )
    assert ended.code == 0, ended.said()
    assert len(hub.comments(world.pull["number"])) == 1
