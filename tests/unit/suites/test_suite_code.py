"""Suites written as code: their tasks as cases, their calls as answers, what is wrong with them."""

import json
import math
import re
import textwrap
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gate.agents.task_result import response_of
from gate.commands import validate
from gate.errors import AgentFailure, InfraFailure, InvalidInput, UsageError
from gate.graders.run_record import RunRecord as RunRecordGrader
from gate.plugins import World
from gate.records import Case, OwnVerdict, Response, Suite
from gate.run.prepare import Selection, prepare
from gate.run.trial_worker import Task, TrialWorker
from gate.suite_code import RunRecord
from gate.suites.cases.dataset import cases
from gate.suites.code import SuiteCode, load_suite
from gate.suites.config.build import RUN_RECORD
from gate.suites.protection.rules import load_own_config
from gate.system.exclusive import turns_of
from gate.user_code.processes import PROCESSES
from tests.support.paths import ROOT
from tests.support.protected_repository import TODAY, committed_repository, dataset, plan_of
from tests.support.queued_agent import ScriptedAgent, passes_on_ok

CONFIG = """version: 1
agent: {type: openai, base_url: "http://here:1", model: m, api_key_env: KEY}
suites:
  - name: s
    suite: ./mine.py:Mine
"""
MINE = """
class Mine:
    name = "s"

    def load_tasks(self):
        return [{"id": f"t{n}", "prompt": f"q{n}", "category": "ab"[n % 2]} for n in range(6)]

    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        return {"ok": True, "response_text": task["prompt"]}
"""
AGENT = SimpleNamespace(base_url="http://here:1", model="m", api_key_env="KEY")


@pytest.fixture
def repository(tmp_path):
    return committed_repository(tmp_path)


def world(**env):
    return World(env=env, root=Path())


PLAIN = """
import asyncio, json, math, os, re, sys, threading, time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from gate.suite_code import RunRecord

TASKS = [{"id": "a", "prompt": "q"}]

def run(**asked):
    return RunRecord(ok=True)

{code}

class Plain:
    def load_tasks(self):
        return TASKS

    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        asked = {k: v for k, v in locals().items() if k != "self"}
        return run(**asked)
"""


@pytest.fixture
def code(tmp_path):
    """The class X of a file of which `content` is a part: `TASKS`, `run`, or a class X of its own;
    without that it is `Plain`.
    """

    def make(content=""):
        content = textwrap.dedent(content)
        name = "X" if re.search(r"^(class )?X\b", content, re.MULTILINE) else "Plain"
        (tmp_path / "x.py").write_text(PLAIN.replace("{code}", content), encoding="utf-8")
        return SuiteCode(f"./x.py:{name}", tmp_path)

    return make


@pytest.fixture
def rows(code):
    return lambda tasks: list(cases(code(f"TASKS = {tasks}").source, {}))


@pytest.fixture
def asked(code):
    def ask(content, *, timeout_s=20.0, agent=AGENT, env=None):
        suite = code(content)
        (case,) = cases(suite.source, {})
        return suite.ask(case, 2, 3, timeout_s, agent, world(**(env or {"KEY": "k"})))

    return ask


def the_case(suite):
    (case,) = cases(suite.source, {})
    return case


class Raising:
    """As a record."""

    ok = True

    @property
    def response_text(self):
        raise RuntimeError("boom")


# ------------------------------------------------------------------------------------------- tasks


def test_tasks_are_cases_whatever_they_are_made_of(code):
    mapping, record, thing = cases(
        code(
            """
            @dataclass
            class TheirTask:
                id: str
                prompt: str
                category: str = "geo"
                check: object = None

            TASKS = (
                {"id": 7, "prompt": "q", "want": set("hgfedcba"), "pattern": re.compile("x+")},
                TheirTask("r", "q", check=math.sqrt),
                SimpleNamespace(id="o", goal=("go", Path("a/b"))),
            )
            """
        ).source,
        {},
    )
    assert (mapping.id, mapping.input, mapping.question) == ("7", "q", "q")
    assert (mapping.keys["want"], mapping.keys["pattern"]) == ([*"abcdefgh"], "x+")
    assert (record.id, record.category, record.keys["check"]) == ("r", "geo", "<sqrt>")
    assert thing.input == {"goal": ["go", "a/b"]}, "no prompt: the task itself"


