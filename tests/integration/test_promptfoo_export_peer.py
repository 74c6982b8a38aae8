"""What `gate export --format promptfoo` writes, taken by promptfoo itself."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.in_process import gate
from tests.support.paths import DATA

pytestmark = pytest.mark.peers

SESSION = DATA / "openagent_session"


@pytest.fixture
def promptfoo(tmp_path, gate_artifact_node):
    """Runs its command line, with a database of its own, on the Node that it wants."""
    program = Path(os.environ.get("GATE_PEERS", "")) / "promptfoo/node_modules/.bin/promptfoo"
    node = gate_artifact_node / "node_modules" / ".bin" / "node"
    if "GATE_PEERS" not in os.environ or not program.exists():
        pytest.skip("GATE_PEERS names no folder with promptfoo")

    def run(*arguments):
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
        env = {**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home")}
        env["PATH"] = f"{node.parent}{os.pathsep}{env['PATH']}"
        command = [str(node), str(program), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, env=env, cwd=tmp_path, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_promptfoo_imports_it_and_gives_back_the_same_verdicts(promptfoo, tmp_path):
    gate(tmp_path, "import", "openagent", str(SESSION), "--out", "imported")
    (session,) = (tmp_path / "imported").glob("session-*")
    gate(tmp_path, "export", str(session), "--format", "promptfoo", "--out", "eval.json")
    own = json.loads((tmp_path / "eval.json").read_text("utf-8"))

    assert "has been successfully imported" in promptfoo("import", "eval.json")
    promptfoo("export", "eval", own["evalId"], "-o", "again.json")
    theirs = json.loads((tmp_path / "again.json").read_text("utf-8"))["results"]

    assert verdicts(theirs["results"]) == verdicts(own["results"]["results"])
    assert len(theirs["results"]) == 42
    counted = {key: theirs["stats"][key] for key in ("successes", "failures", "errors")}
    assert counted == {key: own["results"]["stats"][key] for key in counted}
    assert [one["label"] for one in theirs["prompts"]] == ["dialogue", "tool"]


def verdicts(results):
    return sorted(
        (
            one["testIdx"],
            one["promptIdx"],
            one["testCase"]["description"],
            one["success"],
            one["failureReason"],
        )
        for one in results
    )
