"""User code in its process: what it prints, how it dies, how it hangs, and whose call it was."""

import json
import os
import subprocess
import threading
import time

import pytest

from gate.errors import InfraFailure
from gate.user_code.process import CallLate, CodeDied, CodeRaised
from gate.user_code.processes import environment
from tests.support.user_code import coding

CODE = """
import _thread, asyncio, ctypes, os, re, signal, subprocess, sys, threading, time
from pathlib import Path

LOG = Path(__file__).with_name("calls.log")

def note(word):
    with LOG.open("a") as log:
        log.write(f"{word}\\n")

def pid(_): return str(os.getpid())
def echo(word): return word
def sleep(seconds):
    note("sleep")
    time.sleep(seconds)
    return "slept"
def leave(_):
    note("leave")
    time.sleep(0.1)
    os._exit(3)
def kill(_): os.kill(os.getpid(), signal.SIGKILL)
def segfault(_): ctypes.string_at(0)
def close(_): os.closerange(0, 1024)
def exits(_): sys.exit(0)
def interrupt(_): raise KeyboardInterrupt
def held(_):
    note("held")
    re.match("(a+)+$", "a" * 40 + "b")
async def async_sleep(seconds):
    await asyncio.sleep(seconds)
    return "slept"
def fork(_):
    os.fork()
    return "answered by " + str(os.getpid())
def fork_and_stay(_):
    if os.fork() == 0:
        time.sleep(30)
    return "answered"
def big(size): return "x" * int(size)
def noise(_):
    for number in range(3, 20):
        try: os.write(number, b"\\xff" * 64)
        except OSError: pass
    return "answered"
def prints(_):
    print("by print")
    print("to error", file=sys.stderr)
    sys.__stdout__.write("by the first stdout\\n"); sys.__stdout__.flush()
    os.write(1, b"by number\\n")
    subprocess.run(["echo", "by a child"])
    os.system("echo by a shell")
    return "said"
def read(_): return repr(sys.stdin.read()) + str(os.read(0, 9))
def seen(names): return {name: os.environ.get(name) for name in names}
def print_long(_):
    print("x" * 7000)
    print("short")
    return "said"
def raise_long(length): raise ValueError("y" * length)
def closes_streams(_):
    sys.stdout.close(); sys.stderr.close()
    return "answered"
def hidden_thread(_):
    threading.Thread(target=sys.exit).start()
    threading.Thread(target=lambda: 1 / 0).start()
    return "answered"
def leaves_thread(_): _thread.exit()
def interrupts(_):
    _thread.interrupt_main()
    return "answered"
async def gives_up(_):
    asyncio.current_task().cancel()
    await asyncio.sleep(1)
async def stops_loop(_):
    asyncio.get_running_loop().stop()
    await asyncio.sleep(1)
def nested(_): raise ValueError("no\\nluck")
class Odd(Exception):
    def __str__(self): raise RuntimeError
def odd(_): raise Odd
state = []
def count(_):
    state.append(1)
    return str(len(state))
"""


@pytest.fixture
def run(tmp_path):
    with coding(tmp_path) as make:
        yield lambda **manner: make(CODE, **manner)


def calls(code):
    log = code.root / "calls.log"
    return log.read_text().split() if log.exists() else []


# ---------------------------------------------------------------------------------- what it answers


def test_it_is_loaded_once_and_shared_by_all_threads(run):
    code = run()
    assert [code.call("count") for _ in range(3)] == ["1", "2", "3"]


def test_an_exception_says_where_it_arose(run):
    with pytest.raises(CodeRaised, match=r"^ValueError: no luck \(code\.py:\d+\)$"):
        run().call("nested")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits", "SystemExit: 0 (code"),
        ("interrupt", "KeyboardInterrupt: (code"),
        ("odd", "Odd: ("),
    ],
)
def test_whatever_is_raised_ends_nothing(run, name, said):
    code = run()
    before = code.call("pid")
    with pytest.raises(CodeRaised) as caught:
        code.call(name)
    assert " ".join(str(caught.value).split()).startswith(said)
    assert code.call("pid") == before


def test_a_request_and_an_answer_of_many_bytes_cross(run):
    code = run()
    assert len(code.call("big", 5_000_000)) == 5_000_000
    assert len(code.call("echo", "é" * 1_000_000)) == 1_000_000


def test_an_answer_beyond_20_mb_is_refused_and_the_process_goes_on(run):
    code = run()
    with pytest.raises(CodeRaised, match="returned more than 20 MB"):
        code.call("big", 20_000_001)
    with pytest.raises(CodeRaised, match="returned more than 20 MB"):
        code.call("echo", "x" * 25_000_000)  # a question may be of any size
    assert code.call("echo", "ok") == "ok"


# ----------------------------------------------------------------------------------- what it prints


