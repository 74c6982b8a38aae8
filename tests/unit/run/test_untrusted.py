"""A hostile head beside the base's secrets: nothing of it decides, and none of its code runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate import cli
from gate.errors import InvalidInput, UsageError
from gate.github.context import Job
from gate.github.local_repository import Opened
from gate.records.forge import Artifact, BaselineRequest
from gate.run.home import find_home
from gate.run.prepare import Selection, prepare
from gate.run.rules_for_event import Where, choose_rules
from gate.suites.protection.rules import Rules
from tests.support.events import payload
from tests.support.own_grader import GRADER

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BASE = "b" * 40
ATTACK = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
AGENT = "{type: openai, base_url: 'https://ours.example', model: m, api_key_env: KEY}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The base commit's files."""

    files: Mapping[str, str] = field(default_factory=dict)
    has_artifacts: bool = True

    def read(self, path: str, ref: str) -> bytes | None:
        found = self.files.get(path) if ref == BASE else None
        return None if found is None else found.encode()

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        return ()

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        return None


def config(agent: str = AGENT, graders: str = "[exact_match]", more: str = "") -> str:
    suite = f"{{name: s, dataset: cases.jsonl, graders: {graders}}}"
    return f"version: 1\nagent: {agent}\nsuites: [{suite}]\n{more}\n"


def cases(*ids: str) -> str:
    return "".join(json.dumps({"id": i, "input": i, "expected_answer": i}) + "\n" for i in ids)


HOSTILE = {
    "gate.yml": config("{type: python, callable: './evil.py:agent'}", "['./evil.py:Mine']"),
    "evil.py": ATTACK,
    "cases.jsonl": cases("a", "injected"),
}


def judged(
    root: Path,
    base: Mapping[str, str] | None,
    head: Mapping[str, str] = HOSTILE,
    *,
    event: str = "pull_request_target",
    replay: str | None = None,
    file: str | None = None,
) -> Rules:
    for name, text in head.items():
        (root / name).write_text(text)
    job = Job(
        event=event, mode="pull_request", protect_ref=BASE, base_ref="main", untrusted_head=True
    )
    opened = Opened(forge=None if base is None else Host(files=base), git=None)
    where, home = Where(job, opened, {"KEY": "k"}, NOW), find_home(file or str(root / "gate.yml"))
    try:
        return choose_rules(where, home, recorded=bool(replay))
    finally:
        assert not (root / "ran").exists(), "code of the head was run"


def test_rules_agent_and_cases_are_the_bases(tmp_path: Path) -> None:
    rules = judged(tmp_path, {"gate.yml": config(), "cases.jsonl": cases("a", "b")})
    assert rules.config.agent.options["base_url"] == "https://ours.example"
    assert replace(rules.own, baseline=rules.config.baseline) == rules.config
    (plan,) = prepare(rules.config.suites, rules, Selection())
    assert [case.id for case in plan.cases()] == ["a", "b"]
    assert (plan.new_cases, plan.loosened) == (frozenset(), ())


def test_protect_false_in_the_base_lets_nothing_of_the_head_in(tmp_path: Path) -> None:
    rules = judged(tmp_path, {"gate.yml": config(more="protect: false")})
    assert rules.config.agent.name == "openai"


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
@pytest.mark.parametrize(
    ("base", "named"),
    [
        (config("{type: python, callable: './evil.py:agent'}"), "agent: type python"),
        (config("{type: command, command: [python, evil.py]}"), "agent: type command"),
        (config(more="control_agent: {type: command, command: [x]}"), "control_agent: type"),
        (config(more="judge: {type: python, callable: 'evil:agent'}"), "judge: type python"),
        (config(more="retriever: {type: python, callable: 'evil:f'}"), "retriever: type python"),
        (config(more="retriever: {type: recorded, file: run.txt}"), "type recorded answers from"),
        (config("{type: replay, file: evil.jsonl}"), "agent: type replay answers from a file"),
        (config(graders="['./evil.py:Mine']"), "the grader file ./evil.py is not as main has it"),
        (config(graders="['evil:Mine']"), "the grader evil:Mine is a module"),
        (config(graders="['../evil.py:Mine']"), "the grader file ../evil.py is not as main"),
        (config(more="baseline: {source: kept}"), "baseline.source: kept is a path"),
    ],
)
def test_code_and_numbers_of_the_checkout_are_refused(
    tmp_path: Path, base: str, named: str, event: str
) -> None:
    root = tmp_path / "copy"
    root.mkdir()
    (tmp_path / "evil.py").write_text(ATTACK)
    files = {"gate.yml": base, "evil.py": GRADER, "cases.jsonl": cases("a")}
    with pytest.raises(UsageError) as caught:
        judged(root, files, event=event)
    said = str(caught.value)
    assert caught.value.exit_code == 2
    assert said.startswith(f"{event}: ")
    assert named in said
    assert "pull_request" in said
    assert "docs/events.md" in said
    assert "\n" not in said