def test_a_task_of_the_same_content_pairs_and_another_does_not(tmp_path):
    written = (
        {"id": "a", "want": 1},
        {"want": 1, "id": "a"},
        {"id": "a", "want": 1, "category": "x", "tags": ["y"]},
        {"id": "a", "want": 2},
    )
    found = []
    for number, task in enumerate(written):
        content = PLAIN.replace("{code}", f"TASKS = [{task}]")
        (tmp_path / f"x{number}.py").write_text(content)
        found.append(the_case(SuiteCode(f"./x{number}.py:Plain", tmp_path)).digest)
    one, same, moved, other = found
    assert one == same == moved != other


def test_a_task_with_two_prompts_is_its_own_question(rows):
    (found,) = rows([{"id": "a", "prompt": "p", "query": "q"}])
    assert found.input == {"prompt": "p", "query": "q"}


def test_tasks_are_loaded_once(code):
    suite = code(
        """
        class X:
            loaded = 0
            def load_tasks(self):
                X.loaded += 1
                return TASKS
            def run_task(self, *_):
                return RunRecord(ok=True, response_text=str(X.loaded))
        """
    )
    found = [suite.ask(the_case(suite), n, 1, 9.0, AGENT, world()).answer for n in (1, 2)]
    assert found == ["1", "1"]


