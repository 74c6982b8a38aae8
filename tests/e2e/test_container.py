"""The image, built for real and run as GitHub's runner runs a container action.

Needs GATE_TOOLS; the pull request, its comment and the baseline live on a stateful GitHub API on
loopback that refuses requests which break GitHub's own description.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import yaml

from gate import __version__
from tests.support.container import TOKEN, Hub, Runner, checkout, judge
from tests.support.paths import ROOT
from tests.support.yes_project import write_recorded_project

# Instead of `docker`, which needs a daemon: what builds and runs all images of these tests.
DOCKER = """#!/bin/sh
case "$1 $2" in
"build -t") exec bash "$TOOLS/container_build.sh" "$4" --tag "localhost/$3" --no-run ;;
"run --rm") shift && exec podman run --runtime runc --network none $LIMITS "$@" ;;
esac
exit 64
"""
LIMITS = "--ulimit nofile=1024:1024 --ulimit nproc=8192:8192"  # as container_build.sh has them
MEGABYTES = re.compile(r"image \d+ MB = base \d+ MB \+ (\d+) MB of its own")


# ---------------------------------------------------------------------------------- the image alone


def test_own_layers_are_small(image: str) -> None:
    said = MEGABYTES.search(image)
    assert said, image
    assert int(said[1]) <= 100


def test_it_needs_neither_network_nor_a_writable_root(runner: Runner) -> None:
    closed = ("--network", "none", "--run-opt", "--read-only", "--run-opt", "--cap-drop=all")
    ended = runner.run("--version", options=closed)
    assert (ended.code, ended.stdout) == (0, f"gate {__version__}\n")


def test_an_option_first_runs(runner: Runner) -> None:
    ended = runner.run("--config", "nowhere.yml", options=("--network", "none"))
    assert ended.code == 2
    assert "nowhere.yml" in ended.stderr


def test_nothing_first_is_the_action(runner: Runner) -> None:
    ended = runner.run(options=("--network", "none", "--input", "config=nowhere.yml"))
    assert ended.code == 2
    assert "nowhere.yml" in ended.stdout + ended.stderr


def test_a_file_of_the_pull_request_cannot_stand_in_for_a_module(
    runner: Runner, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("gate", "requests", "yaml", "json"):
        (workspace / f"{name}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    options = ("--workspace", str(workspace), "--network", "none")
    ended = runner.run("schema", "config", options=(*options, "--env", "PYTHONPATH=."))
    assert ended.code == 0, ended.stderr


# ------------------------------------------------------------------------- the lines of the README


def test_the_lines_of_the_readme_build_the_image_and_run_the_gate_in_a_folder(
    image: str, gate_tools: Path, tmp_path: Path
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (build,) = re.findall("`(docker build [^`]*)` in a clone", text)
    (run,) = re.findall("`(docker run [^`]*)` where this page says `gate run`", text)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    path = os.pathsep.join((str(docker.parent), os.environ["PATH"]))
    env = {**os.environ, "PATH": path, "TOOLS": str(gate_tools), "LIMITS": LIMITS}
    write_recorded_project(tmp_path, code=1)
    for line, folder, code in ((build, ROOT, 0), (run, tmp_path, 1)):
        done = subprocess.run(
            ["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, (line, done.stdout + done.stderr)
    assert "FAIL: agent.success_rate is 0" in done.stdout
    assert len(list((tmp_path / "results").glob("session-*"))) == 1


# -------------------------------------------------------------------------------- on a pull request


def test_the_unchanged_agent_passes_and_says_so(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    ended = judge(runner, hub, pull_request, checkout(tmp_path / "copy"))
    assert ended.code == 0, ended.stdout + ended.stderr
    outputs = ended.outputs()
    assert (outputs["outcome"], outputs["passed"], outputs["exit-code"]) == ("pass", "true", "0")
    assert outputs["baseline-source"] == "repo"
    assert json.loads(outputs["newly-failing"]) == []
    assert (ended.state / "workspace" / outputs["session-dir"] / "summary.json").is_file()
    (comment,) = hub.comments(pull_request["number"])
    sha = pull_request["pull_request"]["head"]["sha"]
    assert comment["body"].startswith(f"<!-- agent-gate id=gate sha={sha} run=1.1 v=1 -->\n")
    assert outputs["comment-url"]
    assert "analytics" in ended.file("step_summary")


def test_a_worse_agent_fails_and_the_same_comment_names_what_broke(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    ended = judge(runner, hub, pull_request, checkout(tmp_path / "copy", top_k=1))
    assert ended.code == 1, ended.stdout + ended.stderr
    outputs = ended.outputs()
    assert (outputs["outcome"], outputs["passed"], outputs["exit-code"]) == ("fail", "false", "1")
    told = json.loads(outputs["json"])
    assert told["counts"]["newly_failing"] == len(json.loads(outputs["newly-failing"]))
    worse = [name for name, one in told["metrics"].items() if (one["change"] or 0) < 0]
    assert "agent.success_rate" in {name.rpartition("/")[2] for name in worse}
    page = ended.state / "workspace" / outputs["report-path"]
    assert page.name == "report.html"
    assert page.is_file()
    broken = json.loads(outputs["regressions"])
    assert broken
    (comment,) = hub.comments(pull_request["number"])
    metrics = [regression.partition(": ")[2] for regression in broken]
    named = [metric for metric in metrics if f"`{metric}`" in comment["body"]]
    # Of metrics that say nearly the same, one is named and the others are counted.
    assert {metric.partition(".")[0] for metric in named} == {m.partition(".")[0] for m in metrics}
    assert named == metrics or " like it)" in comment["body"]
    newly_failing = json.loads(outputs["newly-failing"])
    assert newly_failing
    assert newly_failing[0].partition(": ")[2] in comment["body"]
    assert TOKEN not in comment["body"] + ended.stdout + ended.stderr + ended.file("step_summary")


def test_every_declared_output_is_written(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    checkout(tmp_path / "copy")
    named = {"working-directory": "./", "comment-title": "Support"}
    ended = judge(runner, hub, pull_request, tmp_path / "copy", **named)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(ended.outputs()) == set(action["outputs"])
    assert " Support: " in ended.file("step_summary").splitlines()[0]


def test_fail_false_leaves_the_verdict_to_the_outputs(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    workspace = checkout(tmp_path / "copy", top_k=1)
    ended = judge(runner, hub, pull_request, workspace, fail="false", comment="never")
    assert ended.code == 0, ended.stdout + ended.stderr
    assert ended.outputs()["outcome"] == "fail"
    assert ended.outputs()["comment-url"] == ""
    assert "No comment was written: `comment: never`, and the outcome is fail." in ended.stdout
