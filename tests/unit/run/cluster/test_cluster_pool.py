"""Who gets which packet, and what happens where workers come and go; Dask is played."""

import itertools
import pickle
from concurrent.futures import Future
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.records import Attempt, Case, Health, PluginSpec, Suite, Trial
from gate.run.cluster import on_worker
from gate.run.cluster.connect import PoolLost
from gate.run.cluster.kit import AgentKit, RunKit
from gate.run.cluster.on_worker import Admission, Done, NoDesk
from gate.run.cluster.pool import ClusterPool
from gate.run.trial_worker import Task, Unmade
from gate.system.executors import Later

KIT = RunKit(
    run="r",
    build="b",
    candidate=AgentKit(agent=PluginSpec(name="none"), retriever=None),
    control=None,
    suites=(),
    root=Path(),
    variables=(),
    files={},
    seconds=1.0,
)
FIT = Admission(fault="", health=Health(ok=True, latency_ms=1.0))


class Played:
    """A cluster whose packets wait until they are answered."""

    address = "tcp://s"

    def __init__(self, *workers):
        self.workers, self.open = list(workers), True
        self.admitted, self.ended, self.sent = {}, [], []
        self.admissions = {}
        self.keys = itertools.count()

    def list_workers(self):
        self.check_open()
        return sorted(self.workers)

    def check_open(self):
        if not self.open:
            raise PoolLost("gone")

    def nobody(self):
        return PoolLost("no worker is left")

    def call(self, function, *given, at):
        self.check_open()
        if function is on_worker.end:
            self.ended += at
            return {}
        self.admitted.update(dict.fromkeys(at, given[1]))
        return {address: self.admissions.get(address, FIT) for address in at}

    def submit(self, function, run, packet, *, at):
        tasks, future = pickle.loads(packet), Future()
        future.key = next(self.keys)
        self.sent.append((at, tasks, future))
        return future

    def result_of(self, future):
        return future.result()

    def cancel(self, futures):
        self.sent = [one for one in self.sent if one[2] not in futures]

    def answer(self, nth, result=None):
        """The nth packet that waits is answered, by default with all its trials."""
        _, tasks, future = self.sent.pop(nth)
        made = [Unmade(why=task.case.id) for task in tasks]
        future.set_result(result or Done(results=made, sources={}, broken=""))


def pool_of(played, concurrency=8):
    pool = ClusterPool(played, KIT, concurrency)
    pool.admit_all()
    return pool


def tasks(number):
    suite = Suite(name="s", dataset="d", graders=())
    return [
        Task(
            suite=suite, graders={"g": object()}, case=Case(id=f"c{n}", input="", keys={}), round=1
        )
        for n in range(number)
    ]


def begin(pool, number):
    for task in tasks(number):
        pool.submit(task)
    return list(pool.wait(0.0))


def look(pool):
    """As if the time for a look had come."""
    pool._looked = float("-inf")
    return list(pool.wait(0.0))


@pytest.mark.parametrize(
    ("concurrency", "shares"), [(8, [3, 3, 2]), (2, [1, 1]), (3, [1, 1, 1]), (16, [6, 5, 5])]
)
def test_the_requests_at_once_are_shared_out_and_no_more(concurrency, shares):
    played = Played("a", "b", "c")
    pool_of(played, concurrency)
    assert list(played.admitted.values()) == shares
    assert sum(shares) == concurrency


def test_packets_are_spread_by_share_and_graders_stay_here():
    played = Played("a", "b")
    begin(pool_of(played, concurrency=16), 32)
    assert [len(tasks) for _, tasks, _ in played.sent] == [2] * 16
    assert [sum(at == worker for at, _, _ in played.sent) for worker in "ab"] == [8, 8]
    assert not any(task.graders for _, tasks, _ in played.sent for task in tasks)


def trial(task, latency_ms):
    attempt = Attempt(n=1, status="completed", latency_ms=latency_ms)
    return Trial(suite="s", case=task.case, round=1, attempts=(attempt,), started_at="", judged=0)


@pytest.mark.parametrize(
    ("latency_ms", "size"), [(1.0, 16), (100.0, 13), (200.0, 7), (1_000.0, 2), (5_000.0, 1)]
)
def test_packets_are_as_small_as_the_time_of_an_answer_allows(latency_ms, size):
    """64 calls at once: at most some 50 packets a second, and half a share in each."""
    played = Played("a", "b")
    pool = pool_of(played, concurrency=64)
    begin(pool, 64)
    assert {len(some) for _, some, _ in played.sent} == {8}
    for _, some, _ in list(played.sent):
        made = [trial(task, latency_ms) for task in some]
        played.answer(0, Done(results=made, sources={}, broken=""))
    assert len(list(pool.wait(0.0))) == 64
    begin(pool, 64)
    assert max(len(some) for _, some, _ in played.sent) == size