RAISING = """
class Raising:
    id = "a"
    @property
    def response_text(self): raise RuntimeError("boom")
    @property
    def __dict__(self): return {"response_text": 1}
TASKS = [Raising()]
"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("TASKS = []", "returned no task"),
        ("TASKS = {'id': 'a'}", r"load_tasks\(\) returned dict: return a list"),
        ("TASKS = [{'id': 'a'}, {'id': ' '}]", "task 2 has no id"),
        ("TASKS = ['a']", "task 1 has no id"),
        ("TASKS = [{'id': 1}, {'id': '1'}]", "tasks 1 and 2 are both called '1'"),
        ("X = SimpleNamespace(load_tasks=lambda: 1 / 0, run_task=print)", "ZeroDivisionError"),
        ("X = SimpleNamespace(load_tasks=sys.exit, run_task=print)", "raised SystemExit"),
        (RAISING, "task 'a' raised RuntimeError: boom"),
        (
            "X = SimpleNamespace(load_tasks=list, run_task=lambda task, url: None)",
            r"must take \(task, ",
        ),
        ("class X:\n    def __init__(self): 1 / 0", r"X\(\) raised ZeroDivisionError"),
        ("class X:\n    def load_tasks(self): return []", "is not a suite: run_task missing"),
        ("X = SimpleNamespace(load_tasks=lambda: os._exit(0), run_task=print)", "exit status 0"),
        ("TASKS = [{'id': 'a'}]\nTASKS[0]['self'] = TASKS[0]", "nested too deeply"),
        ("1 / 0", r"x\.py:\d+: does not load: ZeroDivisionError"),
    ],
)
def test_a_class_that_makes_no_sense_is_refused(code, content, said):
    with pytest.raises(UsageError, match=said):
        code(content)


# ------------------------------------------------------------------------------------------- calls


def test_it_is_asked_with_what_the_agents_section_says(asked):
    found = asked(
        """
        def run(**given):
            text = json.dumps(given)
            return RunRecord(ok=True, response_text=text, prompt_tokens=3, completion_tokens=4)
        """,
        timeout_s=9.0,
    )
    seen = json.loads(found.answer)
    assert (seen.pop("task"), seen.pop("timeout_s")) == ({"id": "a", "prompt": "q"}, 9.0)
    assert seen == {
        **{"round_index": 2, "attempt": 3, "base_url": "http://here:1"},
        **{"model": "m", "provider_key": "k"},
    }
    assert (found.model, found.usage.total_tokens) == ("m", 7)
    assert found.own_verdict == OwnVerdict(passed=True)


def test_an_agent_behind_a_retriever_is_the_one_that_is_meant(asked):
    behind = SimpleNamespace(agent=SimpleNamespace(url="http://there:2", model="n"))
    found = asked(
        """
        def run(base_url, model, provider_key, **_):
            return RunRecord(ok=True, response_text=json.dumps([base_url, model, provider_key]))
        """,
        agent=behind,
    )
    assert json.loads(found.answer) == ["http://there:2", "n", ""]


def test_other_names_of_the_parameters_and_coroutines_do(asked):
    found = asked(
        """
        async def run_task(one, two, three, four, five, six, seven):
            return {"ok": True, "response_text": f"{two}{three}{four}"}

        X = SimpleNamespace(load_tasks=lambda: [{"id": "a"}], run_task=run_task)
        """
    )
    assert found.answer == "23http://here:1"


def test_what_one_round_does_to_a_task_the_next_does_not_see(code):
    suite = code(
        """
        def run(task, **_):
            task["prompt"] += "!"
            return RunRecord(ok=True, response_text=task["prompt"])
        """
    )
    case = the_case(suite)
    assert [suite.ask(case, n, 1, 9.0, AGENT, world()).answer for n in (1, 2)] == ["q!", "q!"]


@pytest.mark.parametrize(("concurrent", "most"), [(False, 1), (True, 3)])
def test_calls_come_one_at_a_time_unless_the_class_says_otherwise(code, concurrent, most):
    suite = code(
        f"""
        inside, all_in = [], threading.Barrier(3)

        def run(**_):
            inside.append(1)
            if {concurrent}: all_in.wait(10)
            peak = len(inside)
            if {concurrent}: all_in.wait(10)
            inside.pop()
            return RunRecord(ok=True, response_text=str(peak))

        class X:
            concurrent = {concurrent}
            def load_tasks(self): return TASKS
            def run_task(self, *_): return run()
        """
    )
    case = the_case(suite)
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda n: suite.ask(case, n, 1, 9.0, AGENT, world()), (1, 2, 3)))
    assert max(int(one.answer) for one in answers) == most
    assert len(answers) == 3


def test_waiting_for_the_turn_is_neither_latency_nor_time_out(code):
    """The first call takes 1.6 s; the second, which has 1 s, waits for it."""
    suite = code(
        """
        def run(round_index, timeout_s, **_):
            time.sleep(1.6 if round_index == 1 else 0)
            return RunRecord(ok=True, response_text=str(timeout_s))
        """
    )
    case = the_case(suite)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(suite.ask, case, 1, 1, 9.0, AGENT, world())
        time.sleep(0.1)
        second = pool.submit(suite.ask, case, 2, 1, 1.0, AGENT, world())
        slow, quick = first.result(10), second.result(10)
    assert (slow.answer, quick.answer) == ("9.0", "1.0")
    assert slow.latency_ms >= 1600
    assert quick.latency_ms < 1000


def test_a_call_that_hangs_is_a_time_out_and_its_thread_is_left_behind(asked):
    with pytest.raises(AgentFailure, match=r"did not return within 0\.05 s") as caught:
        asked("def run(**_): time.sleep(10)", timeout_s=0.05)
    assert (caught.value.timed_out, caught.value.code) == (True, "timeout")
    assert caught.value.latency_ms == 50


def test_a_call_that_hangs_may_still_ask_the_server(asked):
    """What its logs show meanwhile is not surely the next request's."""
    server = "http://hung.example:1"
    agent = SimpleNamespace(base_url=server, server=server, model="m", api_key_env=None)
    with pytest.raises(AgentFailure):
        asked("def run(**_): time.sleep(10)", timeout_s=0.05, agent=agent)
    with turns_of(server).take_turn(exclusive=True, given_up=bool) as turn:
        assert not turn.alone


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("ConnectionRefusedError('[Errno 111] Connection refused')", InfraFailure),
        ("OSError('HTTP Error 503: Service Unavailable')", InfraFailure),
        ("OSError('HTTP Error 500: Internal Server Error')", AgentFailure),
        ("FileNotFoundError('no such file')", AgentFailure),
        ("KeyError('connection refused')", AgentFailure),
        ("SystemExit(3)", AgentFailure),
    ],
)
def test_an_exception_is_the_agents_unless_the_connection_failed(asked, error, kind):
    with pytest.raises(kind, match=error.partition("(")[0]) as caught:
        asked(f"def run(**_): raise {error}")
    if kind is InfraFailure:
        assert caught.value.code == "api_error"
    else:
        assert caught.value.latency_ms is not None