def test_a_grader_file_that_is_the_bases_to_the_byte_may_run(tmp_path: Path) -> None:
    base = {"gate.yml": config(graders="['./mine.py:Mine']"), "mine.py": GRADER}
    rules = judged(tmp_path, base, {**HOSTILE, "mine.py": GRADER})
    assert rules.config.suites[0].graders[0].name == "./mine.py:Mine"
    with pytest.raises(UsageError, match=r"mine\.py is not as main has it"):
        judged(tmp_path, base, {**HOSTILE, "mine.py": GRADER + " "})


@pytest.mark.parametrize("replay", [None, "answers.jsonl"])
def test_a_suite_written_as_code_is_refused_whoever_wrote_it(
    tmp_path: Path, replay: str | None
) -> None:
    suites = f"version: 1\nagent: {AGENT}\nsuites: [{{name: s, suite: './evil.py:Mine'}}]\n"
    base = {"gate.yml": suites, "evil.py": ATTACK}
    with pytest.raises(UsageError, match=r"suites\[0\]: the suite \./evil\.py:Mine runs code"):
        judged(tmp_path, base, replay=replay)


def test_recorded_answers_run_no_agent(tmp_path: Path) -> None:
    base = {"gate.yml": config("{type: command, command: [x]}")}
    assert judged(tmp_path, base, replay="answers.jsonl").config.agent.name == "command"


@pytest.mark.parametrize("section", ["judge", "verifier"])
def test_recorded_answers_are_judged_and_no_judge_of_the_checkout_runs(
    tmp_path: Path, section: str
) -> None:
    more = f"{section}: {{type: python, callable: './evil.py:judge'}}"
    with pytest.raises(UsageError, match=f"{section}: type python runs code of the checkout"):
        judged(tmp_path, {"gate.yml": config(more=more)}, replay="answers.jsonl")


def test_the_checkout_does_not_stand_in_for_what_the_base_lacks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"main has no gate\.yml yet"):
        judged(tmp_path, {})
    with pytest.raises(UsageError, match="cannot be read"):
        judged(tmp_path, None)
    rules = judged(tmp_path, {"gate.yml": config()})
    with pytest.raises(UsageError, match=r"cases\.jsonl: main has no such file"):
        prepare(rules.config.suites, rules, Selection())


def test_a_broken_base_is_told_without_running_anything(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="gradres"):
        judged(tmp_path, {"gate.yml": config().replace("graders", "gradres")})


def test_a_project_without_rules_has_the_bundled_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(event="pull_request_target", protect_ref=BASE, untrusted_head=True)
    opened = Opened(forge=Host(), git=None)
    monkeypatch.chdir(tmp_path)
    rules = choose_rules(Where(job, opened, {}, NOW), find_home(None))
    plans = prepare(rules.config.suites, rules, Selection(sample=1))
    assert {plan.name for plan in plans} == {suite.name for suite in rules.config.suites}


@pytest.mark.parametrize("command", ["validate", "plan", "calibrate", "baseline show"])
def test_commands_that_load_the_checkout_are_refused(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in HOSTILE.items():
        Path(name).write_text(text)
    event = tmp_path / "event.json"
    event.write_text(json.dumps(payload("pull_request")))
    named = {"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_EVENT_PATH": str(event)}
    assert cli.run(command.split(), named) == 2
    assert "not allowed under pull_request_target" in capsys.readouterr().err
    assert not Path("ran").exists()
