"""What a run tells of what it could not read, before the agent is asked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.errors import InfraFailure, InvalidInput, UsageError
from gate.plugins import AGENTS, build
from gate.run.apply_options import tell_agent_line
from gate.run.options import Host, RunOptions
from gate.run.setup import set_up

CONFIG = """\
version: 1
agent: {type: sample}
suites: [{name: s, dataset: d.jsonl, graders: [exact_match]}]
"""


def test_a_run_on_github_without_a_token_says_how_to_give_it_one(tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text(CONFIG, encoding="utf-8")
    case = {"id": "a", "input": "q", "expected_answer": "yes"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    pull = {
        "head": {"sha": "a" * 40, "ref": "topic", "repo": {"full_name": "octo/demo"}},
        "base": {"sha": "b" * 40, "ref": "main"},
        "number": 3,
    }
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"action": "opened", "pull_request": pull}), encoding="utf-8")
    env = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "octo/demo",
        "GITHUB_API_URL": "https://api.test",
    }
    options = RunOptions(config=str(tmp_path / "gate.yml"))
    (note,) = set_up(options, Host(env=env)).place.rules.notes
    assert note == (
        "judged by its own rules: there is no token; set `github-token: ${{ github.token }}`"
    )


@pytest.mark.parametrize("how", ["option", "gate.yml"])
def test_recorded_answers_are_told_as_such(tmp_path: Path, how: str) -> None:
    agent = "{type: replay, file: a.jsonl}" if how == "gate.yml" else "{type: sample}"
    (tmp_path / "gate.yml").write_text(
        f"version: 1\nagent: {agent}\n"
        "suites: [{name: s, dataset: d.jsonl, graders: [exact_match]}]\n",
        encoding="utf-8",
    )
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("", encoding="utf-8")
    given = ["--replay", str(tmp_path / "a.jsonl")] if how == "option" else []
    options = parse(["run", "--config", str(tmp_path / "gate.yml"), *given])
    told = "recorded answers were judged (`a.jsonl`): no agent was called"
    assert set_up(run_options(options, {"note": "more"}), Host(env={})).notes == (told, "more")


def test_a_lost_dataset_is_told_with_what_names_it(tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text(CONFIG, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"d\.jsonl: there is no .* its path in gate\.yml:3$"):
        set_up(RunOptions(config=str(tmp_path / "gate.yml")), Host(env={}))
    options = RunOptions(config=str(tmp_path / "gate.yml"), dataset=str(tmp_path / "x.jsonl"))
    with pytest.raises(InvalidInput, match=r"x\.jsonl: there is no .* its path in --dataset$"):
        set_up(options, Host(env={}))


def write_http_agent(folder: Path, url: str) -> str:
    http = CONFIG.replace("type: sample", f"type: http, url: '{url}'")
    (folder / "gate.yml").write_text(http, encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (folder / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    return str(folder / "gate.yml")


def test_a_wrong_address_is_told_with_its_line(tmp_path: Path) -> None:
    place = set_up(RunOptions(config=write_http_agent(tmp_path, "ftp://a/ask")), Host(env={})).place
    told = r"^gate\.yml:2: agent\.url: not an address"
    with pytest.raises(UsageError, match=told), tell_agent_line(place.config):
        build(AGENTS, place.config.agent, tmp_path).check(place.world)


@pytest.mark.parametrize(
    "given", ["ftp://b:1", "b:1", "http://b:99999", "http:///x", "http://[::1"]
)
def test_a_wrong_address_of_the_option_is_told_as_the_options(tmp_path: Path, given: str) -> None:
    options = RunOptions(config=write_http_agent(tmp_path, "http://a/ask"), base_url=given)
    with pytest.raises(UsageError, match=r"^--base-url: not an address - write http://host:port"):
        set_up(options, Host(env={}))


def test_nobody_at_the_address_of_the_option_is_told_as_the_options(tmp_path: Path) -> None:
    config = write_http_agent(tmp_path, "http://a/ask")
    options = RunOptions(config=config, base_url="http://127.0.0.1:1/x")
    place = set_up(options, Host(env={})).place
    agent = build(AGENTS, place.config.agent, tmp_path)
    with pytest.raises(InfraFailure, match=r"start the agent there or correct --base-url$"):
        agent.check(place.world)
    with pytest.raises(InfraFailure, match=r"start the control_agent there or set control_agent\."):
        agent.check(replace(place.world, section="control_agent"))


def test_an_option_without_a_question_is_told_as_the_options(tmp_path: Path) -> None:
    config = write_http_agent(tmp_path, "http://a/{{input}}', method: GET, model: 'm")
    options = RunOptions(config=config, base_url="http://127.0.0.1:1/x")
    place = set_up(options, Host(env={})).place
    with pytest.raises(UsageError, match=r"^--base-url: no case is sent"):
        build(AGENTS, place.config.agent, tmp_path).check(place.world)


@pytest.mark.parametrize("url", ["${ADDRESS_NOBODY_SET}", "${ADDRESS_NOBODY_SET}/ask"])
def test_a_variable_of_a_replaced_address_need_not_be_set(tmp_path: Path, url: str) -> None:
    config = write_http_agent(tmp_path, url)
    options = RunOptions(config=config, base_url="http://127.0.0.1:1/x")
    agent = set_up(options, Host(env={})).place.config.agent
    assert agent.options["url"] == "http://127.0.0.1:1/x"
    in_part = replace(options, base_url="http://127.0.0.1:1")
    with pytest.raises(InvalidInput, match="ADDRESS_NOBODY_SET is not set"):
        set_up(in_part, Host(env={}))
    env = {"ADDRESS_NOBODY_SET": "http://b/way"}
    agent = set_up(in_part, Host(env=env)).place.config.agent
    assert agent.options["url"].startswith("http://127.0.0.1:1/way")


def test_an_address_that_cannot_be_read_is_told_and_no_bug(tmp_path: Path) -> None:
    config = write_http_agent(tmp_path, "http://[::1")
    text = Path(config).read_text("utf-8").replace("http, url", "openai, model: m, base_url")
    Path(config).write_text(text, encoding="utf-8")
    place = set_up(RunOptions(config=config), Host(env={})).place
    with pytest.raises(UsageError, match=r"agent\.base_url: not an address"):
        build(AGENTS, place.config.agent, tmp_path).check(place.world)


def test_what_is_wrong_with_a_retriever_is_told_with_its_own_line(tmp_path: Path) -> None:
    both = CONFIG + "retriever: {type: http, url: 'http://127.0.0.1:9/'}\n"
    (tmp_path / "gate.yml").write_text(both, encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    place = set_up(RunOptions(config=str(tmp_path / "gate.yml")), Host(env={})).place
    line = both.splitlines().index(both.splitlines()[-1]) + 1
    told = rf"gate\.yml:{line}: retriever\.body: wrong$"
    with pytest.raises(UsageError, match=told), tell_agent_line(place.config):
        raise UsageError("retriever.body: wrong")
