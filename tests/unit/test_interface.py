"""The Python interface says what the commands say; docs/python.md runs."""

import asyncio
import json
import re
import subprocess
import sys
import threading
import time

import pytest

import gate
from gate import check_gates, cli, compare, evaluate
from gate.errors import GateError, InfraFailure, InvalidInput, UsageError
from gate.store.code_marks import take_marks
from gate.store.session import load_session
from gate.testing import assert_passes
from tests.support.paths import ROOT

AGENT = """
def answer(case):
    return "Rome" if case["id"] in ("c1", "c5") else "Paris", {"total_tokens": 7}
"""
CONFIG = """
version: 1
agent: {type: python, callable: "./agent.py:answer"}
suites:
  - {name: towns, dataset: cases.jsonl, rounds: 2, graders: [facts]}
gates:
  agent.success_rate: {min: %s}
"""
CASES = [
    {"id": f"c{n}", "query": f"Which town? {n}", "expected_facts": [{"value": "Paris"}]}
    for n in range(8)
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def answer(case):
    return "Rome" if case["id"] in ("c1", "c5") else "Paris", {"total_tokens": 7}


def newest(folder):
    return load_session(max((folder / "results").glob("session-*")))


def test_the_lines_of_the_docs(capsys):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, "docs/python.md", "exec"), {})
    assert "agent.success_rate" in capsys.readouterr().out


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_the_verdict_is_the_commands(folder, capsys, least):
    (folder / "agent.py").write_text(AGENT)
    (folder / "gate.yml").write_text(CONFIG % least)
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, CASES)))
    code = cli.run(["run", "--quiet", "--out", "told"], {})
    capsys.readouterr()
    (told,) = (folder / "told").glob("session-*")
    command = take_marks(load_session(told).report)  # as summary.json has it
    report = evaluate(answer)
    assert (report.exit_code, report.outcome) == (code, command.outcome)
    assert (report.reason, report.gates) == (command.reason, command.gates)
    assert report.suites["towns"].metrics.keys() == command.suites["towns"].metrics.keys()
    assert report.passed is (least == 0.5)
    assert any("called in this process" in note for note in report.notes)
    assert capsys.readouterr().out == ""
    again = compare(told, report)
    assert cli.run(["compare", "--quiet", str(told), str(report.session)], {}) == again.exit_code
    assert capsys.readouterr().out.strip() == f"{again.outcome}: {again.reason}"


def test_limits_are_those_of_gate_yml():
    report = evaluate(answer, dataset=CASES, graders=["facts"], rounds=1)
    assert report.outcome == "no_baseline"
    assert report.suites["main"].metrics["operational.avg_tokens"].value == 7
    assert check_gates(report, {"agent.success_rate": {"min": 0.7}}).passed
    broken = check_gates(report.session, {"agent.success_rate": {"min": 0.8}})
    assert (broken.outcome, broken.exit_code) == ("fail", 1)
    own = {"agent.success_rate": {"min": 0.8}}
    same = evaluate(answer, dataset=CASES, graders=["facts"], gates=own, rounds=1)
    assert (same.outcome, same.exit_code) == (broken.outcome, broken.exit_code)
    assert check_gates(same, own).gates[0].value == same.gates[0].value
    with pytest.raises(AssertionError) as caught:
        assert_passes(broken)
    lines = str(caught.value).splitlines()
    assert lines[0] == "Fail: main outside the limits"
    assert lines[1] == broken.reason
    assert lines[2] == "main: agent.success_rate is 0.75"
    assert same.reproduce == ""
    assert_passes(report)


