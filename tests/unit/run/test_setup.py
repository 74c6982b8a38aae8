"""What a run tells of what it could not read, before the agent is asked."""

import json
from pathlib import Path

import pytest

from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.errors import InvalidInput, UsageError
from gate.plugins import AGENTS, build
from gate.run.agent_line import tell_agent_line
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


@pytest.mark.parametrize(
    ("given", "place"), [(None, r"gate\.yml:2: agent\.url: not"), ("ftp://b:1", r"agent\.url: not")]
)
def test_a_wrong_address_is_told_with_its_line_unless_an_option_gives_it(
    tmp_path: Path, given: str | None, place: str
) -> None:
    http = CONFIG.replace("type: sample", "type: http, url: 'ftp://a/ask'")
    (tmp_path / "gate.yml").write_text(http, encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    options = RunOptions(config=str(tmp_path / "gate.yml"), base_url=given)
    place_of_run = set_up(options, Host(env={})).place
    with (
        pytest.raises(UsageError, match=f"^{place}"),
        tell_agent_line(place_of_run.config, options),
    ):
        build(AGENTS, place_of_run.config.agent, tmp_path).check(place_of_run.world)


def test_what_is_wrong_with_a_retriever_is_told_with_its_own_line(tmp_path: Path) -> None:
    both = CONFIG + "retriever: {type: http, url: 'http://127.0.0.1:9/'}\n"
    (tmp_path / "gate.yml").write_text(both, encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    place = set_up(RunOptions(config=str(tmp_path / "gate.yml")), Host(env={})).place
    line = both.splitlines().index(both.splitlines()[-1]) + 1
    told = rf"gate\.yml:{line}: retriever\.body: wrong$"
    with pytest.raises(UsageError, match=told), tell_agent_line(place.config, place.options):
        raise UsageError("retriever.body: wrong")