def test_who_is_slow_gets_no_more_and_results_come_as_they_are_made():
    played = Played("a", "b")
    pool = pool_of(played, concurrency=2)
    begin(pool, 4)
    nth = next(n for n, (at, _, _) in enumerate(played.sent) if at == "b")
    played.answer(nth)
    assert [one.why for one in pool.wait(0.0)] == ["c1"]
    assert pool.in_flight == 3
    begin(pool, 1)
    assert [at for at, _, _ in played.sent][-1] == "b"


def test_a_newcomer_takes_the_place_of_one_that_went_and_no_other():
    played = Played("a", "b")
    pool = pool_of(played, concurrency=6)
    played.workers.append("c")
    look(pool)
    assert list(played.admitted) == ["a", "b"]
    played.workers.remove("a")
    look(pool)
    assert (list(played.admitted), played.admitted["c"]) == (["a", "b", "c"], 3)
    begin(pool, 4)
    assert {at for at, _, _ in played.sent} == {"b", "c"}


def test_a_newcomer_that_does_not_fit_gets_nothing():
    played = Played("a", "b")
    pool = pool_of(played, concurrency=6)
    played.admissions["c"] = Admission(fault="another commit", health=FIT.health)
    played.workers[:] = ["b", "c"]
    look(pool)
    begin(pool, 4)
    assert {at for at, _, _ in played.sent} == {"b"}


def test_what_a_worker_takes_with_it_is_sent_to_others():
    played = Played("a", "b")
    pool = pool_of(played, concurrency=2)
    begin(pool, 4)
    assert [sum(at == worker for at, _, _ in played.sent) for worker in "ab"] == [2, 2]
    played.workers.remove("a")
    look(pool)
    assert [at for at, _, _ in played.sent] == ["b"] * 4
    while played.sent:
        played.answer(0)
    assert sorted(one.why for one in pool.wait(0.0)) == ["c0", "c1", "c2", "c3"]
    assert pool.in_flight == 0


def test_a_worker_that_began_anew_is_admitted_again():
    played = Played("a")
    pool = pool_of(played, concurrency=1)
    begin(pool, 2)
    played.answer(0, NoDesk())
    assert list(pool.wait(0.0)) == []
    played.admitted.clear()
    look(pool)
    assert played.admitted == {"a": 1}
    assert sorted(tasks[0].case.id for _, tasks, _ in played.sent) == ["c0", "c1"]


def test_trials_that_end_every_worker_end_the_run():
    played = Played("a")
    pool = pool_of(played, concurrency=1)
    begin(pool, 1)
    for name in "bc":
        played.workers[:] = [name]
        look(pool)
        assert [at for at, _, _ in played.sent] == [name]
    played.workers.clear()
    with pytest.raises(PoolLost, match="the same trials ended 3 workers"):
        look(pool)


def test_without_any_worker_the_run_ends():
    played = Played("a")
    pool = pool_of(played)
    played.workers.clear()
    begin(pool, 3)
    look(pool)
    pool._manned = float("-inf")
    with pytest.raises(PoolLost, match="no worker is left"):
        look(pool)


def test_what_is_finished_while_it_is_closed_is_kept():
    played = Played("a")
    pool = pool_of(played, concurrency=4)
    begin(pool, 3)
    later = Later(task=tasks(1)[0], delay_s=1.0)
    played.answer(0)
    played.answer(0, Done(results=[later], sources={}, broken=""))
    played.answer(0, Done(results=[], sources={}, broken=""))
    pool.close()
    assert [one.why for one in pool.leftovers()] == ["c0"]
    assert played.ended == ["a"]


def test_each_worker_that_does_not_fit_is_named():
    played = Played("a", "b", "c")
    played.admissions = {
        "a": Admission(fault="no key", health=FIT.health),
        "b": ModuleNotFoundError("No module named 'gate'"),
    }
    with pytest.raises(UsageError) as told:
        pool_of(played)
    assert "worker a: no key" in str(told.value)
    assert "worker b: it cannot run Agent Gate: ModuleNotFoundError: No module" in str(told.value)


def test_an_agent_that_one_worker_cannot_reach_is_told_with_the_worker():
    played = Played("a", "b")
    down = Health(ok=False, latency_ms=1.0, error="refused")
    played.admissions["b"] = Admission(fault="", health=down)
    assert pool_of(played).health.error == "refused (asked from b)"


def test_code_that_cannot_be_run_any_more_ends_the_run():
    played = Played("a")
    pool = pool_of(played)
    begin(pool, 1)
    played.answer(0, Done(results=[], sources={}, broken="the agent died 3 times"))
    with pytest.raises(PoolLost, match="a: the agent died 3 times"):
        list(pool.wait(0.0))


def test_sources_of_all_packets_are_kept():
    played = Played("a")
    pool = pool_of(played)
    begin(pool, 3)
    played.answer(0, Done(results=[], sources={"g": {"x.py": "1"}}, broken=""))
    played.answer(0, Done(results=[], sources={"g": {"y.py": "2"}}, broken=""))
    list(pool.wait(0.0))
    assert pool.sources() == {"g": {"x.py": "1", "y.py": "2"}}
