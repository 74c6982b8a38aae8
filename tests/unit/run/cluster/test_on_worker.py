"""What a worker does with a run: looks whether it fits, asks, ends. Here it is this process."""

import asyncio
import threading
import time
from dataclasses import replace

import pytest

from gate.files.own_source import digest_of_gate
from gate.records import Case, PluginSpec, Suite, Trial
from gate.run.cluster.kit import AgentKit, RunKit, digest_file
from gate.run.cluster.on_worker import Desk, admit, end
from gate.run.trial_worker import Task
from gate.system.executors import Later
from tests.support.chat_server import ChatServer, answer

SUITE = Suite(name="s", dataset="d", graders=(PluginSpec(name="exact_match"),), max_attempts=2)


def kit_for(url, root, **more):
    agent = PluginSpec(name="openai", options={"base_url": url, "timeout_s": 5.0})
    kit = RunKit(
        run="r",
        build=digest_of_gate(),
        candidate=AgentKit(agent=agent, retriever=None),
        control=None,
        suites=(SUITE,),
        root=root,
        variables=(),
        files={},
        seconds=5.0,
    )
    return replace(kit, **more)


def tasks(number):
    keys = {"expected_answer": "yes"}
    cases = [Case(id=f"c{n}", input=f"q{n}", keys=keys) for n in range(number)]
    return [Task(suite=SUITE, graders={}, case=case, round=1) for case in cases]


def desk_for(url, root, share=2, env=None):
    return Desk(kit_for(url, root), env or {}, root, share)


def test_packets_share_the_threads_and_each_gets_its_own_results(tmp_path):
    now, most, lock = [0], [0], threading.Lock()

    def reply(question, nth):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1
        return "yes"

    with ChatServer(reply) as server:
        desk = desk_for(server.url, tmp_path, share=3)
        done = {}

        def ask(name, some):
            done[name] = [made.case.id for made in desk.work(some)]

        every = tasks(20)
        packets = {"a": every[:10], "b": every[10:]}
        threads = [threading.Thread(target=ask, args=one) for one in packets.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        desk.close()
    assert {name: sorted(ids) for name, ids in done.items()} == {
        name: sorted(task.case.id for task in some) for name, some in packets.items()
    }
    assert most[0] <= 3


def test_answers_are_graded_and_without_the_secrets_of_this_process(tmp_path):
    key = "sk-planted-9000-value"
    with ChatServer(lambda question, nth: f"yes {key}") as server:
        desk = desk_for(server.url, tmp_path, env={"SOME_API_KEY": key})
        (made,) = desk.work(tasks(1))
        desk.close()
    assert isinstance(made, Trial)
    assert (made.attempt.response.answer, made.attempt.passed) == ("yes ***", False)


def test_another_try_is_left_to_whoever_sent_the_packet(tmp_path):
    with ChatServer(lambda question, nth: (503, {}, answer("down"))) as server:
        desk = desk_for(server.url, tmp_path)
        (made,) = desk.work(tasks(1))
        desk.close()
        assert server.asked == {"q0": 1}
    assert isinstance(made, Later)
    assert (len(made.task.attempts), made.task.graders) == (1, {})


def test_a_closed_desk_gives_back_what_it_has_and_begins_nothing(tmp_path):
    asked = threading.Event()

    def reply(question, nth):
        asked.set()
        time.sleep(0.2)
        return "yes"

    with ChatServer(reply) as server:
        desk = desk_for(server.url, tmp_path, share=1)
        done = []
        thread = threading.Thread(target=lambda: done.append(desk.work(tasks(50))))
        thread.start()
        assert asked.wait(5)
        desk.close()
        thread.join(5)
        assert not thread.is_alive()
        assert len(done[0]) <= 2
        assert len(server.asked) <= 2
        assert desk.work(tasks(3)) == []
        time.sleep(0.25)  # the server finds out that nobody waits for its reply


def admission(kit):
    told = asyncio.run(admit(kit, 2))
    asyncio.run(end(kit.run))
    return told


def test_who_fits_is_taken(tmp_path):
    (tmp_path / "own.py").write_text("x = 1\n")
    files = {"own.py": digest_file(tmp_path / "own.py")}
    with ChatServer(lambda question, nth: "yes") as server:
        told = admission(kit_for(server.url, tmp_path, files=files))
    assert (told.fault, told.health.ok) == ("", True)


@pytest.mark.parametrize(
    ("lack", "said"),
    [
        ({"build": "other"}, "its Agent Gate has another source code"),
        (
            {"variables": ("NOT_SET_1", "NOT_SET_2")},
            "the environment variables NOT_SET_1 and NOT_SET_2 are not set there",
        ),
        ({"files": {"own.py": "0"}}, "own.py differs from this checkout's, or cannot be read"),
        ({"files": {f"{n}.py": "0" for n in range(9)}}, "0.py, 1.py, 2.py and 6 more differ"),
    ],
)
def test_who_does_not_fit_is_told_why(tmp_path, lack, said):
    told = admission(kit_for("http://127.0.0.1:9", tmp_path, **lack))
    assert said in told.fault


def test_an_agent_that_is_out_of_reach_is_no_fault_of_the_worker(tmp_path):
    told = admission(kit_for("http://127.0.0.1:9", tmp_path))
    assert told.fault == ""
    assert (told.health.ok, "127.0.0.1:9" in told.health.error) == (False, True)


def test_own_code_works_for_one_run_at_a_time(tmp_path):
    (tmp_path / "own.py").write_text("x = 1\n")
    files = {"own.py": digest_file(tmp_path / "own.py")}
    with ChatServer(lambda question, nth: "yes") as server:
        kit = kit_for(server.url, tmp_path, files=files)
        asyncio.run(admit(kit, 1))
        told = admission(replace(kit, run="other"))
        asyncio.run(end(kit.run))
    assert told.fault == "it is busy with another run; wait for that"
