"""`gate validate`: what was checked, or everything that is wrong."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from gate.commands.validate import run
from gate.errors import InvalidInput, UsageError

CONFIG = """\
version: 1
agent: {type: sample}
suites:
  - name: first
    dataset: cases.jsonl
    graders: [facts]
"""
CASES = "".join(
    f'{{"id": "c{i}", "input": "x", "category": "k{i % 2}", "expected_facts": [{{"value": {i}}}]}}'
    "\n"
    for i in range(6)
)


def project(folder: Path, config: str = CONFIG, cases: str | None = CASES) -> Namespace:
    (folder / "gate.yml").write_text(config, encoding="utf-8")
    if cases is not None:
        (folder / "cases.jsonl").write_text(cases, encoding="utf-8")
    return Namespace(config=str(folder / "gate.yml"), suite=None)


def told(options: Namespace) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        run(options, {})
    return [str(problem) for problem in caught.value.problems]


def test_it_says_what_was_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proposed = '{"id": "p", "input": "x", "expected_facts": null, "status": "proposed"}\n'
    assert run(project(tmp_path, cases=CASES + proposed), {}) == 0
    assert capsys.readouterr().out.splitlines() == [
        "gate.yml: agent 'sample', 1 suite, 0 gates",
        "cases.jsonl: 6 cases in 2 categories (not run: 1 proposed)",
        "a run here uses these files",
        "No problems found.",
    ]


def test_config_and_datasets_are_told_about_at_once(tmp_path: Path) -> None:
    config = CONFIG + (
        "  - {name: second, dataset: none.jsonl, graders: [facts]}\n"
        "  - {name: third, dataset: cases.jsonl, graders: [fatcs]}\n"
        "gates: {correctness.fact_acuracy: {min: 0.8}}\n"
        "quarantine: [{case: c9, owner: me, until: 2999-01-01}]\n"
    )
    assert told(project(tmp_path, config, CASES + '{"id": "c0", "input": "x"}\nnonsense\n')) == [
        "cases.jsonl:7: 'expected_facts' is missing, the grader 'facts' needs it"
        " - write it, or null where it does not apply",
        "cases.jsonl:7: id: 'c0' is taken by line 1 - ids must be unique",
        "cases.jsonl:8: not JSON: a value is expected; texts stand in double quotes (column 1)",
        "gate.yml:8: suites[2].graders[0]: unknown grader 'fatcs' - did you mean 'facts'?",
        "gate.yml:9: gates.correctness.fact_acuracy: unknown metric - did you mean "
        "'correctness.fact_accuracy'?",
        "none.jsonl: there is no such file - check its path in gate.yml:7",
    ]


def test_a_quarantined_case_that_does_not_exist(tmp_path: Path) -> None:
    config = CONFIG + "quarantine: [{case: c9, owner: me, until: 2999-01-01}]\n"
    (found,) = told(project(tmp_path, config))
    assert found.startswith("gate.yml:7: quarantine[0]: no dataset has a case 'c9'")


def test_a_broken_baseline(tmp_path: Path) -> None:
    options = project(tmp_path)
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "first.json").write_text('{"schema_version": 1', encoding="utf-8")
    (found,) = told(options)
    assert found.startswith("baselines/first.json:1: ")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            "logs: {timezone: Nowhere/Land}",
            "agent: logs.timezone: 'Nowhere/Land' is not known",
        ),
        ("key: stor", "agent.key: 'stor' is not one of"),
    ],
)
def test_a_broken_agent_is_told_with_its_line_and_not_warned_of_as_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, problem: str
) -> None:
    agent = f"agent: {{type: openagent, {options}}}"
    config = f"version: 1\n{agent}\nsuites: [{{name: tool}}]\n"
    (found,) = told(project(tmp_path, config))
    assert found.partition("gate.yml:2: ")[2].startswith(problem)
    assert "provider key" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        (
            "type: openai, base_url: localhost:8000, model: m",
            "agent.base_url: not an address - write http://host:port or https://host",
        ),
        (
            "type: anthropic, base_url: 'https:/host', model: m, api_key_env: NOBODY_SET_IT",
            "agent.base_url: not an address - write http://host:port or https://host",
        ),
        (
            "type: openagent, base_url: localhost",
            "agent.base_url: not an address - write http://host:port or https://host",
        ),
        (
            "type: http, url: 'ftp://127.0.0.1:9/ask'",
            "agent.url: not an address - write http://host:port or https://host",
        ),
        (
            "type: http, url: 'http://127.0.0.1:9', body: {q: '{{qestion}}'}",
            "agent.body: unknown placeholder {{qestion}} - known: input, question, id, case.KEY",
        ),
        (
            "type: command, command: no-such-program x, env: [NOBODY_SET_IT]",
            "agent.command: program 'no-such-program' not found - install it, or check its path",
        ),
        (
            "type: replay, file: none.jsonl",
            "agent: none.jsonl: No such file or directory - record one with --record",
        ),
    ],
)
def test_an_agent_that_no_run_could_ask(tmp_path: Path, agent: str, problem: str) -> None:
    """Settings and files are looked at; nobody is called, and no key has to be set."""
    config = CONFIG.replace("type: sample", agent)
    (found,) = told(project(tmp_path, config))
    assert found.removeprefix(f"{tmp_path}/") == f"gate.yml:2: {problem}"


@pytest.mark.parametrize(
    "agent",
    [
        "type: openai, base_url: 'http://127.0.0.1:9', model: m, api_key_env: NOBODY_SET_IT",
        "type: http, url: 'http://127.0.0.1:9', api_key_env: NOBODY_SET_IT",
        "type: openagent, base_url: 'http://127.0.0.1:9'",
        "type: command, command: git --version, env: [NOBODY_SET_IT]",
    ],
)
def test_an_agent_need_not_run_and_no_key_is_needed(
    tmp_path: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project(tmp_path, CONFIG.replace("type: sample", agent)), {**os.environ}) == 0
    assert capsys.readouterr().out.endswith("No problems found.\n")


def test_warnings_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIG + "gates: {agent.trajectory_match: {min: 0.8}}\n"
    cases = CASES.replace('"input"', '"zzz": 1, "input"')
    assert run(project(tmp_path, config, cases), {}) == 0
    out = capsys.readouterr().out
    assert "warning: gate.yml:7: gates.agent.trajectory_match: no suite measures it" in out
    assert "warning: cases.jsonl:1: zzz: no grader reads this key\n" in out


def test_one_suite_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIG + "  - {name: second, dataset: none.jsonl, graders: [facts]}\n"
    options = project(tmp_path, config)
    options.suite = ["first"]
    assert run(options, {}) == 0
    assert "1 suite" in capsys.readouterr().out
    options.suite = ["third"]
    with pytest.raises(UsageError, match="--suite third: no such suite"):
        run(options, {})


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="file not found"):
        run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {})


def test_an_empty_folder_has_the_bundled_suites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(Namespace(config=None, suite=["all"]), {}) == 0
    assert "no gate.yml: built-in defaults: agent 'openagent'" in capsys.readouterr().out