def test_an_error_of_urllib_tells_its_status(asked):
    content = """
    from urllib.error import HTTPError
    def run(**_): raise HTTPError("http://x", {status}, "no", {{}}, None)
    """
    with pytest.raises(InfraFailure):
        asked(content.format(status=503))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("os._exit(0)", "the run_task of Plain's process ended with exit status 0 during the call"),
        ("return {'ok': True, 'response_text': 'x' * 21_000_000}", "returned more than 20 MB"),
    ],
)
def test_a_call_that_brings_no_record_back_is_an_invalid_one(asked, does, said):
    with pytest.raises(AgentFailure, match=said) as caught:
        asked(f"def run(**_): {does}")
    assert (caught.value.code, caught.value.timed_out) == ("run_record_invalid", False)


# ----------------------------------------------------------------------------------------- records


def read(**fields):
    return response_of(RunRecord(**fields), who="run_task of X", model=None, took_ms=5.0)


def test_a_verdict_comes_with_its_codes_and_notes():
    found = read(ok=False, validation_errors=["a", "b", "a"], evidence={"tool": 1}, latency_ms=7)
    assert found.own_verdict.failures == ("a", "b")
    assert found.own_verdict.note == 'evidence: {"tool": 1}'
    assert found.latency_ms == 7.0
    passed = read(ok=True, validation_errors=["odd"]).own_verdict
    assert (passed.passed, passed.failures, passed.note) == (True, (), "passed with odd")


@pytest.mark.parametrize(
    ("fields", "transport"),
    [
        ({"api_error": "x", "response_status": 500}, "5xx"),
        ({"api_error": "HTTP 503: no upstream"}, "5xx"),
        ({"api_error": "x", "response_status": 422}, None),
        ({"parse_error": "no JSON", "response_text": "<!doctype html><p>"}, "html"),
        ({"parse_error": "no JSON"}, None),
    ],
)
def test_a_record_tells_what_failed_below_the_answer(fields, transport):
    with pytest.raises((AgentFailure, InfraFailure)) as caught:
        read(ok=False, **fields)
    assert caught.value.transport == transport


def test_tokens_are_what_is_said_or_follows():
    assert read(ok=True).usage.total_tokens is None
    alone = read(ok=True, total_tokens=9).usage
    assert (alone.total_tokens, alone.input_tokens, alone.output_tokens) == (9, None, None)
    split = read(ok=True, total_tokens=9, prompt_tokens=4).usage
    assert (split.input_tokens, split.output_tokens) == (4, 5)
    split = read(ok=True, total_tokens=9, completion_tokens=4).usage
    assert (split.input_tokens, split.output_tokens) == (5, 4)


def test_codes_and_verdicts_in_other_forms():
    assert read(ok=False, validation_errors="one").own_verdict.failures == ("one",)
    many = read(ok=False, validation_errors=[f"c{n}" for n in range(60)]).own_verdict
    assert (len(many.failures), many.failures[-1]) == (50, "c49")
    assert read(ok=np.bool_(True)).own_verdict.passed is True


@pytest.mark.parametrize(
    ("fields", "kind", "code"),
    [
        ({"api_error": "HTTP 401: bad key"}, InfraFailure, "api_error"),
        ({"api_error": "Authentication failed: no such key"}, InfraFailure, "api_error"),
        (
            {"api_error": "<urlopen error [Errno 111] Connection refused>"},
            InfraFailure,
            "api_error",
        ),
        ({"api_error": "x", "response_status": 503}, InfraFailure, "api_error"),
        ({"api_error": "Gateway Timeout", "response_status": 504}, InfraFailure, "api_error"),
        ({"api_error": "overloaded", "response_status": 529}, InfraFailure, "api_error"),
        ({"api_error": "HTTP 524: a timeout occurred"}, InfraFailure, "api_error"),
        ({"api_error": "529 Server Error: for url: http://x"}, InfraFailure, "api_error"),
        ({"api_error": "Error code: 520 - unknown"}, InfraFailure, "api_error"),
        ({"api_error": "500 Server Error: for url: http://x"}, AgentFailure, "api_error"),
        ({"api_error": "x", "response_status": 500}, AgentFailure, "api_error"),
        ({"api_error": "connection closed", "response_status": 400}, AgentFailure, "api_error"),
        ({"response_status": 500}, AgentFailure, "api_error"),
        ({"api_error": True}, AgentFailure, "api_error"),
        ({"api_error": "timed out"}, AgentFailure, "api_error"),
        ({"parse_error": "not a completion"}, AgentFailure, "parse_error"),
    ],
)
def test_whose_failure_a_record_tells_of(fields, kind, code):
    with pytest.raises(kind) as caught:
        read(ok=False, **fields)
    assert caught.value.code == code
    assert getattr(caught.value, "timed_out", False) is (fields.get("api_error") == "timed out")


