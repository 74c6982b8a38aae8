"""`gate doctor`: what it finds in a whole project, and what it advises in one that is not."""

import json
import subprocess

import pytest

from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.yes_project import right, write_project

SECRET = "sk-doctor-0123456789abcdef"
NOWHERE = "http://127.0.0.1:9"
WORKFLOW = """on: {on}
permissions: {{}}
jobs:
  gate:
    runs-on: ubuntu-latest
    permissions: {{contents: read, pull-requests: {level}, actions: read}}
    steps: [{{uses: agent-gate/agent-gate@v0}}]
"""


def findings(folder, *arguments, env=None):
    """name -> findings, and the exit code."""
    done = gate(folder, "doctor", "--format", "json", *arguments, env=env)
    named = {}
    for one in json.loads(done.stdout):
        named.setdefault(one["name"], []).append(one)
    return named, done.returncode


def test_an_agent_that_answers_is_shown_with_its_answer_and_a_run_can_give_a_verdict(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        done = gate(tmp_path, "doctor")
        assert server.calls == 1, "one question, and no more"
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "A run can give a verdict."
    assert "ok    gate.yml: gate.yml: 1 suite, 12 cases" in done.stdout
    assert "asked s/c0: " in done.stdout
    assert "answered: yes" in done.stdout
    assert "note  baseline: s: there is none" in done.stdout
    assert not list(tmp_path.glob("results*")), "it leaves nothing behind"


def test_an_agent_that_is_not_there_is_the_one_thing_to_do(tmp_path):
    write_project(tmp_path, NOWHERE)
    done = gate(tmp_path, "doctor")
    assert done.returncode == 1
    assert "TODO  agent: " in done.stdout
    assert NOWHERE in done.stdout
    assert "refused the connection: start the agent there" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 to do before a run can give a verdict."


def test_an_agent_that_fails_its_question_is_told_with_the_way_to_try_it(tmp_path):
    def broken(question, nth):
        return 500, {}, {}

    with ChatServer(broken) as server:
        write_project(tmp_path, server.url)
        named, code = findings(tmp_path)
    assert code == 1
    (agent,) = named["agent"]
    assert "answered 500" in agent["text"]
    assert agent["advice"] == "try it with `gate run --case c0`"


def test_every_mistake_of_gate_yml_has_a_line_with_its_place(tmp_path):
    write_project(tmp_path, NOWHERE, suite_more="roundz: 2", more="gatez: {}")
    named, code = findings(tmp_path)
    assert code == 1
    assert [one["ok"] for one in named["gate.yml"]] == [False, False]
    assert any("gate.yml:8: suites[0].roundz" in one["text"] for one in named["gate.yml"])
    assert all("did you mean" in one["text"] + one["advice"] for one in named["gate.yml"])
    assert "agent" not in named, "without rules nobody knows whom to ask"


def test_a_variable_that_nobody_set_is_named(tmp_path):
    write_project(tmp_path, NOWHERE)
    config = (tmp_path / "gate.yml").read_text()
    config = config.replace("model: m,", "model: m, api_key_env: NOBODY_SET_IT,")
    (tmp_path / "gate.yml").write_text(config)
    named, code = findings(tmp_path)
    assert code == 1
    (agent,) = named["agent"]
    assert "NOBODY_SET_IT is not set" in agent["text"]
    assert agent["advice"].startswith("set it to the key")


def test_no_secret_is_printed(tmp_path):
    def leaks(question, nth):
        return f"my key is {SECRET}"

    with ChatServer(leaks) as server:
        write_project(tmp_path, server.url)
        config = (tmp_path / "gate.yml").read_text()
        config = config.replace("model: m,", "model: m, api_key_env: THE_KEY,")
        (tmp_path / "gate.yml").write_text(config)
        for form in ("plain", "json"):
            done = gate(tmp_path, "doctor", "--format", form, env={"THE_KEY": SECRET})
            assert "my key is" in done.stdout
            assert SECRET not in done.stdout + done.stderr


def test_variables_of_a_file_are_used_where_none_is_set(tmp_path):
    with ChatServer(lambda question, nth: f"my key is {SECRET}") as server:
        write_project(tmp_path, server.url)
        config = (tmp_path / "gate.yml").read_text()
        config = config.replace("model: m,", "model: m, api_key_env: THE_KEY,")
        (tmp_path / "gate.yml").write_text(config)
        (tmp_path / ".env").write_text(f"THE_KEY={SECRET}\n")
        assert findings(tmp_path)[1] == 1
        done = gate(tmp_path, "doctor", "--env-file", ".env")
        assert done.returncode == 0, done.stdout
        assert SECRET not in done.stdout
        ran = gate(tmp_path, "run", "--env-file", ".env", "--baseline", "none")
    assert SECRET not in ran.stdout + ran.stderr
    stored = b"".join(one.read_bytes() for one in tmp_path.rglob("*.jsonl"))
    assert b"my key is" in stored
    assert SECRET.encode() not in stored


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(tmp_path)], check=True)
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    write_project(tmp_path, NOWHERE)
    return tmp_path


def write_workflow(folder, name, on, level="write"):
    text = WORKFLOW.format(on=on, level=level)
    (folder / ".github" / "workflows" / name).write_text(text)


def test_workflows_that_are_missing_are_named(repository):
    named, _ = findings(repository)
    assert [one["text"] for one in named["workflows"]] == [
        "no file in .github/workflows starts the gate"
    ]
    write_workflow(repository, "gate.yml", "pull_request")
    named, _ = findings(repository)
    assert [one["text"] for one in named["workflows"]] == [
        "gate.yml",
        "none runs on pushes to the base branch, or on a schedule",
    ]
    write_workflow(repository, "main.yml", "{push: {branches: [trunk]}}")
    named, _ = findings(repository)
    assert [one["advice"] for one in named["workflows"]] == [""]


def test_a_job_that_may_not_comment_is_told_the_permission(repository):
    write_workflow(repository, "gate.yml", "[pull_request, push]", level="read")
    named, _ = findings(repository)
    assert named["workflows"][1]["text"].startswith("gate.yml: the job gate may not do all")
    assert named["workflows"][1]["advice"] == "add `permissions: {pull-requests: write}` to the job"


def test_ci_needs_a_token_and_a_laptop_does_not(repository):
    named, _ = findings(repository)
    assert named["token"][0]["ok"]
    named, code = findings(repository, env={"CI": "true"})
    assert not named["token"][0]["ok"]
    assert code == 1


def test_sessions_are_counted(repository):
    session = repository / "results" / "session-20261119-120001-0123abcd"
    session.mkdir(parents=True)
    (session / "details.jsonl").write_bytes(b"x" * 2_000_000)
    named, _ = findings(repository)
    assert named["sessions"][0]["text"] == "results: 1 session, 2.0 MB"


def test_workflows_that_init_wrote_for_a_subfolder_are_found_from_there(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    folder = tmp_path / "pkg"
    folder.mkdir()
    done = gate(folder, "init")
    assert done.returncode == 0, done.stderr
    assert "wrote ../.github/workflows/gate.yml" in done.stdout
    named, _ = findings(folder)
    assert [(one["text"], one["advice"]) for one in named["workflows"]] == [
        ("gate-accept.yml, gate-baseline.yml, gate.yml", "")
    ]