def test_nothing_that_it_prints_reaches_our_output(run, capfd):
    code = run()
    assert code.call("prints") == "said"
    assert code.call("closes_streams") == "answered"
    assert code.call("echo", "ok") == "ok"
    code.process.close()
    assert capfd.readouterr() == ("", "")
    assert code.printed == [
        *("by print", "to error", "by the first stdout", "by number", "by a child", "by a shell")
    ]


def test_a_long_line_is_cut_and_marked(run):
    code = run()
    assert code.call("print_long") == "said"
    code.process.close()
    assert code.printed == ["x" * 2000 + "…", "short"]


@pytest.mark.parametrize(("length", "kept"), [(100, 100), (250, 199), (5000, 199)])
def test_a_long_message_is_cut_and_marked(run, length, kept):
    """So that the beginning of a secret at its end is known as one."""
    with pytest.raises(CodeRaised) as caught:
        run().call("raise_long", length)
    cut = "…" if kept < length else ""
    assert str(caught.value).startswith(f"ValueError: {'y' * kept}{cut} (code.py:")


def test_it_reads_nothing_from_our_input(run):
    assert run().call("read") == "''b''"


def test_a_thread_of_its_own_that_dies_changes_no_answer(run):
    code = run()
    assert code.call("hidden_thread") == "answered"
    assert code.call("echo", "ok") == "ok"


def test_an_interrupt_that_it_sends_itself_ends_nothing(run):
    code = run()
    before = code.call("pid")
    assert code.call("interrupts") == "answered"
    assert (code.call("echo", "ok"), code.call("pid")) == ("ok", before)


def test_noise_on_the_line_to_us_ends_that_process_alone(run):
    code = run()
    with pytest.raises((CodeDied, CallLate)):
        code.call("noise", seconds=0.5)
    assert code.call("echo", "ok") == "ok"


# -------------------------------------------------------------------------------------- how it dies


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("leave", "ended with exit status 3"),
        ("kill", "was killed by SIGKILL"),
        ("segfault", "was killed by SIGSEGV"),
        ("close", "ended with exit status 1"),
    ],
)
def test_a_call_that_ends_the_process_is_told_and_the_next_is_answered(run, name, how):
    code = run()
    with pytest.raises(CodeDied, match=how):
        code.call(name)
    assert code.call("echo", "ok") == "ok"
    assert not code.process.given_up


def test_the_call_that_ended_the_process_is_found_among_four(run):
    """The others are asked again, and nobody notices."""
    code = run()
    innocent = [code.begin("sleep", 0.3) for _ in range(3)]
    end = time.monotonic() + 5
    while len(calls(code)) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    with pytest.raises(CodeDied, match="ended with exit status 3"):
        code.call("leave")
    assert [one.result(10) for one in innocent] == ["slept"] * 3
    assert (calls(code).count("leave"), calls(code).count("sleep")) == (2, 6)
    assert not code.process.given_up


def test_three_deaths_without_an_answer_end_the_role(run):
    code = run()
    with pytest.raises(CodeDied):
        code.call("kill")
    with pytest.raises(InfraFailure, match="died 3 times without an answer in between; the last"):
        code.call("kill")
    assert code.process.given_up.endswith("the last time it was killed by SIGKILL")
    with pytest.raises(InfraFailure, match="died 3 times"):
        code.call("echo", "ok")


def test_deaths_with_answers_in_between_do_not_end_it(run):
    code = run()
    for _ in range(3):
        with pytest.raises(CodeDied):
            code.call("kill")
        assert code.call("echo", "ok") == "ok"
    assert not code.process.given_up


def test_after_a_death_each_function_is_loaded_again_under_its_number(run):
    code = run()
    numbers = [code.load(name) for name in ("pid", "echo", "count", "kill")]
    before = code.call("pid")
    with pytest.raises(CodeDied):
        code.call("kill")
    assert [code.load(name) for name in ("pid", "echo", "count", "kill")] == numbers
    assert (code.call("echo", "me"), code.call("count")) == ("me", "1")
    assert code.call("pid") != before


def test_what_loads_only_once_is_nobodys_answer(run):
    code = run()
    code.load("kill")
    (code.root / "code.py").write_text("1 / 0\n")
    with pytest.raises(InfraFailure, match=r"could be loaded only once: .*code\.py:1: .*ZeroDiv"):
        code.call("kill")
    assert "could be loaded only once" in code.process.given_up


@pytest.mark.parametrize("name", ["fork", "fork_and_stay"])
def test_a_copy_of_the_process_has_nothing_to_say(run, name):
    code = run()
    found = [code.call(name) for _ in range(3)]
    assert found in (["answered"] * 3, [f"answered by {code.call('pid')}"] * 3)
    begun = time.monotonic()
    code.process.close()
    assert time.monotonic() - begun < 20


# ------------------------------------------------------------------------------------- how it hangs


