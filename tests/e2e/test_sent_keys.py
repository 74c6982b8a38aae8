"""A request that is filled with a key of the case (`{{case.KEY}}`), and cases that lack the key."""

import json
from contextlib import chdir

import pytest

from gate.errors import UsageError
from gate.run.execute import execute
from gate.run.options import Host, RunOptions
from gate.run.pipeline import measure
from tests.support.chat_server import ChatServer
from tests.support.in_process import run_command, run_session
from tests.support.protected_repository import Repository
from tests.support.session_files import sessions_in, trials_in
from tests.support.yes_project import right

CONFIG = """version: 1
agent:
  type: http
  url: "{url}"
  body:
    messages: [{{role: user, content: "{{{{question}}}}"}}]
    customer: "{{{{case.customer}}}}"
  response: {{answer: choices.0.message.content}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}}
{more}
"""
PLACE = "gate.yml:7: agent.body.customer: {{case.customer}}: "


@pytest.fixture
def agent():
    with ChatServer(right) as server:
        yield server


def rows(with_key, without):
    cases = [{"id": f"a{n}", "customer": "x"} for n in range(with_key)]
    cases += [{"id": f"b{n}"} for n in range(without)]
    cases = [{**case, "input": f"q {case['id']}", "expected_answer": "yes"} for case in cases]
    return "".join(json.dumps(case) + "\n" for case in cases)


def write(folder, agent, *, with_key=2, without=3, more=""):
    (folder / "gate.yml").write_text(CONFIG.format(url=agent.url, more=more))
    (folder / "cases.jsonl").write_text(rows(with_key, without))


@pytest.mark.parametrize("command", [("validate",), ("run", "--dry-run"), ("run",)])
def test_a_case_without_the_key_is_found_before_anything_is_asked(tmp_path, agent, command):
    write(tmp_path, agent)
    done = run_command(tmp_path, *command, code=2)
    assert done.stderr.splitlines()[-1] == (
        f"gate: {PLACE}the case at cases.jsonl:3 and 2 more cases have no 'customer' - write the "
        "key into each of them, or remove the placeholder"
    )
    assert agent.asked == {}
    assert not sessions_in(tmp_path)


def test_doctor_tells_it_and_asks_nothing_else(tmp_path, agent):
    write(tmp_path, agent)
    done = run_command(tmp_path, "doctor", code=1)
    assert f"{PLACE}the case at cases.jsonl:3 and 2 more cases have no 'customer'" in done.stdout
    assert "-> write the key into each of them, or remove the placeholder" in done.stdout
    assert "reachable; not asked, as a case is missing for its request" in done.stdout
    assert agent.asked == {}


def test_only_cases_that_are_asked_count(tmp_path, agent):
    write(tmp_path, agent)
    run_command(tmp_path, "run", "--case", "a1")
    done = run_command(tmp_path, "run", "--case", "b0", code=2)
    assert f"{PLACE}the case at cases.jsonl:3 has no 'customer' - write the key into it" in (
        done.stderr
    )
    assert set(agent.asked) == {"q a1"}


def test_failed_cases_of_a_session_count_and_others_do_not(tmp_path, agent):
    write(tmp_path, agent, without=0)
    (tmp_path / "cases.jsonl").write_text(rows(2, 0).replace('"yes"', '"no"', 1))
    session = run_session(tmp_path)
    (tmp_path / "cases.jsonl").write_text(rows(2, 1).replace('"yes"', '"no"', 1))
    run_command(tmp_path, "run", "--failed", str(session), code=1)
    (tmp_path / "cases.jsonl").write_text(rows(0, 1).replace("b0", "a0").replace("yes", "no"))
    done = run_command(tmp_path, "run", "--failed", str(session), code=2)
    assert f"{PLACE}the case at cases.jsonl:1 has no 'customer'" in done.stderr


def test_a_retriever_is_checked_as_an_agent_is(tmp_path, agent):
    write(tmp_path, agent, more='retriever: {type: http, url: "http://h/{{case.site}}"}')
    done = run_command(tmp_path, "validate", code=2)
    problems = [line for line in done.stderr.splitlines() if ".jsonl" in line]
    assert len(problems) == 2
    assert "gate.yml:11: retriever.url: {{case.site}}: the case at cases.jsonl:1 and 4 more" in (
        done.stderr
    )


def test_a_get_sends_no_body(tmp_path, agent):
    text = CONFIG.format(url=f"{agent.url}/{{{{question}}}}", more="")
    (tmp_path / "gate.yml").write_text(text.replace("type: http", "type: http\n  method: GET"))
    (tmp_path / "cases.jsonl").write_text(rows(0, 1))
    run_command(tmp_path, "validate")


def test_where_the_base_branch_judges_its_cases_count(tmp_path, agent):
    made = Repository(tmp_path)
    made.commit(gate_yml=CONFIG.format(url=agent.url, more=""), cases_jsonl=rows(0, 2))
    sha = made.git("rev-parse", "main").strip()[:7]
    made.git("checkout", "-q", "-b", "work")
    made.write(cases_jsonl=rows(0, 3).replace("{", '{"customer": "x", '))
    run_command(tmp_path, "validate")
    done = run_command(tmp_path, "run", "--protect", code=2)
    assert f"the case at cases.jsonl@{sha}:1 and 1 more case have no 'customer'" in done.stderr
    assert "into each of them on main, whose cases run here, or remove" in done.stderr
    assert agent.asked == {}


@pytest.mark.parametrize("finished", [True, False])
def test_a_mistake_that_ends_the_run_leaves_a_session_only_with_trials(tmp_path, agent, finished):
    write(tmp_path, agent, without=0)

    def break_off(*arguments, **more):
        if finished:
            measure(*arguments, **more)
        raise UsageError("the agent wants another case")

    with chdir(tmp_path), pytest.raises(UsageError, match="wants another case"):
        execute(RunOptions(quiet=True), Host(env={}), measure=break_off)
    assert [len(trials_in(session)) for session in sessions_in(tmp_path)] == [2] * finished
