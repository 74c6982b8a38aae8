import json
import os
import sys
import threading
import time

import pytest

from gate.agents.protocols.command import Command
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, ToolCall, Usage

CASE = Case(id="c1", input={"q": "ü"}, keys={"expected_answer": "x", "query": "gone"})
ENV = {**{k: v for k, v in os.environ.items() if k.upper() in ("PATH", "SYSTEMROOT")}}


@pytest.fixture
def ask(tmp_path):
    """Runs a Python program as the agent; returns its Response."""

    def run(program, *, timeout_s=10.0, env=None, case=CASE, **fields):
        (tmp_path / "agent.py").write_text(program, encoding="utf-8")
        agent = Command(command=(sys.executable, "agent.py"), **fields)
        connection = agent.connect(World(env={**ENV, **(env or {})}, root=tmp_path))
        try:
            return connection.ask(case, timeout_s=timeout_s)
        finally:
            connection.close()

    return run


def failed(ask, program, kind=AgentFailure, **more):
    with pytest.raises(kind) as caught:
        ask(program, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


ECHO = "import sys, json; d = json.load(sys.stdin); print(json.dumps({'answer': json.dumps(d)}))"


def test_the_case_comes_as_json_on_standard_input(ask):
    assert json.loads(ask(ECHO).answer) == {
        "id": "c1",
        "input": {"q": "ü"},
        "expected_answer": "x",
        "query": "gone",
    }


def test_it_runs_in_the_folder_of_gate_yml(ask, tmp_path):
    assert ask("import os; print(os.getcwd())").answer == str(tmp_path.resolve())


def test_plain_text_is_the_answer(ask):
    assert ask("print('  Paris\\n')", model="m").answer == "Paris"
    assert ask("print('{not json')").answer == "{not json"
    assert ask("print('[1, 2]')").answer == "[1, 2]"
    assert ask("pass").answer == ""
    assert ask("print('x')", model="m").model == "m"


def test_an_object_is_an_answer_object(ask):
    answer = {
        "output": "Paris",
        "tool_calls": [{"name": "f", "args": "{oops"}],
        "usage": {"input_tokens": 1},
        "cost": 0.25,
        "model": "own",
    }
    response = ask(f"print({json.dumps(answer)!r})", model="m")
    assert response.answer == "Paris"
    assert response.steps == (ToolCall(name="f", raw_arguments="{oops"),)
    assert response.usage == Usage(input_tokens=1, cost_usd=0.25)
    assert response.model == "own"


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"reply": "x"}, "answer, output, text"),
        ({"answer": "x", "retrieved": "d1"}, "retrieved is not a list"),
        ({"answer": "x", "steps": [{"args": {}}]}, "steps[0] has no name"),
        ({"answer": "x", "safety_violations": "none"}, "safety_violations"),
        ({"answer": "x", "context": [5]}, "context"),
        ({"answer": "x", "model": []}, "model"),
    ],
)
def test_wrong_types_name_their_key(ask, answer, named):
    assert named in failed(ask, f"print({json.dumps(answer)!r})")


def test_an_exit_status_other_than_0_shows_the_last_line(ask):
    program = (
        "import sys; print('{}'); sys.stderr.write('first\\nlast: secret-1\\n\\n'); sys.exit(3)"
    )
    message = failed(ask, program, env={"TOKEN": "secret-1"}, api_key_env="TOKEN")
    assert "ended with exit status 3: last: ***" in message


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_a_signal_is_named(ask):
    assert "signal 9" in failed(ask, "import os; os.kill(os.getpid(), 9)")


def test_an_exception_shows_its_last_line(ask):
    assert "exit status 1: ValueError: bad" in failed(ask, "raise ValueError('bad')")


def test_a_program_that_reads_nothing_does_not_block(ask):
    big = Case(id="c", input="x" * 2_000_000, keys={})
    assert ask("print('done')", case=big).answer == "done"


def test_a_time_out_kills_the_whole_tree(ask, tmp_path):
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(1.5); open({str(mark)!r}, 'w').close()"
    program = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "time.sleep(30)\n"
    )
    begun = time.perf_counter()
    assert "did not finish within 0.7 s" in failed(ask, program, timeout_s=0.7)
    assert time.perf_counter() - begun < 10
    time.sleep(1.5)
    assert not mark.exists()


def test_a_program_that_closes_its_output_and_stays_is_timed_out(ask):
    program = (
        "import os, sys, time; print('x', flush=True); os.close(1); os.close(2); time.sleep(30)"
    )
    with pytest.raises(AgentFailure, match=r"did not finish within 0\.7 s") as late:
        ask(program, timeout_s=0.7)
    assert late.value.timed_out


def test_too_much_output_is_refused(ask):
    program = "import sys\nwhile True: sys.stdout.write('x' * 1_000_000)"
    assert "printed more than 20 MB" in failed(ask, program)


def test_endless_complaints_are_kept_short(ask):
    program = "import sys; sys.stderr.write('x' * 5_000_000); sys.exit(1)"
    assert len(failed(ask, program)) < 400