def test_a_late_call_is_given_up_and_the_process_goes_on(run):
    code = run()
    before = code.call("pid")
    with pytest.raises(CallLate):
        code.call("sleep", 30, seconds=0.1)
    with pytest.raises(CallLate):
        code.call("async_sleep", 30, seconds=0.1)
    assert code.call("pid") == before


def test_a_thread_that_was_late_takes_no_further_call(run):
    code = run()
    lane, sleep, echo = code.process.new_lane(), code.load("sleep"), code.load("echo")
    with pytest.raises(CallLate):
        lane.call(["call", sleep, 30], 0.1)
    assert json.loads(lane.call(["call", echo, "ok"], 2.0).body) == "ok"


def test_a_call_that_holds_the_interpreter_is_late_and_the_others_are_answered(run):
    code = run()
    innocent = [code.begin("sleep", 0.1, seconds=20) for _ in range(2)]
    with pytest.raises(CallLate):
        code.call("held", seconds=0.3)
    assert [one.result(10) for one in innocent] == ["slept"] * 2
    assert calls(code).count("held") <= 2
    assert not code.process.given_up


def test_a_process_whose_threads_all_hang_is_replaced(run):
    code = run(threads=2)
    before = code.call("pid")
    innocent = code.begin("sleep", 0.5)
    for _ in range(2):
        with pytest.raises(CallLate):
            code.call("sleep", 30, seconds=0.1)
    assert innocent.result(5) == "slept"
    assert code.call("pid") != before
    assert not code.process.given_up


def test_a_late_call_that_returns_after_all_hangs_no_longer(run):
    code = run(threads=2)
    before = code.call("pid")
    for _ in range(3):
        with pytest.raises(CallLate):
            code.call("sleep", 0.3, seconds=0.1)
        time.sleep(0.4)
    assert code.call("pid") == before


# -------------------------------------------------------------------------------------- how it ends


def test_closing_from_another_thread_ends_every_wait(run):
    code = run()
    code.load("sleep")
    waiting = [code.begin("sleep", 30, seconds=30) for _ in range(3)]
    threading.Timer(0.1, code.process.close).start()
    begun = time.monotonic()
    for one in waiting:
        with pytest.raises(InfraFailure, match="the run is being stopped"):
            one.result(10)
    assert time.monotonic() - begun < 20
    with pytest.raises(InfraFailure, match="the run is being stopped"):
        code.call("echo", "ok")


def test_closing_a_lane_from_another_thread_ends_its_wait_alone(run):
    code = run()
    of, lane = code.load("sleep"), code.process.new_lane()
    threading.Timer(0.1, lane.close).start()
    with pytest.raises(InfraFailure, match="the run is being stopped"):
        lane.call(["call", of, 30], 30)
    assert code.call("echo", "ok") == "ok"


def test_what_it_started_ends_with_it(run):
    code = run()
    code.call("fork_and_stay")
    group = int(code.call("pid"))
    assert _members(group) == 2
    code.process.close()
    end = time.monotonic() + 10
    while _members(group) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _members(group)


def _members(group):
    """How many processes of that group run."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True).stdout
    return sum(
        int(line.split()[0]) == group and "Z" not in line.split()[1] for line in listed.splitlines()
    )


# -------------------------------------------------------------------------------------- environment


def test_it_sees_no_input_of_the_action_and_no_token():
    token = {"GITHUB_TOKEN": "ghs_1", "MY_COPY": "ghs_1", "GH_TOKEN": "gho_2", "LOWER": "gho_2"}
    inputs = {"INPUT_PROVIDER-KEY": "k", "INPUT_GITHUB-TOKEN": "ghs_3", "ANY": "ghs_3"}
    runner = {"ACTIONS_RUNTIME_TOKEN": "t", "ACTIONS_CACHE_URL": "u", "GITHUB_ENV": "/e"}
    empty = {"GITHUB_ENTERPRISE_TOKEN": "", "EMPTY": ""}
    fine = {"PATH": "/bin", "OPENAI_API_KEY": "sk", "GITHUB_REPOSITORY": "a/b", "PLAIN": "k"}
    given = {**token, **inputs, **runner, **empty, **fine}
    assert environment(given) == {**fine, "EMPTY": ""}
    named = environment(given, named="GITHUB_TOKEN")
    assert named == {**fine, "EMPTY": "", "GITHUB_TOKEN": "ghs_1"}
    assert environment(given, named="MY_COPY") == {**fine, "EMPTY": "", "MY_COPY": "ghs_1"}


def test_the_process_has_the_environment_that_it_is_given_and_no_other(run, monkeypatch):
    monkeypatch.setenv("INPUT_GITHUB-TOKEN", "ghs_1")
    monkeypatch.setenv("GATE_TEST_OURS", "1")
    code = run(env={"PATH": os.environ["PATH"], "MINE": "yes"})
    names = ["INPUT_GITHUB-TOKEN", "GATE_TEST_OURS", "MINE"]
    assert list(code.call("seen", names).values()) == [None, None, "yes"]
