"""`gate run --suite ./file.py:Class` without a gate.yml, for a class with the base of the page."""

import pytest

from gate.suite_code import SuiteBase
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.session_files import details_of, summary_of

CODE = """
from gate.suite_code import RunRecord, SuiteBase

class MySuite(SuiteBase):
    concurrent = True

    def load_tasks(self):
        return [{"id": f"t{n}", "prompt": f"What is {n} + {n}?"} for n in range(6)]

    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        asked = f"{base_url}|{model}|{provider_key}"
        ok = task["id"] != "t5"
        return RunRecord(ok=ok, response_text=asked, total_tokens=9)

class Half(SuiteBase):
    def load_tasks(self):
        return []
"""
CONFIG = """
version: 1
agent: {type: sample}
suites:
  - {name: own, suite: "./my_suite.py:MySuite", rounds: 1}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_suite.py").write_text(CODE)
    return tmp_path


def ran(folder, *arguments, env=None):
    return gate(folder, "run", "--suite", "./my_suite.py:MySuite", "--quiet", *arguments, env=env)


def session(folder):
    (found,) = (folder / "results").glob("session-*")
    return found


def test_it_needs_neither_gate_yml_nor_agent(folder):
    told = ran(folder, "--rounds", "2")
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.startswith("no_baseline: ")
    found = summary_of(session(folder))
    suite = found["suites"]["MySuite"]
    assert (suite["cases"], suite["trials"]) == (6, 12)
    assert suite["metrics"]["agent.success_rate"]["value"] == pytest.approx(5 / 6)
    assert found["overall"]["avg_tokens"] == 9
    assert {row["output"] for row in details_of(session(folder))} == {"||"}


def test_it_is_asked_as_the_agent_of_gate_yml_would_be(folder):
    with ChatServer(lambda question, nth: "x") as server:
        agent = f"{{type: openai, base_url: '{server.url}', model: m}}"
        (folder / "gate.yml").write_text(f"version: 1\nagent: {agent}\n")
        told = ran(folder, "--rounds", "1")
    assert told.returncode == 0, told.stdout + told.stderr
    assert {row["output"] for row in details_of(session(folder))} == {f"{server.url}|m|"}


def test_without_gate_yml_an_address_is_that_of_an_openagent_server(folder):
    key = {"OPENAGENT_PROVIDER_KEY": "sk-given-for-this"}
    told = ran(folder, "--base-url", "http://127.0.0.1:9", env=key)
    assert told.returncode == 6, told.stdout + told.stderr
    assert "the agent cannot be reached" in told.stdout


def test_the_command_that_shows_a_failing_case_names_the_class(folder):
    (folder / "my_suite.py").write_text(CODE.replace('task["id"] != "t5"', "False"))
    assert ran(folder, "--rounds", "1").returncode == 1
    command = "gate run --suite ./my_suite.py:MySuite --case t"
    assert summary_of(session(folder))["reproduce"].startswith(command)


def test_the_suite_of_gate_yml_is_meant_where_it_has_the_class(folder):
    (folder / "gate.yml").write_text(CONFIG)
    told = ran(folder)
    assert told.returncode == 0, told.stdout + told.stderr
    assert summary_of(session(folder))["suites"].keys() == {"own"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./my_suite.py:Nope", "has no 'Nope'"),
        ("./my_suite.py:", "write ./file.py:Class or module:Class"),
        ("./my_suite.py:Half", "abstract"),
        ("./nowhere.py:MySuite", "not found"),
    ],
)
def test_what_is_no_suite_is_told(folder, name, said):
    told = gate(folder, "run", "--suite", name, "--quiet")
    assert told.returncode == 2
    assert said in told.stderr


def test_another_suite_of_that_name(folder):
    (folder / "gate.yml").write_text(CONFIG.replace("own", "half").replace("MySuite", "Other"))
    told = gate(folder, "run", "--suite", "./my_suite.py:Half", "--quiet")
    assert told.returncode == 2


def test_the_base_is_abstract():
    with pytest.raises(TypeError):
        SuiteBase()