REFUSED = [
    (lambda: evaluate(answer), UsageError, "no gate.yml"),
    (lambda: evaluate(answer, gates={}), UsageError, "only be given with a dataset"),
    (lambda: evaluate(answer, dataset=CASES, suites=["x"]), UsageError, "not both"),
    (lambda: evaluate(answer, dataset=[{"id": object()}]), UsageError, "not a list of cases"),
    (lambda: evaluate(answer, dataset=["x"]), UsageError, "not a list of cases"),
    (
        lambda: evaluate(answer, dataset=[{"id": "a"}], graders=["facts"]),
        InvalidInput,
        "cases.jsonl:1: 'input'",
    ),
    (
        lambda: evaluate(answer, dataset="nowhere.jsonl", graders=["facts"]),
        GateError,
        "nowhere.jsonl",
    ),
    (
        lambda: evaluate(answer, dataset=CASES, graders=["fcts"]),
        InvalidInput,
        "did you mean 'facts'",
    ),
    (
        lambda: evaluate(answer, dataset=CASES, graders=["facts"], gates={"x": {"min": object()}}),
        UsageError,
        "plain data",
    ),
    (lambda: evaluate(answer, dataset=CASES), InvalidInput, "graders"),
    (lambda: check_gates("nowhere", {}), UsageError, "nowhere"),
    (lambda: compare("nowhere", "nowhere"), UsageError, "nowhere"),
]


@pytest.mark.parametrize(("call", "kind", "said"), REFUSED)
def test_what_is_written_wrong_is_an_exception(call, kind, said):
    with pytest.raises(kind) as caught:
        call()
    assert said in str(caught.value)


def test_a_limit_that_gate_yml_could_not_have():
    report = evaluate(answer, dataset=CASES[:2], graders=["facts"], rounds=1)
    for gates, said in (
        ({"agent.sucess_rate": {"min": 0.5}}, "did you mean 'agent.success_rate'"),
        ({"agent.success_rate": {"min": "high"}}, "min"),
        ({"agent.success_rate": {"least": 1}}, "least"),
    ):
        with pytest.raises(InvalidInput) as caught:
            check_gates(report, gates)
        assert said in str(caught.value)


def test_what_goes_wrong_in_the_function_is_the_agents_fault():
    def broken(case):
        return {
            "c0": lambda: "Paris",
            "c1": lambda: 1 / 0,
            "c2": lambda: sys.exit(3),
            "c3": lambda: object(),
            "c4": lambda: time.sleep(30),
            "c5": lambda: (_ for _ in ()).throw(InfraFailure("its model is down")),
            "c6": lambda: asyncio.sleep(30),
            "c7": lambda: {"answer": "Paris", "steps": 2},
        }[case["id"]]()

    report = evaluate(broken, dataset=CASES, graders=["facts"], rounds=1, timeout_s=0.3)
    rows = {row["case_id"]: row for row in load_session(report.session).rows()}
    told = {name: (row["status"], row["error"] or "") for name, row in rows.items()}
    assert told["c0"] == told["c7"] == ("completed", "")
    assert told["c5"][0] == "infra_error"
    for name, said in (
        ("c1", "ZeroDivisionError: division by zero"),
        ("c2", "SystemExit: 3"),
        ("c3", "returned object: return a text"),
        ("c4", "did not return within"),
        ("c6", "did not return within"),
    ):
        assert told[name][0] == "agent_error"
        assert said in told[name][1], name


def test_threads_and_one_loop_of_this_process():
    seen, loops = set(), set()

    async def agent(question):
        loops.add(id(asyncio.get_running_loop()))
        return question

    def plain(case):
        seen.add(threading.get_ident())
        case["expected_facts"].clear()
        return "Paris"

    evaluate(agent, dataset=CASES, graders=["facts"], rounds=1, concurrency=4)
    assert len(loops) == 1
    report = evaluate(plain, dataset=CASES, graders=["facts"], rounds=1, concurrency=1)
    assert report.suites["main"].metrics["agent.success_rate"].value == 1
    assert threading.get_ident() not in seen


def test_the_package_alone_loads_nothing():
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        gate.evalute  # noqa: B018
    code = "import sys, gate; print([m for m in sys.modules if m.startswith('gate')])"
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "['gate']"
