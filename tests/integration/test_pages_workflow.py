"""The shell step of the Pages workflow, run with `gh` replaced by a script: which artifacts it
takes, and where it puts them. Its filters are read by the real jq.
"""

import json
import shutil
import subprocess
import tarfile

import pytest

from gate.files import yaml as yamlfile
from tests.support.paths import ROOT

OWN, FORK = 1, 2  # repositories
pytestmark = [
    pytest.mark.skipif(shutil.which("jq") is None, reason="jq: not on this machine"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash: not on this machine"),
]
GH = """#!/bin/bash
echo "$*" >> "$CALLS"
if [ "$1" = api ]; then
  name=$(echo "$2" | sed -n 's/.*&name=//p')
  chosen='{artifacts: [.artifacts[] | select($name == "" or .name == $name)]}'
  jq --arg name "$name" "$chosen" "$LISTED" | jq -r "$4"
else # run download RUN --name NAME --dir DIR
  mkdir -p "$7"
  cp -r "$STORED/$5/." "$7"
fi
"""


def artifact(name, run, *, branch="main", repository=OWN, expired=False):
    made = {
        "id": run,
        "head_branch": branch,
        "repository_id": OWN,
        "head_repository_id": repository,
    }
    return {"name": name, "expired": expired, "workflow_run": made}


def step():
    """The script, as the example has it, which is what `gate init --pages` writes."""
    text = (ROOT / "examples" / "pages.yml").read_text("utf-8")
    return yamlfile.parse(text.encode(), "pages.yml").data["jobs"]["build"]["steps"][0]["run"]


@pytest.fixture
def run(tmp_path):
    """Runs the step over a list of artifacts; gives the folder and what `gh` was asked."""

    def run(*listed, new="77"):
        work, stored = tmp_path / "work", tmp_path / "stored"
        work.mkdir()
        for name in ("gate-baseline", "gate-session-abc", "gate-main-session"):
            (stored / name).mkdir(parents=True)
            (stored / name / "file").write_text(name)
        (stored / "github-pages").mkdir()
        kept = tmp_path / "site" / "reports" / "5"
        kept.mkdir(parents=True)
        (kept / "report.html").write_text("kept")
        with tarfile.open(stored / "github-pages" / "artifact.tar", "w") as tar:
            tar.add(tmp_path / "site", ".")
        (tmp_path / "gh").write_text(GH)
        (tmp_path / "gh").chmod(0o755)
        (tmp_path / "listed.json").write_text(json.dumps({"artifacts": listed}))
        (tmp_path / "calls").write_text("")
        env = {
            "PATH": f"{tmp_path}:/usr/bin:/bin:/usr/local/bin",
            "CALLS": str(tmp_path / "calls"),
            "LISTED": str(tmp_path / "listed.json"),
            "STORED": str(stored),
            "GH_REPO": "octo/demo",
            "BRANCH": "main",
            "NEW": new,
        }
        # As the runner starts it.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step()]
        done = subprocess.run(
            command, cwd=work, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return work, (tmp_path / "calls").read_text().splitlines()

    return run


def test_the_first_time_there_is_no_site_and_no_baseline(run):
    work, calls = run()
    assert sorted(one.name for one in work.iterdir()) == ["baselines", "sessions", "site"]
    assert not [call for call in calls if call.startswith("run download")]


def test_the_site_goes_on_with_what_it_had_and_new_sessions_are_added(run):
    work, _ = run(
        artifact("github-pages", 70),
        artifact("gate-baseline", 71),
        artifact("gate-session-abc", 77, branch="change"),
        artifact("gate-main-session", 71),
        artifact("gate-main-session", 5),
    )
    assert (work / "site" / "reports" / "5" / "report.html").read_text() == "kept"
    assert (work / "baselines" / "file").read_text() == "gate-baseline"
    assert (work / "sessions" / "77" / "file").read_text() == "gate-session-abc"
    assert (work / "sessions" / "71" / "file").read_text() == "gate-main-session"
    assert not (work / "sessions" / "5").exists(), "it is in the site already"


def test_what_a_fork_uploaded_or_what_has_expired_is_not_taken(run):
    _, calls = run(
        artifact("github-pages", 70, repository=FORK),
        artifact("gate-baseline", 71, branch="change"),
        artifact("gate-baseline", 72, repository=FORK),
        artifact("gate-session-abc", 77, repository=FORK),
        artifact("gate-main-session", 73, expired=True),
        artifact("other", 74),
    )
    assert not [call for call in calls if call.startswith("run download")]


def test_a_run_that_was_made_again_replaces_its_report(run):
    work, _ = run(artifact("github-pages", 70), artifact("gate-main-session", 5), new="5")
    assert (work / "sessions" / "5" / "file").exists()
