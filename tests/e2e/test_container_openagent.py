"""The image against an OpenAgent server of its host: the command that the old tool had."""

import json
from pathlib import Path

from tests.support.container import Runner
from tests.support.sample_service import serving

KEY = "sk-store-k3y"
# What a runner would say; `docker run` on a laptop says nothing of it.
JOB = "ACTIONS EVENT_NAME EVENT_PATH REPOSITORY REPOSITORY_ID RUN_ID SHA REF API_URL OUTPUT"


def test_all_suites_run_against_a_server_of_the_host(runner: Runner, tmp_path: Path) -> None:
    workspace = tmp_path / "empty"
    workspace.mkdir()
    host = ("--network", "host", "--run-opt", "--add-host=host.docker.internal:127.0.0.1")
    unset = (word for name in JOB.split() for word in ("--env", f"GITHUB_{name}="))
    place = ("--workspace", str(workspace), "--env", f"OPENAGENT_PROVIDER_KEY={KEY}", *unset)
    with serving(api_key=KEY, scratch=tmp_path / "server") as url:
        address = url.replace("127.0.0.1", "host.docker.internal")
        arguments = ("--suite", "all", "--base-url", address, "--rounds", "1", "--stop", "off")
        ended = runner.run(*arguments, options=(*host, *place))
    assert ended.code == 1, ended.said()
    assert "FAIL: hardchat: agent.success_rate is 0" in ended.stdout, "of which nothing passes"
    assert KEY not in ended.said()
    (session,) = (ended.state / "workspace" / "results").glob("session-*")
    assert json.loads((session / "meta.json").read_text("utf-8"))["health"]["ok"] is True
    rows = [json.loads(x) for x in (session / "details.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 90
    evidence = {row["case_id"]: row["evidence"]["verdict"] for row in rows if row["evidence"]}
    assert evidence["FI-2"] == "unknown", "the server's logs are not in the container"
    assert (tmp_path / "server" / "scratch" / "fi2_note.md").is_file(), "paths sent as written"