@pytest.mark.parametrize(
    "fields", [{"ok": False, "response_status": 200}, {"ok": True, "response_status": 404}]
)
def test_a_status_alone_fails_no_answer_that_is_ok_and_200_fails_none(fields):
    assert read(**fields).own_verdict.passed is fields["ok"]


def test_an_answer_that_could_not_be_read_is_kept_and_fails():
    found = read(ok=True, parse_error="no JSON", response_text="so it is")
    assert found.answer == "so it is"
    assert (found.own_verdict.passed, found.own_verdict.failures) == (False, ("parse_error",))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "run_task of X returned nothing: return a RunRecord"),
        ("yes", "returned a str: return a RunRecord"),
        ({"response_text": "x"}, "without 'ok'"),
        ({"ok": "yes"}, "ok = 'yes': True or False"),
        ({"ok": True, "latency_ms": math.nan}, "latency_ms = nan: a number from 0 up"),
        ({"ok": True, "latency_ms": -1}, "latency_ms = -1"),
        ({"ok": True, "latency_ms": True}, "latency_ms = True"),
        ({"ok": True, "latency_ms": 10**400}, "latency_ms = 1000"),
        ({"ok": True, "response_text": b"x"}, "response_text of type bytes"),
        ({"ok": True, "validation_errors": 3}, "validation_errors of type int"),
        (Raising(), "cannot be read: RuntimeError"),
    ],
)
def test_a_record_that_makes_no_sense_fails_with_a_sentence(found, said):
    with pytest.raises(AgentFailure, match=re.escape(said)) as caught:
        response_of(found, who="run_task of X", model=None, took_ms=5.0)
    assert caught.value.code == "run_record_invalid"


def test_the_grader_says_what_the_suite_says():
    case, grader = Case(id="a", input="q", keys={}), RunRecordGrader()

    def score(verdict):
        return grader.grade(case, Response(answer="x", own_verdict=verdict))

    failed = score(OwnVerdict(passed=False, failures=("a", "b"), note="n"))
    assert (failed.passed, failed.failures, failed.reason) == (False, ("a", "b"), "a, b; n")
    assert score(OwnVerdict(passed=False)).failures == ("not_ok",)
    assert (score(OwnVerdict(passed=True)).passed, score(None).passed) == (True, None)
    assert score(OwnVerdict(passed=True, note="n")).reason == "n"
    assert score(None).unscored


# ---------------------------------------------------------------------------------------- gate.yml


def project(folder, config=CONFIG, code=MINE):
    (folder / "gate.yml").write_text(config)
    (folder / "mine.py").write_text(code)
    return load_own_config(str(folder / "gate.yml"), folder, {}, TODAY)


@pytest.mark.parametrize(
    ("written", "graders"),
    [
        ("[conciseness]", ["run_record", "conciseness"]),
        ("[conciseness, run_record]", ["conciseness", "run_record"]),
    ],
)
def test_its_own_verdict_counts_whatever_graders_stand_beside(tmp_path, written, graders):
    (suite,) = project(tmp_path, f"{CONFIG}    graders: {written}\n").suites
    assert [spec.name for spec in suite.graders] == graders


def test_gate_yml_may_leave_the_rest_out_and_must_not_say_it_twice(tmp_path):
    assert [spec.name for spec in project(tmp_path).suites[0].graders] == [RUN_RECORD]
    with pytest.raises(InvalidInput, match=r"suites\[0\].dataset: the class under `suite` already"):
        project(tmp_path, CONFIG + "    dataset: cases.jsonl\n")


