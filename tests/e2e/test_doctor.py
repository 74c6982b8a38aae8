"""`gate doctor`: what it finds in a whole project, and what it advises in one that is not."""

import json
import subprocess

import pytest

from tests.support.chat_server import ChatServer
from tests.support.github_server import REPOSITORY, Answer, GitHub, serving
from tests.support.in_process import gate
from tests.support.yes_project import CASES, right, write_project

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
    assert agent["advice"] == "look into the agent's own log: the error is there"


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


def test_the_agent_is_asked_although_the_datasets_are_at_fault(tmp_path):
    with ChatServer(right) as server:
        cases = [{**case, "status": "proposed"} for case in CASES]
        write_project(tmp_path, server.url, cases=cases)
        named, code = findings(tmp_path)
        assert server.calls == 1
    assert code == 1
    assert "no case is approved (12 proposed)" in named["gate.yml"][0]["text"]
    (agent,) = named["agent"]
    assert agent["ok"]
    assert 'asked "Hello, can you hear me?"' in agent["text"]


def test_many_faulty_cases_are_a_few_lines(tmp_path):
    cases = [{**case, f"other{n}": 1, "expected_answer": {}} for n, case in enumerate(CASES * 9)]
    cases = [{**case, "id": f"case-{n}", "category": n} for n, case in enumerate(cases)]
    write_project(tmp_path, NOWHERE, cases=cases)
    named, _ = findings(tmp_path)
    assert 1 <= len(named["gate.yml"]) <= 7
    assert all(one["name"] == "gate.yml" for one in named["gate.yml"])


def test_an_unreadable_workflow_is_named(repository):
    write_workflow(repository, "gate.yml", "[pull_request, push]")
    (repository / ".github" / "workflows" / "broken.yml").write_text("on: [push\njobs: {")
    named, _ = findings(repository)
    assert named["workflows"][0]["text"].startswith("broken.yml cannot be read: broken.yml:")
    assert not named["workflows"][0]["ok"] or named["workflows"][0]["warns"]


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "check the key in judge.api_key_env"), (500, "look into the judge's own log")],
)
def test_a_judge_that_fails_its_question_is_something_to_do(tmp_path, status, advice):
    with ChatServer(lambda question, nth: (status, {}, {})) as server:
        judge = f'judge: {{type: openai, base_url: "{server.url}", model: j}}'
        write_project(tmp_path, NOWHERE, more=judge)
        named, code = findings(tmp_path)
        assert server.calls >= 1
    assert code == 1
    assert not named["judge"][0]["ok"]
    assert f"answered {status}" in named["judge"][0]["text"]
    assert named["judge"][0]["advice"].startswith(advice)


def test_a_judge_is_asked_a_small_question_with_time_and_cost(tmp_path):
    def reply(question, nth):
        return '{"heard": true}' if question == "Can you hear me?" else "yes"

    with ChatServer(reply) as server:
        price = "pricing: {stub-model: {input: 1, output: 2}}"
        judge = f'judge: {{type: openai, base_url: "{server.url}", model: j}}\n{price}'
        write_project(tmp_path, server.url, more=judge)
        named, code = findings(tmp_path)
        assert server.calls == 2
    assert code == 0
    assert " answered a small question: " in named["judge"][0]["text"]
    assert "USD" in named["judge"][0]["text"] or "$" in named["judge"][0]["text"]


def test_an_agent_without_a_price_is_ok_and_the_price_is_a_note(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        named, code = findings(tmp_path)
    assert code == 0
    assert named["agent"][0]["advice"] == ""
    assert named["cost"][0]["text"] == "stub-model has no price"
    assert named["cost"][0]["warns"]


def test_a_saved_baseline_that_is_not_committed_is_to_be_committed(repository):
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    with ChatServer(right) as server:
        write_project(repository, server.url)
        config = repository / "gate.yml"
        config.write_text(config.read_text() + "baseline: {branch: trunk}\n")
        subprocess.run([*git, "add", "gate.yml", "cases.jsonl"], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
        first = gate(repository, "run")
        assert "Next: create a baseline: run gate baseline save" in first.stdout
        saved = gate(repository, "baseline", "save", "latest")
        last = "Next: git add baselines && git commit - runs compare with the committed file"
        assert saved.stdout.splitlines()[-1] == last
        named, _ = findings(repository)
        assert named["baseline"][0]["advice"] == "commit it: git add baselines && git commit"
        second = gate(repository, "run")
        told = "Next: runs compare with the committed baseline, so commit it: git add baselines"
        assert told in second.stdout
        assert "run gate baseline save" not in second.stdout
        subprocess.run([*git, "add", "baselines"], check=True)
        subprocess.run([*git, "commit", "-qm", "y"], check=True)
        named, _ = findings(repository)
    assert "4 more runs of the base branch make it sound" in named["baseline"][0]["advice"]


@pytest.mark.parametrize("status", [200, 401])
def test_github_is_asked_what_the_token_may_do(repository, status):
    env = {"GITHUB_TOKEN": "ghs_abc", "GITHUB_REPOSITORY": REPOSITORY}
    may = {"permissions": {"admin": False, "push": True, "pull": True}}
    write_project(repository, NOWHERE, more="gatez: {}")  # nothing else is asked of GitHub
    with serving(GitHub()) as github:
        github.faults.append((f"GET /repos/{REPOSITORY}", Answer(status, may)))
        named, _ = findings(repository, env={**env, "GITHUB_API_URL": github.url})
    (told,) = named["token"]
    if status == 200:
        assert told["text"] == f"in {REPOSITORY} it may: push, pull"
        assert told["advice"] == ""
    else:
        assert "nobody knows what it may do: GitHub answered 401" in told["text"]
        assert told["warns"]