def test_close_ends_it_at_once(tmp_path):
    agent = Command(command=(sys.executable, "-c", "import time; time.sleep(30)"))
    connection = agent.connect(World(env=ENV, root=tmp_path))
    threading.Timer(0.3, connection.close).start()
    begun = time.perf_counter()
    with pytest.raises(InfraFailure, match="the run is being stopped"):
        connection.ask(CASE, timeout_s=20)
    assert time.perf_counter() - begun < 10
    with pytest.raises(InfraFailure):
        connection.ask(CASE, timeout_s=20)


SHOW = "import os, json; print(json.dumps({'answer': sorted(os.environ)}))"


def test_only_what_is_named_is_passed_on(ask):
    env = {"GITHUB_TOKEN": "t", "MY_KEY": "k" * 9, "EXTRA": "e", "HTTPS_PROXY": "p", "OTHER": "o"}
    seen = (
        json.loads(ask(SHOW, env=env, api_key_env="MY_KEY", env_names=None).answer) if 0 else None
    )
    seen = json.loads(ask(SHOW, env=env, api_key_env="MY_KEY").answer)
    assert {"PATH", "MY_KEY", "HTTPS_PROXY"} <= set(seen)
    assert not {"GITHUB_TOKEN", "EXTRA", "OTHER"} & set(seen)


def test_more_variables_are_named_in_env(tmp_path):
    (tmp_path / "agent.py").write_text(SHOW)
    agent = Command(command=(sys.executable, "agent.py"), env=("EXTRA",))
    connection = agent.connect(World(env={**ENV, "EXTRA": "e", "OTHER": "o"}, root=tmp_path))
    seen = json.loads(connection.ask(CASE, timeout_s=10).answer)
    assert "EXTRA" in seen
    assert "OTHER" not in seen


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"command": "no-such-program-x"}, "program 'no-such-program-x' not found"),
        ({"command": "./none.sh"}, "program './none.sh' not found"),
        ({"command": ""}, "program '' not found"),
        ({"command": "a 'b"}, "No closing quotation"),
        (
            {"command": sys.executable, "env": ("MISSING",)},
            "agent.env: .* MISSING .* remove it",
        ),
        ({"command": sys.executable, "api_key_env": "MISSING"}, "MISSING is not set"),
    ],
)
def test_what_cannot_run_is_a_usage_error(tmp_path, fields, said):
    if os.sep == "\\" and fields["command"] == sys.executable:
        fields["command"] = (sys.executable,)
    agent = Command(**fields)
    for call in (agent.check, agent.connect):
        with pytest.raises(UsageError, match=said):
            call(World(env=ENV, root=tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows runs no scripts by their first line")
def test_a_script_beside_gate_yml(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\necho hello from $1\n")
    script.chmod(0o755)
    agent = Command(command="./run.sh 'a script'")
    agent.check(World(env=ENV, root=tmp_path))
    assert agent.describe() == "command run.sh"
    connection = agent.connect(World(env=ENV, root=tmp_path))
    assert connection.ask(CASE, timeout_s=10).answer == "hello from a script"
    script.unlink()
    with pytest.raises(InfraFailure, match="cannot be started"):
        connection.ask(CASE, timeout_s=10)


# ------------------------------------------------------------------------------------- children

LEAVES = """
import subprocess, sys
child = {child!r}
subprocess.Popen([sys.executable, "-c", child], start_new_session={own_group}, {more})
print("Paris", flush=True)
"""


def leaving(child, *, own_group=False, more=""):
    """A program that answers and ends while a child of it goes on."""
    return LEAVES.format(child=child, own_group=own_group, more=more)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows cannot be asked")
@pytest.mark.parametrize("own_group", [False, True])
def test_a_child_that_holds_the_output_does_not_hold_up_the_answer(ask, own_group):
    threads = threading.active_count()
    begun = time.perf_counter()
    program = leaving("import time; time.sleep(30)", own_group=own_group)
    assert ask(program, timeout_s=20.0).answer == "Paris"
    assert time.perf_counter() - begun < 10
    assert threading.active_count() == threads


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows cannot be asked")
def test_the_answer_is_what_stood_there_when_the_program_ended(ask):
    late = "import time; time.sleep(0.7); print('London', flush=True)"
    assert ask(leaving(late), timeout_s=3.0).answer == "Paris"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows cannot be asked")
def test_a_child_that_writes_without_end_is_no_part_of_the_answer(ask):
    flood = "import time\nwhile True: print('x', flush=True); time.sleep(0.01)"
    begun = time.perf_counter()
    assert ask(leaving(flood, own_group=True), timeout_s=20.0).answer.startswith("Paris")
    assert time.perf_counter() - begun < 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_children_end_with_the_program(ask, tmp_path):
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(0.6); open({str(mark)!r}, 'w').close()"
    quiet = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    assert ask(leaving(child, more=quiet)).answer == "Paris"
    time.sleep(0.8)
    assert not mark.exists()


def test_a_long_answer_is_read_to_its_end(ask):
    assert len(ask("print('x' * 5_000_000)").answer) == 5_000_000
    assert len(ask("import os; os.write(1, b'x' * 60_000); os._exit(0)").answer) == 60_000