def test_validate_tells_its_tasks_and_every_problem_at_once(tmp_path, capsys):
    project(tmp_path)
    options = Namespace(config=str(tmp_path / "gate.yml"), suite=None)
    assert validate.run(options, {}) == 0
    assert "./mine.py:Mine: 6 cases in 2 categories" in capsys.readouterr().out
    (tmp_path / "b").mkdir()
    more = "  - {name: t, dataset: none.jsonl, graders: [facts]}\n"
    bad = CONFIG + more
    project(tmp_path / "b", bad, MINE.replace("def load_tasks", "def tasks"))
    with pytest.raises(InvalidInput) as caught:
        validate.run(Namespace(config=str(tmp_path / "b" / "gate.yml"), suite=None), {})
    assert [str(problem) for problem in caught.value.problems] == [
        "gate.yml:4: suites[0]: './mine.py:Mine': is not a suite: load_tasks missing - "
        "docs/suite-as-code.md has an example",
        "none.jsonl: there is no such file - check its path in gate.yml:6",
    ]


def test_the_adapter_of_the_page_runs(tmp_path):
    page = (ROOT / "docs" / "suite-as-code.md").read_text(encoding="utf-8")
    adapter = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1]
    theirs = "from old_suite import TASKS, ask_and_check\n"
    assert theirs in adapter
    old = (
        'TASKS = [{"id": "a"}, {"id": "b"}]\n'
        'def ask_and_check(task, *_): return "said", [] if task["id"] == "a" else ["wrong"]\n'
    )
    (tmp_path / "mine.py").write_text(adapter.replace(theirs, old))
    code = load_suite(Suite(name="s", dataset="", graders=(), suite="./mine.py:Adapted"), tmp_path)
    found = [code.ask(case, 1, 1, 9.0, AGENT, world()) for case in cases(code.source, {})]
    assert [one.own_verdict.failures for one in found] == [(), ("wrong",)]


def test_an_edited_suite_is_told_and_nothing_of_it_is_compared(repository):
    repository.commit(gate_yml=CONFIG, mine_py=MINE)
    before = plan_of(repository.rules())
    assert (before.edited, before.loosened, len(before.all_ids)) == ({}, (), 6)
    PROCESSES.end()  # the next command
    repository.write(mine_py=MINE + "# looser\n")
    rules = repository.rules()
    assert rules.loosened == ("changes the suite file `mine.py`: its metrics are not compared",)
    plan = plan_of(rules)
    assert plan.grader_digests["success"] != before.grader_digests["success"]
    why = "this change edits the suite's file `mine.py`"
    assert {plan.edited[name] for name in ("success", "latency_ms", "agent.own_verdict")} == {why}


def test_a_suite_that_the_branch_takes_its_code_from_is_an_error(repository):
    repository.commit(gate_yml=CONFIG, mine_py=MINE)
    repository.write(mine_py=None)
    rules = repository.rules()
    with pytest.raises(InvalidInput, match=r"file .*mine\.py not found"):
        prepare(rules.config.suites, rules, Selection())


def test_a_branch_that_makes_a_suite_code_is_judged_by_the_bases_dataset(repository):
    ours = "version: 1\nagent: {type: command, command: [echo]}\nsuites:\n"
    native = ours + "  - {name: s, dataset: cases.jsonl, graders: [exact_match]}\n"
    repository.commit(gate_yml=native, cases_jsonl=dataset(a="x", b="x"))
    repository.write(gate_yml=ours + "  - {name: s, suite: './mine.py:Mine'}\n", mine_py=MINE)
    rules = repository.rules()
    assert plan_of(rules).all_ids == {"a", "b"}
    assert any("uses another dataset: `./mine.py:Mine`" in line for line in rules.loosened)


def test_an_agent_that_plays_answers_back_stands_in_for_the_code():
    """The round, the try and what is left of the time reach the code of any other agent."""
    seen = []

    def ask(case, number, attempt, timeout_s, agent, given):
        seen.append((case.id, number, attempt, timeout_s, agent))
        return Response(answer="by the code")

    suite = Suite(name="s", dataset="", graders=(), suite="./x.py:X")
    case = Case(id="a", input="q", keys={}, timeout_s=7.0)
    task = Task(suite=suite, graders={}, case=case, round=2, ask=ask)
    live, recorded = ScriptedAgent("by the agent"), ScriptedAgent("by the agent")
    recorded.plays_back = True
    answers = [TrialWorker(one, None, passes_on_ok).work(task) for one in (live, recorded)]
    assert [one.attempt.response.answer for one in answers] == ["by the code", "by the agent"]
    assert seen == [("a", 2, 1, 7.0, live)]
